/* Private Thompson sampling: Mishra and Thakurta (2015), Algorithm 2, and the variant of
   their experiments (section 5.1), which leaves the gap estimation out.

   1-8.   Gap estimation. D = 1; repeat: pull each arm m = 192 k log(T) / (epsilon D^2)
          times; private mean of each arm = mean of these m rewards + Lap(2k / (epsilon m));
          D = D / 2; until the best two private means differ by more than D.
   9.     A tree for each arm with as many leaves as rounds are left, eps0 = epsilon / 2k.
   10-12. Pull each arm Gamma / D^2 times, Gamma = 192 log^3(T) / epsilon, and insert the
          total into the tree as one leaf.
   13-17. Thompson sampling: theta_a ~ Beta(r_a + 1, n_a - r_a + 1), r_a the released sum.

   Readings: line 7 compares the private means (the paper prints the true ones); n_a counts
   the rewards that went into the tree, so not those of the gap estimation; r_a is clipped to
   [0, n_a]; log is natural. tuned: lines 9 to 17 only, with T leaves and eps0 =
   epsilon / k. Without split_budget the k of lines 4 and 5 is gone and eps0 is epsilon. */

#include <math.h>
#include "counter_tree.h"
#include "policy.h"
#include "sample.h"

enum { EPSILON, TUNED, WARMUP, SPLIT_BUDGET };
static const char *const PARAMS[] = {"epsilon", "tuned", "warmup", "split_budget", NULL};

enum phase { GAP, EXPLORE, SAMPLE };

typedef struct {
  double pulls, sum; /* in the phase or batch at hand, and their exact reward */
  double n;          /* rewards in the tree */
  double a, b;       /* the posterior is Beta(a, b) */
  double mean;       /* private mean of the last batch */
} arm_t;

typedef struct {
  double k, horizon, epsilon, max_levels, levels;
  double warmup;       /* NaN: Gamma / D^2 */
  double gap_epsilon, tree_epsilon;
  double phase, gap;   /* gap is D */
  double target;       /* pulls of each arm in this phase or batch */
  double waiting;      /* arms that have had fewer */
  arm_t arms[];
} state_t;

static void *trees(state_t *s) { return s->arms + (size_t)s->k; }

static size_t size(const spec_t *spec) {
  const int levels = tree_levels(spec->horizon);
  return sizeof(state_t) + (sizeof(arm_t) + tree_size(levels)) * (size_t)spec->k;
}

static void begin_pulls(state_t *s, double target) {
  s->target = fmax(0, ceil(target));
  s->waiting = s->target > 0 ? s->k : 0;
  for (int i = 0; i < s->k; i++) s->arms[i].pulls = s->arms[i].sum = 0;
}

static void begin_batch(state_t *s) { /* line 4 */
  const double m = 192 * log(s->horizon) / (s->gap_epsilon * s->gap * s->gap);
  begin_pulls(s, fmax(1, m));
}

static void begin_explore(state_t *s, double played) { /* lines 9 to 12 */
  s->phase = EXPLORE;
  s->levels = tree_levels(fmax(1, s->horizon - played));
  for (int i = 0; i < s->k; i++) {
    tree_t *tree = tree_at(trees(s), (int)s->max_levels, (size_t)i);
    tree_init(tree, (int)s->levels, NOISE_LAPLACE, s->levels / s->tree_epsilon);
  }
  const double gamma = 192 * pow(log(s->horizon), 3) / s->epsilon;
  begin_pulls(s, isnan(s->warmup) ? gamma / (s->gap * s->gap) : s->warmup);
  if (s->waiting == 0) s->phase = SAMPLE;
}

static void end_batch(state_t *s, double played, dice_t *dice) { /* lines 5 to 8 */
  double first = -INFINITY, second = -INFINITY;
  for (int i = 0; i < s->k; i++) {
    arm_t *a = &s->arms[i];
    a->mean = release_laplace(dice, a->sum / s->target, 2 / (s->gap_epsilon * s->target));
    if (a->mean > first) second = first, first = a->mean;
    else if (a->mean > second) second = a->mean;
  }
  s->gap /= 2;
  if (first - second > s->gap) begin_explore(s, played);
  else begin_batch(s);
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  const int levels = tree_levels(spec->horizon), tuned = spec->par[TUNED] != 0;
  const double k = spec->k, epsilon = spec->par[EPSILON];
  const int split = spec->par[SPLIT_BUDGET] != 0;
  *s = (state_t){.k = k, .horizon = spec->horizon, .epsilon = epsilon,
                 .max_levels = levels, .levels = levels, .warmup = spec->par[WARMUP],
                 .phase = GAP, .gap = 1};
  s->gap_epsilon = split ? epsilon / k : epsilon;
  s->tree_epsilon = !split ? epsilon : tuned ? epsilon / k : epsilon / (2 * k);
  for (int i = 0; i < spec->k; i++) s->arms[i] = (arm_t){.a = 1, .b = 1};
  if (tuned) begin_explore(s, 0);
  else begin_batch(s);
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  const state_t *s = state;
  const arm_t *arms = s->arms;
  if (s->phase != SAMPLE) {
    FOR_EACH_ARM(i, round) if (arms[i].pulls < s->target) return i;
    return round->pool ? round->pool[rng_below(&dice->policy, round->n_pool)] : 0;
  }
  double best = -1;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    const double theta = sample_beta(&dice->policy, arms[i].a, arms[i].b);
    if (theta > best) best = theta, choice = i;
  }
  return choice;
}

/* n more rewards of an arm reach its tree, as one leaf. */
static void insert(state_t *s, int arm, double n, double sum, dice_t *dice) {
  arm_t *a = &s->arms[arm];
  a->n += n;
  tree_t *tree = tree_at(trees(s), (int)s->max_levels, (size_t)arm);
  const double r = fmin(fmax(tree_add(tree, sum, dice), 0), a->n);
  a->a = r + 1;
  a->b = a->n - r + 1;
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  state_t *s = state;
  arm_t *a = &s->arms[arm];
  if (s->phase == SAMPLE) {
    insert(s, arm, 1, sample_coin(&dice->policy, reward), dice);
    return;
  }
  if (a->pulls >= s->target) return; /* not asked for: the reward is not used */
  a->pulls += 1;
  a->sum += s->phase == GAP ? reward : sample_coin(&dice->policy, reward);
  if (a->pulls < s->target) return;
  s->waiting -= 1;
  if (s->phase == GAP) {
    if (s->waiting == 0) end_batch(s, (double)round->t, dice);
    return;
  }
  insert(s, arm, a->pulls, a->sum, dice);
  if (s->waiting == 0) s->phase = SAMPLE;
}

const policy_t policy_mt_ts = {"mt_ts", PARAMS, size, init, choose, observe, NULL};
