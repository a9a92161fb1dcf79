/* Anytime-Lazy-UCB: Hu, Huang and Mehta (2021).

   Pull each arm once; then the arm of the largest
   mean + sqrt(3 log(t) / n) + 3 log(t) / (epsilon n), where n and mean are the size and the
   private mean of the arm's last full block of rewards (policy_released.h). */

#include <string.h>
#include "policy_released.h"
#include "policy.h"
#include "policy_tournament_closing.h"

enum { EPSILON, LOG_BASE };
PARAMETERS(PARAMS, NEEDS("epsilon"), NEEDS("log_base"));

/* The index is mean + wide sqrt(log t) + far log t, with log of the base asked for. */
typedef struct {
  double wide, far;
  released_t batches;
} arm_t;

typedef struct {
  mechanism_t how;    /* batches are released */
  double log_scale;   /* 1 / ln(log_base) */
  int64_t k, waiting; /* waiting: arms without a mean */
  arm_t arms[];       /* k of them, then k gather_t, then the tournament */
} state_t;

static gather_t *gather_of(state_t *s, int arm) { return (gather_t *)(s->arms + s->k) + arm; }

static tournament_t *tournament_of(const state_t *s) {
  return tournament_at((const gather_t *)(s->arms + s->k) + s->k, s->k);
}

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + (sizeof(arm_t) + sizeof(gather_t)) * (size_t)spec->k + tournament_size(spec->k);
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  *s = (state_t){.k = spec->k,
                 .how = {.kind = NOISE_LAPLACE, .scale = 1 / spec->par[EPSILON], .forget = 1},
                 .log_scale = 1 / log(spec->par[LOG_BASE]),
                 .waiting = spec->k};
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (arm_t){0};
    gather_init(gather_of(s, i));
  }
  tournament_init(tournament_of(s), spec->k);
}

static inline double index_at(const arm_t *a, double x, double root_x) {
  return a->batches.mean + a->wide * root_x + a->far * x;
}

static double index_of(const void *state, int arm, double x) {
  return index_at(&((const state_t *)state)->arms[arm], x, sqrt(x));
}

static double closing(const void *state, int a, int b, double x) {
  const arm_t *arms = ((const state_t *)state)->arms;
  return fabs(arms[a].wide - arms[b].wide) / (2 * sqrt(x)) + fabs(arms[a].far - arms[b].far) +
         apart(arms[a].batches.mean, arms[b].batches.mean);
}

/* Both ways: rounds_in_a_batch() looks ahead. */
static const index_t ORDER = {.index = index_of, .closing = closing, .clock = CLOCK_RUNS_BOTH_WAYS};

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)draws;
  const state_t *s = state;
  const arm_t *arms = s->arms;
  tournament_t *t = tournament_for(round, tournament_of(s));
  const int first = tournament_opening(t, s->waiting, round, &arms->batches.n, sizeof *arms);
  if (first >= 0) return first;
  const double x = log((double)round->t) * s->log_scale;
  if (t) return closing_winner(&ORDER, s, t, x);
  const double root_x = sqrt(x);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) argmax_add(&best, i, index_at(&arms[i], x, root_x));
  return argmax_arm(&best);
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  (void)round, (void)draws;
  return gather_assign_doubling(gather_of(state, arm), 1);
}

static void release(state_t *s, int arm, const gather_batch_t *batch, draws_t *draws) {
  arm_t *a = &s->arms[arm];
  if (a->batches.releases == 0) s->waiting -= 1;
  if (!release_batch(&s->how, &a->batches, batch, draws)) return;
  a->wide = sqrt(3 / a->batches.m);
  a->far = 3 / (a->batches.m / s->how.scale);
  tournament_changed(tournament_of(s), arm);
}

static void add(state_t *s, int arm, int64_t number, int64_t n, double sum, draws_t *draws) {
  gather_batch_t batch;
  if (gather_add(gather_of(s, arm), number, n, sum, &batch)) release(s, arm, &batch, draws);
}

static void finish(void *state, draws_t *draws) {
  state_t *s = state;
  gather_batch_t batch;
  for (int i = 0; i < s->k; i++) {
    while (gather_finish(gather_of(s, i), &batch)) release(s, i, &batch, draws);
  }
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  add(state, feedback->arm, feedback->batch, 1, feedback->reward, draws);
}

static void learn(void *state, const round_t *round, int arm, double reward, draws_t *draws) {
  (void)round;
  gather_t *g = gather_of(state, arm);
  if (!gather_take(g, reward)) add(state, arm, gather_assign_doubling(g, 1), 1, reward, draws);
}

static report_t report(const void *state, int arm) {
  const state_t *s = state;
  return released_report(&s->how, &s->arms[arm].batches);
}

/* Rounds from t on in which `arm`, chosen in round t, is surely chosen if nothing else
   changes: the lead over arm j is lead + wide x + far x^2 in x = sqrt(log t), and can only
   shrink if j's batch is the smaller one (wide, far < 0). */
static double rounds_in_front(const state_t *s, int arm, double t) {
  const arm_t *a = &s->arms[arm];
  double least = INFINITY; /* of the roots x */
  for (int j = 0; j < s->k; j++) {
    const arm_t *b = &s->arms[j];
    const double wide = a->wide - b->wide, far = a->far - b->far;
    if (!(wide < 0)) continue;
    const double lead = fmax(0, a->batches.mean - b->batches.mean);
    const double root = 2 * lead / (sqrt(wide * wide - 4 * far * lead) - wide);
    if (root < least) least = root;
  }
  /* Stop short of the crossing by more than its rounding error: choose() decides there. */
  const double crossing = exp(least * least / s->log_scale);
  return floor(crossing * (1 - 1e-9) - t);
}

/* The same, at most n. A lead only grows or only shrinks: whoever is chosen now and in the last of
   n rounds is chosen in all. */
static double rounds_in_a_batch(const state_t *s, int arm, double t, double n) {
  tournament_t *tournament = tournament_of(s);
  if (tournament) {
    const double end = log(t + n - 1) * s->log_scale;
    if (closing_winner(&ORDER, s, tournament, end) == arm) return n;
  }
  return fmin(n, fmax(1, rounds_in_front(s, arm, t)));
}

static void skip(void *state, player_t *player, draws_t *draws) {
  state_t *s = state;
  const int arm = player_choose(player, choose, s, draws);
  if (arm < 0) return;
  double most = (double)gather_double(gather_of(s, arm));
  if (s->waiting > 0) most = 1;
  else if (most > 1) most = rounds_in_a_batch(s, arm, (double)(player->t + 1), most);
  const int64_t n = player_stretch(player, (int64_t)most);
  const int64_t batch = gather_assign_doubling(gather_of(s, arm), n);
  add(s, arm, batch, n, player_pull_many(player, arm, n), draws);
}

static void grow(void *state, const void *of_old, int k) {
  state_t *s = state, *old = (state_t *)of_old;
  s->waiting += old->waiting - k;
  memcpy(s->arms, old->arms, sizeof *s->arms * (size_t)k);
  memcpy(gather_of(s, 0), gather_of(old, 0), sizeof(gather_t) * (size_t)k);
}

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  return SAME(k) && gathers_are_sound(gather_of((state_t *)s, 0), s->k) &&
         tournament_is_sound(tournament_of(s), s->k);
}

POLICY(lazy_ucb, .state_version = 4, .releases = 1, .batches = GATHER_SLOTS, .each_once = 1, .commit = commit,
       .update = update, .learn = learn, .skip = skip, .report = report, .finish = finish, .grow = grow,
       .sound = sound);
