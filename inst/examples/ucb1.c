/* UCB1 of Auer, Cesa-Bianchi and Fischer (2002): each arm once, then the arm of the largest
   mean + sqrt(2 ln t / n), where t rounds were played before. */
#include <dpts.h>

typedef struct {
  double n, sum, mean, width; /* width: 1 / sqrt(n) */
} arm_t;

typedef struct {
  int64_t waiting; /* arms without a reward */
  arm_t arms[];
} state_t;

static size_t size(const dpts_problem *problem) {
  return sizeof(state_t) + sizeof(arm_t) * (size_t)problem->k;
}

static void init(void *state, const dpts_problem *problem) {
  state_t *s = state;
  s->waiting = problem->k;
  for (int i = 0; i < problem->k; i++) s->arms[i] = (arm_t){0};
}

/* Each arm once; while the reward of one is out, the arm that was pulled least */
static int opening(const state_t *s, const dpts_round *round) {
  int least = round->offer[0], waits = 0;
  FOR_EACH_ARM(i, round) {
    if (round->pulls[i] == 0) return i;
    if (round->pulls[i] < round->pulls[least]) least = i;
    waits |= s->arms[i].n == 0;
  }
  return waits ? least : -1;
}

static int choose(const void *state, const dpts_round *round, dpts_draws *draws) {
  (void)draws;
  const state_t *s = state;
  const int first = s->waiting ? opening(s, round) : -1;
  if (first >= 0) return first;
  const double w = sqrt(2 * log((double)(round->t - 1)));
  dpts_best best = DPTS_BEST;
  FOR_EACH_ARM(i, round) {
    dpts_best_add(&best, i, s->arms[i].mean + w * s->arms[i].width);
  }
  return dpts_best_arm(&best);
}

static void update(void *state, const dpts_feedback *feedback, dpts_draws *draws) {
  (void)draws;
  state_t *s = state;
  arm_t *arm = &s->arms[feedback->arm];
  if (arm->n == 0) s->waiting--;
  arm->n += 1;
  arm->sum += feedback->reward;
  arm->mean = arm->sum / arm->n;
  arm->width = 1 / sqrt(arm->n);
}

static dpts_report report(const void *state, int arm) {
  const arm_t *a = &((const state_t *)state)->arms[arm];
  return (dpts_report){.rewards = a->n, .sum = a->sum, .kind = DPTS_GAUSSIAN};
}

static const dpts_policy ucb1 = {.name = "ucb1",
                                 .state_version = 1,
                                 .size = size,
                                 .init = init,
                                 .choose = choose,
                                 .update = update,
                                 .report = report};

DPTS_POLICIES(&ucb1)
