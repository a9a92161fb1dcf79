/* Explore, then commit: each arm m times, then the arm of the largest noisy sum. */
#include <dpts.h>

enum { EPSILON, M };
static const dpts_param PARAMS[] = {
    {"epsilon", REQUIRED, NULL}, {"m", REQUIRED, NULL}, {.name = NULL}};

typedef struct {
  double epsilon, m;
  struct { double n, sum; } arms[]; /* the sum is noisy once n is m */
} state_t;

static size_t size(const dpts_problem *problem) {
  return sizeof(state_t) + 2 * sizeof(double) * (size_t)problem->k;
}

static void init(void *state, const dpts_problem *problem) {
  state_t *s = state;
  *s = (state_t){problem->par[EPSILON], problem->par[M]};
  for (int i = 0; i < problem->k; i++) s->arms[i].n = s->arms[i].sum = 0;
}

static int choose(const void *state, const dpts_round *round, dpts_draws *draws) {
  const state_t *s = state;
  int least = round->offer[0], best = -1;
  FOR_EACH_ARM(i, round) {
    if (round->pulls[i] < round->pulls[least]) least = i;
    if (s->arms[i].n >= s->m && (best < 0 || s->arms[i].sum > s->arms[best].sum)) best = i;
  }
  return (double)round->pulls[least] < s->m || best < 0 ? least : best;
}

static void update(void *state, const dpts_feedback *feedback, dpts_draws *draws) {
  state_t *s = state;
  const int i = feedback->arm;
  if (s->arms[i].n >= s->m) return; /* nothing more is learned */
  s->arms[i].sum += feedback->reward;
  if (++s->arms[i].n == s->m) s->arms[i].sum = dpts_laplace(draws, s->arms[i].sum, 1 / s->epsilon);
}

static const dpts_policy explore_commit = {
    .name = "explore_commit", .params = PARAMS, .state_version = 1, .releases = 1,
    .size = size, .init = init, .choose = choose, .update = update};

DPTS_POLICIES(&explore_commit)
