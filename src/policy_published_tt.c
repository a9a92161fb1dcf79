/* Two published top-two rules for the best arm under pure epsilon-DP, for comparison.

   Both: an arm's batches have f, f, 2 f, 4 f, ... rewards, each as many as all before it; the sum of each is
   released once with Lap(1 / epsilon). In each round a fair coin decides between the leader and its
   challenger. After each release they may stop, with the arm of the highest mean, which is played from then
   on.

   AdaP-TT (Azize, Jourdan, Al Marjani and Basu 2023; from its authors' code): f = 1, and only the last batch
   of an arm counts, of n rewards with the noisy mean x; m, all that it was assigned; N, rewards released of
   all arms.
     leader      l: the highest x + ln(N) / (epsilon n) + sqrt(ln(N) / (2 n))
     challenger  the least (x_l - x + 1 / (1 + sqrt(N))) / sqrt(1 / m_l + 1 / m)
     stop        if for all others (x_l - x)^2 / (2 (1 / n_l + 1 / n)) is at least this, where
                 x_l - x < 0 counts as 0 if `proved` and is squared if `run`, as the code does
       run     ln(1 / error) + ln(1 + ln n_l) + ln(1 + ln n) + (1 / n_l + 1 / n) (ln(1 / error) / epsilon)^2
       proved  2 (u + ln u) + 2 ln(4 + ln n_l) + 2 ln(4 + ln n)
               + (1 / n_l + 1 / n) (ln(2 K z / error) / epsilon)^2,
               u = ln((K - 1) z / error) / 2, z = p^2 pi^2 / 6 at the p-th batch of the arm

   DP-TT (Jourdan and Azize 2025; our reading of its abstract): f = (2 + 6 / epsilon) ln((K - 1) / error),
   rounded up, as in policy_top_two.c; all batches count, n rewards with the noisy sum Y of j
   batches. With s = +1 or -1 and
     I^s(theta) = max over l in [0, epsilon) of
                  s l Y - n ln(1 - theta + theta e^(s l)) + j ln(1 - (l / epsilon)^2)
     leader      a: the highest Y / n
     challenger  b: the least W_b + ln n_b,  W_b = min over theta of I_a^+(theta) + I_b^-(theta)
     stop        if all W are at least the w with
                 (1 + w) e^-w = error / ((K - 1) j_a (j_a + 1) j_b (j_b + 1)):
                 Chernoff's inequality for both arms, at all of their releases at once. */

#include <math.h>
#include "math_util.h"
#include "policy.h"
#include "policy_released.h"

enum { EPSILON, RISK, THRESHOLD };
enum { RUN, PROVED };
static const char *const THRESHOLDS[] = {"run", "proved", NULL};
PARAMETERS(ADAP_PARAMS, NEEDS("epsilon"), NEEDS("error"), ONE_OF("threshold", THRESHOLDS));
PARAMETERS(DP_PARAMS, NEEDS("epsilon"), NEEDS("error"));

typedef struct {
  gather_t gather;
  double n, sum;   /* what counts */
  report_t report; /* all that was released */
  int64_t last;    /* number of the last batch that counts */
} arm_t;

typedef struct {
  double epsilon, error;
  int64_t k, forgets, threshold;
  int64_t first;                       /* rewards in an arm's first batch */
  int64_t waiting;                     /* arms without a release */
  int64_t leader, challenger, verdict; /* or -1 */
  double released;                     /* rewards of all arms */
  arm_t arms[];
} state_t;

static size_t size(const spec_t *spec) { return sizeof(state_t) + sizeof(arm_t) * (size_t)spec->k; }

static void begin(state_t *s, const spec_t *spec, int forgets, int threshold, double first) {
  *s = (state_t){.epsilon = spec->par[EPSILON],
                 .error = spec->par[RISK],
                 .k = spec->k,
                 .forgets = forgets,
                 .threshold = threshold,
                 .first = (int64_t)fmin(ceil(first), 0x1p53),
                 .waiting = spec->k,
                 .leader = -1,
                 .challenger = -1,
                 .verdict = -1};
  for (int i = 0; i < s->k; i++) {
    s->arms[i] = (arm_t){.report = {.kind = NOISE_LAPLACE, .scale = 1 / s->epsilon}};
    gather_init(&s->arms[i].gather);
  }
}

static void adap_init(void *state, const spec_t *spec) {
  begin(state, spec, 1, (int)spec->par[THRESHOLD], 1);
}
static void dp_init(void *state, const spec_t *spec) {
  const double threshold = log(fmax(spec->k - 1, 1) / spec->par[RISK]);
  begin(state, spec, 0, PROVED, 2 * threshold + 6 * threshold / spec->par[EPSILON]);
}

static double mean_of(const state_t *s, int64_t arm) { return s->arms[arm].sum / s->arms[arm].n; }

/* ---- AdaP-TT ----------------------------------------------------------------------- */

static double bonus_index(const state_t *s, int64_t arm) {
  const double n = s->arms[arm].n, ln = log(s->released);
  return mean_of(s, arm) + ln / (s->epsilon * n) + sqrt(ln / (2 * n));
}

static int64_t adap_challenger(const state_t *s) {
  const double slack = 1 / (1 + sqrt(s->released));
  int64_t found = -1;
  double least = INFINITY;
  for (int64_t i = 0; i < s->k; i++) {
    if (i == s->leader) continue;
    const double spread =
        1 / (double)s->arms[s->leader].gather.assigned + 1 / (double)s->arms[i].gather.assigned;
    const double cost = (mean_of(s, s->leader) - mean_of(s, i) + slack) / sqrt(spread);
    if (cost < least) least = cost, found = i;
  }
  return found;
}

static double adap_threshold(const state_t *s, const arm_t *a, const arm_t *b, double batch) {
  const double noise = (1 / a->n + 1 / b->n) / (s->epsilon * s->epsilon);
  if (s->threshold == RUN) {
    const double ln = log(1 / s->error);
    return ln + log(1 + log(a->n)) + log(1 + log(b->n)) + noise * ln * ln;
  }
  const double z = batch * batch * M_PI * M_PI / 6, k = (double)s->k;
  const double u = 0.5 * log((k - 1) * z / s->error), ln = log(2 * k * z / s->error);
  return 2 * (u + log(u)) + 2 * log(4 + log(a->n)) + 2 * log(4 + log(b->n)) + noise * ln * ln;
}

static int adap_stops(const state_t *s, int64_t arm) {
  const arm_t *a = &s->arms[s->leader];
  for (int64_t i = 0; i < s->k; i++) {
    const arm_t *b = &s->arms[i];
    if (i == s->leader) continue;
    double gap = mean_of(s, s->leader) - mean_of(s, i);
    if (s->threshold == PROVED) gap = fmax(gap, 0);
    const double bar = adap_threshold(s, a, b, s->arms[arm].report.terms);
    if (!(0.5 * gap * gap / (1 / a->n + 1 / b->n) >= bar)) return 0;
  }
  return 1;
}

/* ---- DP-TT ------------------------------------------------------------------------- */

/* I^sign(theta) and its derivative */
static double rate(const state_t *s, const arm_t *a, int sign, double theta, double *slope) {
  double low = 0, high = s->epsilon;
  const double e2 = s->epsilon * s->epsilon;
  for (int i = 0; i < 50; i++) {
    const double l = 0.5 * (low + high), grown = theta * exp(sign * l);
    const double up = sign * (a->sum - a->n * grown / (1 - theta + grown));
    if (up > 2 * a->report.terms * l / (e2 - l * l)) low = l;
    else high = l;
  }
  const double move = expm1(sign * low), x = theta * move;
  *slope = -a->n * move / (1 + x);
  return sign * low * a->sum - a->n * log1p(x) + a->report.terms * log1p(-low * low / e2);
}

static double against(const state_t *s, const arm_t *a, const arm_t *b) {
  double low = 0, high = 1, up, down;
  if (a->sum / a->n <= b->sum / b->n) return 0;
  for (int i = 0; i < 40; i++) {
    const double theta = 0.5 * (low + high);
    rate(s, a, 1, theta, &up);
    rate(s, b, -1, theta, &down);
    if (up + down < 0) low = theta;
    else high = theta;
  }
  return rate(s, a, 1, low, &up) + rate(s, b, -1, low, &down);
}

/* (1 + w) e^-w = chance */
static double tail_of_two(double chance) {
  const double goal = -log(chance);
  double w = goal + 1;
  for (int i = 0; i < 60; i++) w = goal + log1p(w);
  return w;
}

static int dp_stops(state_t *s) {
  const arm_t *a = &s->arms[s->leader];
  const double in = 1 / (a->report.terms * (a->report.terms + 1)) * s->error / (double)(s->k - 1);
  double least = INFINITY;
  int stops = 1;
  for (int64_t i = 0; i < s->k; i++) {
    const arm_t *b = &s->arms[i];
    if (i == s->leader) continue;
    const double w = against(s, a, b), index = w + log(b->n);
    if (!(w >= tail_of_two(in / (b->report.terms * (b->report.terms + 1))))) stops = 0;
    if (index < least) least = index, s->challenger = i;
  }
  return stops;
}

/* ---- both -------------------------------------------------------------------------- */

static void decide(state_t *s, int64_t arm) {
  if (s->waiting > 0 || s->verdict >= 0) return;
  int64_t best = 0;
  s->leader = 0;
  for (int64_t i = 1; i < s->k; i++) {
    if (mean_of(s, i) > mean_of(s, best)) best = i;
    if (s->forgets && bonus_index(s, i) > bonus_index(s, s->leader)) s->leader = i;
  }
  if (!s->forgets) s->leader = best;
  if (s->k == 1 || (s->forgets ? adap_stops(s, arm) : dp_stops(s))) s->verdict = best;
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  if (on_offer(round, (int)s->k, (int)s->verdict)) return (int)s->verdict;
  if (s->waiting > 0) {
    FOR_EACH_ARM(i, round) if (gather_begins(&s->arms[i].gather)) return i;
    return least_pulled(round);
  }
  if (s->leader >= 0 && s->k > 1 && s->verdict < 0) {
    const int coin = rng_unif(&draws->policy) < 0.5;
    const int64_t arm = coin ? s->leader : s->forgets ? adap_challenger(s) : s->challenger;
    if (on_offer(round, (int)s->k, (int)arm)) return (int)arm;
  }
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) argmax_add(&best, i, mean_of(s, i));
  return argmax_arm(&best);
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  (void)round, (void)draws;
  gather_t *g = &((state_t *)state)->arms[arm].gather;
  gather_grow(g, (double)((state_t *)state)->first, 1);
  return gather_assign(g, 1);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  state_t *s = state;
  arm_t *a = &s->arms[feedback->arm];
  gather_batch_t batch;
  if (!gather_add(&a->gather, feedback->batch, 1, feedback->reward, &batch)) return;
  const double n = (double)batch.size, y = report_release(&a->report, n, batch.sum, 0, draws);
  s->released += n;
  if (s->forgets && batch.number < a->last) return; /* overtaken */
  a->last = batch.number;
  if (a->n == 0) s->waiting -= 1;
  a->n = s->forgets ? n : a->n + n;
  a->sum = s->forgets ? y : a->sum + y;
  decide(s, feedback->arm);
}

/* For reports only: no decision is made of it. */
static void finish(void *state, draws_t *draws) {
  state_t *s = state;
  for (int64_t i = 0; i < s->k; i++) {
    report_release_rest(&s->arms[i].report, &s->arms[i].gather, draws);
  }
}

static report_t report(const void *state, int arm) { return ((const state_t *)state)->arms[arm].report; }

static verdict_t verdict(const void *state) {
  const state_t *s = state;
  const int stop = s->verdict >= 0;
  return (verdict_t){
      .stop = stop, .arm = (int)s->verdict, .error = stop && s->threshold == PROVED ? s->error : NAN};
}

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  int all =
      SAME(k) && is_in(s->leader, -1, s->k) && is_in(s->challenger, -1, s->k) && is_in(s->verdict, -1, s->k);
  for (int64_t i = 0; all && i < s->k; i++) all = gather_is_sound(&s->arms[i].gather);
  return all;
}

#define PUBLISHED(NAME, OWN_PARAMS, OWN_INIT)                                                              \
  POLICY_OF(NAME, OWN_PARAMS, OWN_INIT, choose, .state_version = 2, .tosses = 1, .releases = 1,            \
            .batches = GATHER_SLOTS, .each_once = 1, .commit = commit, .update = update, .report = report, \
            .verdict = verdict, .finish = finish, .sound = sound)
PUBLISHED(adap_tt, ADAP_PARAMS, adap_init);
PUBLISHED(dp_tt, DP_PARAMS, dp_init);
