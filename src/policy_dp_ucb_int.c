/* DP-UCB-Int: Tossou and Dimitrakakis (2016), Algorithm 3.

   f = ceil(1 / epsilon). Pull the arms in turn until each has f rewards. An arm's private
   mean is renewed when its pulls n are a multiple of f: S / n + Lap(n^(v / 2 - 1)). Pull the
   arm of the largest private mean + sqrt(2 ln(t) / n). */

#include <math.h>
#include "policy.h"

enum { EPSILON, V };
static const char *const PARAMS[] = {"epsilon", "v", NULL};

typedef struct {
  double sum, n, mean; /* sum: exact, never in an index */
  double due;          /* pulls until the mean is renewed */
} arm_t;

typedef struct {
  double every, power; /* f, v / 2 - 1 */
  double waiting;      /* arms without a mean */
  arm_t arms[];
} state_t;

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + sizeof(arm_t) * (size_t)spec->k;
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  *s = (state_t){.every = ceil(1 / spec->par[EPSILON]), .power = spec->par[V] / 2 - 1,
                 .waiting = spec->k};
  for (int i = 0; i < spec->k; i++) s->arms[i] = (arm_t){0, 0, 0, s->every};
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  (void)dice;
  const state_t *s = state;
  const arm_t *arms = s->arms;
  int choice = -1;
  if (s->waiting > 0) {
    FOR_EACH_ARM(i, round) {
      if (arms[i].n < s->every && (choice < 0 || arms[i].n < arms[choice].n)) choice = i;
    }
    if (choice >= 0) return choice;
  }
  const double width = sqrt(2 * log((double)round->t));
  double best = -INFINITY;
  FOR_EACH_ARM(i, round) {
    const double index = arms[i].mean + width / sqrt(arms[i].n);
    if (index > best) best = index, choice = i;
  }
  return choice;
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round;
  state_t *s = state;
  arm_t *a = &s->arms[arm];
  a->sum += reward;
  a->n += 1;
  if (--a->due > 0) return;
  a->due = s->every;
  if (a->n == s->every) s->waiting -= 1;
  a->mean = release_laplace(dice, a->sum / a->n, pow(a->n, s->power));
}

const policy_t policy_dp_ucb_int = {"dp_ucb_int", PARAMS, size, init, choose, observe, NULL};
