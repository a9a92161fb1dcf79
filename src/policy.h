#ifndef DPTS_POLICY_H
#define DPTS_POLICY_H
/* What a policy is: it chooses an arm, observes the reward and, where it can, skips:
   plays many rounds at once, exactly. Every driver uses the same code. */

#include <stddef.h>
#include <stdint.h>
#include "noise.h"
#include "world.h"

#define POLICY_MAX_PAR 12

typedef struct policy_t policy_t;
struct lanes_t; /* lanes.h */

/* A policy made ready for a problem. */
typedef struct {
  const policy_t *policy;
  int k;                      /* arms */
  int dim;                    /* numbers in a context, 0 without contexts */
  double horizon;
  double par[POLICY_MAX_PAR]; /* in the order of policy->params; NaN: left to the policy */
} spec_t;

/* One round, as the policy sees it before it chooses. */
typedef struct {
  int64_t t;             /* number of the round, from 1 */
  const int *pool;       /* arms on offer, or NULL for all */
  int n_pool;            /* how many they are */
  const double *context; /* dim numbers, or NULL */
  int context_step;      /* from the context of one arm to that of the next; 0: one for all */
} round_t;

/* The context in which an arm would be pulled. */
static inline const double *round_context(const round_t *round, int arm) {
  return round->context + (size_t)round->context_step * (size_t)arm;
}

/* State is one flat block of size() bytes, aligned for doubles and without pointers, so
   that it can be copied, saved and compared. A policy must leave its state as it was in
   choose(), but for random draws: a replay may discard the choice. */
struct policy_t {
  const char *name;
  const char *const *params; /* names of the parameters, NULL at the end */
  size_t (*size)(const spec_t *spec);
  void (*init)(void *state, const spec_t *spec);
  int (*choose)(void *state, const round_t *round, dice_t *dice);
  void (*observe)(void *state, const round_t *round, int arm, double reward, dice_t *dice);
  /* Plays at least one and at most world_left(world) rounds by world_pull() and
     world_pull_many(), with the law of as many rounds of choose and observe; NULL if
     the policy has no short cut. Work in one call stays below some 1e5 operations. */
  void (*skip)(void *state, world_t *world, dice_t *dice);
  /* Many runs side by side; NULL or left out if the policy has no lanes. */
  const struct lanes_t *lanes;
};

const policy_t *policy_find(const char *name); /* NULL if there is none */

/* for (each arm on offer) */
#define FOR_EACH_ARM(i, round)                                                          \
  for (int i##_at = 0, i; i##_at < (round)->n_pool &&                                   \
                          (i = (round)->pool ? (round)->pool[i##_at] : i##_at, 1);      \
       i##_at++)

#endif
