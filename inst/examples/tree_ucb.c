/* A private UCB: the rewards of each arm are summed by a tree counter, whose noisy sums the index reads. A reward is in
   `levels` noisy numbers at most, so that Laplace noise of scale levels / epsilon makes the arms epsilon-DP. */
#include <dpts.h>

enum { EPSILON };
static const dpts_param PARAMS[] = {{"epsilon", REQUIRED, NULL}, {.name = NULL}};

typedef struct {
  int64_t k, levels;
  double scale;
} head_t; /* then n and the released sum of each arm, then its tree */

static double *seen(const void *state) { return (double *)((const head_t *)state + 1); }
static void *tree(void *state, int arm) {
  const head_t *h = state;
  return (char *)(seen(state) + 2 * h->k) + dpts_tree_size((int)h->levels) * (size_t)arm;
}

static size_t size(const dpts_problem *p) {
  return sizeof(head_t) + (size_t)p->k * (2 * sizeof(double) + dpts_tree_size(dpts_tree_levels(p->horizon)));
}

static void init(void *state, const dpts_problem *p) {
  const int levels = dpts_tree_levels(p->horizon);
  *(head_t *)state = (head_t){p->k, levels, levels / p->par[EPSILON]};
  for (int i = 0; i < p->k; i++) {
    seen(state)[2 * i] = seen(state)[2 * i + 1] = 0;
    dpts_tree_init(tree(state, i), levels, DPTS_LAPLACE, levels / p->par[EPSILON]);
  }
}

static int choose(const void *state, const dpts_round *round, dpts_draws *draws) {
  (void)draws;
  const head_t *h = state;
  dpts_best best = DPTS_BEST;
  FOR_EACH_ARM(i, round) {
    const double n = seen(state)[2 * i], sum = seen(state)[2 * i + 1], ln_t = log((double)round->t);
    if (round->pulls[i] == 0) return i;
    if (n == 0) continue; /* its reward is out */
    /* Noise: levels variables of this scale at most in a sum */
    dpts_best_add(&best, i,
                  sum / n + sqrt(2 * ln_t / n) + h->scale * sqrt(8 * (double)h->levels * ln_t) / n);
  }
  return best.arm < 0 ? round->offer[0] : dpts_best_arm(&best);
}

static void update(void *state, const dpts_feedback *feedback, dpts_draws *draws) {
  double *arm = seen(state) + 2 * feedback->arm;
  arm[0] += 1;
  arm[1] = dpts_tree_add(tree(state, feedback->arm), feedback->reward, draws);
}

static const dpts_policy tree_ucb = {.name = "tree_ucb",
                                     .params = PARAMS,
                                     .state_version = 1,
                                     .releases = 1,
                                     .needs_horizon = 1,
                                     .size = size,
                                     .init = init,
                                     .choose = choose,
                                     .update = update};

DPTS_POLICIES(&tree_ucb)
