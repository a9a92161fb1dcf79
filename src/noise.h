#ifndef DPTS_NOISE_H
#define DPTS_NOISE_H
/* Privacy noise. Every private policy and counter releases its sums through these
   functions and in no other way. A test reads from the ledger what was released, with which
   noise, switches the noise off, or forces the released values. */

#include "rng.h"

enum noise_kind { NOISE_LAPLACE = 1, NOISE_GAUSSIAN = 2, NOISE_GAMMA = 3 };

/* One row per released number: its exact value, the kind and scale of its noise, the noise
   itself, what was released, and in which release (the Gamma mechanism releases several numbers
   at once), from 1. Rows past `max` are counted, not kept. */
typedef struct {
  int silent; /* release exact values */
  int n, max;
  int releases;
  double *exact, *kind, *scale, *noise, *value, *release;
  /* Values to release in place of noisy ones, in order: the run of a neighbour is coupled to
     another by giving it the other's releases. */
  const double *forced;
  int n_forced;
} ledger_t;

/* Where a policy's randomness comes from. */
typedef struct {
  rng_t policy, noise;
  uint64_t run;     /* whose they are */
  ledger_t *ledger; /* NULL outside tests */
  int failed;       /* a release was asked for with a scale that is no scale, or the policy
                       cannot go on */
} draws_t;

/* The draws of a run. */
static inline draws_t draws_of(uint64_t seed, uint64_t run, ledger_t *ledger) {
  draws_t draws = {.run = run, .ledger = ledger};
  rng_seed(&draws.policy, seed, run, RNG_POLICY);
  rng_seed(&draws.noise, seed, run, RNG_NOISE);
  return draws;
}

/* exact + Laplace(scale) and exact + N(0, sd^2). A scale of 0 asks for no noise. One that is
   negative, NaN or infinite releases NaN and marks the draws as failed: noise that cannot be
   had is never left out. */
double release_laplace(draws_t *draws, double exact, double scale);
double release_gaussian(draws_t *draws, double exact, double sd);
/* The Gamma mechanism: p numbers at once, with noise of density proportional to
   exp(-|noise|_2 / scale). A ledger row for each of them; `out` is not `exact`. */
void release_gamma(draws_t *draws, int p, const double *exact, double scale, double *out);

#endif
