/* A toy: pull each arm once, then the arm of the largest mean. */

#include "policy.h"

static const param_t PARAMS[] = {{.name = NULL}};

typedef struct {
  double n, sum;
} arm_t;

static size_t size(const spec_t *spec) { return sizeof(arm_t) * (size_t)spec->k; }

static void init(void *state, const spec_t *spec) {
  for (int i = 0; i < spec->k; i++) ((arm_t *)state)[i] = (arm_t){0};
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)draws;
  const arm_t *arms = state;
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    if (round->pulls[i] == 0) return i;
    argmax_add(&best, i, arms[i].n > 0 ? arms[i].sum / arms[i].n : 0);
  }
  return argmax_arm(&best);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  (void)draws;
  arm_t *a = (arm_t *)state + feedback->arm;
  a->n += 1;
  a->sum += feedback->reward;
}

POLICY(toy, .state_version = 1, .update = update);
