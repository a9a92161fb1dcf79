/* Lazy-DP-TS: Hu and Hegde (2022), Algorithm 2.

   2-4.   Pull each arm once; private mean = reward + Lap(1 / epsilon), O = 1.
   7-11.  shifted = clip(mean + 3 log(t) / (epsilon O)) to [0, 1];
          theta ~ Beta(shifted O + 1, (1 - shifted) O + 1); pull the arm of the largest.
   12-16. Rewards gather in a batch; at 2^(r + 1) of them they give the new private mean, with
          one draw of Lap(1 / epsilon), and O = 2^(r + 1) (policy_released.h).

   And lazy Gaussian Thompson sampling, the same with N(0, 1 / mu^2) on the sum of a batch, for mu-GDP; with
   sqrt(6 ln(t)) / mu in place of 3 log(t) / epsilon, for in both cases the noise exceeds that with a chance
   of at most t^-3; and with rewards of [0, 1] as they are. With `correlation` above 0 (ours) nothing is
   forgotten: the batches are released as a moving average (noise_moving_average.h), O is what the mean of
   them all is worth in rewards, and the shift sqrt(6 ln(t)) times the sd of its noise. */

#include <string.h>
#include "math_util.h"
#include "policy.h"
#include "policy_released.h"
#include "sample.h"
#include "sample_beta_tail.h"
#include "skip_thompson_beta.h"

enum { EPSILON, LOG_BASE };
PARAMETERS(PARAMS, NEEDS("epsilon"), NEEDS("log_base"));

typedef struct {
  mechanism_t how;     /* batches are released */
  double budget;       /* epsilon, or mu */
  double log_scale;    /* 1 / ln(log_base) */
  int32_t k, gaussian; /* gaussian: is it mu? */
  int64_t waiting;     /* arms without a mean */
  released_t arms[];   /* k of them, then k gather_t, then a thompson_t */
} state_t;

static gather_t *gather_of(const state_t *s, int arm) { return (gather_t *)(s->arms + s->k) + arm; }

static thompson_t *thompson_of(const state_t *s) { return (thompson_t *)gather_of(s, s->k); }

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + (sizeof(released_t) + sizeof(gather_t)) * (size_t)spec->k +
         thompson_size(spec->k, spec->k >= ARM_GROUPS_FROM);
}

static void begin(state_t *s, const spec_t *spec) {
  s->k = spec->k;
  s->waiting = spec->k;
  s->how.scale = 1 / s->budget;
  s->how.forget = 1;
  for (int i = 0; i < s->k; i++) {
    s->arms[i] = (released_t){0};
    gather_init(gather_of(s, i));
  }
  thompson_init(thompson_of(s), s->k, s->k >= ARM_GROUPS_FROM);
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  *s = (state_t){
      .how.kind = NOISE_LAPLACE, .budget = spec->par[EPSILON], .log_scale = 1 / log(spec->par[LOG_BASE])};
  begin(s, spec);
}

/* What round t adds to an arm's mean, for each unit of noise in it. */
static double shift_at(const state_t *s, double t) {
  if (s->gaussian) return sqrt(6 * log(t)) / s->budget;
  return 3 * log(t) * s->log_scale / s->budget;
}

static inline beta_t posterior(const released_t *arm, double shift) {
  const double n = arm->m, shifted = clip01(arm->mean + shift * arm->spread);
  return (beta_t){shifted * n + 1, (1 - shifted) * n + 1};
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  const released_t *arms = s->arms;
  const int first = opening_choice(s->waiting, round, &arms->n, sizeof *arms);
  if (first >= 0) return first;
  const double shift = shift_at(s, (double)round->t);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    const beta_t beta = posterior(&arms[i], shift);
    argmax_add(&best, i, sample_beta(&draws->policy, beta.a, beta.b));
  }
  return argmax_arm(&best);
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  (void)round, (void)draws;
  return gather_assign_doubling(gather_of(state, arm), 1);
}

/* Returns whether the arm's posterior is renewed. */
static int release(state_t *s, int arm, const gather_batch_t *batch, draws_t *draws) {
  if (s->arms[arm].releases == 0) s->waiting -= 1;
  return release_batch(&s->how, &s->arms[arm], batch, draws);
}

static int add(state_t *s, int arm, int64_t number, int64_t n, double sum, draws_t *draws) {
  gather_batch_t batch;
  return gather_add(gather_of(s, arm), number, n, sum, &batch) && release(s, arm, &batch, draws);
}

static void finish(void *state, draws_t *draws) {
  state_t *s = state;
  gather_batch_t batch;
  for (int i = 0; i < s->k; i++) {
    while (gather_finish(gather_of(s, i), &batch)) release(s, i, &batch, draws);
  }
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  const state_t *s = state;
  const double item = s->gaussian ? feedback->reward : sample_coin(&draws->policy, feedback->reward);
  add(state, feedback->arm, feedback->batch, 1, item, draws);
}

static report_t report(const void *state, int arm) {
  const state_t *s = state;
  return released_report(&s->how, &s->arms[arm]);
}

/* ---- skipping -------------------------------------------------------------------------

   As skip_thompson.h says. Between two releases posteriors drift upwards, with log t: the bounds of others'
   events are those at the end of a stretch of rounds, that of the leader's is the one at its start. Bounds
   are masses of envelopes (sample_beta_tail.h), which decide and draw without any probability of a tail. */

static posterior_t of(const void *policy, int arm, double shift) {
  const beta_t beta = posterior(&((const state_t *)policy)->arms[arm], shift);
  return (posterior_t){beta.a, beta.b};
}

static double drift(const void *policy, double t) { return shift_at(policy, t); }

/* The tail on the wrong side of the level */
static beta_tail_t tail(const void *policy, int arm, int leads, double shift, double level) {
  const posterior_t p = of(policy, arm, shift);
  return leads ? beta_tail(p.y, p.x, 1 - level) : beta_tail(p.x, p.y, level);
}

static double bound(const void *policy, const thompson_t *block, int arm) {
  const int leads = arm == block->leader;
  const double shift = leads ? block->begin : block->drift;
  return -log1p(-fmin(1, tail(policy, arm, leads, shift, block->level).mass));
}

static double safe(const void *policy, const thompson_t *block, const player_t *player) {
  const double rounds = block->end - (double)player->t;
  return rounds < 1 ? -1 : fmin(rounds, (double)gather_double(gather_of(policy, block->leader)));
}

/* Chances and bounds of them are the same number where a stretch ends. */
#define ROUNDING 1e-9

static double draw_wrong(const void *policy, const thompson_t *block, int arm, double shift, rng_t *rng) {
  const int leads = arm == block->leader;
  const double bound = -expm1(-(leads ? block->own : thompson_bound(block, arm)));
  const beta_tail_t wrong = tail(policy, arm, leads, shift, block->level);
  if (wrong.mass > bound * (1 + ROUNDING)) return NAN;
  if (rng_unif(rng) * bound >= wrong.mass) return -INFINITY;
  const double x = beta_tail_draw(&wrong, rng);
  return x < 0 ? -INFINITY : leads ? 1 - x : x;
}

static double draw_right(const void *policy, const thompson_t *block, int arm, double shift, rng_t *rng) {
  const posterior_t p = of(policy, arm, shift);
  for (;;) {
    const double theta = sample_beta(rng, p.x, p.y);
    if ((theta > block->level) == (arm == block->leader)) return theta;
  }
}

/* Returns whether the posterior is renewed. */
static int pull(void *policy, player_t *player, int arm, int64_t n, draws_t *draws) {
  state_t *s = policy;
  const int64_t batch = gather_assign_doubling(gather_of(s, arm), n);
  const double sum =
      s->gaussian ? player_pull_many(player, arm, n) : player_pull_coins(player, arm, n, &draws->policy);
  const int renewed = add(s, arm, batch, n, sum, draws);
  if (renewed && arm == thompson_of(s)->leader) thompson_of(s)->leader = -1;
  return renewed;
}

THOMPSON(.family = &BETA, .dense = 0.8, .rest = 64, .pause = 64, .farther = 1.5, .choose = choose,
         .pull = pull, .of = of, .drift = drift, .open = thompson_open_beta, .bound = bound, .safe = safe,
         .draw_wrong = draw_wrong, .draw_right = draw_right);

static void skip(void *state, player_t *player, draws_t *draws) {
  state_t *s = state;
  for (int i = 0; s->waiting > 0 && i < s->k && player_left(player) > 0; i++) {
    if (s->arms[i].n == 0) pull(s, player, i, 1, draws);
  }
  if (player_left(player) > 0) thompson_skip(&KIND, s, thompson_of(s), player, draws);
}

static void grow(void *state, const void *of_old, int k) {
  state_t *s = state, *old = (state_t *)of_old;
  s->waiting += old->waiting - k;
  memcpy(s->arms, old->arms, sizeof *s->arms * (size_t)k);
  memcpy(gather_of(s, 0), gather_of(old, 0), sizeof(gather_t) * (size_t)k);
}

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  return SAME(k) && gathers_are_sound(gather_of(s, 0), s->k);
}

POLICY(lazy_dp_ts, .state_version = 4, .tosses = 1, .tosses_coins = 1, .releases = 1, .batches = GATHER_SLOTS,
       .each_once = 1, .commit = commit, .update = update, .skip = skip, .report = report, .finish = finish,
       .grow = grow, .sound = sound);

/* ---- lazy Gaussian Thompson sampling --------------------------------------------------- */

enum { MU, CORRELATION };
PARAMETERS(GAUSSIAN_PARAMS, NEEDS("mu"), NEEDS("correlation"));

static void init_gaussian(void *state, const spec_t *spec) {
  state_t *s = state;
  *s = (state_t){.how = {.kind = NOISE_GAUSSIAN, .correlation = spec->par[CORRELATION]},
                 .budget = spec->par[MU],
                 .gaussian = 1};
  begin(s, spec);
}

POLICY_OF(lazy_gaussian_ts, GAUSSIAN_PARAMS, init_gaussian, choose, .state_version = 5, .tosses = 1,
          .releases = 1, .batches = GATHER_SLOTS, .each_once = 1, .commit = commit, .update = update,
          .skip = skip, .report = report, .finish = finish, .grow = grow, .sound = sound);
