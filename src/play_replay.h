#ifndef DPTS_PLAY_REPLAY_H
#define DPTS_PLAY_REPLAY_H
/* Replay of logged events: Li, Chu, Langford and Wang (2011), Algorithm 2, with delayed feedback. */

#include "play_session.h"

/* The events of a log or of one block of it, which all runs share. */
typedef struct {
  int64_t n;
  int k;
  const int *arm; /* from 0 */
  const double *reward;
  const int *pool;       /* the pool of each event, or NULL: all arms */
  const int *pool_start; /* members of pool p: pool_arms[pool_start[p] .. pool_start[p + 1]) */
  const int *pool_arms;
  /* If propensities are not uniform, else NULL: the probability that a match is kept, and its weight. */
  const double *keep, *weight;
  int dim;                /* dimension of an event's context; 0: no contexts */
  const double *context;  /* dim x n */
  int arm_dim;            /* number of an arm's features; 0: none */
  const double *features; /* arm_dim x k */
} event_log_t;

typedef struct {
  environment_t env; /* the log as an environment */
  const event_log_t *log;
  int own; /* does each arm have a context of its own, the products of the
              event's context and the arm's features? */
  uint64_t seed;
  const double *runs;
  int n_runs;
  int64_t horizon; /* kept events after which a run stops */
  int finish;      /* are open batches released at the end? */
  observation_t observation;
  void *watch;
  /* The present run, in the caller's memory. */
  int run;
  int64_t at;     /* index of the next event in the log or block */
  int64_t before; /* number of events in earlier blocks */
  int last;       /* is this the last block? */
  session_t session;
  late_t late; /* delays count kept events */
  rng_t coin;
  double weight;   /* of the last kept event */
  double uniform;  /* its weight in the estimate for the uniform policy */
  double *space;   /* contexts of all arms, dim x k, if own */
  double *chances; /* probability of each arm in every event; or NULL */
  session_status_t status;
} replay_t;

void replay_begin(replay_t *replay); /* the first run */
/* Continues the only run with the next block, which is in replay->log now; outstanding rewards stay
   outstanding. */
void replay_feed(replay_t *replay, int64_t before, int last);
/* Plays for about this time in seconds; returns 1 when all runs are finished or one failed: see status. */
int replay_advance(replay_t *replay, double seconds);
double replay_progress(const replay_t *replay);

#endif
