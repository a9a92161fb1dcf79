/* IMED: Honda and Takemura (2015). Pull the arm of the least n kl(mean, highest mean) + ln(n);
   an arm without rewards has index -Inf. */

#include <math.h>
#include "kl.h"
#include "leader_skip.h"
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

static void add(void *state, int arm, double sum, double n) {
  arm_t *a = (arm_t *)state + arm;
  a->sum += sum;
  a->n += n;
  a->mean = a->sum / a->n;
  a->log_n = log(a->n);
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round, (void)dice;
  add(state, arm, reward, 1);
}

/* Let l have the highest mean m, so that its index is ln(n). After r more rounds ln(n) has
   grown by at most r / n, and m has fallen by at most m r / n, the rewards being at least
   0. kl(m_i, .) is convex with the slope (m - m_i) / (m (1 - m)) at m: so the lead over arm i
   has shrunk by at most r / n (1 + n_i (m - m_i) / (1 - m)). m stays highest while
   m n / (n + r) does. */
static double sure(const void *state, int k, int l, double played) {
  (void)played;
  const arm_t *arms = state, *a = &arms[l];
  if (!(a->n > 0)) return 0;
  double rounds = INFINITY;
  for (int i = 0; i < k; i++) {
    if (i == l) continue;
    const double ahead = a->mean - arms[i].mean;
    if (!(ahead > 0)) return 0;
    const double index = arms[i].n * kl(arms[i].mean, a->mean) + arms[i].log_n;
    const double lead = index - a->log_n - 1e-12 * (1 + index); /* less rounding */
    const double rate = 1 + arms[i].n * ahead / fmax(1 - a->mean, 1e-12);
    rounds = fmin(rounds, a->n * fmin(lead / rate, ahead / arms[i].mean));
  }
  return floor(rounds * (1 - 1e-12));
}

static void skip(void *state, world_t *world, dice_t *dice) {
  leader_skip(state, world, dice, choose, add, sure);
}

const policy_t policy_imed = {"imed", PARAMS, size, init, choose, observe, skip};
