/* Lazy-DP-TS: Hu and Hegde (2022), Algorithm 2.

   2-4.   Pull each arm once; private mean = reward + Lap(1 / epsilon), O = 1.
   7-11.  shifted = clip(mean + 3 log(t) / (epsilon O)) to [0, 1];
          theta ~ Beta(shifted O + 1, (1 - shifted) O + 1); pull the arm of the largest.
   12-16. Rewards gather in a block; at 2^(r + 1) of them they give the new private mean, with
          one draw of Lap(1 / epsilon), and O = 2^(r + 1) (see counter_block.h). */

#include <math.h>
#include "counter_block.h"
#include "policy.h"
#include "sample.h"

enum { EPSILON, LOG_BASE };
static const char *const PARAMS[] = {"epsilon", "log_base", NULL};

typedef struct {
  double k, epsilon;
  double log_scale; /* 1 / ln(log_base) */
  double waiting;   /* arms not pulled yet */
  block_t arms[];
} state_t;

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + sizeof(block_t) * (size_t)spec->k;
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  *s = (state_t){.k = spec->k, .epsilon = spec->par[EPSILON],
                 .log_scale = 1 / log(spec->par[LOG_BASE]), .waiting = spec->k};
  for (int i = 0; i < spec->k; i++) block_init(&s->arms[i]);
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  const state_t *s = state;
  const block_t *arms = s->arms;
  if (s->waiting > 0) {
    FOR_EACH_ARM(i, round) if (arms[i].n == 0) return i;
  }
  const double shift = 3 * log((double)round->t) * s->log_scale / s->epsilon;
  double best = -1;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    const double n = arms[i].n;
    const double shifted = fmin(fmax(arms[i].mean + shift / n, 0), 1);
    const double theta = sample_beta(&dice->policy, shifted * n + 1, (1 - shifted) * n + 1);
    if (theta > best) best = theta, choice = i;
  }
  return choice;
}

static void add(state_t *s, int arm, double n, double sum, dice_t *dice) {
  block_t *a = &s->arms[arm];
  const int first = a->n == 0;
  if (block_add(a, n, sum, NOISE_LAPLACE, 1 / s->epsilon, dice) && first) s->waiting -= 1;
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round;
  add(state, arm, 1, sample_coin(&dice->policy, reward), dice);
}

const policy_t policy_lazy_dp_ts = {"lazy_dp_ts", PARAMS, size, init, choose, observe, NULL};
