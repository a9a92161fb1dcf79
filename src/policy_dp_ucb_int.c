/* DP-UCB-Int: Tossou and Dimitrakakis (2016), Algorithm 3.

   f = ceil(1 / epsilon), which the constructor computes. Pull the arms in turn until each has f rewards. An arm's private
   mean is renewed when its pulls n are a multiple of f: (S + Lap(n^(v / 2))) / n. Pull the
   arm of the largest private mean + sqrt(2 ln(t) / n). */

#include <math.h>
#include "policy.h"

enum { EVERY, V };
static const param_t PARAMS[] = {{"every", REQUIRED}, {"v", REQUIRED}, {NULL}};

typedef struct {
  double sum, n, mean; /* sum: exact, never in an index */
  double due;          /* pulls until the mean is renewed */
} arm_t;

typedef struct {
  double every, power; /* f, v / 2 */
  int64_t waiting;     /* arms without a mean */
  arm_t arms[];
} state_t;

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + sizeof(arm_t) * (size_t)spec->k;
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  *s = (state_t){.every = spec->par[EVERY], .power = spec->par[V] / 2, .waiting = spec->k};
  for (int i = 0; i < spec->k; i++) s->arms[i] = (arm_t){0, 0, 0, s->every};
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)draws;
  const state_t *s = state;
  const arm_t *arms = s->arms;
  if (s->waiting > 0) {
    /* In turn, until each has f rewards. */
    FOR_EACH_ARM(i, round) if (arms[i].n < s->every) return least_pulled(round);
  }
  const double width = sqrt(2 * log((double)round->t));
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) argmax_add(&best, i, arms[i].mean + width / sqrt(arms[i].n));
  return argmax_arm(&best);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  state_t *s = state;
  arm_t *a = &s->arms[feedback->arm];
  a->sum += feedback->reward;
  a->n += 1;
  if (--a->due > 0) return;
  a->due = s->every;
  if (a->n == s->every) s->waiting -= 1;
  a->mean = release_laplace(draws, a->sum, pow(a->n, s->power)) / a->n;
}

static report_t report(const void *state, int arm) {
  const state_t *s = state;
  const arm_t *a = &s->arms[arm];
  const double n = a->n - (s->every - a->due); /* when the mean was renewed */
  return (report_t){.rewards = n,
                    .sum = n * a->mean,
                    .kind = NOISE_LAPLACE,
                    .last_terms = 1,
                    .last_scale = pow(n, s->power),
                    .looks = n / s->every};
}

const policy_t policy_dp_ucb_int = {.name = "dp_ucb_int",
                                    .params = PARAMS,
                                    .state_version = 1,
                                    .size = size,
                                    .init = init,
                                    .choose = choose,
                                    .update = update,
                                    .report = report};
