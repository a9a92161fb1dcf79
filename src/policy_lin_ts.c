/* Contextual Thompson sampling with linear payoffs: Agrawal and Goyal (2013), Algorithm 1;
   private by tree-based aggregation of A and b: Mishra and Thakurta (2015), Algorithm 4.

   Draw theta~ from N(theta, v^2 A^-1) of each model and pull the arm of the largest
   theta~ . z, where A = ridge I + sum z z' and theta = A^-1 b, b = sum r z. */

#include <math.h>
#include "policy_linear_model.h"
#include "sample.h"

LINEAR_PARAMETERS("v");

typedef struct {
  double v, shared;
  double model[]; /* a linear_t */
} state_t;

static linear_t *model(const void *state) { return (linear_t *)((state_t *)state)->model; }

static int factor(const spec_t *spec) { return spec->par[LINEAR_SHARED] != 0; }

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + linear_size(spec, factor(spec));
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  s->v = spec->par[LINEAR_WIDTH];
  s->shared = spec->par[LINEAR_SHARED];
  linear_init(model(s), spec, factor(spec), LINK_IDENTITY);
}

/* One draw of the shared theta decides on all arms. */
static int choose_shared(const state_t *s, const round_t *round, draws_t *draws) {
  const linear_t *linear = model(s);
  const int d = linear_dim(linear);
  argmax_t best = ARGMAX;
  double theta[MAX_CONTEXT];
  linear_draw(linear, s->v, &draws->policy, theta);
  FOR_EACH_ARM(i, round) {
    const double *z = round_context(round, i);
    double score = 0;
    for (int j = 0; j < d; j++) score += theta[j] * z[j];
    argmax_add(&best, i, score);
  }
  return argmax_arm(&best);
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  if (s->shared != 0) return choose_shared(s, round, draws);
  /* With a theta for each arm, only theta~ . z matters: N(theta . z, v^2 z' A^-1 z). */
  const linear_t *linear = model(s);
  linear_view_t view;
  linear_look(linear, round, &view);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    double width;
    const double mean = linear_score(linear, round, i, &view, &width);
    argmax_add(&best, i, mean + s->v * width * sample_normal(&draws->policy));
  }
  return argmax_arm(&best);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  linear_update(model(state), feedback, draws);
}

static void finish(void *state, draws_t *draws) { linear_finish(model(state), draws); }

static void grow(void *state, const void *old, int k) {
  (void)k;
  linear_grow(model(state), model(old));
}

POLICY(lin_ts, .state_version = 3, .tosses = 1, .releases = 1, .needs_context = 1,
       .update = update, .finish = finish, .grow = grow);
