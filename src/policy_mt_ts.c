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

#include "noise_counter_tree.h"
#include "policy.h"
#include "policy_released.h"
#include "sample.h"

enum { EPSILON, TUNED, WARMUP, SPLIT_BUDGET };
PARAMETERS(PARAMS, NEEDS("epsilon"), NEEDS("tuned"), TAKES("warmup"), NEEDS("split_budget"));

enum phase { GAP, EXPLORE, SAMPLE };

typedef struct {
  double assigned;  /* pulls in the stage at hand */
  double come, sum; /* rewards of this stage that have come, and their exact sum */
  double n;         /* rewards in the tree */
  double a, b;      /* the posterior is Beta(a, b) */
  double mean;      /* private mean of the last batch */
  report_t report;  /* of all batches of the gap estimation */
} arm_t;

typedef struct {
  double horizon, epsilon, gap_epsilon, tree_epsilon;
  double warmup;      /* NaN: Gamma / D^2 */
  double gap;         /* D */
  double target;      /* pulls of each arm in this stage */
  int64_t k, waiting; /* waiting: arms with rewards of this stage to come */
  int64_t stage;      /* batches of the gap estimation, exploration, sampling: from 1 */
  int32_t levels, max_levels;
  enum phase phase;
  arm_t arms[];
} state_t;

static void *trees(const state_t *s) { return (void *)(s->arms + s->k); }

static size_t size(const spec_t *spec) {
  const int levels = tree_levels(spec->horizon);
  return sizeof(state_t) + (sizeof(arm_t) + tree_size(levels)) * (size_t)spec->k;
}

static void begin_pulls(state_t *s, double target) {
  s->target = fmax(0, ceil(target));
  s->waiting = s->target > 0 ? s->k : 0;
  s->stage++;
  for (int i = 0; i < s->k; i++) s->arms[i].assigned = s->arms[i].come = s->arms[i].sum = 0;
}

static void begin_sample(state_t *s) { /* line 13 */
  s->phase = SAMPLE;
  s->stage++;
}

static void begin_batch(state_t *s) { /* line 4 */
  const double m = 192 * log(s->horizon) / (s->gap_epsilon * s->gap * s->gap);
  begin_pulls(s, fmax(1, m));
}

static void begin_explore(state_t *s, double played) { /* lines 9 to 12 */
  s->phase = EXPLORE;
  s->levels = tree_levels(fmax(1, s->horizon - played));
  for (int i = 0; i < s->k; i++) {
    tree_t *tree = tree_at(trees(s), s->max_levels, (size_t)i);
    tree_init(tree, s->levels, NOISE_LAPLACE, s->levels / s->tree_epsilon);
  }
  const double gamma = 192 * pow(log(s->horizon), 3) / s->epsilon;
  begin_pulls(s, isnan(s->warmup) ? gamma / (s->gap * s->gap) : s->warmup);
  if (s->waiting == 0) begin_sample(s);
}

static void end_batch(state_t *s, double played, draws_t *draws) { /* lines 5 to 8 */
  double first = -INFINITY, second = -INFINITY;
  for (int i = 0; i < s->k; i++) {
    arm_t *a = &s->arms[i];
    a->mean = report_release(&a->report, s->target, a->sum, 0, draws) / s->target;
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
  *s = (state_t){.k = spec->k,
                 .horizon = spec->horizon,
                 .epsilon = epsilon,
                 .max_levels = levels,
                 .levels = levels,
                 .warmup = spec->par[WARMUP],
                 .phase = GAP,
                 .gap = 1};
  s->gap_epsilon = split ? epsilon / k : epsilon;
  s->tree_epsilon = !split ? epsilon : tuned ? epsilon / k : epsilon / (2 * k);
  const mechanism_t how = mechanism_of(0, 2 / s->gap_epsilon);
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (arm_t){.a = 1, .b = 1, .report = report_of(&how)};
  }
  if (tuned) begin_explore(s, 0);
  else begin_batch(s);
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  const arm_t *arms = s->arms;
  if (s->phase != SAMPLE) {
    FOR_EACH_ARM(i, round) if (arms[i].assigned < s->target) return i;
    /* These have their pulls, and the stage waits for other arms or for late rewards. */
    return least_pulled(round);
  }
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) { argmax_add(&best, i, sample_beta(&draws->policy, arms[i].a, arms[i].b)); }
  return argmax_arm(&best);
}

/* The stage to which the reward belongs; 0: it was not asked for and is not used. */
static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  (void)round, (void)draws;
  state_t *s = state;
  if (s->phase == SAMPLE) return s->stage;
  arm_t *a = &s->arms[arm];
  if (a->assigned >= s->target) return 0;
  a->assigned += 1;
  return s->stage;
}

/* n more rewards of an arm reach its tree, as one leaf. */
static void insert(state_t *s, int arm, double n, double sum, draws_t *draws) {
  arm_t *a = &s->arms[arm];
  a->n += n;
  tree_t *tree = tree_at(trees(s), s->max_levels, (size_t)arm);
  const double r = fmin(fmax(tree_add(tree, sum, draws), 0), a->n);
  a->a = r + 1;
  a->b = a->n - r + 1;
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  state_t *s = state;
  const int arm = feedback->arm;
  arm_t *a = &s->arms[arm];
  if (feedback->batch != s->stage) return;
  if (s->phase == SAMPLE) {
    insert(s, arm, 1, sample_coin(&draws->policy, feedback->reward), draws);
    return;
  }
  a->come += 1;
  a->sum += s->phase == GAP ? feedback->reward : sample_coin(&draws->policy, feedback->reward);
  if (a->come < s->target) return;
  s->waiting -= 1;
  if (s->phase == GAP) {
    if (s->waiting == 0) end_batch(s, (double)feedback->t, draws);
    return;
  }
  insert(s, arm, a->come, a->sum, draws);
  if (s->waiting == 0) begin_sample(s);
}

/* The gap estimation's sums and the tree's. */
static report_t report(const void *state, int arm) {
  const state_t *s = state;
  const arm_t *a = &s->arms[arm];
  report_t report = a->report;
  if (s->phase == GAP) return report;
  const tree_t *tree = tree_at(trees(s), s->max_levels, (size_t)arm);
  report.rewards += a->n;
  report.sum += tree->sum;
  report.last_terms = tree_terms(tree);
  report.last_scale = tree->scale;
  report.looks = report.terms + (double)tree->n;
  return report;
}

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  int all = SAME(k) && SAME(max_levels) && is_in(s->levels, 0, s->max_levels + 1);
  for (int64_t i = 0; all && i < s->k; i++) {
    all = tree_is_sound(tree_at(trees(s), s->max_levels, (size_t)i), s->max_levels);
  }
  return all;
}

POLICY(mt_ts, .state_version = 2, .tosses = 1, .tosses_coins = 1, .releases = 1, .needs_horizon = 1,
       .commit = commit, .update = update, .report = report, .sound = sound);
