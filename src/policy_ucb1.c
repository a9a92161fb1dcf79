/* UCB1: Auer, Cesa-Bianchi and Fischer (2002), Figure 1.

   Pull each arm once; then the arm of the largest mean + sqrt(2 ln t / n), where t is
   the number of rounds played so far. */

#include <math.h>
#include "leader_skip.h"
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

static double width(double played) { return sqrt(2 * log(fmax(1, played))); }

static int choose(void *state, const round_t *round, dice_t *dice) {
  (void)dice;
  const arm_t *arms = state;
  const double w = width((double)(round->t - 1));
  double best = -INFINITY;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    /* An arm without rewards has mean Inf: it is pulled first. */
    const double index = arms[i].mean + w * arms[i].root;
    if (index > best || choice < 0) best = index, choice = i;
  }
  return choice;
}

static void add(void *state, int arm, double sum, double n) {
  arm_t *a = (arm_t *)state + arm;
  a->sum += sum;
  a->n += n;
  a->mean = a->sum / a->n;
  a->root = 1 / sqrt(a->n);
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round, (void)dice;
  add(state, arm, reward, 1);
}

/* In the r-th round from now the index of arm l is at least S / (n + r) + w(t) / sqrt(n + r),
   the rewards being at least 0; the others' means stand still, and their indices grow
   with w alone. */
static double sure(const void *state, int k, int l, double played) {
  const arm_t *arms = state, *a = &arms[l];
  if (!(a->n > 0)) return 0;
  if (k == 1) return INFINITY;
  const double w = width(played);
  double rival = -INFINITY, steepest = 0;
  for (int i = 0; i < k; i++) {
    if (i == l) continue;
    rival = fmax(rival, arms[i].mean + w * arms[i].root);
    steepest = fmax(steepest, arms[i].root);
  }
  const double index = a->mean + w * a->root, gap = index - rival;
  const double margin = 1e-13 * (fabs(index) + fabs(rival)); /* for rounding */
  /* To first order in r the gap closes at this rate; then see whether it holds. */
  const double rate = (a->mean + 0.5 * w * a->root) / a->n +
                      (w > 0 ? steepest / (w * played) : steepest);
  for (double r = floor(gap / rate); r >= 2; r = floor(0.9 * r)) {
    const double least = a->sum / (a->n + r) + w / sqrt(a->n + r);
    const double most = rival + (width(played + r) - w) * steepest;
    if (least > most + margin) return r;
  }
  return 0;
}

static void skip(void *state, world_t *world, dice_t *dice) {
  leader_skip(state, world, dice, choose, add, sure);
}

const policy_t policy_ucb1 = {"ucb1", PARAMS, size, init, choose, observe, skip, NULL};
