#ifndef DPTS_NOISE_H
#define DPTS_NOISE_H
/* Privacy noise. Every private policy and counter releases its sums through these
   functions and in no other way, so that a test can read from the ledger what was
   released, with which noise, and switch the noise off. */

#include "rng.h"

enum noise_law { NOISE_LAPLACE = 1, NOISE_GAUSSIAN = 2, NOISE_GAMMA = 3 };

/* One row a released number: its exact value, the law and scale of its noise and the
   noise itself. Rows past `max` are counted, not kept. */
typedef struct {
  int silent; /* release exact values */
  int n, max;
  double *exact, *law, *scale, *noise;
} ledger_t;

typedef struct {
  rng_t policy, noise;
  ledger_t *ledger; /* NULL outside tests */
} dice_t;

/* The dice of a run. */
static inline dice_t dice_of(uint64_t seed, uint64_t run, ledger_t *ledger) {
  dice_t dice = {.ledger = ledger};
  rng_seed(&dice.policy, seed, run, RNG_POLICY);
  rng_seed(&dice.noise, seed, run, RNG_NOISE);
  return dice;
}

/* exact + Laplace(scale) and exact + N(0, sd^2); a scale of 0 adds nothing. */
double release_laplace(dice_t *dice, double exact, double scale);
double release_gaussian(dice_t *dice, double exact, double sd);
/* The Gamma mechanism: p numbers at once, with noise of density proportional to
   exp(-|noise|_2 / scale). A ledger row for each of them; `out` is not `exact`. */
void release_gamma(dice_t *dice, int p, const double *exact, double scale, double *out);

#endif
