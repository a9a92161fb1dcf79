/* IMED: Honda and Takemura (2015). Pull each arm once; then
   the arm of the least n kl(mean, highest mean) + ln(n). */

#include <math.h>
#include "kl.h"
#include "plain_means.h"

static const param_t PARAMS[] = {{NULL}};

/* With its sign changed, and so `top`: the largest is the best, and it falls as `top` rises. */
static double index_of(const void *state, int arm, double minus_top) {
  const plain_arm_t *a = &((const plain_t *)state)->arms[arm];
  const double top = -minus_top;
  return top < a->mean ? -a->of_n : -(a->n * kl(a->mean, top) + a->of_n);
}

static const index_t ORDER = {.index = index_of,
                              .alike = plain_alike,
                              .most = INFINITY,
                              .clock = CLOCK_RUNS_BOTH_WAYS};

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)draws;
  const plain_t *s = state;
  const plain_arm_t *arms = s->arms;
  tournament_t *t = tournament_for(round, plain_tournament(s));
  const int first = plain_opening(s, round, t);
  if (first >= 0) return first;
  if (t) return tournament_best(&ORDER, s, t, -fmax(0, highest(plain_highest(s))));
  argmax_t best = ARGMAX;
  double top = 0;
  FOR_EACH_ARM(i, round) top = fmax(top, arms[i].mean);
  FOR_EACH_ARM(i, round) {
    if (-arms[i].of_n <= best.value) continue; /* kl is not negative */
    argmax_add(&best, i, index_of(s, i, -top));
  }
  return argmax_arm(&best);
}

static void add(void *state, int arm, double sum, double n) {
  plain_t *s = state;
  plain_arm_t *a = plain_add(s, arm, sum, n);
  a->of_n = log(a->n);
  highest_set(plain_highest(s), s->k, arm, a->mean);
}

/* Let l have the highest mean m, so that its index is ln(n). After r more rounds ln(n) has
   grown by at most r / n, and m has fallen by at most m r / n, the rewards being at least
   0. kl(m_i, .) is convex with the slope (m - m_i) / (m (1 - m)) at m: so the lead over arm i
   has shrunk by at most r / n (1 + n_i (m - m_i) / (1 - m)). m stays highest while
   m n / (n + r) does. */
static double sure(const void *state, int k, int l, double played) {
  (void)played;
  const plain_arm_t *arms = ((const plain_t *)state)->arms, *a = &arms[l];
  if (!(a->n > 0)) return 0;
  double rounds = INFINITY;
  for (int i = 0; i < k; i++) {
    if (i == l) continue;
    const double ahead = a->mean - arms[i].mean;
    if (!(ahead > 0)) return 0;
    const double index = arms[i].n * kl(arms[i].mean, a->mean) + arms[i].of_n;
    const double lead = index - a->of_n - 1e-12 * (1 + index); /* less rounding */
    const double rate = 1 + arms[i].n * ahead / fmax(1 - a->mean, 1e-12);
    rounds = fmin(rounds, a->n * fmin(lead / rate, ahead / arms[i].mean));
  }
  return floor(rounds * (1 - 1e-12));
}

PLAIN_POLICY(imed, 1)
