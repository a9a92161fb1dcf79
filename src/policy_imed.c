/* IMED: Honda and Takemura (2015). Pull each arm once; then
   the arm of the least n kl(mean, highest mean) + ln(n). */

#include <math.h>
#include "math_kl.h"
#include "policy_plain_means.h"

static const param_t PARAMS[] = {{.name = NULL}};

/* With its sign changed, and so `top`: the largest is the best, and it falls as `top` rises. */
static double index_of(const void *state, int arm, double minus_top) {
  const plain_arm_t *a = &((const plain_t *)state)->arms[arm];
  const double top = -minus_top;
  return top < a->mean ? -a->of_n : -(a->n * kl(a->mean, top) + a->of_n);
}

/* The slope of n kl(mean, top), which is 0 up to the mean */
static double slope(const plain_arm_t *a, double top) {
  return a->n * fmax(0, top - a->mean) / (top * (1 - top));
}

/* n kl(mean, top) is convex in top. So that of arm b stays above its tangent, and that of arm a
   rises no faster than at the upper end of a stretch of tops and falls no slower than at the
   lower one. The lead in the index, where the least is best, lasts that long. */
static void certificate(const void *state, int arm_a, int arm_b, double clock, double lead, double *from,
                        double *to) {
  const plain_arm_t *arms = ((const plain_t *)state)->arms;
  const plain_arm_t *a = &arms[arm_a], *b = &arms[arm_b];
  const double top = -clock, tangent = slope(b, top);
  if (!(top > 1e-9 && top < 1 - 1e-9)) return; /* kl() looks no closer */
  double up = (1 - top) / 8, down = top / 8;
  for (int i = 0; i < 2; i++) {
    const double rises = slope(a, top + up) - tangent;
    const double falls = tangent - slope(a, top - down);
    const double most_up = rises > 0 ? lead / rises : INFINITY;
    const double most_down = falls > 0 ? lead / falls : INFINITY;
    if (i == 0) { /* the closer the ends, the truer the slopes there */
      up = fmin(up, 2 * most_up);
      down = fmin(down, 2 * most_down);
    } else {
      up = fmin(up, most_up);
      down = fmin(down, most_down);
    }
  }
  /* less what rounding may do */
  *from = clock - fmax(0, up * (1 - 1e-9) - 4e-16);
  *to = clock + fmax(0, down * (1 - 1e-9) - 4e-16);
}

static const index_t ORDER = {.index = index_of,
                              .alike = plain_alike,
                              .certificate = certificate,
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
   has shrunk by at most r / n (1 + n_i (m - m_i) / (1 - m)). m stays highest while m n / (n + r) does. */
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
