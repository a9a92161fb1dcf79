/* Lazy Gaussian-noise Thompson sampling: Hu and Hegde's (2022) Algorithm 2 with Gaussian
   noise N(0, 1 / mu^2) on the sum of a block, for mu-GDP.

   Pull each arm once. In round t draw theta ~ Beta(shifted n + 1, (1 - shifted) n + 1) for
   each arm, shifted = clip(mean + sqrt(6 ln(t)) / (mu n)) to [0, 1], with n and mean those of
   its last full block (counter_block.h); pull the arm of the largest.
   P(N(0, 1 / mu^2) > sqrt(6 ln(t)) / mu) <= t^-3, as for 3 ln(t) / epsilon and Lap(1 / epsilon). */

#include <math.h>
#include "counter_block.h"
#include "policy.h"
#include "sample.h"

enum { MU };
static const char *const PARAMS[] = {"mu", NULL};

typedef struct {
  double mu, waiting; /* waiting: arms not pulled yet */
  block_t arms[];
} state_t;

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + sizeof(block_t) * (size_t)spec->k;
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  *s = (state_t){.mu = spec->par[MU], .waiting = spec->k};
  for (int i = 0; i < spec->k; i++) block_init(&s->arms[i]);
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  const state_t *s = state;
  const block_t *arms = s->arms;
  if (s->waiting > 0) {
    FOR_EACH_ARM(i, round) if (arms[i].n == 0) return i;
  }
  const double shift = sqrt(6 * log((double)round->t)) / s->mu;
  double best = -1;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    const double n = arms[i].n, shifted = fmin(fmax(arms[i].mean + shift / n, 0), 1);
    const double theta = sample_beta(&dice->policy, shifted * n + 1, (1 - shifted) * n + 1);
    if (theta > best) best = theta, choice = i;
  }
  return choice;
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round;
  state_t *s = state;
  const int first = s->arms[arm].n == 0;
  if (block_add(&s->arms[arm], 1, reward, NOISE_GAUSSIAN, 1 / s->mu, dice) && first) {
    s->waiting -= 1;
  }
}

const policy_t policy_lazy_gaussian_ts = {"lazy_gaussian_ts", PARAMS, size, init, choose,
                                          observe, NULL};
