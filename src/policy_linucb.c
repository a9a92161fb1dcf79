/* LinUCB: Li, Chu, Langford and Schapire (2010), Algorithm 1; private by tree-based
   aggregation of A and b: Mishra and Thakurta (2015), Algorithm 3.

   Pull the arm of the largest theta . z + alpha sqrt(z' A^-1 z), where A = ridge I + sum z z'
   and theta = A^-1 b, b = sum r z; ties are broken at random.

   Logistic-UCB is the same with the logistic link of policy_linear_model.h: A is the Fisher information,
   and the index is on the scale of theta . z, where the link does not change which is largest. */

#include <math.h>
#include "policy_linear_model.h"

LINEAR_PARAMETERS("alpha");

static size_t size(const spec_t *spec) { return linear_size(spec, 0); }

static void init(void *state, const spec_t *spec) { linear_init(state, spec, 0, LINK_IDENTITY); }
static void init_logistic(void *state, const spec_t *spec) { linear_init(state, spec, 0, LINK_LOGIT); }

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const linear_t *linear = state;
  linear_view_t view;
  linear_look(linear, round, &view);
  argmax_t best = ARGMAX;
  int ties = 0;
  FOR_EACH_ARM(i, round) {
    double width;
    const double mean = linear_score(linear, round, i, &view, &width);
    const double score = mean + width;
    /* Arms without rewards tie, and with late rewards they do so for long: toss for it. */
    if (argmax_add(&best, i, score)) ties = 1;
    else if (score == best.value && rng_below(&draws->policy, ++ties) == 0) best.arm = i;
  }
  return argmax_arm(&best);
}

POLICY(linucb, .state_version = 6, .tosses = 1, /* among equals */ .releases = 1, .needs_context = 1,
       .update = linear_update, .finish = linear_finish, .grow = linear_grow, .sound = linear_sound);

POLICY_OF(logistic_ucb, PARAMS, init_logistic, choose, .state_version = 4, .tosses = 1, .releases = 1,
          .needs_context = 1, .update = linear_update, .finish = linear_finish, .grow = linear_grow,
          .sound = linear_sound);
