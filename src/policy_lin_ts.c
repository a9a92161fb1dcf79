/* Contextual Thompson sampling with linear payoffs: Agrawal and Goyal (2013), Algorithm 1;
   private by tree-based aggregation of A and b: Mishra and Thakurta (2015), Algorithm 4.

   Draw theta~ from N(theta, v^2 A^-1) of each model and pull the arm of the largest
   theta~ . z, where A = ridge I + sum z z' and theta = A^-1 b, b = sum r z. */

#include <math.h>
#include "policy_linear_model.h"
#include "sample.h"

LINEAR_PARAMETERS("v");

static int factor(const spec_t *spec) { return spec->par[LINEAR_SHARED] != 0; }

static size_t size(const spec_t *spec) { return linear_size(spec, factor(spec)); }

static void init(void *state, const spec_t *spec) { linear_init(state, spec, factor(spec), LINK_IDENTITY); }

/* One draw of the shared theta decides on all arms. */
static int choose_shared(const linear_t *linear, const round_t *round, draws_t *draws) {
  const int d = linear_dim(linear);
  argmax_t best = ARGMAX;
  double theta[LINEAR_DIM], own[LINEAR_DIM];
  linear_draw(linear, &draws->policy, theta);
  FOR_EACH_ARM(i, round) {
    const double *z = linear_context(linear, round, i, own);
    double score = 0;
    for (int j = 0; j < d; j++) score += theta[j] * z[j];
    argmax_add(&best, i, score);
  }
  return argmax_arm(&best);
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const linear_t *linear = state;
  if (linear_is_shared(linear)) return choose_shared(linear, round, draws);
  /* With a theta for each arm, only theta~ . z matters: N(theta . z, v^2 z' A^-1 z). */
  linear_view_t view;
  linear_look(linear, round, &view);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    double width;
    const double mean = linear_score(linear, round, i, &view, &width);
    argmax_add(&best, i, mean + width * sample_normal(&draws->policy));
  }
  return argmax_arm(&best);
}

POLICY(lin_ts, .state_version = 6, .tosses = 1, .releases = 1, .needs_context = 1, .update = linear_update,
       .finish = linear_finish, .grow = linear_grow, .sound = linear_sound);
