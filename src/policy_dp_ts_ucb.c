/* DP-TS-UCB: Hu, Huang, Zhang, Lecuyer and Hegde (2025).

   phi = c0 T^((1 - alpha) / 2) ln(T)^((3 - alpha) / 2) is the number of posterior draws that
   an arm may have in an epoch; the constructor computes it, for the guarantee needs it too.
   Epochs of 1, 2, 4, ... rewards; the mean of an arm is the exact one of its last complete
   epoch, of n rewards. In each round an arm with draws left draws
   theta ~ N(mean, ln(T)^alpha / n) and keeps the largest draw of the epoch, MAX; an arm
   without uses MAX. Pull the arm of the largest. No other noise is added.

   A draw is a release of the mean, so choosing must not make one: a choice may be discarded.
   The draws for a round are made when all rewards of the rounds before are in; while some are
   out, when the round before is played. Epochs are of assigned pulls (policy_gather.h). */

#include <string.h>
#include "policy_gather.h"
#include "policy.h"

enum { ALPHA, PHI };
PARAMETERS(PARAMS, NEEDS("alpha"), NEEDS("phi"));

typedef struct {
  double n, sum;            /* of the last complete epoch */
  double draws, max, theta; /* left; the largest so far; what this round uses */
  int64_t last;             /* number of the last complete epoch */
  int64_t offered;          /* the last round with the arm on offer, while some arm waits */
} arm_t;

typedef struct {
  double phi, variance;
  int64_t k;
  int64_t waiting; /* arms without a mean */
  int64_t drawing; /* arms with draws left */
  int64_t out;     /* rewards that are to come */
  int64_t fresh;   /* were there draws for the next round? */
  int64_t last_offer;
  arm_t arms[]; /* k of them, then k gather_t */
} state_t;

static gather_t *gather_of(state_t *s, int arm) { return (gather_t *)(s->arms + s->k) + arm; }

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + (sizeof(arm_t) + sizeof(gather_t)) * (size_t)spec->k;
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  *s = (state_t){.k = spec->k,
                 .waiting = spec->k,
                 .phi = spec->par[PHI],
                 .variance = pow(log(spec->horizon), spec->par[ALPHA])};
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (arm_t){0};
    gather_init(gather_of(s, i));
  }
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)draws;
  const state_t *s = state;
  const int first = opening_choice(s->waiting, round, &s->arms->n, sizeof *s->arms);
  if (first >= 0) return first;
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) argmax_add(&best, i, s->arms[i].theta);
  return argmax_arm(&best);
}

/* The draws for the next round, of the arms that have a mean and draws left. */
static void draw_thetas(state_t *s, draws_t *draws) {
  /* The last draw is used for a round; from the next on MAX is. */
  for (int i = 0; i < (int)s->k; i++) {
    if (s->arms[i].draws < 1) s->arms[i].theta = s->arms[i].max;
  }
  s->fresh = s->drawing > 0;
  if (!s->fresh) return;
  for (int i = 0; i < (int)s->k; i++) {
    arm_t *a = &s->arms[i];
    if (a->draws < 1) continue;
    a->theta = release_gaussian(draws, a->sum, sqrt(s->variance * a->n)) / a->n;
    if (a->theta > a->max) a->max = a->theta;
    if (--a->draws < 1) s->drawing -= 1;
  }
}

/* Has every arm that was last on offer a mean? Until then rounds need no draws. */
static int begun(const state_t *s) {
  for (int i = 0; s->waiting > 0 && i < (int)s->k; i++) {
    if (s->arms[i].n == 0 && s->arms[i].offered == s->last_offer) return 0;
  }
  return 1;
}

static int64_t assign(state_t *s, int arm, int64_t n) {
  s->out += n;
  return gather_assign_doubling(gather_of(s, arm), n);
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  state_t *s = state;
  if (s->waiting > 0) {
    s->last_offer = round->t;
    FOR_EACH_ARM(i, round) s->arms[i].offered = round->t;
  }
  if (s->out > 0 && begun(s)) draw_thetas(s, draws);
  return assign(s, arm, 1);
}

static void add(state_t *s, int arm, int64_t number, int64_t n, double sum, draws_t *draws) {
  arm_t *a = &s->arms[arm];
  gather_batch_t batch;
  s->out -= n;
  if (gather_add(gather_of(s, arm), number, n, sum, &batch) && batch.number > a->last) {
    if (a->n == 0) s->waiting -= 1;
    if (a->draws < 1 && s->phi >= 1) s->drawing += 1;
    *a = (arm_t){.n = (double)batch.size,
                 .sum = batch.sum,
                 .last = batch.number,
                 .draws = s->phi,
                 .max = -INFINITY,
                 .theta = -INFINITY};
  }
  if (s->out == 0 && begun(s)) draw_thetas(s, draws);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  add(state, feedback->arm, feedback->batch, 1, feedback->reward, draws);
}

/* Without draws left the same arm is pulled until its epoch is full. */
static void skip(void *state, player_t *player, draws_t *draws) {
  state_t *s = state;
  const int arm = player_choose(player, choose, s, draws);
  if (arm < 0) return;
  const int settled = s->waiting == 0 && s->drawing == 0 && !s->fresh;
  const gather_t *g = gather_of(s, arm);
  const double most = !settled ? 1 : g->open < 0 ? 2 * s->arms[arm].n : (double)gather_left(g);
  const int64_t n = player_stretch(player, most);
  const int64_t number = assign(s, arm, n);
  add(s, arm, number, n, player_pull_many(player, arm, n), draws);
}

static void grow(void *state, const void *of_old, int k) {
  state_t *s = state, *old = (state_t *)of_old;
  s->waiting += old->waiting - k;
  s->drawing = old->drawing;
  s->out = old->out;
  s->fresh = old->fresh;
  s->last_offer = old->last_offer;
  memcpy(s->arms, old->arms, sizeof *s->arms * (size_t)k);
  memcpy(gather_of(s, 0), gather_of(old, 0), sizeof(gather_t) * (size_t)k);
}

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  return SAME(k) && gathers_are_sound(gather_of((state_t *)s, 0), s->k);
}

POLICY(dp_ts_ucb, .state_version = 1, .releases = 1, .needs_horizon = 1, .commit = commit, .update = update,
       .skip = skip, .grow = grow, .sound = sound);
