#ifndef DPTS_BATCHES_H
#define DPTS_BATCHES_H
/* Policies that commit to batches: pull an arm for a batch of rewards, release the batch's
   sum with fresh noise, look at the indices, commit again. A reward is in one batch of
   one arm, and so in one noisy sum: Laplace noise of scale 1 / epsilon makes the whole
   sequence of arms epsilon-DP, Gaussian noise of sd 1 / mu makes it mu-GDP, at every horizon
   at once and although the past decides the next batch (parallel composition). A batch that
   the horizon cuts has released nothing.

   A policy gives its batches a plan and an index, `best`: everything else is here. */

#include <math.h>
#include "moving_average.h"
#include "policy.h"

#define BATCH_PAR 8

typedef struct {
  double first, ratio; /* size of the first batch; each next batch is (ratio - 1) times what
                          the arm has had, rounded up */
  double leader;       /* in place of ratio for an arm whose mean is the highest when its batch
                          is released; 0: ratio */
  enum noise_law law;
  double scale;        /* of the noise of one batch: Laplace's scale or the Gaussian's sd */
  int forget;          /* only the last batch counts */
  int by_variance;     /* weigh batches by their inverse variance, else by their size */
  double correlation;  /* Gaussian and by_variance: of a moving average, moving_average.h */
} plan_t;

/* The private mean of an arm is sum_j c_j (noisy sum of batch j) / (size of batch j), with
   weights c_j that add up to 1. Weights in proportion to sizes give the plain mean. */
typedef struct {
  double n;                  /* rewards in all released batches */
  double mean;               /* private, not clipped */
  double m;                  /* rewards that it is worth: n for the plain mean of all */
  double spread, terms;      /* its noise is worth that of `terms` variables of scale
                                spread times the plan's scale: 1 / n and the number
                                of batches for the plain mean */
  double weight, weighted, load, noise_1, noise_2; /* sums over batches, see weigh() */
  moving_average_t average;  /* or this in their place */
  double size, filled, sum;  /* the batch under way: exact, and no index may look */
} batch_arm_t;

typedef struct {
  plan_t plan;
  double par[BATCH_PAR]; /* the policy's parameters */
  int64_t k, open; /* open: the arm it is committed to, or -1 */
  int64_t waiting; /* arms without a released batch */
  batch_arm_t arms[];
} batches_t;

/* The arm of the best index among those on offer; every one of them has a batch. */
typedef int (*best_t)(const batches_t *s, const round_t *round);

size_t batches_size(const spec_t *spec);
void batches_init(batches_t *s, const spec_t *spec, plan_t plan);
/* While a batch is open, its arm. If that is not on offer, the best of those that are,
   decided anew in each round; the open batch waits. First of all, arms without a batch. */
int batches_choose(const batches_t *s, const round_t *round, best_t best);
/* A reward of any arm joins that arm's batch under way; it opens the batch if it is
   the reward of the arm that the policy chooses. */
void batches_observe(batches_t *s, const round_t *round, int arm, double reward, best_t best,
                     dice_t *dice);
/* A whole batch, or what the horizon leaves of it. */
void batches_skip(batches_t *s, world_t *world, best_t best, dice_t *dice);

static inline double clip01(double x) { return fmin(fmax(x, 0), 1); }

/* The five functions of a policy from its parameters' names, its plan() and its best(). */
#define BATCH_POLICY(NAME, PARAMS)                                                      \
  static void init(void *state, const spec_t *spec) {                                   \
    batches_t *s = state;                                                               \
    batches_init(s, spec, plan(spec->par));                                             \
    for (int i = 0; i < BATCH_PAR; i++) s->par[i] = spec->par[i];                       \
  }                                                                                     \
  static int choose(void *state, const round_t *round, dice_t *dice) {                  \
    (void)dice;                                                                         \
    return batches_choose(state, round, best);                                          \
  }                                                                                     \
  static void observe(void *state, const round_t *round, int arm, double reward,        \
                      dice_t *dice) {                                                   \
    batches_observe(state, round, arm, reward, best, dice);                             \
  }                                                                                     \
  static void skip(void *state, world_t *world, dice_t *dice) {                         \
    batches_skip(state, world, best, dice);                                             \
  }                                                                                     \
  const policy_t policy_##NAME = {#NAME,  PARAMS,  batches_size, init,                  \
                                  choose, observe, skip};

#endif
