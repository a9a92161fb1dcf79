/* UCB1: Auer, Cesa-Bianchi and Fischer (2002), Figure 1.

   Pull each arm once; then the arm of the largest mean + sqrt(2 ln t / n), where t is
   the number of rounds played so far. */

#include <math.h>
#include "leader_skip.h"
#include "policy.h"
#include "tournament_play.h"

static const param_t PARAMS[] = {{NULL}};

typedef struct {
  double sum, n, mean, root; /* root = 1 / sqrt(n) */
} arm_t;

typedef struct {
  int64_t k, waiting; /* arms without rewards */
  arm_t arms[];       /* k of them, then the tournament */
} state_t;

static tournament_t *tournament_of(const state_t *s) {
  return tournament_at(s->arms + s->k, s->k);
}

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + sizeof(arm_t) * (size_t)spec->k + tournament_size(spec->k);
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  *s = (state_t){.k = spec->k, .waiting = spec->k};
  for (int i = 0; i < spec->k; i++) s->arms[i] = (arm_t){0};
  tournament_init(tournament_of(s), spec->k);
}

static double width(double played) { return sqrt(2 * log(fmax(1, played))); }

static double index_of(const void *state, int arm, double w) {
  const arm_t *a = &((const state_t *)state)->arms[arm];
  return a->mean + w * a->root;
}

static int alike(const void *state, int a, int b) {
  const arm_t *arms = ((const state_t *)state)->arms;
  return arms[a].n == arms[b].n && arms[a].mean == arms[b].mean;
}

static double closing(const void *state, int a, int b, double w) {
  (void)w;
  const arm_t *arms = ((const state_t *)state)->arms;
  return arms[b].root - arms[a].root;
}

static const index_t ORDER = {
    .index = index_of, .alike = alike, .closing = closing, .most = INFINITY};

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
  const double w = width((double)(round->t - 1));
  if (t) return tournament_winner(&ORDER, s, t, w);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) argmax_add(&best, i, index_of(s, i, w));
  return argmax_arm(&best);
}

static void add(void *state, int arm, double sum, double n) {
  state_t *s = state;
  arm_t *a = &s->arms[arm];
  if (a->n == 0) s->waiting--;
  a->sum += sum;
  a->n += n;
  a->mean = a->sum / a->n;
  a->root = 1 / sqrt(a->n);
  tournament_changed(tournament_of(s), arm);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  (void)draws;
  add(state, feedback->arm, feedback->reward, 1);
}

static report_t report(const void *state, int arm) {
  const arm_t *a = &((const state_t *)state)->arms[arm];
  return report_plain(a->n, a->sum);
}

/* In the r-th round from now the index of arm l is at least S / (n + r) + w(t) / sqrt(n + r),
   the rewards being at least 0; the others' means stand still, and their indices grow
   with w alone. */
static double sure(const void *state, int k, int l, double played) {
  const arm_t *arms = ((const state_t *)state)->arms, *a = &arms[l];
  if (!(a->n > 0)) return 0;
  if (k == 1) return INFINITY;
  const double w = width(played);
  double rival = -INFINITY, steepest = 0;
  for (int i = 0; i < k; i++) {
    if (i == l) continue;
    rival = fmax(rival, arms[i].mean + w * arms[i].root);
    steepest = fmax(steepest, arms[i].root);
  }
  const double index = a->mean + w * a->root, gap = index - rival;
  const double margin = 1e-13 * (fabs(index) + fabs(rival)); /* for rounding */
  /* To first order in r the gap closes at this rate; then see whether it holds. */
  const double rate =
      (a->mean + 0.5 * w * a->root) / a->n + (w > 0 ? steepest / (w * played) : steepest);
  for (double r = floor(gap / rate); r >= 2; r = floor(0.9 * r)) {
    const double least = a->sum / (a->n + r) + w / sqrt(a->n + r);
    const double most = rival + (width(played + r) - w) * steepest;
    if (least > most + margin) return r;
  }
  return 0;
}

static void skip(void *state, player_t *player, draws_t *draws) {
  leader_skip(state, player, draws, choose, add, sure);
}

const policy_t policy_ucb1 = {.name = "ucb1",
                              .params = PARAMS,
                              .state_version = 3,
                              .size = size,
                              .init = init,
                              .choose = choose,
                              .update = update,
                              .skip = skip,
                              .report = report};
