/* DP-UCB-Bound: Tossou and Dimitrakakis (2016).

   A hybrid mechanism with budget epsilon sums the rewards of each arm. Pull each arm once;
   then the arm of the largest X / n + sqrt(2 ln(t) / n) + nu / n, where X is the released
   sum and nu bounds its noise: (sqrt(8) / epsilon) ln(4 t^4), times ln(n) + 1 unless n is a
   power of 2, when the sum is that of the logarithmic mechanism alone. */

#include <string.h>
#include <math.h>
#include "noise_counter_log.h"
#include "policy.h"
#include "policy_tournament_closing.h"

enum { EPSILON };
PARAMETERS(PARAMS, NEEDS("epsilon"));

/* The index is centre + wide sqrt(2 ln(t)) + far ln(4 t^4). */
typedef struct {
  double n, centre, wide, far;
} arm_t;

typedef struct {
  double epsilon;
  int64_t k, waiting; /* waiting: arms without rewards */
  int64_t levels;
  arm_t arms[]; /* k of them, then the tournament, then the counters */
} state_t;

static tournament_t *tournament_of(const state_t *s) { return tournament_at(s->arms + s->k, s->k); }

static void *counters(const state_t *s) { return (char *)(s->arms + s->k) + tournament_size(s->k); }

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + tournament_size(spec->k) +
         (sizeof(arm_t) + hybrid_size(tree_levels(spec->horizon))) * (size_t)spec->k;
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  const int levels = tree_levels(spec->horizon);
  *s = (state_t){.k = spec->k, .waiting = spec->k, .levels = levels, .epsilon = spec->par[EPSILON]};
  tournament_init(tournament_of(s), spec->k);
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (arm_t){0};
    hybrid_init(hybrid_at(counters(s), levels, (size_t)i), levels, 0, s->epsilon);
  }
}

/* The clock of the tournament: sqrt(2 ln(t)), of which ln(4 t^4) is a function. */
static double root_at(double t) { return sqrt(2 * log(t)); }
static double noise_at(double root) { return 1.3862943611198906 + 2 * root * root; }

static inline double index_at(const arm_t *a, double root, double noise) {
  return a->centre + a->wide * root + a->far * noise;
}

static double index_of(const void *state, int arm, double root) {
  return index_at(&((const state_t *)state)->arms[arm], root, noise_at(root));
}

/* The slope of noise_at() is 4 root, at most 8 times what root is now. */
static double closing(const void *state, int a, int b, double root) {
  const arm_t *arms = ((const state_t *)state)->arms;
  return fabs(arms[a].wide - arms[b].wide) + 8 * root * fabs(arms[a].far - arms[b].far) +
         apart(arms[a].centre, arms[b].centre);
}

static const index_t ORDER = {.index = index_of, .closing = closing};

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)draws;
  const state_t *s = state;
  const arm_t *arms = s->arms;
  tournament_t *t = tournament_for(round, tournament_of(s));
  const int first = tournament_opening(t, s->waiting, round, &arms->n, sizeof *arms);
  if (first >= 0) return first;
  const double root = root_at((double)round->t);
  if (t) return closing_winner(&ORDER, s, t, root);
  const double noise = noise_at(root);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) argmax_add(&best, i, index_at(&arms[i], root, noise));
  return argmax_arm(&best);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  state_t *s = state;
  arm_t *a = &s->arms[feedback->arm];
  if (a->n == 0) s->waiting--;
  hybrid_t *counter = hybrid_at(counters(s), (int)s->levels, (size_t)feedback->arm);
  const double sum = hybrid_add(counter, feedback->reward, draws), n = a->n += 1;
  int exponent;
  const int power_of_2 = frexp(n, &exponent) == 0.5;
  a->centre = sum / n;
  a->wide = sqrt(1 / n);
  a->far = sqrt(8) / s->epsilon * (power_of_2 ? 1 : log(n) + 1) / n;
  tournament_changed(tournament_of(s), feedback->arm);
}

static report_t report(const void *state, int arm) {
  const state_t *s = state;
  return hybrid_report(hybrid_at(counters(s), (int)s->levels, (size_t)arm));
}

static void grow(void *state, const void *of_old, int k) {
  state_t *s = state;
  const state_t *old = of_old;
  s->waiting += old->waiting - k;
  memcpy(s->arms, old->arms, sizeof *s->arms * (size_t)k);
  memcpy(counters(s), counters(old), hybrid_size((int)s->levels) * (size_t)k);
}

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  return SAME(k) && SAME(levels) && tournament_is_sound(tournament_of(s), s->k) &&
         hybrids_are_sound(counters(s), (int)s->levels, s->k);
}

POLICY(dp_ucb_bound, .state_version = 4, .releases = 1, .needs_horizon = 1, .update = update,
       .report = report, .grow = grow, .sound = sound);
