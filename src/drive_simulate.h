#ifndef DPTS_DRIVE_SIMULATE_H
#define DPTS_DRIVE_SIMULATE_H
/* The simulation of one policy on one set of arms, many runs, in slices of time. */

#include "policy.h"

/* A run being played. Each thread has one, so memory grows with threads and not with
   runs or rounds. */
typedef struct {
  int run; /* index of the run, -1 when idle */
  world_t world;
  dice_t dice;
  void *state;
  double *context_space;
} slot_t;

typedef struct {
  const arms_t *arms;
  const spec_t *spec;
  uint64_t seed;
  int skip; /* may policies skip? */
  int64_t horizon;
  const double *record;
  int n_record;
  const double *runs; /* run numbers */
  int n_runs;
  double *regret, *reward; /* n_record x n_runs */
  double *pulls;           /* k x n_runs */
  slot_t *slots;
  int n_slots; /* threads */
  int next, done; /* runs started, runs finished */
} simulation_t;

/* Advance every slot for about so many seconds. */
void simulation_advance(simulation_t *sim, double seconds);

/* The share of the work that is done, in rounds. */
double simulation_progress(const simulation_t *sim);

#endif
