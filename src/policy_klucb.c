/* KL-UCB: Garivier and Cappe (2011), Algorithm 1 with c = 0. Pull each arm once; then the
   arm of the largest max{ q : n kl(mean, q) <= ln(t) }. */

#include <math.h>
#include "kl.h"
#include "leader_skip.h"
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

static void add(void *state, int arm, double sum, double n) {
  arm_t *a = (arm_t *)state + arm;
  a->sum += sum;
  a->n += n;
  a->mean = a->sum / a->n;
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round, (void)dice;
  add(state, arm, reward, 1);
}

/* In the r-th round from now the index of arm l is at least that of a mean of S / (n + r)
   after n + r pulls at the present t, the rewards being at least 0; it is above that of arm i
   if n_i kl(m_i, .) there is above the logarithm of that round. */
static double sure(const void *state, int k, int l, double played) {
  const arm_t *arms = state, *a = &arms[l];
  if (!(a->n > 0)) return 0;
  if (k == 1) return INFINITY;
  const double log_t = log(played + 1), y = kl_upper(a->mean, log_t / a->n);
  /* To first order in r the index falls at the rate `fall` and a lead closes at `rate`; then
     see whether it holds. */
  const double fall = (a->mean * log(y * (1 - a->mean) / (a->mean * (1 - y))) + log_t / a->n) *
                      y * (1 - y) / ((y - a->mean) * a->n);
  double guess = INFINITY;
  for (int i = 0; i < k; i++) {
    if (i == l) continue;
    const double lead = arms[i].n * kl(arms[i].mean, y) - log_t;
    const double rate = arms[i].n * (y - arms[i].mean) / (y * (1 - y)) * fall + 1 / played;
    if (!(y > arms[i].mean && lead > 0 && rate > 0)) return 0;
    guess = fmin(guess, lead / rate);
  }
  for (double r = floor(guess); r >= 12; r = floor(0.9 * r)) {
    const double least = kl_upper(a->sum / (a->n + r), log_t / (a->n + r));
    const double most = log(played + r) * (1 + 1e-10); /* and rounding */
    int leads = 1;
    for (int i = 0; i < k && leads; i++) {
      leads = i == l || (least > arms[i].mean && arms[i].n * kl(arms[i].mean, least) > most);
    }
    if (leads) return r;
  }
  return 0;
}

static void skip(void *state, world_t *world, dice_t *dice) {
  leader_skip(state, world, dice, choose, add, sure);
}

const policy_t policy_klucb = {"klucb", PARAMS, size, init, choose, observe, skip};
