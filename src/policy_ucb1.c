/* UCB1: Auer, Cesa-Bianchi and Fischer (2002), Figure 1.

   Pull each arm once; then the arm of the largest mean + sqrt(2 ln t / n), where t is
   the number of rounds played so far. */

#include <math.h>
#include "policy.h"

static const char *const PARAMS[] = {NULL};

typedef struct {
  double sum, n, mean, root; /* root = 1 / sqrt(n) */
} arm_t;

static size_t size(const spec_t *spec) { return sizeof(arm_t) * (size_t)spec->k; }

static void init(void *state, const spec_t *spec) {
  arm_t *arms = state;
  for (int i = 0; i < spec->k; i++) arms[i] = (arm_t){0, 0, INFINITY, 0};
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  (void)dice;
  const arm_t *arms = state;
  const double played = fmax(1, (double)(round->t - 1));
  const double width = sqrt(2 * log(played));
  double best = -INFINITY;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    /* An arm without rewards has mean Inf: it is pulled first. */
    const double index = arms[i].mean + width * arms[i].root;
    if (index > best || choice < 0) best = index, choice = i;
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
  a->root = 1 / sqrt(a->n);
}

const policy_t policy_ucb1 = {"ucb1", PARAMS, size, init, choose, observe, NULL};
