/* DP-UCB-Int: Tossou and Dimitrakakis (2016), Algorithm 3.

   f = ceil(1 / epsilon), which the constructor computes. Pull the arms in turn until each has f
   rewards. An arm's private mean is renewed when its pulls n are a multiple of f:
   (S + Lap(n^(v / 2))) / n. Pull the arm of the largest private mean + sqrt(2 ln(t) / n). */

#include <string.h>
#include <math.h>
#include "policy.h"
#include "skip_ucb.h"

enum { EVERY, V };
PARAMETERS(PARAMS, NEEDS("every"), NEEDS("v"));

typedef struct {
  double sum, n, mean; /* sum: exact, never in an index */
  double due;          /* pulls until the mean is renewed */
} arm_t;

typedef struct {
  double every, power; /* f, v / 2 */
  int64_t waiting;     /* arms without a mean */
  arm_t arms[];
} state_t;

static size_t size(const spec_t *spec) { return sizeof(state_t) + sizeof(arm_t) * (size_t)spec->k; }

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  *s = (state_t){.every = spec->par[EVERY], .power = spec->par[V] / 2, .waiting = spec->k};
  for (int i = 0; i < spec->k; i++) s->arms[i] = (arm_t){0, 0, 0, s->every};
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)draws;
  const state_t *s = state;
  const arm_t *arms = s->arms;
  if (s->waiting > 0) {
    /* In turn, until each has f rewards. */
    FOR_EACH_ARM(i, round) if (arms[i].n < s->every) return least_pulled(round);
  }
  const double w = ucb_width((double)round->t);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) argmax_add(&best, i, arms[i].mean + w / sqrt(arms[i].n));
  return argmax_arm(&best);
}

/* n rewards, no more than are due. */
static void add(state_t *s, int arm, double sum, double n, draws_t *draws) {
  arm_t *a = &s->arms[arm];
  a->sum += sum;
  a->n += n;
  a->due -= n;
  if (a->due > 0) return;
  a->due = s->every;
  if (a->n == s->every) s->waiting -= 1;
  a->mean = release_laplace(draws, a->sum, pow(a->n, s->power)) / a->n;
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  add(state, feedback->arm, feedback->reward, 1, draws);
}

/* Rounds from round t on, until its mean is due at most, in which arm l, just chosen, is surely chosen
   again. */
static double sure(const state_t *s, int k, int l, double t) {
  const arm_t *arms = s->arms;
  if (s->waiting > 0 || k == 1) return 0;
  const double w = ucb_width(t);
  ucb_rivals_t rivals = UCB_RIVALS;
  for (int i = 0; i < k; i++) {
    const double slope = 1 / sqrt(arms[i].n);
    if (i != l) ucb_rivals_add(&rivals, arms[i].mean + w * slope, slope);
  }
  return ucb_sure(arms[l].mean, 1, arms[l].n, rivals, t, arms[l].due);
}

/* A look at every arm pays where a stretch may be so long. */
#define STRETCH 8

/* One stretch, or some rounds one by one. */
static void skip(void *state, player_t *player, draws_t *draws) {
  state_t *s = state;
  for (int i = 0; i < 24 && player_left(player) > 0; i++) {
    const int arm = player_choose(player, choose, s, draws);
    if (arm < 0) return;
    const double rounds =
        i == 0 && s->arms[arm].due >= STRETCH ? sure(s, player->k, arm, (double)(player->t + 1)) : 1;
    const int64_t n = player_stretch(player, (int64_t)fmax(1, rounds));
    add(s, arm, player_pull_many(player, arm, n), (double)n, draws);
    if (n > 1) return;
  }
}

static int skip_pays(const spec_t *spec) { return spec->par[EVERY] >= STRETCH; }

static report_t report(const void *state, int arm) {
  const state_t *s = state;
  const arm_t *a = &s->arms[arm];
  const double n = a->n - (s->every - a->due); /* when the mean was renewed */
  return (report_t){.rewards = n,
                    .sum = n * a->mean,
                    .kind = NOISE_LAPLACE,
                    .last_terms = 1,
                    .last_scale = pow(n, s->power),
                    .looks = n / s->every};
}

static void grow(void *state, const void *of_old, int k) {
  state_t *s = state;
  const state_t *old = of_old;
  s->waiting += old->waiting - k;
  memcpy(s->arms, old->arms, sizeof *s->arms * (size_t)k);
}

POLICY(dp_ucb_int, .state_version = 1, .releases = 1, .update = update, .skip = skip, .skip_pays = skip_pays,
       .report = report, .grow = grow);
