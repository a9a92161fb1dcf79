/* IMED: Honda and Takemura (2015). Pull each arm once; then
   the arm of the least n kl(mean, highest mean) + ln(n). */

#include <math.h>
#include "kl.h"
#include "leader_skip.h"
#include "policy.h"
#include "tournament.h"

static const param_t PARAMS[] = {{NULL}};

typedef struct {
  double sum, n, mean, log_n;
} arm_t;

typedef struct {
  int64_t k, waiting; /* arms without rewards */
  arm_t arms[];       /* k of them, then the tournament, then a tree for the highest mean */
} state_t;

static tournament_t *tournament_of(const state_t *s) {
  return tournament_at(s->arms + s->k, s->k);
}

static double *means_of(const state_t *s) {
  return (double *)((char *)(s->arms + s->k) + tournament_size(s->k));
}

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + sizeof(arm_t) * (size_t)spec->k + tournament_size(spec->k) +
         highest_size(spec->k);
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  *s = (state_t){.k = spec->k, .waiting = spec->k};
  for (int i = 0; i < spec->k; i++) s->arms[i] = (arm_t){0};
  tournament_init(tournament_of(s), spec->k);
  highest_init(means_of(s), spec->k);
}

/* With its sign changed, and so `top`: the largest is the best, and it falls as `top` rises. */
static double index_of(const void *state, int arm, double minus_top) {
  const arm_t *a = &((const state_t *)state)->arms[arm];
  const double top = -minus_top;
  return top < a->mean ? -a->log_n : -(a->n * kl(a->mean, top) + a->log_n);
}

static int alike(const void *state, int a, int b) {
  const arm_t *arms = ((const state_t *)state)->arms;
  return arms[a].n == arms[b].n && arms[a].mean == arms[b].mean;
}

static const index_t ORDER = {
    .index = index_of, .alike = alike, .most = INFINITY, .clock = CLOCK_RUNS_BOTH_WAYS};

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)draws;
  const state_t *s = state;
  const arm_t *arms = s->arms;
  tournament_t *t = tournament_for(round, tournament_of(s));
  if (s->waiting > 0) {
    if (t) return tournament_opening(t, round, &arms->n, sizeof *arms, 1);
    const int arm = opening_choice(round, &arms->n, sizeof *arms, 1);
    if (arm >= 0) return arm;
  }
  if (t) return tournament_best(&ORDER, s, t, -fmax(0, highest(means_of(s))));
  argmax_t best = ARGMAX;
  double top = 0;
  FOR_EACH_ARM(i, round) top = fmax(top, arms[i].mean);
  FOR_EACH_ARM(i, round) {
    if (-arms[i].log_n <= best.value) continue; /* kl is not negative */
    argmax_add(&best, i, index_of(s, i, -top));
  }
  return argmax_arm(&best);
}

static void add(void *state, int arm, double sum, double n) {
  state_t *s = state;
  arm_t *a = &s->arms[arm];
  if (a->n == 0) s->waiting--;
  a->sum += sum;
  a->n += n;
  a->mean = a->sum / a->n;
  a->log_n = log(a->n);
  tournament_changed(tournament_of(s), arm);
  highest_set(means_of(s), s->k, arm, a->mean);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  (void)draws;
  add(state, feedback->arm, feedback->reward, 1);
}

static report_t report(const void *state, int arm) {
  const arm_t *a = &((const state_t *)state)->arms[arm];
  return report_plain(a->n, a->sum);
}

/* Let l have the highest mean m, so that its index is ln(n). After r more rounds ln(n) has
   grown by at most r / n, and m has fallen by at most m r / n, the rewards being at least
   0. kl(m_i, .) is convex with the slope (m - m_i) / (m (1 - m)) at m: so the lead over arm i
   has shrunk by at most r / n (1 + n_i (m - m_i) / (1 - m)). m stays highest while
   m n / (n + r) does. */
static double sure(const void *state, int k, int l, double played) {
  (void)played;
  const arm_t *arms = ((const state_t *)state)->arms, *a = &arms[l];
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

static void skip(void *state, player_t *player, draws_t *draws) {
  leader_skip(state, player, draws, choose, add, sure);
}

const policy_t policy_imed = {.name = "imed",
                              .params = PARAMS,
                              .state_version = 3,
                              .size = size,
                              .init = init,
                              .choose = choose,
                              .update = update,
                              .skip = skip,
                              .report = report};
