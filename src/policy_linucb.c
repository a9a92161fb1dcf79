/* LinUCB: Li, Chu, Langford and Schapire (2010), Algorithm 1; private by tree-based
   aggregation of A and b: Mishra and Thakurta (2015), Algorithm 3.

   Pull the arm of the largest theta . z + alpha sqrt(z' A^-1 z), where A = ridge I + sum z z'
   and theta = A^-1 b, b = sum r z; ties are broken at random. */

#include <math.h>
#include "linear_model.h"

static const char *const PARAMS[] = LINEAR_PARAMS("alpha");

typedef struct {
  double alpha;
  double model[]; /* a linear_t */
} state_t;

static linear_t *model(const void *state) {
  return (linear_t *)((state_t *)state)->model;
}

static size_t size(const spec_t *spec) { return sizeof(state_t) + linear_size(spec, 0); }

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  s->alpha = spec->par[LINEAR_WIDTH];
  linear_init(model(s), spec, 0);
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  const state_t *s = state;
  const linear_t *linear = model(s);
  linear_view_t view;
  linear_look(linear, round, &view);
  double best = -INFINITY;
  int choice = -1, ties = 0;
  FOR_EACH_ARM(i, round) {
    double width;
    const double mean = linear_score(linear, round, i, &view, &width);
    const double score = mean + s->alpha * width;
    /* Arms without rewards tie, and with late rewards they do so for long: toss for it. */
    if (score > best || choice < 0) best = score, choice = i, ties = 1;
    else if (score == best && rng_below(&dice->policy, ++ties) == 0) choice = i;
  }
  return choice;
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  linear_observe(model(state), round, arm, reward, dice);
}

const policy_t policy_linucb = {"linucb", PARAMS, size, init, choose, observe, NULL};
