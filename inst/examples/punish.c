/* An adversary: of the last `memory` rounds the arm that was pulled most, or each of several, gives 0.2 in the next
   round, every other arm 0.8. */
#include <dpts.h>

enum { MEMORY };
static const dpts_param PARAMS[] = {{"memory", REQUIRED, NULL}, {.name = NULL}};

static int64_t memory(const dpts_problem *problem) {
  return (int64_t)fmax(1, problem->par[MEMORY]);
}

/* How often each arm was pulled of late; then the arms of the last rounds, from 1 */
static size_t size(const dpts_problem *problem) {
  return sizeof(int) * ((size_t)problem->k + (size_t)memory(problem));
}

static void offer(void *state, const dpts_problem *problem, int64_t t, double *reward,
                  dpts_draws *draws) {
  (void)t, (void)draws;
  const int *recent = state;
  int most = 1;
  for (int i = 0; i < problem->k; i++) most = recent[i] > most ? recent[i] : most;
  for (int i = 0; i < problem->k; i++) reward[i] = recent[i] == most ? 0.2 : 0.8;
}

static void see(void *state, const dpts_problem *problem, int64_t t, int arm, double reward) {
  (void)reward;
  int *recent = state, *last = recent + problem->k + (t - 1) % memory(problem);
  if (*last > 0) recent[*last - 1]--;
  *last = arm + 1;
  recent[arm]++;
}

static const dpts_adversary punish = {
    .name = "punish", .params = PARAMS, .size = size, .offer = offer, .see = see};

DPTS_ADVERSARIES(&punish)
