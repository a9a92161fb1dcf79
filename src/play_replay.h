#ifndef DPTS_PLAY_REPLAY_H
#define DPTS_PLAY_REPLAY_H
/* The replay of logged events: Li, Chu, Langford and Wang (2011), Algorithm 2, with feedback
   that may come late. */

#include "play_session.h"

/* Logged events: all of a log, or one block of it. Nothing here is copied per run. */
typedef struct {
  int64_t n;
  int k;
  const int *arm; /* from 0 */
  const double *reward;
  const int *pool; /* which pool an event had, or NULL: all arms */
  const int
      *pool_start; /* members of pool p: pool_arms[pool_start[p] .. pool_start[p + 1]) */
  const int *pool_arms;
  /* Where propensities are not uniform, else NULL: the chance that a match is kept, and what
     it then weighs. */
  const double *keep, *weight;
  int dim;                /* numbers of an event's context, 0 without */
  const double *context;  /* dim x n */
  int arm_dim;            /* numbers of an arm's features, 0 without */
  const double *features; /* arm_dim x k */
} event_log_t;

typedef struct {
  environment_t env; /* the log as an environment */
  const event_log_t *log;
  int own; /* does the policy see a context for each arm, the products of context
                             and features? */
  uint64_t seed;
  const double *runs;
  int n_runs;
  int64_t horizon; /* stop a run after so many kept events */
  int finish;      /* is what is open released at the end? */
  observation_t observation;
  void *watch;
  /* The run being played, on memory of the caller. */
  int run;
  int64_t at;     /* next event of the log, or of its block */
  int64_t before; /* events of the blocks before */
  int last;       /* is this the last block? */
  session_t session;
  late_t late; /* a reward is seen after so many more kept events */
  rng_t coin;
  double weight;   /* of the event that was kept last */
  double uniform;  /* what it weighs in the uniform policy's rate */
  double *space;   /* contexts of all arms, dim x k, if own */
  double *chances; /* of each arm, in every event of the log; or NULL */
  session_status_t status;
} replay_t;

void replay_begin(replay_t *replay); /* the first run */
/* replay->log now holds the next block, and the only run continues; rewards not known yet stay so. */
void replay_feed(replay_t *replay, int64_t before, int last);
/* Play for about so many seconds; 1 when all runs are finished, or one failed: see status. */
int replay_advance(replay_t *replay, double seconds);
double replay_progress(const replay_t *replay);

#endif
