#ifndef DPTS_NOISE_H
#define DPTS_NOISE_H
/* Privacy noise. Every private policy and counter releases its sums through these functions and in no
   other way. The ledger lets a test read what was released and with which noise, switch the noise off,
   or force the released values. */

#include "sample_rng.h"

enum noise_kind {
  NOISE_NONE,
  NOISE_LAPLACE,
  NOISE_GAUSSIAN,
  NOISE_GAMMA,
  NOISE_RESPONSE,
  NOISE_GEOMETRIC /* in tables of other people's releases: noise_law.h */
};

static inline double noise_variance(enum noise_kind kind, double scale) {
  return scale * scale * (kind == NOISE_LAPLACE ? 2 : 1);
}

/* One row per released number: its exact value, the kind and scale of its noise, the noise itself, the
   released value, and the number of its release, from 1 (the Gamma mechanism releases several numbers at
   once). Rows past `max` are counted and not kept. The exact value of a release of a moving average
   (noise_moving_average.h) is gain (newest sum + correlation * previous moving sum); all others have
   gain 1 and correlation 0. */
enum {
  LEDGER_EXACT,
  LEDGER_KIND,
  LEDGER_SCALE,
  LEDGER_NOISE,
  LEDGER_VALUE,
  LEDGER_RELEASE,
  LEDGER_GAIN,
  LEDGER_CORRELATION,
  LEDGER_COLUMNS
};
typedef struct {
  int silent; /* release exact values */
  int n, max;
  int releases;
  double *column[LEDGER_COLUMNS]; /* of `max` numbers */
  /* Values to release in place of noisy ones, in order: a proof by coupling gives a neighbour's run the
     releases of another run. */
  const double *forced;
  int n_forced;
} ledger_t;

/* A policy's random numbers. */
typedef struct dpts_draws {
  rng_t policy, noise;
  uint64_t run;     /* of this run */
  ledger_t *ledger; /* NULL outside tests */
  int failed;       /* a release had an invalid scale or sum, or the policy cannot go on */
  int live;         /* for an agent: exact integer noise, from bits of the operating system */
  int64_t releases; /* numbers released so far */
} draws_t;

/* The draws of a run. */
static inline draws_t draws_of(uint64_t seed, uint64_t run, ledger_t *ledger) {
  draws_t draws = {.run = run, .ledger = ledger};
  rng_seed(&draws.policy, seed, run, RNG_POLICY);
  rng_seed(&draws.noise, seed, run, RNG_NOISE);
  return draws;
}

/* exact + Laplace(scale) and exact + N(0, sd^2). A scale of 0 means no noise. A negative, NaN or
   infinite scale releases NaN and marks the draws as failed, so that noise is never left out silently. A
   sum that is NaN fails, too, and so does, where `live`, a sum off the grid (noise_exact_release.h). */
double release_noisy(draws_t *draws, enum noise_kind kind, double exact, double scale);
static inline double release_laplace(draws_t *draws, double exact, double scale) {
  return release_noisy(draws, NOISE_LAPLACE, exact, scale);
}
static inline double release_gaussian(draws_t *draws, double exact, double sd) {
  return release_noisy(draws, NOISE_GAUSSIAN, exact, sd);
}
/* A release of two numbers: the sum of rewards in [0, 1] with noise of this scale, which is returned,
   and the sum of their squares about 1/2 (reward_square()) with noise of scale / weight. The squares
   cost no privacy. If a reward x becomes x', with d = |x - x'|, the square moves by |x - x'| |x + x' -
   1| <= d (1 - d). So for Gaussian noise of sd s the squared shift is at most d^2 (1 + w^2 (1 - d)^2) /
   s^2, which is at most 1 / s^2 for all d if w^2 <= min (1 + d) / (d^2 (1 - d)) = 11.09; and for Laplace
   noise of scale b the loss is d (1 + w (1 - d)) / b <= 1 / b if w <= 1. Other weights fail.

   Where `live`, squares are rounded up to the grid of rewards, g = 2^-20, so that a reward moves them by
   up to d (1 - d) + g. For d = 1 they do not move. Else a = 1 - d >= g, and with w <= 2 the squared
   shift is at most (1 - a)^2 + 4 (2a)^2 <= 1 where a <= 2/17, and less than .83 elsewhere. The shift for
   Laplace noise is at most 1 + g, and the scale is larger by this factor. */
#define WEIGHT_GAUSSIAN 2.0
#define WEIGHT_LAPLACE  1.0
double release_pair(draws_t *draws, enum noise_kind kind, double sum, double squares, double scale,
                    double weight, double *noisy_squares);
/* (reward - 1/2)^2, where `live` rounded up to the grid. The rounding is conservative for evidence. */
double reward_square(const draws_t *draws, double reward);
/* The sum of squares of a batch whose sum was just released in a moving average with Gaussian noise, as part
   of that release. One reward's sum moves the releases by at most d^2 in total (noise_moving_average.h). */
double release_beside(draws_t *draws, double squares, double sd);
/* release_gaussian() for a moving average of sums (noise_moving_average.h). Where `live`, the sum is
   first rounded down to the grid: see exact_average(). */
double release_average(draws_t *draws, double exact, double sd);
/* Randomised response (Warner 1965): a reward in [0, 1] becomes a random bit with this mean, which is
   flipped with probability `flip`, a multiple of 2^-53. release_bits() does so for n rewards of 0 or 1
   at once, given their sum, and returns how many bits are 1. The ledger's scale is `flip`. */
double release_bit(draws_t *draws, double reward, double flip);
double release_bits(draws_t *draws, double sum, double n, double flip);
/* Writes the coefficients of the last released number into the ledger. */
void release_was_average(draws_t *draws, double gain, double correlation);
/* The Gamma mechanism: p numbers at once, with noise of density proportional to exp(-|noise|_2 / scale).
   It adds a ledger row for each number; `out` must not alias `exact`. There is no exact sampler for it,
   so it fails where draws are `live`. */
void release_gamma(draws_t *draws, int p, const double *exact, double scale, double *out);

#endif
