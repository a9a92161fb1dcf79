/* Gaussian IMED: an index that knows its own noise, under Gaussian DP.

   Pull each arm `first` times, then in batches; nothing is forgotten. The private mean x of an
   arm (clipped to [0, 1]) has the variance of m rewards and noise of sd s. With x* the highest
   x, the rate of evidence that the arm is not the best is
     R = inf over z in [x, x*] of (z - x)^2 / (2 s^2) + m kl(z, x*).
   Pull the arm of the least C + ln(I), where C = max(0, c - safety ln(1 + c)), c = -ln(2 P(N(0, 1) >= sqrt(2
   R))) is the significance of the whole deviation, and I = 1 / (1 / m + 4 s^2) the rewards that the mean is
   worth, its noise included. An arm's next batch is (ratio - 1) n / (1 + c) rewards, n being its pulls: c and
   ln(I) grow like n and ln(n), so each batch moves the index by about ratio - 1, and an arm is not pulled
   much more often than its index asks for.

   That is for coins. Of continuous outcomes the squares are released, too, and v is the variance of a reward
   as far as it is known (reward_variance()). The rate of m rewards is then Bennett's, of the distribution on
   0 and x* + v / x*: that of coins on a scale that is stretched by h = x* / (v + x*^2),
     R = inf over z in [x, x*] of (z - x)^2 / (2 s^2) + m kl(h z, h x*),
   which is that of coins for v = x* (1 - x*), and near (x* - x)^2 / (2 (v / m + s^2)) for small gaps. And
   I = 1 / (1 / m + s^2 / v).

   Batches are released as a moving average (correlation > 0), or each by itself and then weighted
   by their inverse variance. All the rest only processes what was released. */

#include "policy_batches.h"
#include "math_kl.h"

enum { MU, RATIO, FIRST, CORRELATION, SAFETY, OUTCOME };
PARAMETERS(PARAMS, NEEDS("mu"), NEEDS("ratio"), TAKES("first"), NEEDS("correlation"), NEEDS("safety"),
           ONE_OF("outcome", OUTCOMES));

static plan_t plan(const spec_t *spec) {
  const double *par = spec->par;
  const mechanism_t how = {
      .kind = NOISE_GAUSSIAN, .scale = 1 / par[MU], .by_variance = 1, .correlation = par[CORRELATION]};
  return (plan_t){.first = batches_first(spec, par[FIRST], 10 / par[MU] + 10),
                  .ratio = par[RATIO],
                  .how = with_squares(how, par[OUTCOME])};
}

/* c. The variance of an arm whose mean was `top` is taken to be in proportion to mean (1 - mean). */
static double evidence(const batches_t *s, const released_t *a, double top) {
  const double x = clip01(a->mean), sd = a->spread * s->plan.how.scale;
  if (s->par[OUTCOME] == BINARY || !(top > x)) return tail_of_rate(kl_noisy(x, top, a->m, sd));
  const double coin = top * (1 - top), drawn = (a->n * x + 1) / (a->n + 2);
  const double v = fmin(a->v * fmax(1, coin / (drawn * (1 - drawn))), coin);
  const double stretch = top / (v + top * top);
  return tail_of_rate(kl_noisy(stretch * x, stretch * top, a->m, stretch * sd));
}

static double index_of(const batches_t *s, const released_t *a, double top) {
  const double c = evidence(s, a, top), sd = a->spread * s->plan.how.scale;
  return fmax(0, c - s->par[SAFETY] * log1p(c)) - log(1 / a->m + sd * sd / a->v);
}

/* With its sign changed, and so `top`: the largest is the best, and it falls as `top` rises. */
static double minus_index_of(const void *state, int arm, double minus_top) {
  const batches_t *s = state;
  return -index_of(s, &s->arms[arm], clip01(-minus_top));
}

static const index_t ORDER = {.index = minus_index_of,
                              .alike = batches_alike,
                              .most = INFINITY,
                              .error = batches_error,
                              .clock = CLOCK_RUNS_BOTH_WAYS};

static int best_arm(const batches_t *s, const round_t *round) {
  return batches_best(s, round, &ORDER, -batches_top(s, round));
}

static double growth(const batches_t *s, int arm) {
  return (s->plan.ratio - 1) / (1 + evidence(s, &s->arms[arm], batches_top_of_all(s)));
}

BATCH_POLICY(gaussian_imed, growth, 0)
