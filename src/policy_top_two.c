/* The best arm with few people: top two with evidence, under privacy.

   With T = ln((k - 1) / error), x the private means, V their variances and W the evidence of
   policy_evidence_means.h:
   1. A first batch of each arm: 12 sqrt(2 T) / mu + 2 T rewards, or 6 T / epsilon + 2 T, or 2 T without
      privacy, rounded up.
   2. At each release: the leader a has the highest x; q_b = (x_a - x_b + margin)^2 / (2 (V_a + V_b)), and
      once all q_b are at least T / 2, the smaller of it and W_ab takes its place. If all W_ab are at least
      T: stop; a is the verdict, and played from then on.
   3. Else the challenger c has the least q_b + 2 ln(n_b), for the n_b that it was assigned. Let
      r = 1 + (T / max(q_c, T / 100) - 1) / 2, at least 1.1 and at most 2. The next batch is
      (r - 1) n rewards, rounded up, of the leader or of the challenger, by a toss such that of all people
      the leader has the share V_a / (V_a + V_c).

   Of continuous outcomes the squares are released, too: V and W know how much the rewards vary, and the first
   batches are half as large.

   2 ln(n) keeps an arm alive that noise has wronged: with no such term some runs never end. */

#include <string.h>
#include "policy_evidence_means.h"
#include "policy_released.h"
#include "policy.h"

enum { MU, EPSILON, RISK, MARGIN, OUTCOME };
PARAMETERS(PARAMS, TAKES("mu"), TAKES("epsilon"), NEEDS("error"), NEEDS("margin"),
           ONE_OF("outcome", OUTCOMES));

typedef struct {
  gather_t gather;
  evidence_t evidence;
  report_t report;
  double against; /* W of the leader against this arm, NaN: not known */
} arm_t;

typedef struct {
  noise_law_t noise;
  double threshold, margin;
  int64_t k, first;
  int64_t waiting;         /* arms without a release */
  int64_t open;            /* the arm of a batch that takes pulls, or -1 */
  int64_t next;            /* the arm of the next batch, or -1; */
  double growth;           /* which is so many times what the arm was assigned */
  int64_t leader, verdict; /* or -1 */
  arm_t arms[];
} state_t;

static size_t size(const spec_t *spec) { return sizeof(state_t) + sizeof(arm_t) * (size_t)spec->k; }

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  const double mu = spec->par[MU], epsilon = spec->par[EPSILON];
  const double threshold = log((spec->k > 1 ? spec->k - 1 : 1) / spec->par[RISK]);
  const mechanism_t how = with_squares(mechanism_for(mu, epsilon), spec->par[OUTCOME]);
  double first = 2 * threshold;
  if (mu < INFINITY) first += 12 * sqrt(2 * threshold) / mu;
  else if (epsilon < INFINITY) first += 6 * threshold / epsilon;
  if (how.weight > 0) first /= 2;
  *s = (state_t){.noise = {.kind = how.kind, .scale = how.scale},
                 .threshold = threshold,
                 .margin = spec->par[MARGIN],
                 .k = spec->k,
                 .first = (int64_t)fmin(fmax(ceil(first), 1), 0x1p53),
                 .waiting = spec->k,
                 .open = -1,
                 .next = -1,
                 .leader = -1,
                 .verdict = -1};
  for (int i = 0; i < s->k; i++) {
    arm_t *a = &s->arms[i];
    a->report = report_of(&how);
    a->against = NAN;
    gather_init(&a->gather);
    evidence_begin(&a->evidence, 0);
  }
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)draws;
  const state_t *s = state;
  if (on_offer(round, s->k, s->verdict)) return (int)s->verdict;
  if (on_offer(round, s->k, s->open)) return (int)s->open;
  if (s->waiting > 0) {
    int out = 0;
    FOR_EACH_ARM(i, round) {
      if (gather_begins(&s->arms[i].gather)) return i;
      out |= s->arms[i].evidence.n == 0;
    }
    if (out) return least_pulled(round);
  }
  if (on_offer(round, s->k, s->next)) return (int)s->next;
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) argmax_add(&best, i, s->arms[i].evidence.mean);
  return argmax_arm(&best);
}

/* The arm's next batch, if none is open */
static void open_batch(state_t *s, int arm) {
  gather_grow(&s->arms[arm].gather, (double)s->first, arm == s->next ? s->growth : 1);
}

static int64_t assign(state_t *s, int arm, int64_t n) {
  open_batch(s, arm);
  return gather_commit(&s->arms[arm].gather, n, arm, &s->open);
}

/* Ask for an arm's next batch: which of two, and how large */
static void ask(state_t *s, int64_t leader, int64_t challenger, double q, draws_t *draws) {
  const arm_t *a = &s->arms[leader], *c = &s->arms[challenger];
  s->growth = fmin(fmax(0.5 * (s->threshold / fmax(q, 0.01 * s->threshold) - 1), 0.1), 1);
  const double share = a->evidence.variance / (a->evidence.variance + c->evidence.variance);
  const double x = share / (double)a->gather.assigned;
  const double y = (1 - share) / (double)c->gather.assigned;
  s->next = rng_unif(&draws->policy) * (x + y) < x ? leader : challenger;
}

/* q of arm b against the leader */
static double rate_of(const state_t *s, const evidence_t *a, const evidence_t *b) {
  const double gap = a->mean - b->mean + s->margin;
  return gap * gap / (2 * (a->variance + b->variance));
}

/* Something was released of an arm: who leads, is it proved, and who is next? */
static void decide(state_t *s, int released, draws_t *draws) {
  if (s->waiting > 0 || s->verdict >= 0) return;
  int64_t leader = 0, challenger = -1;
  for (int64_t i = 1; i < s->k; i++) {
    if (s->arms[i].evidence.mean > s->arms[leader].evidence.mean) leader = i;
  }
  const evidence_t *a = &s->arms[leader].evidence;
  double least = INFINITY, q_next = 0, least_index = INFINITY;
  for (int64_t i = 0; i < s->k; i++) {
    arm_t *b = &s->arms[i];
    if (leader != s->leader || released == leader || released == i) b->against = NAN;
    if (i != leader) least = fmin(least, rate_of(s, a, &b->evidence));
  }
  s->leader = leader;
  const int close = least >= 0.5 * s->threshold;
  int proved = 1;
  for (int64_t i = 0; i < s->k; i++) {
    if (i == leader) continue;
    arm_t *b = &s->arms[i];
    double q = rate_of(s, a, &b->evidence);
    /* Until the rates are close, W is computed only as far as the first arm that is not beaten. */
    if ((close || proved) && isnan(b->against)) b->against = evidence_pair(a, &b->evidence, s->margin);
    if (close) q = fmin(q, b->against);
    proved &= b->against >= s->threshold;
    const double index = q + 2 * log((double)b->gather.assigned);
    if (index < least_index || challenger < 0) least_index = index, challenger = i, q_next = q;
  }
  if (proved) {
    s->verdict = s->next = leader;
    s->growth = 1;
  } else {
    ask(s, leader, challenger, q_next, draws);
  }
}

static void release(state_t *s, int arm, const gather_batch_t *batch, draws_t *draws) {
  arm_t *a = &s->arms[arm];
  const double size = (double)batch->size, before = a->report.squares;
  const double y = report_release(&a->report, size, batch->sum, batch->squares, draws);
  const release_t row = {.size = size,
                         .sum = y,
                         .terms = 1,
                         .noise = noise_as_drawn(&s->noise, draws),
                         .squares = a->report.squares - before,
                         .weight = a->report.weight};
  if (a->evidence.n == 0) s->waiting -= 1;
  const evidence_t *first = &s->arms->evidence;
  evidence_aim(&a->evidence, first, sizeof(arm_t), (int)s->k, size, s->threshold, s->margin);
  evidence_release(&a->evidence, &row);
  decide(s, arm, draws);
}

static void add(state_t *s, int arm, int64_t number, int64_t n, double sum, double squares, draws_t *draws) {
  arm_t *a = &s->arms[arm];
  gather_batch_t batch;
  if (a->report.weight > 0) gather_square(&a->gather, number, squares);
  if (gather_add(&a->gather, number, n, sum, &batch)) release(s, arm, &batch, draws);
}

static int pass(void *state, const round_t *round, int arm, int64_t held) {
  (void)round;
  return gather_pass(&((state_t *)state)->arms[arm].gather, held);
}

static int64_t close(void *state, int arm, draws_t *draws) {
  state_t *s = state;
  gather_batch_t batch;
  const int complete = gather_close(&s->arms[arm].gather, &batch);
  if (s->open == arm && s->arms[arm].gather.open < 0) s->open = -1;
  if (complete) release(s, arm, &batch, draws);
  return complete ? batch.number : 0;
}

/* What is open, for reports: rewards may be out, so it proves nothing. */
static void finish(void *state, draws_t *draws) {
  state_t *s = state;
  for (int64_t i = 0; i < s->k; i++) {
    report_release_rest(&s->arms[i].report, &s->arms[i].gather, draws);
  }
  s->open = -1;
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  (void)round, (void)draws;
  return assign(state, arm, 1);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  const double squares = reward_square(draws, feedback->reward);
  add(state, feedback->arm, feedback->batch, 1, feedback->reward, squares, draws);
}

static void skip(void *state, player_t *player, draws_t *draws) {
  state_t *s = state;
  const int arm = player_choose(player, choose, s, draws);
  if (arm < 0) return;
  open_batch(s, arm);
  const int64_t n = player_stretch(player, (double)gather_left(&s->arms[arm].gather));
  const int64_t number = assign(s, arm, n);
  double squares = 0;
  const double sum = s->arms[arm].report.weight > 0 ? player_pull_squares(player, arm, n, &squares)
                                                    : player_pull_many(player, arm, n);
  add(s, arm, number, n, sum, squares, draws);
}

static report_t report(const void *state, int arm) { return ((const state_t *)state)->arms[arm].report; }

static verdict_t verdict(const void *state) {
  const state_t *s = state;
  const double error = (s->k > 1 ? (double)(s->k - 1) : 1) * exp(-s->threshold);
  const int stop = s->verdict >= 0;
  return (verdict_t){.stop = stop, .arm = (int)s->verdict, .error = stop ? error : NAN};
}

/* The threshold is that of all arms, so a verdict among them is wrong with chance error, too: one among
   fewer is no more, and new arms get their first batches. */
static void grow(void *state, const void *of_old, int k) {
  state_t *s = state;
  const state_t *old = of_old;
  s->waiting += old->waiting - k;
  s->open = old->open;
  memcpy(s->arms, old->arms, sizeof *s->arms * (size_t)k);
}

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  int all = SAME(k) && is_in(s->open, -1, s->k) && is_in(s->next, -1, s->k) && is_in(s->leader, -1, s->k) &&
            is_in(s->verdict, -1, s->k);
  for (int64_t i = 0; all && i < s->k; i++) {
    all = gather_is_sound(&s->arms[i].gather) && evidence_is_sound(&s->arms[i].evidence);
  }
  return all;
}

POLICY(top_two, .state_version = 4, .tosses = 1, .releases = 1, .batches = GATHER_SLOTS, .each_once = 1,
       .commit = commit, .pass = pass, .close = close, .update = update, .skip = skip, .report = report,
       .verdict = verdict, .finish = finish, .grow = grow, .sound = sound);
