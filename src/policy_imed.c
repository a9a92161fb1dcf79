/* IMED: Honda and Takemura (2015). Pull the arm of the least n kl(mean, highest mean) + ln(n);
   an arm without rewards has index -Inf. */

#include <math.h>
#include "kl.h"
#include "policy.h"

static const char *const PARAMS[] = {NULL};

typedef struct {
  double sum, n, mean, log_n;
} arm_t;

static size_t size(const spec_t *spec) { return sizeof(arm_t) * (size_t)spec->k; }

static void init(void *state, const spec_t *spec) {
  arm_t *arms = state;
  for (int i = 0; i < spec->k; i++) arms[i] = (arm_t){0, 0, 0, -INFINITY};
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  (void)dice;
  const arm_t *arms = state;
  double top = 0, lowest = INFINITY;
  int choice = -1;
  FOR_EACH_ARM(i, round) top = fmax(top, arms[i].mean);
  FOR_EACH_ARM(i, round) {
    if (arms[i].log_n >= lowest) continue; /* kl is not negative */
    const double index = arms[i].n * kl(arms[i].mean, top) + arms[i].log_n;
    if (index < lowest) lowest = index, choice = i;
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
  a->log_n = log(a->n);
}

const policy_t policy_imed = {"imed", PARAMS, size, init, choose, observe, NULL};
