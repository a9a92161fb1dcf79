#ifndef DPTS_POLICY_BATCHES_H
#define DPTS_POLICY_BATCHES_H
/* Policies that commit to batches: pull an arm for a batch of rewards, release the batch's sum with fresh
   noise, look at the indices, commit again. A reward is in one batch of one arm, and so in one noisy sum:
   Laplace noise of scale 1 / epsilon makes the whole sequence of arms epsilon-DP, Gaussian noise of sd 1 / mu
   makes it mu-GDP, at every horizon at once and although the past decides the next batch (parallel
   composition). Batches are of assigned pulls (policy_gather.h), so this holds whenever and in whatever order
   rewards come, and for any arms on offer. A batch that was never completed has released nothing.

   A policy gives its batches a plan and an index, `best`: everything else is here. */

#include "policy_released.h"
#include "math_normal_laplace.h"
#include "policy.h"
#include "policy_tournament.h"
#include "math_util.h"

#define BATCH_PAR 10

typedef struct {
  double first, ratio; /* size of the first batch; each next batch is (ratio - 1) times what
                          the arm was assigned before, rounded up */
  mechanism_t how;     /* batches are released */
  int likelihood;      /* for Laplace: the mean of maximum likelihood (math_normal_laplace.h) */
} plan_t;

typedef struct {
  plan_t plan;
  double par[BATCH_PAR]; /* the policy's parameters */
  int64_t k, open;       /* open: the arm it is committed to, or -1 */
  int64_t waiting;       /* arms without a released batch */
  released_t arms[];     /* k of them, then k gather_t: exact sums, at which no index looks; and
                            k likelihood_t if the plan asks for them; then the tournament and a
                            tree for the highest mean */
} batches_t;

/* What was released of an arm, for the plan's `likelihood`. */
static inline likelihood_t *batches_likelihood(const batches_t *s, int arm) {
  return (likelihood_t *)((gather_t *)(s->arms + s->k) + s->k) + arm;
}

/* The tournament for a round, or NULL. */
tournament_t *batches_tournament(const batches_t *s, const round_t *round);
/* The arm of the best index among those on offer, by the tournament or by a scan; every arm on
   offer has a batch. */
int batches_best(const batches_t *s, const round_t *round, const index_t *index, double clock);
/* For an index_t: was the same released of both arms? */
int batches_alike(const void *state, int a, int b);
/* And a rank: the rewards released; and the error of an index that is m times a divergence. */
double batches_rewards(const void *state, int arm);
double batches_error(const void *state, int arm, double value);
/* The highest mean of the arms on offer and of all arms that have one, in [0, 1]. */
double batches_top(const batches_t *s, const round_t *round);
double batches_top_of_all(const batches_t *s);

/* The arm of the best index among those on offer; every one of them has a batch. */
typedef int (*best_t)(const batches_t *s, const round_t *round);
/* How many times what an arm was assigned its next batch is, in place of the plan's ratio - 1.
   Asked when the batch is opened, and may look at all that was released. */
typedef double (*growth_t)(const batches_t *s, int arm);

/* The first batch: `asked`, or if that is NaN `wanted`, rounded up, but at least 4 rewards and at
   most an eighth of the horizon for all arms together. */
double batches_first(const spec_t *spec, double asked, double wanted);
size_t batches_size(const spec_t *spec, const plan_t *plan);
void batches_init(batches_t *s, const spec_t *spec, plan_t plan);
/* While a batch is open, its arm. If that is not on offer, the best of those that are,
   decided anew in each round; the open batch waits. First of all, arms whose first batch is
   not full; while such batches wait for their rewards, the arms in turn. */
int batches_choose(const batches_t *s, const round_t *round, best_t best);
/* n pulls join their arm's open batch, or open the next one; returns the batch. `growth` may be NULL. And n
   of its rewards, which add up to `sum`, and their squares about 1/2 to `squares`, have come. */
int64_t batches_assign(batches_t *s, int arm, int64_t n, growth_t growth);
void batches_add(batches_t *s, int arm, int64_t number, int64_t n, double sum, double squares,
                 draws_t *draws);
/* One reward has come. */
void batches_update(batches_t *s, const feedback_t *feedback, draws_t *draws);
/* The two in one, for a reward that comes at once. */
void batches_learn(batches_t *s, int arm, double reward, growth_t growth, draws_t *draws);
report_t batches_report(const void *state, int arm);
/* A visit of a person whom a batch may hold, and the end of a batch before it is full (policy.h). */
int batches_pass(void *state, const round_t *round, int arm, int64_t held);
int64_t batches_close(void *state, int arm, draws_t *draws);
/* Each open batch is released as far as its rewards have come. */
void batches_finish(void *state, draws_t *draws);
void batches_grow(void *state, const void *old, int k);
int batches_sound(const void *state, const void *fresh);
int batches_own(const void *state, int i, size_t *from, size_t *each);
/* A whole batch, or what the horizon leaves of it. */
void batches_skip(batches_t *s, player_t *player, best_t best, growth_t growth, draws_t *draws);

/* The functions of a policy from its parameters, its plan(), its best_arm(), a growth_t or NULL, and
   whether it `fails_rarely` (policy.h). */
#define BATCH_POLICY(NAME, GROWTH, FAILS_RARELY)                                                             \
  static size_t size(const spec_t *spec) {                                                                   \
    const plan_t p = plan(spec);                                                                             \
    return batches_size(spec, &p);                                                                           \
  }                                                                                                          \
  static void init(void *state, const spec_t *spec) {                                                        \
    batches_t *s = state;                                                                                    \
    batches_init(s, spec, plan(spec));                                                                       \
    for (int i = 0; i < BATCH_PAR; i++) s->par[i] = spec->par[i];                                            \
  }                                                                                                          \
  static int choose(const void *state, const round_t *round, draws_t *draws) {                               \
    (void)draws;                                                                                             \
    return batches_choose(state, round, best_arm);                                                           \
  }                                                                                                          \
  static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {                        \
    (void)round, (void)draws;                                                                                \
    return batches_assign(state, arm, 1, GROWTH);                                                            \
  }                                                                                                          \
  static void update(void *state, const feedback_t *feedback, draws_t *draws) {                              \
    batches_update(state, feedback, draws);                                                                  \
  }                                                                                                          \
  static void learn(void *state, const round_t *round, int arm, double reward, draws_t *draws) {             \
    (void)round;                                                                                             \
    batches_learn(state, arm, reward, GROWTH, draws);                                                        \
  }                                                                                                          \
  static void skip(void *state, player_t *player, draws_t *draws) {                                          \
    batches_skip(state, player, best_arm, GROWTH, draws);                                                    \
  }                                                                                                          \
  POLICY(NAME, .state_version = 7, .releases = 1, .batches = GATHER_SLOTS, .each_once = 1, .commit = commit, \
         .pass = batches_pass, .close = batches_close, .update = update, .learn = learn, .skip = skip,       \
         .report = batches_report, .finish = batches_finish, .grow = batches_grow, .own = batches_own,       \
         .sound = batches_sound, .fails_rarely = FAILS_RARELY);

#endif
