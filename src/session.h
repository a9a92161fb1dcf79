#ifndef DPTS_SESSION_H
#define DPTS_SESSION_H
/* A session is one policy at work. It owns the policy's state, its clock, its draws, the
   counts of pulls and what is known of pulls whose rewards are out. It is the only place
   that calls choose(), commit() and update(), and so the only place that checks them. */

#include "environment.h"
#include "policy.h"

typedef enum {
  SESSION_OK,
  SESSION_NO_ARM,      /* an index was NaN: the policy had no arm to choose */
  SESSION_NOT_OFFERED, /* the arm is not on offer */
  SESSION_BAD_NOISE,   /* noise was asked for with a scale that is no scale */
  SESSION_NOT_OUT,     /* feedback for a round that is not waiting for it */
  SESSION_FULL,        /* more pulls are out than there is room for */
  SESSION_OTHER,       /* a saved session of another policy, problem or version */
  SESSION_DAMAGED      /* a saved session that was cut or changed */
} session_status_t;

/* A pull whose reward is not in yet. */
typedef struct {
  int64_t t, batch;
  int32_t arm;
  int32_t
      next; /* the next free place, or the next pull that is due together with this one */
} pending_t;

/* Memory is the caller's: state of policy->size() bytes, k counts, and for pulls that are
   out `room` places with dim numbers each (none where rewards come at once). */
typedef struct {
  const spec_t *spec;
  void *state;
  draws_t draws;
  int64_t t;       /* rounds played */
  int64_t *pulls;  /* of each arm, in a block of session_counts_size() */
  const int *arms; /* 0 .. k - 1 */
  int scans;       /* must the policy look at every arm? The reference for tournament.h */
  /* What the policy knows of, which is less where it is started anew or sees bits. */
  int64_t start, end; /* its life: after round `start`, up to round `end` */
  int64_t *own;       /* pulls in it */
  tally_t *shown;     /* bits that it has seen; NULL where it sees rewards as they are */
  /* Pulls that are out. */
  int room, out, free; /* places, how many are taken, the first free one or -1 */
  pending_t *pending;
  double *context; /* dim x room */
} session_t;

size_t session_counts_size(const spec_t *spec);

void session_begin(
    session_t *session); /* before the first round; draws are set by the caller */

/* The policy starts anew. */
void session_restart(session_t *session);

/* The next round with all arms on offer; the caller may put in other arms, and contexts. */
static inline round_t session_round(session_t *session) {
  if (session->t == session->end) session_restart(session);
  return (round_t){.t = session->t + 1,
                   .offer = session->arms,
                   .n_offer = session->spec->k,
                   .all = session->scans ? NULL : session->arms,
                   .pulls = session->pulls};
}

/* The policy's choice. Nothing has happened yet: it may be discarded. */
session_status_t session_choose(session_t *session, const round_t *round, int *arm);

/* The choice is played. The reward of round t is out from now on: session_update() brings it. */
session_status_t session_commit(session_t *session, const round_t *round, int arm);

/* The reward of the pull of round t. */
session_status_t session_update(session_t *session, int64_t t, double reward);

/* The same two for a caller that keeps the pulls that are out: an agent has them in its
   database. The choice is played, and its reward will belong to `batch`; and the reward,
   once only, which the caller sees to. */
session_status_t session_assign(session_t *session, const round_t *round, int arm,
                                int64_t *batch);
session_status_t session_feed(session_t *session, const feedback_t *feedback);

/* What may be told of an arm, in the policy's present life. Bits that are random already may be
   told as they are. */
report_t session_report(const session_t *session, int arm);

/* ---- the loop ---------------------------------------------------------------------- */

/* Rewards that come late. The reward of round t comes at the end of round t + its delay, and
   is learned at the end of the group of `batch` rounds that this round belongs to. */
typedef struct {
  int64_t delay;     /* in rounds ... */
  const int *delays; /* ... or these in place of it; NULL: all alike: */
  int64_t n_delays;  /* one for each round, over and over, */
  int sampled;       /* or one of them at random */
  rng_t rng;         /* for that */
  int64_t batch;     /* 0 or 1: no groups */
  int64_t mask;      /* there are mask + 1 places, a power of 2 above the longest wait */
  int *first,
      *last;      /* pulls whose rewards are learned after round t, at t & mask; -1: none */
  double *reward; /* of the pending pulls, by their place in the session */
} late_t;

/* The longest wait, in rounds, for delays of at most so many; and how many places for times, and
   for pulls that are out, this takes. A pull joins before those that are due are resolved. */
static inline int64_t late_longest(int64_t delay, int64_t batch) {
  return delay + (batch > 1 ? batch - 1 : 0);
}
static inline size_t late_places(int64_t longest) {
  size_t places = 1;
  while (places < (size_t)longest + 1) places *= 2;
  return places;
}
static inline size_t late_room(int64_t longest) { return (size_t)longest + 1; }

void late_begin(late_t *late);

/* The bandit's loop: at most so many steps of it, until the environment is over. Rewards come
   at once, or late. A step whose choice is discarded leaves no trace. */
session_status_t session_play(session_t *session, environment_t *env, late_t *late,
                              int64_t steps);

/* As many rounds as the policy's skip() likes, by the player. */
session_status_t session_skip(session_t *session, player_t *player);

/* ---- saving ------------------------------------------------------------------------ */

size_t session_save_size(const session_t *session);
void session_save(const session_t *session, void *to);
/* Into a session that was made for the same policy and problem. */
session_status_t session_restore(session_t *session, const void *from, size_t size);

#endif
