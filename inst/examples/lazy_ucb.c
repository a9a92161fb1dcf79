/* Anytime-Lazy-UCB of Hu, Huang and Mehta (2021): the rewards of each arm are summed in batches of 1, 2, 4, ...,
   each sum is released once, and the index reads the arm's last one. Each reward is in one sum at most, so that
   Laplace noise of scale 1 / epsilon makes the arms epsilon-DP, and what was released is evidence. */
#include <dpts.h>

enum { EPSILON };
static const dpts_param PARAMS[] = {{"epsilon", REQUIRED, NULL}, {.name = NULL}};

typedef struct {
  double n, sum;              /* of the open batch: without noise, and read by nothing but its release */
  double size, mean;          /* of the batch that was released last; 0: none was */
  double rewards, all, terms; /* of all batches that were released */
} arm_t;

typedef struct {
  int64_t k;
  double scale;
  arm_t arms[];
} state_t;

static size_t size(const dpts_problem *problem) {
  return sizeof(state_t) + sizeof(arm_t) * (size_t)problem->k;
}

static void init(void *state, const dpts_problem *problem) {
  state_t *s = state;
  *s = (state_t){problem->k, 1 / problem->par[EPSILON]};
  for (int i = 0; i < problem->k; i++) s->arms[i] = (arm_t){0};
}

static int choose(const void *state, const dpts_round *round, dpts_draws *draws) {
  (void)draws;
  const state_t *s = state;
  const double ln_t = log((double)round->t), root = sqrt(ln_t);
  dpts_best best = DPTS_BEST;
  FOR_EACH_ARM(i, round) {
    const arm_t *a = &s->arms[i];
    if (round->pulls[i] == 0) return i;
    if (a->size == 0) continue; /* its first reward is out */
    dpts_best_add(&best, i, a->mean + sqrt(3 / a->size) * root + 3 / (a->size / s->scale) * ln_t);
  }
  return best.arm < 0 ? round->offer[0] : dpts_best_arm(&best);
}

static void release(const state_t *s, arm_t *a, dpts_draws *draws) {
  const double sum = dpts_laplace(draws, a->sum, s->scale);
  a->size = a->n;
  a->mean = sum / a->n;
  a->rewards += a->n;
  a->all += sum;
  a->terms += 1;
  a->n = a->sum = 0;
}

static void update(void *state, const dpts_feedback *feedback, dpts_draws *draws) {
  state_t *s = state;
  arm_t *a = &s->arms[feedback->arm];
  a->sum += feedback->reward;
  if (++a->n >= fmax(1, 2 * a->size)) release(s, a, draws);
}

static dpts_report report(const void *state, int arm) {
  const state_t *s = state;
  const arm_t *a = &s->arms[arm];
  return (dpts_report){.rewards = a->rewards, .sum = a->all, .kind = DPTS_LAPLACE,
                       .terms = a->terms, .scale = s->scale};
}

static void finish(void *state, dpts_draws *draws) {
  state_t *s = state;
  for (int i = 0; i < s->k; i++) {
    if (s->arms[i].n > 0) release(s, &s->arms[i], draws);
  }
}

static const dpts_policy lazy_ucb = {.name = "lazy_ucb",
                                     .params = PARAMS,
                                     .state_version = 1,
                                     .releases = 1,
                                     .each_once = 1,
                                     .size = size,
                                     .init = init,
                                     .choose = choose,
                                     .update = update,
                                     .report = report,
                                     .finish = finish};

DPTS_POLICIES(&lazy_ucb)
