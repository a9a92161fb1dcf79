#ifndef DPTS_PLAY_SESSION_H
#define DPTS_PLAY_SESSION_H
/* A session is one policy at work. It owns the policy's state, its clock, its random numbers and the
   counts of pulls. Only a session calls the functions of a policy, and it checks what they return. */

#include "play_environment.h"
#include "play_image.h"
#include "play_late.h"
#include "policy.h"

typedef enum {
  SESSION_OK,
  SESSION_NO_ARM,      /* an index was NaN: the policy had no arm to choose */
  SESSION_NO_SKIP,     /* a skip played no round */
  SESSION_BOUND,       /* a skip met a probability above its bound, so it is not exact */
  SESSION_NOT_OFFERED, /* the arm is not on offer */
  SESSION_BAD_NOISE,   /* the scale of noise is invalid, or a sum is NaN */
  SESSION_NO_REWARD,   /* a reward is NaN */
  SESSION_NOT_OUT,     /* feedback on a pull that is not outstanding */
  SESSION_FULL,        /* too many rewards are outstanding */
  SESSION_NO_CHANCES,  /* its choice probabilities are no distribution over the arms on offer */
  SESSION_PAST,        /* the policy wrote past the end of its state */
  SESSION_NO_VERDICT,  /* its verdict names no arm that there is */
  SESSION_FINISHED,    /* it was finished before */
  SESSION_OTHER,       /* a saved session of another policy, problem or version */
  SESSION_DAMAGED      /* a saved session that was truncated or changed */
} session_status_t;

struct session_t {
  const spec_t *spec;
  void *state;
  draws_t draws;
  int64_t t;        /* rounds played */
  int64_t finished; /* were open batches released at the end? */
  uint64_t *guard;  /* a word behind the state, to notice what writes past its end */
  int64_t *pulls;   /* of each arm, in a block of session_counts_size() */
  int64_t *apart;   /* those of them that are in no batch; NULL: the policy leaves none out */
  double *chances;  /* of the arms in a round, of a policy from outside that tosses; or NULL */
  const int *arms;  /* 0 .. k - 1 */
  int scans;        /* must the policy look at every arm? The reference for policy_tournament.h */
  /* The rounds and rewards that the policy sees, which differ if it is restarted or sees random bits. */
  int64_t start, end; /* its present segment: after round `start`, up to round `end` */
  double charged;     /* the most that a filter charged in an earlier segment */
  int64_t *own;       /* pulls in the segment */
  tally_t *shown;     /* bits that it has seen; NULL: it sees the rewards */
};

/* The round in which a session stopped: the coming one if it was to choose, else the last one. */
static inline int64_t session_stopped_at(const session_t *session, session_status_t status) {
  return session->t +
         (status == SESSION_NO_ARM || status == SESSION_NOT_OFFERED || status == SESSION_NO_CHANCES);
}

/* The memory of a session is one zeroed block of session_size() bytes, aligned for doubles. The caller
   sets the draws of the session before it begins. */
size_t session_size(const spec_t *spec);
session_t session_on(void *block, const spec_t *spec);

/* The size of the counts, which are saved beside the state. */
size_t session_counts_size(const spec_t *spec);

void session_begin(session_t *session); /* before the first round */

/* Restarts the policy. */
void session_restart(session_t *session);

/* The next round with all arms on offer; the caller may set another offer, and contexts. */
static inline round_t session_round(session_t *session) {
  if (session->t == session->end) session_restart(session);
  return (round_t){.t = session->t + 1,
                   .offer = session->arms,
                   .n_offer = session->spec->k,
                   .all = session->scans ? NULL : session->arms,
                   .pulls = session->pulls};
}

/* The policy's choice. It may be discarded. */
session_status_t session_choose(session_t *session, const round_t *round, int *arm);

/* The choice is played; *batch is set to the batch that its reward belongs to. */
session_status_t session_commit(session_t *session, const round_t *round, int arm, int64_t *batch);

/* The reward of a pull, at once or much later, in any order. The caller keeps the pulls with outstanding
   rewards (a simulation in a queue, an agent in its database) and must pass each reward once, with the
   arm, batch and context of its pull. */
session_status_t session_update(session_t *session, const feedback_t *feedback);

/* The choice probabilities in a round: k numbers, 0 for arms that are not on offer. All are NaN if the
   policy does not randomise or does not report them. */
session_status_t session_probability(const session_t *session, const round_t *round, double *p);

/* Before session_finish(): releases the next sum that is complete and waits for its turn; returns
   whether there was one. */
int session_release_next(session_t *session);

/* As unpull() of a policy, which has one */
int session_unpull(session_t *session, int arm, int64_t batch);

/* The end: releases open batches, once. The session may still choose. */
session_status_t session_finish(session_t *session);

/* Copies `old`, with fewer arms, into a session that has just begun. Returns 0 if the policy cannot take
   on arms. */
int session_grow(session_t *session, const session_t *old);

/* May one stop, and which arm is then best? */
session_status_t session_verdict(const session_t *session, verdict_t *verdict);

/* What a privacy filter has charged, which depends only on published arms: the most mu^2 of an arm in a
   segment; NaN without a filter. */
double session_charged(const session_t *session);

/* What may be published of an arm in the present segment of the policy. Random bits may be published as
   they are. */
report_t session_report(const session_t *session, int arm);
/* The reports of all arms, for observers. */
reports_t session_reports(const session_t *session);

/* A row of the release table (R/releases.R): what was released of an arm since the last look. */
typedef struct release_row_t {
  double size, sum; /* number of rewards, and their noisy sum */
  double chance;    /* with which each person of the block was randomised to the arm; 0: not randomised */
  double terms;     /* number of noise variables in the sum, one per batch; 0: bits */
  double squares;   /* noisy sum of (reward - 1/2)^2; NaN: not released */
  int whole;        /* 0: rewards were outstanding at the end, so it is no evidence */
} release_row_t;
/* What had been released of an arm at the last look. Zeros: nothing */
typedef struct release_mark_t {
  double rewards, sum, terms, looks, squares;
} release_mark_t;
release_mark_t session_mark(const session_t *session, int arm);
/* Was something released of the arm since the last look? Updates `known` and sets `row`. */
int session_new_release(const session_t *session, int arm, release_mark_t *known, release_row_t *row);

/* ---- the loop ---------------------------------------------------------------------- */

/* The bandit loop: plays at most this number of steps, until the environment is over. Rewards come at
   once, or late. A step whose choice is discarded has no effect. */
session_status_t session_play(session_t *session, environment_t *env, late_t *late, int64_t steps);

/* The end of a run: sums that wait are released one by one, then open batches, while observers look. */
session_status_t session_end(session_t *session, environment_t *env);

/* The environment asked R to look at what was released (play_answers.h): it goes on, without these arms, from
   1. */
void session_pause(session_t *session, environment_t *env, const int *arms, int n);

/* After the last round: the outstanding rewards, as they come. */
session_status_t session_follow(session_t *session, environment_t *env, late_t *late);

/* Lets the policy's skip() play some rounds. */
session_status_t session_skip(session_t *session, player_t *player);

/* ---- saving ------------------------------------------------------------------------ */

size_t session_save_size(const session_t *session);
void session_save(const session_t *session, void *to);
/* The same bytes as pieces, without copying the state and without the checksum, which session_seal()
   adds. Pieces in front of the state are written to a block of session_front_size() bytes. A piece has
   no data if it can only have changed by other arms than `touched`. Returns the number of pieces. */
enum {
  MAX_TOUCHED = 8, /* the most arms in a touched_t */
  MAX_OWN = 2,     /* stretches of a policy's own() that are compared by arm */
  SESSION_PIECES = 4 + MAX_OWN * (2 * MAX_TOUCHED + 2)
};
typedef struct {
  int n, arms[MAX_TOUCHED]; /* ascending; n < 0: everything may have changed */
} touched_t;
void touch(touched_t *touched, int arm);
size_t session_front_size(void);
int session_pieces(const session_t *session, const touched_t *touched, void *front, piece_t *pieces);
void session_seal(void *bytes, size_t size);
/* Restores a session that was made for the same policy and problem. `scratch`: session_scratch() bytes */
size_t session_scratch(const session_t *session);
session_status_t session_restore(session_t *session, const void *from, size_t size, void *scratch);

#endif
