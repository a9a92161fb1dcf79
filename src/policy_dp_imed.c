/* DP-IMED: Azize, Wu, Honda, Orabona, Ito and Basu (2025).

   The batches of DP-KLUCB. Pull the arm of the least
   n d_epsilon(clip(mean), highest clip(mean)) + ln(n).

   The index `likelihood` is ours. It only processes what was released, so privacy is the same: the mean is
   that of maximum likelihood (math_normal_laplace.h); in place of n d_epsilon is C = max(0, c - safety ln(1 +
   c)), c being what the likelihood ratio says against the arm, see evidence(); and for ln(n), ln(n) +
   information ln(I / n), I being the rewards that the mean is worth, its noise included. With the schedule
   `evidence` the next batch has (ratio - 1) n / (1 + c) rewards, see policy_gaussian_imed.c, but at least
   half of what the first had, for the noise of a batch is the same whatever its size. */

#include "policy_batches.h"
#include "math_kl.h"

enum { EPSILON, RATIO, FIRST, INDEX, SAFETY, SCHEDULE, INFORMATION };
enum { DIVERGENCE, LIKELIHOOD };
enum { GEOMETRIC, EVIDENCE };
static const char *const INDICES[] = {"divergence", "likelihood", NULL};
static const char *const SCHEDULES[] = {"geometric", "evidence", NULL};
PARAMETERS(PARAMS, NEEDS("epsilon"), NEEDS("ratio"), TAKES("first"), ONE_OF("index", INDICES),
           NEEDS("safety"), ONE_OF("schedule", SCHEDULES), NEEDS("information"));

static plan_t plan(const spec_t *spec) {
  const double *par = spec->par;
  return (plan_t){.first = batches_first(spec, par[FIRST], 24 / par[EPSILON]),
                  .ratio = par[RATIO],
                  .likelihood = par[INDEX] == LIKELIHOOD,
                  .how = {.kind = NOISE_LAPLACE, .scale = 1 / par[EPSILON]}};
}

/* I / n: the part of its rewards that noise leaves of an arm's mean. */
static double normal_part(const released_t *a) { return fmin(1, a->m / a->n); }

/* How surely an arm's mean is below `top`: from the likelihood ratio R, which is the exponential
   rate of the chance of such releases, to -ln(2 P(N(0, 1) >= sqrt(2 R))), by the normal part of
   what is known. Laplace noise has no lighter tail than its rate. That a smaller variance
   would fit better is no evidence against the arm, so its own mean has that of `top` at least. */
static double evidence(const batches_t *s, int arm, double top) {
  const released_t *a = &s->arms[arm];
  if (a->mean >= top) return 0;
  const likelihood_t *l = batches_likelihood(s, arm);
  const double b = s->plan.how.scale;
  const double against = likelihood_cost(l, top, top, b);
  const double rate = fmax(0, against - likelihood_cost(l, a->mean, top, b));
  return rate + normal_part(a) * fmax(0, tail_of_rate(rate) - rate);
}

static double index_of(const batches_t *s, int arm, double top) {
  const released_t *a = &s->arms[arm];
  if (s->plan.likelihood) {
    const double c = evidence(s, arm, top);
    return fmax(0, c - s->par[SAFETY] * log1p(c)) + log(a->n) + s->par[INFORMATION] * log(normal_part(a));
  }
  return a->m * d_epsilon(clip01(a->mean), top, s->par[EPSILON]) + log(a->m);
}

/* With its sign changed, and so `top`: the largest is the best, and it falls as `top` rises. */
static double minus_index_of(const void *state, int arm, double minus_top) {
  const batches_t *s = state;
  return -index_of(s, arm, fmax(clip01(-minus_top), clip01(s->arms[arm].mean)));
}

static const index_t ORDER = {.index = minus_index_of,
                              .alike = batches_alike,
                              .most = INFINITY,
                              .error = batches_error,
                              .clock = CLOCK_RUNS_BOTH_WAYS};

/* The cost of a mean need not rise all the way, for the variance of rewards goes with it. */
static const index_t LIKELIHOOD_ORDER = {
    .index = minus_index_of, .alike = batches_alike, .most = INFINITY, .clock = CLOCK_JUMPS};

static int best_arm(const batches_t *s, const round_t *round) {
  const index_t *index = s->plan.likelihood ? &LIKELIHOOD_ORDER : &ORDER;
  return batches_best(s, round, index, -batches_top(s, round));
}

static double growth(const batches_t *s, int arm) {
  const released_t *a = &s->arms[arm];
  if (s->par[SCHEDULE] == GEOMETRIC) return s->plan.ratio - 1;
  const double by_evidence = (s->plan.ratio - 1) / (1 + evidence(s, arm, batches_top_of_all(s)));
  return fmax(by_evidence, s->plan.first / 2 / a->n);
}

BATCH_POLICY(dp_imed, growth, 1)
