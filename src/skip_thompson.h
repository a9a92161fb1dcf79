#ifndef DPTS_SKIP_THOMPSON_H
#define DPTS_SKIP_THOMPSON_H
/* Thompson sampling, many rounds at once and exactly, whatever the posteriors are.

   Once an arm leads, nearly every round pulls it. A *block* has a leader l, a level, and for each
   arm an event without which the arm does not take the round from the leader:

   * normal posteriors: theta_j > theta_l, for each arm j other than l. The level is theta_l.
   * Beta posteriors: theta_j > level, and theta_l < level for the leader itself, with a level
     between its mean and those of the others.

   The policy gives bounds of the chances of the events that hold for a number of rounds, and P is
   their sum. Rounds are thinned: each is a candidate with chance P, and all others pull l, so a
   stretch between candidates costs one geometric variate and one draw of the rewards. A candidate
   takes up one event in proportion to the bounds, and continues with the event's true chance over its
   bound. Then the thetas are drawn given that the event happens. If N of the events happen, this
   round could have been taken up by each of them: it counts with chance 1 / N (Karp and Luby 1983),
   and pulls the arm of the largest theta.

   Events about a fixed level are independent, and need no such count (the lazy policies): with a
   Poisson process of points for each arm, an arm has a point in a round with a chance that is its
   bound, independently of the others. Arms without a point are on the right side of the level, where
   their thetas need not be drawn unless the leader is below it and nobody above.

   Every outcome then has its own probability. The level and the bounds decide the cost alone.

   Where no arm leads, rounds are played one by one: by the policy's own choice among few arms, and
   among many by their groups (skip_arm_groups.h). There only the few thetas above a level are drawn,
   each given that it is, and the largest of them is the largest of all. In the rare round in which
   there is none, every theta is drawn given that it is below.

   Posteriors may drift upwards from round to round, as those of the lazy policies do. Then the bounds
   and the groups' chances are those at the end of a stretch of rounds, and an arm that the groups find
   is accepted with its chance now over that bound. */

#include "skip_arm_level.h"
#include "policy.h"

/* The parameters of a posterior: mean and sd of a normal, a and b of a Beta distribution. */
typedef struct {
  double x, y;
} posterior_t;

/* What the groups ask of a family of distributions. The arms' level may be on a scale of its own, from which
   level() leads to theta's. */
typedef struct {
  double (*level)(double arm_level);
  arm_above_t (*above)(posterior_t p, double level);
  double (*draw_above)(posterior_t p, double level, rng_t *rng);
  double (*draw_below)(posterior_t p, double level, rng_t *rng);
} family_t;

/* Part of a policy's state, at its end. */
typedef struct {
  int32_t k, leaves; /* leaves: the power of two from k */
  int32_t leader;    /* -1: no arm leads */
  int32_t grouped;   /* are rounds without a leader played by groups? */
  int32_t filled;    /* do the groups hold chances? */
  double rest;       /* rounds to be played before the next look for a leader */
  double level;      /* of the block */
  double n;          /* what the leader's posterior was worth when the block began */
  double own;        /* bound of the leader's own event */
  double begin;      /* how far the posteriors had come when the block began; */
  double drift,
      end; /* the most that its bounds allow for, and the last round for which they do */
  arm_level_t arm_level; /* of the groups */
  double arm_drift;      /* the most that the groups' chances allow for */
  double tree
      []; /* 2 leaves numbers: the others' bounds and, from them to the root, their sums; then
                    the groups */
} thompson_t;

/* A candidate round. */
typedef struct {
  int event;    /* of which arm */
  double u;     /* uniform between 0 and the bound of the event */
  double level; /* what events are about */
  double theta; /* of that arm, where meet() draws it */
} candidate_t;

typedef struct thompson_kind_t thompson_kind_t;
struct thompson_kind_t {
  const family_t *family;
  double dense;       /* above this chance of a candidate rounds are played one by one, */
  double rest, share; /* at least `rest` of them, and this share of the rounds so far; */
  double pause;       /* so many where a block has become unsafe */
  double farther;     /* for thompson_open_beta(): where the level lies */
  int (*choose)(const void *policy, const round_t *round, draws_t *draws);
  /* n pulls of an arm; returns whether its posterior has changed otherwise than by drift. */
  int (*pull)(void *policy, player_t *player, int arm, int64_t n, draws_t *draws);
  posterior_t (*of)(const void *policy, int arm, double drift);
  /* How far posteriors have come in a round; NULL: they do not drift. With more drift none is lower. */
  double (*drift)(const void *policy, double t);
  /* Looks for a leader, a level and bounds; returns the chance of a candidate, 1 if none is found. */
  double (*open)(const thompson_kind_t *kind, void *policy, thompson_t *block,
                 const player_t *player);
  /* The bound of an arm's event. */
  double (*bound)(const void *policy, const thompson_t *block, int arm);
  /* For how many rounds the bounds surely hold while the leader is pulled; below 0: a new block is
     better. */
  double (*safe)(const void *policy, const thompson_t *block, const player_t *player);
  /* Does the candidate's event happen? It may draw what draw() then returns. -1: its chance is above its
     bound. */
  int (*meet)(const void *policy, const thompson_t *block, candidate_t *c, rng_t *rng);
  /* An arm's theta, given that the event happens. */
  double (*draw)(const void *policy, const thompson_t *block, int arm, const candidate_t *c,
                 rng_t *rng);
  /* In place of these two, for independent events of which each takes place in a round with a chance of
     1 - exp(-bound): then theta on the wrong side of the level, -Inf if it is on the right one, NaN if
     the chance of that is above 1 - exp(-bound); and theta given that it is on the right side. */
  double (*draw_wrong)(const void *policy, const thompson_t *block, int arm, double drift,
                       rng_t *rng);
  double (*draw_right)(const void *policy, const thompson_t *block, int arm, double drift,
                       rng_t *rng);
};

#define THOMPSON(...) static const thompson_kind_t KIND = {__VA_ARGS__}

size_t thompson_size(int k, int grouped);
void thompson_init(thompson_t *s, int k, int grouped);
/* For tests */
const arm_groups_t *thompson_groups(const thompson_t *s);

/* Fill the tree with the bounds; returns the chance of a candidate. */
double thompson_fill(const thompson_kind_t *kind, const void *policy, thompson_t *s);
static inline double thompson_bound(const thompson_t *s, int arm) {
  return s->tree[s->leaves + arm];
}
static inline double thompson_dense(const thompson_kind_t *kind, const thompson_t *s) {
  return s->grouped ? arm_groups_dense(kind->dense, s->k) : kind->dense;
}

void thompson_skip(const thompson_kind_t *kind, void *policy, thompson_t *s,
                   player_t *player, draws_t *draws);

#endif
