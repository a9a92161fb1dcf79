/* Contextual Thompson sampling with linear payoffs: Agrawal and Goyal (2013), Algorithm 1;
   private by tree-based aggregation of A and b: Mishra and Thakurta (2015), Algorithm 4.

   Draw theta~ from N(theta, v^2 A^-1) of each model and pull the arm of the largest
   theta~ . z, where A = ridge I + sum z z' and theta = A^-1 b, b = sum r z. */

#include <math.h>
#include "linear_model.h"
#include "sample.h"

static const char *const PARAMS[] = LINEAR_PARAMS("v");

typedef struct {
  double v, shared;
  double model[]; /* a linear_t */
} state_t;

static linear_t *model(const void *state) {
  return (linear_t *)((state_t *)state)->model;
}

static int factor(const spec_t *spec) { return spec->par[LINEAR_SHARED] != 0; }

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + linear_size(spec, factor(spec));
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  s->v = spec->par[LINEAR_WIDTH];
  s->shared = spec->par[LINEAR_SHARED];
  linear_init(model(s), spec, factor(spec));
}

/* One draw of the shared theta decides on all arms. */
static int choose_shared(const state_t *s, const round_t *round, dice_t *dice) {
  const linear_t *linear = model(s);
  const int d = linear_dim(linear);
  double theta[LINEAR_MAX_DIM], best = -INFINITY;
  int choice = -1;
  linear_draw(linear, s->v, &dice->policy, theta);
  FOR_EACH_ARM(i, round) {
    const double *z = round_context(round, i);
    double score = 0;
    for (int j = 0; j < d; j++) score += theta[j] * z[j];
    if (score > best || choice < 0) best = score, choice = i;
  }
  return choice;
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  const state_t *s = state;
  if (s->shared != 0) return choose_shared(s, round, dice);
  /* With a theta for each arm, only theta~ . z matters: N(theta . z, v^2 z' A^-1 z). */
  const linear_t *linear = model(s);
  linear_view_t view;
  linear_look(linear, round, &view);
  double best = -INFINITY;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    double width;
    const double mean = linear_score(linear, round, i, &view, &width);
    const double score = mean + s->v * width * sample_normal(&dice->policy);
    if (score > best || choice < 0) best = score, choice = i;
  }
  return choice;
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  linear_observe(model(state), round, arm, reward, dice);
}

const policy_t policy_lin_ts = {"lin_ts", PARAMS, size, init, choose, observe, NULL};
