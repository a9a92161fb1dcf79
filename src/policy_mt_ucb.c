/* Private UCB: Mishra and Thakurta (2015), Algorithm 1, and the variant of their experiments (section 5.1).

   1. eps0 = epsilon / k; a tree counter with T leaves and budget eps0 for each arm.
   2-6. Pull each arm once.
   7. Gamma = log^2(T) log(k T log(T) / gamma) / eps0.
   8-13. Pull the arm of the largest r_a / n_a + sqrt(2 log(t) / n_a) + Gamma / n_a, where
   r_a is the released sum of the arm's tree; insert the reward.

   tuned: r_a / n_a + sqrt(r_a log(t)) / n_a + log(t) / n_a instead. */

#include <math.h>
#include <string.h>
#include "noise_counter_tree.h"
#include "policy.h"

enum { EPSILON, GAMMA, TUNED, SPLIT_BUDGET };
PARAMETERS(PARAMS, NEEDS("epsilon"), NEEDS("gamma"), NEEDS("tuned"), NEEDS("split_budget"));

/* The index is centre + wide sqrt(log t) + far log t. */
typedef struct {
  double n, centre, wide, far;
} arm_t;

typedef struct {
  int64_t k, waiting; /* waiting: arms without rewards */
  int32_t levels, tuned;
  double relaxation;
  arm_t arms[];
} state_t;

static void *trees(const state_t *s) { return (void *)(s->arms + s->k); }

static size_t size(const spec_t *spec) {
  const int levels = tree_levels(spec->horizon);
  return sizeof(state_t) + (sizeof(arm_t) + tree_size(levels)) * (size_t)spec->k;
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  const double k = spec->k, horizon = spec->horizon, ln_t = log(horizon);
  const double eps0 = spec->par[EPSILON] / (spec->par[SPLIT_BUDGET] ? k : 1);
  const int levels = tree_levels(horizon);
  *s = (state_t){.k = spec->k, .waiting = spec->k, .levels = levels, .tuned = spec->par[TUNED] != 0};
  s->relaxation = horizon > 1 ? ln_t * ln_t * log(k * horizon * ln_t / spec->par[GAMMA]) / eps0 : 0;
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (arm_t){0};
    tree_init(tree_at(trees(s), levels, (size_t)i), levels, NOISE_LAPLACE, levels / eps0);
  }
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)draws;
  const state_t *s = state;
  const arm_t *arms = s->arms;
  const int first = opening_choice(s->waiting, round, &arms->n, sizeof *arms);
  if (first >= 0) return first;
  const double ln_t = log((double)round->t), root = sqrt(ln_t);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) { argmax_add(&best, i, arms[i].centre + arms[i].wide * root + arms[i].far * ln_t); }
  return argmax_arm(&best);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  state_t *s = state;
  arm_t *a = &s->arms[feedback->arm];
  tree_t *tree = tree_at(trees(s), s->levels, (size_t)feedback->arm);
  const double r = tree_add(tree, feedback->reward, draws);
  if (a->n == 0) s->waiting--;
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

static report_t report(const void *state, int arm) {
  const state_t *s = state;
  const tree_t *tree = tree_at(trees(s), s->levels, (size_t)arm);
  const double n = s->arms[arm].n;
  return (report_t){.rewards = n,
                    .sum = tree->sum,
                    .kind = NOISE_LAPLACE,
                    .last_terms = tree_terms(tree),
                    .last_scale = tree->scale,
                    .looks = n};
}

/* Each tree keeps its noise: a reward is in one tree, of eps0 = epsilon / k at most. Relaxations
   are as for all arms. */
static void grow(void *state, const void *of_old, int k) {
  state_t *s = state, *old = (state_t *)of_old;
  s->waiting += old->waiting - k;
  memcpy(trees(s), trees(old), tree_size(s->levels) * (size_t)k);
  memcpy(s->arms, old->arms, sizeof *s->arms * (size_t)k);
  for (int i = 0; i < k; i++) {
    arm_t *a = &s->arms[i];
    if (a->n > 0 && !s->tuned) a->centre += (s->relaxation - old->relaxation) / a->n;
  }
}

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  int all = SAME(k) && SAME(levels);
  for (int64_t i = 0; all && i < s->k; i++) {
    all = tree_is_sound(tree_at(trees(s), s->levels, (size_t)i), s->levels);
  }
  return all;
}

POLICY(mt_ucb, .state_version = 1, .releases = 1, .needs_horizon = 1, .update = update, .report = report,
       .grow = grow, .sound = sound);
