/* DP-UCB-Bound: Tossou and Dimitrakakis (2016).

   A hybrid mechanism with budget epsilon sums the rewards of each arm. Pull each arm once;
   then the arm of the largest X / n + sqrt(2 ln(t) / n) + nu / n, where X is the released
   sum and nu bounds its noise: (sqrt(8) / epsilon) ln(4 t^4), times ln(n) + 1 unless n is a
   power of 2, when the sum is that of the logarithmic mechanism alone. */

#include <math.h>
#include "counter_log.h"
#include "policy.h"

enum { EPSILON };
static const char *const PARAMS[] = {"epsilon", NULL};

/* The index is centre + wide sqrt(2 ln(t)) + far ln(4 t^4). */
typedef struct {
  double n, centre, wide, far;
} arm_t;

typedef struct {
  double k, levels, epsilon;
  arm_t arms[];
} state_t;

static void *counters(state_t *s) { return s->arms + (size_t)s->k; }

static size_t size(const spec_t *spec) {
  return sizeof(state_t) +
         (sizeof(arm_t) + hybrid_size(tree_levels(spec->horizon))) * (size_t)spec->k;
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  const int levels = tree_levels(spec->horizon);
  *s = (state_t){.k = spec->k, .levels = levels, .epsilon = spec->par[EPSILON]};
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (arm_t){0, INFINITY, 0, 0};
    hybrid_init(hybrid_at(counters(s), levels, (size_t)i), levels, 0, s->epsilon);
  }
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  (void)dice;
  const arm_t *arms = ((state_t *)state)->arms;
  const double log_t = log((double)round->t);
  const double root = sqrt(2 * log_t), noise = log(4) + 4 * log_t;
  double best = -INFINITY;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    /* An arm without rewards has centre Inf: it is pulled first. */
    const double index = arms[i].centre + arms[i].wide * root + arms[i].far * noise;
    if (index > best || choice < 0) best = index, choice = i;
  }
  return choice;
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round;
  state_t *s = state;
  arm_t *a = &s->arms[arm];
  hybrid_t *counter = hybrid_at(counters(s), (int)s->levels, (size_t)arm);
  const double sum = hybrid_add(counter, reward, dice), n = a->n += 1;
  int exponent;
  const int power_of_2 = frexp(n, &exponent) == 0.5;
  a->centre = sum / n;
  a->wide = sqrt(1 / n);
  a->far = sqrt(8) / s->epsilon * (power_of_2 ? 1 : log(n) + 1) / n;
}

const policy_t policy_dp_ucb_bound = {"dp_ucb_bound", PARAMS, size, init, choose, observe,
                                      NULL};
