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

static void add(arm_t *a, double sum, double n) {
  a->sum += sum;
  a->n += n;
  a->mean = a->sum / a->n;
  a->root = 1 / sqrt(a->n);
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round, (void)dice;
  add((arm_t *)state + arm, reward, 1);
}

/* How many rounds from now surely pull arm l, whatever its rewards? In the r-th its index
   is at least S / (n + r) + w(t) / sqrt(n + r), the rewards being at least 0; the others'
   means stand still, and their indices grow with w alone. */
static double sure_rounds(const arm_t *arms, int k, int l, double played) {
  const double w = width(played);
  double rival = -INFINITY, steepest = 0;
  for (int i = 0; i < k; i++) {
    if (i == l) continue;
    rival = fmax(rival, arms[i].mean + w * arms[i].root);
    steepest = fmax(steepest, arms[i].root);
  }
  if (k == 1) return INFINITY;
  const arm_t *a = &arms[l];
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

/* The leader in one stretch while it surely leads, else some rounds one by one. */
static void skip(void *state, world_t *world, dice_t *dice) {
  arm_t *arms = state;
  const int k = world->arms->k;
  round_t round = {.t = world->t + 1, .n_pool = k};
  const int l = choose(state, &round, dice);
  if (arms[l].n > 0) {
    const double sure = fmin(sure_rounds(arms, k, l, (double)world->t), 0x1p53);
    if (sure >= 12) {
      const int64_t n = world_stretch(world, (int64_t)sure);
      add(&arms[l], world_pull_many(world, l, n), (double)n);
      return;
    }
  }
  for (int i = 0; i < 24 && world_left(world) > 0; i++) {
    round.t = world->t + 1;
    const int arm = choose(state, &round, dice);
    add(&arms[arm], world_pull(world, arm), 1);
  }
}

const policy_t policy_ucb1 = {"ucb1", PARAMS, size, init, choose, observe, skip, NULL};
