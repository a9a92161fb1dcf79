/* DP-UCB-Bound: Tossou and Dimitrakakis (2016).

   A hybrid mechanism with budget epsilon sums the rewards of each arm. Pull each arm once;
   then the arm of the largest X / n + sqrt(2 ln(t) / n) + nu / n, where X is the released
   sum and nu bounds its noise: (sqrt(8) / epsilon) ln(4 t^4), times ln(n) + 1 unless n is a
   power of 2, when the sum is that of the logarithmic mechanism alone. */

#include <math.h>
#include "counter_log.h"
#include "policy.h"

enum { EPSILON };
static const param_t PARAMS[] = {{"epsilon", REQUIRED}, {NULL}};

/* The index is centre + wide sqrt(2 ln(t)) + far ln(4 t^4). */
typedef struct {
  double n, centre, wide, far;
} arm_t;

typedef struct {
  double epsilon;
  int64_t k, waiting; /* waiting: arms without rewards */
  int64_t levels;
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
  *s = (state_t){
      .k = spec->k, .waiting = spec->k, .levels = levels, .epsilon = spec->par[EPSILON]};
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (arm_t){0};
    hybrid_init(hybrid_at(counters(s), levels, (size_t)i), levels, 0, s->epsilon);
  }
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)draws;
  const state_t *s = state;
  const arm_t *arms = s->arms;
  if (s->waiting > 0) {
    const int arm = opening_choice(round, &arms->n, sizeof *arms, 1);
    if (arm >= 0) return arm;
  }
  const double ln_t = log((double)round->t);
  const double root = sqrt(2 * ln_t), noise = log(4) + 4 * ln_t;
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    argmax_add(&best, i, arms[i].centre + arms[i].wide * root + arms[i].far * noise);
  }
  return argmax_arm(&best);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  state_t *s = state;
  arm_t *a = &s->arms[feedback->arm];
  if (a->n == 0) s->waiting--;
  hybrid_t *counter = hybrid_at(counters(s), (int)s->levels, (size_t)feedback->arm);
  const double sum = hybrid_add(counter, feedback->reward, draws), n = a->n += 1;
  int exponent;
  const int power_of_2 = frexp(n, &exponent) == 0.5;
  a->centre = sum / n;
  a->wide = sqrt(1 / n);
  a->far = sqrt(8) / s->epsilon * (power_of_2 ? 1 : log(n) + 1) / n;
}

static report_t report(const void *state, int arm) {
  const state_t *s = state;
  const void *counters = s->arms + (size_t)s->k;
  return hybrid_report(hybrid_seen(counters, (int)s->levels, (size_t)arm));
}

const policy_t policy_dp_ucb_bound = {.name = "dp_ucb_bound",
                                      .params = PARAMS,
                                      .state_version = 1,
                                      .size = size,
                                      .init = init,
                                      .choose = choose,
                                      .update = update,
                                      .report = report};
