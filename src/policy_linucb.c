/* LinUCB: Li, Chu, Langford and Schapire (2010), Algorithm 1; private by tree-based
   aggregation of A and b: Mishra and Thakurta (2015), Algorithm 3.

   Pull the arm of the largest theta . z + alpha sqrt(z' A^-1 z), where A = ridge I + sum z z'
   and theta = A^-1 b, b = sum r z; ties are broken at random.

   Logistic-UCB is the same with the logistic link of policy_linear_model.h: A is the Fisher information,
   and the index is on the scale of theta . z, where the link does not change which is largest. */

#include <math.h>
#include "policy_linear_model.h"

LINEAR_PARAMETERS("alpha");

typedef struct {
  double alpha;
  double model[]; /* a linear_t */
} state_t;

static linear_t *model(const void *state) { return (linear_t *)((state_t *)state)->model; }

static size_t size(const spec_t *spec) { return sizeof(state_t) + linear_size(spec, 0); }

static void init_link(void *state, const spec_t *spec, enum link link) {
  state_t *s = state;
  s->alpha = spec->par[LINEAR_WIDTH];
  linear_init(model(s), spec, 0, link);
}

static void init(void *state, const spec_t *spec) { init_link(state, spec, LINK_IDENTITY); }
static void init_logistic(void *state, const spec_t *spec) {
  init_link(state, spec, LINK_LOGIT);
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  const linear_t *linear = model(s);
  linear_view_t view;
  linear_look(linear, round, &view);
  argmax_t best = ARGMAX;
  int ties = 0;
  FOR_EACH_ARM(i, round) {
    double width;
    const double mean = linear_score(linear, round, i, &view, &width);
    const double score = mean + s->alpha * width;
    /* Arms without rewards tie, and with late rewards they do so for long: toss for it. */
    if (argmax_add(&best, i, score)) ties = 1;
    else if (score == best.value && rng_below(&draws->policy, ++ties) == 0) best.arm = i;
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

POLICY(linucb, .state_version = 3, .tosses = 1, /* among equals */ .releases = 1,
       .needs_context = 1, .update = update, .finish = finish, .grow = grow);

POLICY_OF(logistic_ucb, PARAMS, init_logistic, choose, .state_version = 1, .tosses = 1,
          .releases = 1, .needs_context = 1, .update = update, .finish = finish,
          .grow = grow);
