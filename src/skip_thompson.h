#ifndef DPTS_SKIP_THOMPSON_H
#define DPTS_SKIP_THOMPSON_H
/* Thompson sampling, many rounds at once and exactly, for any family of posteriors.

   Once an arm leads, nearly every round pulls it. A *block* has a leader l, a level, and for each arm an
   event that must happen for the round not to pull the leader:

   * normal posteriors: theta_j > theta_l, for each arm j other than l. The level is theta_l.
   * Beta posteriors: theta_j > level, and theta_l < level for the leader itself, with a level
     between its mean and those of the others.

   The policy gives upper bounds on the probabilities of the events that hold for a number of rounds; P
   is the sum of the bounds. Rounds are thinned: each is a candidate with probability P, and all others
   pull l, so the rounds up to the next candidate cost one geometric variate and one draw of the rewards.
   A candidate round selects one event in proportion to the bounds, and goes on with the event's true
   probability divided by its bound. Then the thetas are drawn given that the event happens. If N of the
   events happen, each of them could have been selected; so the round counts with probability 1 / N (Karp
   and Luby 1983), and pulls the arm of the largest theta.

   Events about a fixed level are independent and need no such correction (the lazy policies): with a
   Poisson process for each arm, an arm has a point in a round with a probability that bounds that of its
   event, independently of the others. Arms without a point are on the right side of the level; their
   thetas are drawn only if the leader is below it and no other arm above.

   Every outcome then has exactly its probability. The level and the bounds affect only the cost.

   While no arm leads, rounds are played one by one: by the policy's choose() for few arms, and by groups
   for many (skip_arm_groups.h). With groups, only the few thetas above a level are drawn, given that
   they are, and the largest of them is the largest of all. In the rare round without any, every theta is
   drawn given that it is below.

   Posteriors may drift upwards from round to round, as those of the lazy policies do. Then the bounds
   and the groups' probabilities are those at the end of a stretch of rounds, and an arm that the groups
   find is accepted with its present probability divided by that one. */

#include "round_player.h"
#include "skip_arm_level.h"

/* The parameters of a posterior: mean and sd of a normal, a and b of a Beta distribution. */
typedef struct {
  double x, y;
} posterior_t;

/* What the groups need from a family of distributions. Levels may have a scale of their own, which
   level() converts to that of theta. */
typedef struct {
  double (*level)(double arm_level);
  arm_above_t (*above)(posterior_t p, double level);
  double (*draw_above)(posterior_t p, double level, rng_t *rng);
  double (*draw_below)(posterior_t p, double level, rng_t *rng);
} family_t;

/* The last part of a policy's state. */
typedef struct {
  int32_t k, leaves;     /* leaves: the smallest power of two that is at least k */
  int32_t leader;        /* -1: no arm leads */
  int32_t grouped;       /* are rounds without a leader played by groups? */
  int32_t filled;        /* are the groups up to date? */
  double rest;           /* rounds to be played one by one before the next search for a leader */
  double level;          /* of the block */
  double n;              /* the leader's number of rewards when the block began */
  double own;            /* bound on the leader's own event */
  double begin;          /* the posteriors' drift when the block began, */
  double drift, end;     /* the drift for which the bounds hold, and the last round */
  arm_level_t arm_level; /* of the groups */
  double arm_drift;      /* the drift for which the groups hold */
  double tree[];         /* 2 leaves numbers: the other arms' bounds and their sums up to the root; then the
                            groups */
} thompson_t;

/* A candidate round. */
typedef struct {
  int event;    /* the arm of the selected event */
  double u;     /* uniform between 0 and the bound of the event */
  double level; /* of the events */
  double theta; /* of that arm, if meet() draws it */
} candidate_t;

typedef struct thompson_kind_t thompson_kind_t;
struct thompson_kind_t {
  const family_t *family;
  double dense;       /* above this probability of a candidate, rounds are played one by one: */
  double rest, share; /* at least `rest` of them, and this share of the rounds so far */
  double pause;       /* rounds played one by one after a block ends */
  double farther;     /* for find_level() of skip_thompson_beta.c */
  int (*choose)(const void *policy, const round_t *round, draws_t *draws);
  /* Pulls an arm n times; returns whether its posterior has changed, other than by drift. */
  int (*pull)(void *policy, player_t *player, int arm, int64_t n, draws_t *draws);
  posterior_t (*of)(const void *policy, int arm, double drift);
  /* The drift of the posteriors in round t, in which they are increasing; NULL: they do not drift. */
  double (*drift)(const void *policy, double t);
  /* Searches for a leader, a level and bounds; returns the probability of a candidate, 1 if none is found. */
  double (*open)(const thompson_kind_t *kind, void *policy, thompson_t *block, const player_t *player);
  /* The bound on the probability of an arm's event. */
  double (*bound)(const void *policy, const thompson_t *block, int arm);
  /* The number of rounds for which the bounds hold while the leader is pulled; below 0: open a new block. */
  double (*safe)(const void *policy, const thompson_t *block, const player_t *player);
  /* Does the candidate's event happen? It may draw values that draw() then returns. -1: its probability
     is above its bound. */
  int (*meet)(const void *policy, const thompson_t *block, candidate_t *c, rng_t *rng);
  /* An arm's theta, given that the event happens. */
  double (*draw)(const void *policy, const thompson_t *block, int arm, const candidate_t *c, rng_t *rng);
  /* In place of these two, for independent events. An event is selected in a round with probability 1 -
     exp(-bound). draw_wrong() then returns theta if it is on the wrong side of the level, -Inf if it
     is on the right side, and NaN if the event's probability is above 1 - exp(-bound). draw_right()
     draws theta given that it is on the right side. */
  double (*draw_wrong)(const void *policy, const thompson_t *block, int arm, double drift, rng_t *rng);
  double (*draw_right)(const void *policy, const thompson_t *block, int arm, double drift, rng_t *rng);
};

#define THOMPSON(...) static const thompson_kind_t KIND = {__VA_ARGS__}

size_t thompson_size(int k, int grouped);
void thompson_init(thompson_t *s, int k, int grouped);
/* For tests */
const arm_groups_t *thompson_groups(const thompson_t *s);

/* Fills the tree with the bounds; returns the probability of a candidate. */
double thompson_fill(const thompson_kind_t *kind, const void *policy, thompson_t *s);
static inline double thompson_bound(const thompson_t *s, int arm) { return s->tree[s->leaves + arm]; }
static inline double thompson_dense(const thompson_kind_t *kind, const thompson_t *s) {
  return s->grouped ? arm_groups_dense(kind->dense, s->k) : kind->dense;
}

void thompson_skip(const thompson_kind_t *kind, void *policy, thompson_t *s, player_t *player,
                   draws_t *draws);

#endif
