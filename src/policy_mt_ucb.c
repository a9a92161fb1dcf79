/* Private UCB: Mishra and Thakurta (2015), Algorithm 1, and the variant of their
   experiments (section 5.1).

   1. eps0 = epsilon / k; a tree counter with T leaves and budget eps0 for each arm.
   2-6. Pull each arm once.
   7. Gamma = log^2(T) log(k T log(T) / gamma) / eps0.
   8-13. Pull the arm of the largest r_a / n_a + sqrt(2 log(t) / n_a) + Gamma / n_a, where
   r_a is the released sum of the arm's tree; insert the reward.

   tuned: r_a / n_a + sqrt(r_a log(t)) / n_a + log(t) / n_a instead. */

#include <math.h>
#include "counter_tree.h"
#include "policy.h"

enum { EPSILON, GAMMA, TUNED, SPLIT_BUDGET };
static const char *const PARAMS[] = {"epsilon", "gamma", "tuned", "split_budget", NULL};

/* The index is centre + wide sqrt(log t) + far log t. */
typedef struct {
  double n, centre, wide, far;
} arm_t;

typedef struct {
  double k, levels, tuned, relaxation;
  arm_t arms[];
} state_t;

static void *trees(state_t *s) { return s->arms + (size_t)s->k; }

static size_t size(const spec_t *spec) {
  const int levels = tree_levels(spec->horizon);
  return sizeof(state_t) + (sizeof(arm_t) + tree_size(levels)) * (size_t)spec->k;
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  const double k = spec->k, horizon = spec->horizon, log_t = log(horizon);
  const double eps0 = spec->par[EPSILON] / (spec->par[SPLIT_BUDGET] ? k : 1);
  const int levels = tree_levels(horizon);
  s->k = k;
  s->levels = levels;
  s->tuned = spec->par[TUNED];
  s->relaxation =
      horizon > 1 ? log_t * log_t * log(k * horizon * log_t / spec->par[GAMMA]) / eps0 : 0;
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (arm_t){0, INFINITY, 0, 0};
    tree_init(tree_at(trees(s), levels, (size_t)i), levels, NOISE_LAPLACE, levels / eps0);
  }
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  (void)dice;
  const arm_t *arms = ((state_t *)state)->arms;
  const double log_t = log((double)round->t), root = sqrt(log_t);
  double best = -INFINITY;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    /* An arm without rewards has centre Inf: it is pulled first. */
    const double index = arms[i].centre + arms[i].wide * root + arms[i].far * log_t;
    if (index > best || choice < 0) best = index, choice = i;
  }
  return choice;
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round;
  state_t *s = state;
  arm_t *a = &s->arms[arm];
  const double r = tree_add(tree_at(trees(s), (int)s->levels, (size_t)arm), reward, dice);
  const double n = a->n += 1;
  if (s->tuned) {
    a->centre = r / n;
    a->wide = sqrt(fmax(r, 0)) / n;
    a->far = 1 / n;
  } else {
    a->centre = (r + s->relaxation) / n;
    a->wide = sqrt(2 / n);
  }
}

const policy_t policy_mt_ucb = {"mt_ucb", PARAMS, size, init, choose, observe, NULL};
