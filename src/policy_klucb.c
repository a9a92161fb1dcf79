/* KL-UCB: Garivier and Cappe (2011), Algorithm 1 with c = 0. Pull each arm once; then the
   arm of the largest max{ q : n kl(mean, q) <= ln(t) }. */

#include <math.h>
#include "kl.h"
#include "policy.h"

static const char *const PARAMS[] = {NULL};

typedef struct {
  double sum, n, mean;
} arm_t;

static size_t size(const spec_t *spec) { return sizeof(arm_t) * (size_t)spec->k; }

static void init(void *state, const spec_t *spec) {
  arm_t *arms = state;
  for (int i = 0; i < spec->k; i++) arms[i] = (arm_t){0, 0, 0};
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  (void)dice;
  const arm_t *arms = state;
  const double log_t = log((double)round->t);
  double highest = -INFINITY;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    const arm_t *a = &arms[i];
    if (a->n == 0) return i;
    /* Is the index above the highest so far? One kl tells, and solving is rarely needed. */
    if (choice >= 0 && highest > a->mean && a->n * kl(a->mean, highest) >= log_t) continue;
    const double index = kl_upper(a->mean, log_t / a->n);
    if (index > highest) highest = index, choice = i;
  }
  return choice;
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round, (void)dice;
  arm_t *a = (arm_t *)state + arm;
  a->sum += reward;
  a->n += 1;
  a->mean = a->sum / a->n;
}

const policy_t policy_klucb = {"klucb", PARAMS, size, init, choose, observe, NULL};
