/* KL-UCB: Garivier and Cappe (2011), Algorithm 1 with c = 0. Pull each arm once; then the
   arm of the largest max{ q : n kl(mean, q) <= ln(t) }. */

#include <math.h>
#include "math_kl.h"
#include "policy_plain_means.h"

static const param_t PARAMS[] = {{.name = NULL}};

static double index_of(const void *state, int arm, double ln_t) {
  const plain_arm_t *a = &((const plain_t *)state)->arms[arm];
  return kl_upper(a->mean, ln_t / a->n);
}

/* ln(t) when the index is `value` */
static double expiry(const void *state, int arm, double value) {
  const plain_arm_t *a = &((const plain_t *)state)->arms[arm];
  const double below = value - 1e-14;
  return below > a->mean ? a->n * kl(a->mean, below) * (1 - 1e-9) : -INFINITY;
}

static const index_t ORDER = {.index = index_of, .alike = plain_alike, .expiry = expiry, .most = 1};

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)draws;
  const plain_t *s = state;
  const plain_arm_t *arms = s->arms;
  tournament_t *t = tournament_for(round, plain_tournament(s));
  const int first = plain_opening(s, round, t);
  if (first >= 0) return first;
  const double ln_t = log((double)round->t);
  if (t) return tournament_best(&ORDER, s, t, ln_t);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    const plain_arm_t *a = &arms[i];
    /* Is the index surely below the highest so far? One kl tells, and solving is rarely needed. */
    if (best.value > a->mean && a->n * kl(a->mean, best.value) > ln_t * (1 + 1e-9)) continue;
    argmax_add(&best, i, index_of(s, i, ln_t));
  }
  return argmax_arm(&best);
}

static void add(void *state, int arm, double sum, double n) { plain_add(state, arm, sum, n); }

/* In the r-th round from now the index of arm l is at least that of a mean of S / (n + r)
   after n + r pulls at the present t, the rewards being at least 0; it is above that of arm i
   if n_i kl(m_i, .) there is above the logarithm of that round. */
static double sure(const void *state, int k, int l, double played) {
  const plain_arm_t *arms = ((const plain_t *)state)->arms, *a = &arms[l];
  if (!(a->n > 0)) return 0;
  if (k == 1) return INFINITY;
  const double ln_t = log(played + 1), y = kl_upper(a->mean, ln_t / a->n);
  /* To first order in r the index falls at the rate `fall` and a lead closes at `rate`; then
     see whether it holds. */
  const double fall = (a->mean * log(y * (1 - a->mean) / (a->mean * (1 - y))) + ln_t / a->n) * y * (1 - y) /
                      ((y - a->mean) * a->n);
  double guess = INFINITY;
  for (int i = 0; i < k; i++) {
    if (i == l) continue;
    const double lead = arms[i].n * kl(arms[i].mean, y) - ln_t;
    const double rate = arms[i].n * (y - arms[i].mean) / (y * (1 - y)) * fall + 1 / played;
    if (!(y > arms[i].mean && lead > 0 && rate > 0)) return 0;
    guess = fmin(guess, lead / rate);
  }
  for (double r = floor(guess); r >= 12; r = floor(0.9 * r)) {
    const double least = kl_upper(a->sum / (a->n + r), ln_t / (a->n + r));
    const double most = log(played + r) * (1 + 1e-10); /* and rounding */
    int leads = 1;
    for (int i = 0; i < k && leads; i++) {
      leads = i == l || (least > arms[i].mean && arms[i].n * kl(arms[i].mean, least) > most);
    }
    if (leads) return r;
  }
  return 0;
}

PLAIN_POLICY(klucb, 0)
