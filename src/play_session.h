#ifndef DPTS_PLAY_SESSION_H
#define DPTS_PLAY_SESSION_H
/* A session is one policy at work. It owns the policy's state, its clock, its draws and the
   counts of pulls. It is the only place that calls the verbs of a policy, and so the only place
   that checks them. */

#include "play_environment.h"
#include "play_image.h"
#include "play_late.h"
#include "policy.h"

typedef enum {
  SESSION_OK,
  SESSION_NO_ARM,  /* an index was NaN: the policy had no arm to choose */
  SESSION_NO_SKIP, /* a skip played no round */
  SESSION_BOUND,   /* a skip met a chance above its bound: its rounds would not be exact */
  SESSION_NOT_OFFERED, /* the arm is not on offer */
  SESSION_BAD_NOISE, /* noise was asked for with a scale that is no scale, or a sum is NaN */
  SESSION_NO_REWARD,  /* a reward is NaN */
  SESSION_NOT_OUT,    /* feedback on a pull that there was not */
  SESSION_FULL,       /* more pulls are out than there is room for */
  SESSION_NO_CHANCES, /* the chances of its arms are no distribution over those on offer */
  SESSION_NO_VERDICT, /* it may stop, with an arm that there is not */
  SESSION_FINISHED,   /* it was finished before */
  SESSION_OTHER,      /* a saved session of another policy, problem or version */
  SESSION_DAMAGED     /* a saved session that was cut or changed */
} session_status_t;

struct session_t {
  const spec_t *spec;
  void *state;
  draws_t draws;
  int64_t t;        /* rounds played */
  int64_t finished; /* was what was open released, for the end is known? */
  int64_t *pulls;   /* of each arm, in a block of session_counts_size() */
  const int *arms;  /* 0 .. k - 1 */
  int scans; /* must the policy look at every arm? The reference for policy_tournament.h */
  /* What the policy knows of, which is less where it is started anew or sees bits. */
  int64_t start, end; /* its life: after round `start`, up to round `end` */
  int64_t *own;       /* pulls in it */
  tally_t *shown;     /* bits that it has seen; NULL where it sees rewards as they are */
};

/* The round in which a session stopped: a choice was to come, or feedback on those before. */
static inline int64_t session_stopped_at(const session_t *session,
                                         session_status_t status) {
  return session->t + (status == SESSION_NO_ARM || status == SESSION_NOT_OFFERED ||
                       status == SESSION_NO_CHANCES);
}

/* The memory of a session is one block of zeros, aligned for doubles: so many bytes, and a
   session on it, whose draws the caller sets before it begins. */
size_t session_size(const spec_t *spec);
session_t session_on(void *block, const spec_t *spec);

/* Of these, the counts: what is saved beside the state. */
size_t session_counts_size(const spec_t *spec);

void session_begin(session_t *session); /* before the first round */

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

/* The choice is played, and its reward will belong to `batch`. */
session_status_t session_commit(session_t *session, const round_t *round, int arm,
                                int64_t *batch);

/* The reward of a pull, at once or much later, in any order. The caller keeps the pulls whose
   rewards are out (a simulation in a queue, an agent in its database) and sees to it that each
   reward comes once, with the arm, batch and context of its pull. */
session_status_t session_update(session_t *session, const feedback_t *feedback);

/* The chance of each arm in a round, before the choice: k numbers, 0 for arms that are not on offer.
   All are NaN if the policy does not toss or cannot say. */
session_status_t session_probability(const session_t *session, const round_t *round,
                                     double *p);

/* At the end, before the next: is there a sum that waited for its turn, and is released now? */
int session_release_next(session_t *session);

/* The end is known: what is open is released, once. The session may still choose. */
session_status_t session_finish(session_t *session);

/* There are more arms now: a session that has just begun takes over all that `old` is. Returns 0 if the
   policy cannot take on arms. */
int session_grow(session_t *session, const session_t *old);

/* May one stop, and which arm is then the best? */
session_status_t session_verdict(const session_t *session, verdict_t *verdict);

/* What may be published of an arm, in the policy's present life. Bits that are random already may be
   published as they are. */
report_t session_report(const session_t *session, int arm);
/* All of them, for observers */
reports_t session_reports(const session_t *session);

/* A row of the release table (R/evidence.R): what was released of an arm between two looks. */
typedef struct {
  double size, sum; /* rewards, and the noisy sum of them */
  double
      chance; /* with which each person of the block was tossed to the arm; 0: not tossed */
  double terms; /* variables of noise in the sum, one for each batch; 0: bits */
  int whole;    /* were all rewards in? 0: the end cut it short, and it proves nothing */
} news_t;
/* What was known of an arm. Zeros: nothing */
typedef struct {
  double rewards, sum, terms, looks;
} noted_t;
/* Was something released of the arm since? */
int session_news(const session_t *session, int arm, noted_t *known, news_t *news);

/* ---- the loop ---------------------------------------------------------------------- */

/* The bandit's loop: at most so many steps of it, until the environment is over. Rewards come
   at once, or late. A step whose choice is discarded leaves no trace. */
session_status_t session_play(session_t *session, environment_t *env, late_t *late,
                              int64_t steps);

/* The end is known: what waits is released one by one, then what is open, while observers look. */
session_status_t session_end(session_t *session, environment_t *env);

/* After the last round: the rewards that are still out, as they come. */
session_status_t session_follow(session_t *session, environment_t *env, late_t *late);

/* As many rounds as the policy's skip() likes, by the player. */
session_status_t session_skip(session_t *session, player_t *player);

/* ---- saving ------------------------------------------------------------------------ */

size_t session_save_size(const session_t *session);
void session_save(const session_t *session, void *to);
/* The same bytes where they are, but for the checksum, which is left out: their front goes into a block of
   session_front_size() bytes. What is as it was when nothing has happened but to the arms `touched` has no
   data. Returns how many pieces. session_seal() puts the checksum in. */
enum {
  MOST_TOUCHED = 8, /* arms that are told apart */
  MOST_OWN = 2,     /* stretches of a policy's own(); further ones are taken as a whole */
  SESSION_PIECES = 4 + MOST_OWN * (2 * MOST_TOUCHED + 2)
};
typedef struct {
  int n, arms[MOST_TOUCHED]; /* ascending; n < 0: all of them, and more */
} touched_t;
void touch(touched_t *touched, int arm);
size_t session_front_size(void);
int session_pieces(const session_t *session, const touched_t *touched, void *front,
                   piece_t *pieces);
void session_seal(void *bytes, size_t size);
/* Into a session that was made for the same policy and problem. */
session_status_t session_restore(session_t *session, const void *from, size_t size);

#endif
