#ifndef DPTS_NOISE_H
#define DPTS_NOISE_H
/* Privacy noise. Every private policy and counter releases its sums through these
   functions and in no other way. A test reads from the ledger what was released, with which
   noise, switches the noise off, or forces the released values. */

#include "sample_rng.h"

enum noise_kind {
  NOISE_LAPLACE = 1,
  NOISE_GAUSSIAN = 2,
  NOISE_GAMMA = 3,
  NOISE_RESPONSE = 4
};

static inline double noise_variance(enum noise_kind kind, double scale) {
  return scale * scale * (kind == NOISE_LAPLACE ? 2 : 1);
}

/* One row per released number: its exact value, the kind and scale of its noise, the noise
   itself, what was released, and in which release (the Gamma mechanism releases several numbers
   at once), from 1. Rows past `max` are counted, not kept. A release of a moving average
   (noise_moving_average.h) has the exact value gain (newest sum + carry * what was held before); all
   others have gain 1 and carry 0. */
enum {
  LEDGER_EXACT,
  LEDGER_KIND,
  LEDGER_SCALE,
  LEDGER_NOISE,
  LEDGER_VALUE,
  LEDGER_RELEASE,
  LEDGER_GAIN,
  LEDGER_CARRY,
  LEDGER_COLUMNS
};
typedef struct {
  int silent; /* release exact values */
  int n, max;
  int releases;
  double *column[LEDGER_COLUMNS]; /* of `max` numbers */
  /* Values to release in place of noisy ones, in order: the run of a neighbour is coupled to
     another by giving it the other's releases. */
  const double *forced;
  int n_forced;
} ledger_t;

/* Where a policy's randomness comes from. */
typedef struct dpts_draws {
  rng_t policy, noise;
  uint64_t run;     /* whose they are */
  ledger_t *ledger; /* NULL outside tests */
  int failed;       /* a release was asked for with a scale that is no scale, or the policy
                       cannot go on */
  int live;         /* on people: exact integer noise, bits of the operating system */
  int64_t releases; /* numbers released so far */
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
   had is never left out. A sum that is NaN fails as well. Live, that is also a sum that is off
   the grid (noise_exact_release.h). */
double release_noisy(draws_t *draws, enum noise_kind kind, double exact, double scale);
static inline double release_laplace(draws_t *draws, double exact, double scale) {
  return release_noisy(draws, NOISE_LAPLACE, exact, scale);
}
static inline double release_gaussian(draws_t *draws, double exact, double sd) {
  return release_noisy(draws, NOISE_GAUSSIAN, exact, sd);
}
/* release_gaussian() for a moving average of sums (noise_moving_average.h), which live is rounded down to
   the grid first: see exact_average(). */
double release_average(draws_t *draws, double exact, double sd);
/* Randomised response (Warner 1965): a reward of [0, 1] as a bit, by a coin toss of its mean, that
   is turned with chance `flip`, a multiple of 2^-53. And n of them at once, given their sum,
   where rewards are 0 or 1: how many show 1. The ledger's scale is `flip`. */
double release_bit(draws_t *draws, double reward, double flip);
double release_bits(draws_t *draws, double sum, double n, double flip);
/* The coefficients of the number that was just released, for the ledger. */
void release_was_average(draws_t *draws, double gain, double carry);
/* The Gamma mechanism: p numbers at once, with noise of density proportional to
   exp(-|noise|_2 / scale). A ledger row for each of them; `out` is not `exact`. It has no exact
   form and fails where draws are live. */
void release_gamma(draws_t *draws, int p, const double *exact, double scale, double *out);

#endif
