#ifndef DPTS_H
#define DPTS_H
/* A bandit policy in C for the R package dpts, from a file of one's own: policy_compiled("mine.c", "mine").

   A policy is a table of functions, below. In each round it chooses an arm; once the choice is played it
   commits to it; when the reward comes, at once or much later, it updates; where it can, it skips. What it
   knows is one flat block of size() bytes. There is no R in here, no memory to ask for and no random number
   but those of dpts_uniform() and its kin: so one policy serves simulations on threads, replays, audits and
   live agents. Every noisy sum comes from dpts_laplace(), dpts_gaussian(), dpts_bit() or a tree: there it is
   counted, can be forced to the release of a neighbour's run, and is exact noise where people are served.

   The file ends with DPTS_POLICIES(&mine, ...), the tables of its policies; an adversary is below. A package that has
   `LinkingTo: dpts` says in its R_init_...()
     ((dpts_register_t)R_GetCCallable("dpts", "dpts_register"))("thepackage", dpts_module_of);
   and its policies are policy_compiled("package:thepackage", "mine"). */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* Grows when anything here changes; what was compiled with another version is refused. */
#define DPTS_VERSION 4

/* a * b + c is rounded twice, so that results are the same on every machine */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__) && defined(__FP_FAST_FMA)
#pragma GCC optimize("fp-contract=off")
#endif

#if defined(__GNUC__)
#define DPTS_VISIBLE __attribute__((visibility("default")))
#define DPTS_CALLED  __attribute__((noinline, unused)) /* a call stays one */
#define DPTS_OPAQUE  __asm__ volatile("")
#else
#define DPTS_VISIBLE
#define DPTS_CALLED
#define DPTS_OPAQUE
#endif

/* ---- what a policy is shown --------------------------------------------------------- */

typedef struct dpts_draws dpts_draws;   /* where its randomness comes from */
typedef struct dpts_player dpts_player; /* in skip(): a clock, and arms to pull */

/* The problem. par: the parameters, in the order in which the policy lists them; NaN: missing */
typedef struct {
  int k, dim;     /* arms; numbers in a context, 0 without contexts */
  double horizon; /* INFINITY: not known */
  const double *par;
} dpts_problem;

/* One round, before the choice. Everything here is public. */
typedef struct {
  int64_t t;        /* number of the round, from 1 */
  const int *offer; /* the arms on offer, from 0, never NULL */
  int n_offer;      /* how many they are, at least 1 */
  const int *all;   /* of dpts itself */
  int context_step; /* from the context of one arm to that of the next; 0: one for all */
  const double *context; /* dim numbers, or NULL */
  const int64_t *pulls;  /* how often each arm was pulled before, rewards in or not */
} dpts_round;

/* The reward of one pull, which may come at once, late, or out of order. */
typedef struct {
  int64_t t; /* the round of the pull */
  int arm;
  double reward;         /* in [0, 1] */
  int64_t batch;         /* what commit() returned for the pull */
  const double *context; /* of the arm in that round: dim numbers, or NULL */
} dpts_feedback;

/* for (each arm i on offer in a dpts_round *) */
#define FOR_EACH_ARM(i, round)                                                          \
  for (int i##_at = 0, i; i##_at < (round)->n_offer && (i = (round)->offer[i##_at], 1); \
       i##_at++)

/* The arm of the largest index, the first of equals. An index that is NaN compares with nothing: it is noted, and
   then dpts_best_arm() is -1, which is an error. */
typedef struct {
  int arm, unordered;
  double value;
} dpts_best;

#define DPTS_BEST ((dpts_best){-1, 0, -INFINITY})

/* Is this index the best so far? */
static inline int dpts_best_add(dpts_best *best, int arm, double value) {
  const int better = (value > best->value) | (best->arm < 0);
  best->unordered |= value != value;
  best->arm = better ? arm : best->arm;
  best->value = better ? value : best->value;
  return better;
}

/* A call, for a processor predicts a call and begins the next round; a value that depended on all indices it would
   wait for, and the next round with it. */
static DPTS_CALLED int dpts_no_arm(void) {
  DPTS_OPAQUE;
  return -1;
}

static inline int dpts_best_arm(const dpts_best *best) {
  return best->unordered ? dpts_no_arm() : best->arm;
}

/* ---- what a policy is --------------------------------------------------------------- */

/* A parameter. What is required and missing is an error; what is optional and missing is
   NaN: left to the policy, which may need the horizon for it. */
typedef struct {
  const char *name;
  enum { OPTIONAL, REQUIRED, FROM_HORIZON } need;
  const char *const *choices; /* where R gives a name: those it may be, NULL at the end. The
                                 kernel sees the place of the name in this list */
} dpts_param;

enum { DPTS_LAPLACE = 1, DPTS_GAUSSIAN = 2 };

/* What may be published of an arm: the sum of rewards that was released, or, without privacy,
   the plain sum; and how noisy it is, so that whoever reads it can say how sure it is. */
typedef struct {
  double rewards; /* in the sum; 0: nothing is known */
  double sum;     /* of them, noise included */
  /* The noise: independent variables that stay in all later sums, so many of one scale (a sum of
     squares of scales, for a Gaussian, in units of it); and some that this sum alone has. The
     first scale is the same at all times. */
  int kind; /* DPTS_LAPLACE or DPTS_GAUSSIAN; a scale of 0: no noise */
  double terms, scale;
  double last_terms, last_scale;
  double looks;  /* sums released so far, where there are variables of the second sort */
  double chance; /* of a policy that tosses: of the arm in the block that was released last */
  /* The sum of (reward - 1/2)^2 over the same rewards, if it is released beside the sum: its noise is the
     sum's over `weight`. A weight of 0: it is not released. */
  double squares, weight;
} dpts_report;

/* What a policy says of the end: may one stop now, and which arm is then the best? */
typedef struct {
  int stop, arm; /* arm: -1 if it names none */
  double error;  /* the chance that another arm is better is at most this; NaN: not known */
} dpts_verdict;

/* State has no pointers, so that it can be copied, saved and compared, and is zero before init(). */
typedef struct {
  const char *name;
  const dpts_param *params; /* a parameter without a name at the end; NULL: none */
  uint32_t state_version;   /* grows with every change of the state's layout */
  int tosses;        /* its choices depend on random numbers of its own */
  int releases;      /* it learns from noisy sums that it releases, and from nothing else */
  int each_once;     /* each reward is in one of these sums at most, in full, with noise that no other sum
                        has, and report() gives all sums of an arm together: so there is evidence */
  int needs_horizon; /* it cannot play when the horizon is not known */
  int needs_context; /* it cannot play without contexts */
  /* These three, `update` and nothing else are a policy. */
  size_t (*size)(const dpts_problem *problem);
  void (*init)(void *state, const dpts_problem *problem); /* also to start anew */
  /* An arm on offer; -1: an index was NaN. It leaves no trace: a replay may discard the choice. */
  int (*choose)(const void *state, const dpts_round *round, dpts_draws *draws);
  /* The choice is played: counts of assigned pulls grow now. Returns a number that comes back with the reward,
     however late, as feedback->batch: of its batch, say, or its chance times 2^53; or 0. NULL: nothing to do. */
  int64_t (*commit)(void *state, const dpts_round *round, int arm, dpts_draws *draws);
  void (*update)(void *state, const dpts_feedback *feedback, dpts_draws *draws);
  /* Plays at least one and at most dpts_left() rounds by dpts_pull() and dpts_pull_many(), with the
     distribution of as many rounds of choose, commit and update. NULL: it has no short cut. */
  void (*skip)(void *state, dpts_player *player, dpts_draws *draws);
  dpts_report (*report)(const void *state, int arm); /* NULL: nothing is published */
  /* The chance of each arm in this round: k numbers, 0 when this is called. NULL: cannot say. */
  void (*probability)(const void *state, const dpts_round *round, double *p);
  void (*finish)(void *state, dpts_draws *draws); /* release what is open, once; NULL: nothing is */
  dpts_verdict (*verdict)(const void *state);     /* NULL: it never says that one may stop */
} dpts_policy;

/* ---- what an adversary is ------------------------------------------------------------- */

/* It gives the rewards of all arms, in the light of all that was played: arms_adversary("mine.c", name = "mine").
   Its file ends with DPTS_ADVERSARIES(&mine); a package registers dpts_adversaries_of. State is as that of a policy.
   Its chance is dpts_uniform() and its kin. The horizon it does not know. */
typedef struct {
  const char *name;
  const dpts_param *params; /* as a policy's */
  size_t (*size)(const dpts_problem *problem);
  void (*init)(void *state, const dpts_problem *problem); /* NULL: the state begins as zeros */
  /* What each of the k arms gives in round t, in [0, 1]: all of `reward` is to be set. */
  void (*offer)(void *state, const dpts_problem *problem, int64_t t, double *reward,
                dpts_draws *draws);
  /* Then: the arm that was pulled in round t, and its reward */
  void (*see)(void *state, const dpts_problem *problem, int64_t t, int arm, double reward);
} dpts_adversary;

/* ---- what dpts does for a policy ------------------------------------------------------ */

typedef struct {
  double (*laplace)(dpts_draws *, double exact, double scale);
  double (*gaussian)(dpts_draws *, double exact, double sd);
  double (*bit)(dpts_draws *, double reward, double flip);
  double (*uniform)(dpts_draws *);
  double (*normal)(dpts_draws *);
  double (*beta)(dpts_draws *, double a, double b);
  int64_t (*left)(const dpts_player *);
  dpts_round (*next)(const dpts_player *);
  double (*pull)(dpts_player *, int arm, int64_t n);
  int (*tree_levels)(double bound);
  size_t (*tree_size)(int levels);
  void (*tree_init)(void *tree, int levels, int kind, double scale);
  double (*tree_add)(void *tree, double item, dpts_draws *);
} dpts_host;

static const dpts_host *dpts_is;

/* Sums of rewards with noise: exact + Laplace(scale), exact + N(0, sd^2). A scale of 0 asks for none; one
   that is negative, NaN or infinite, or a sum that is NaN, ends the run with an error. */
static inline double dpts_laplace(dpts_draws *draws, double exact, double scale) {
  return dpts_is->laplace(draws, exact, scale);
}
static inline double dpts_gaussian(dpts_draws *draws, double exact, double sd) {
  return dpts_is->gaussian(draws, exact, sd);
}
/* Randomised response: a reward of [0, 1] as a bit of its mean that is turned with chance `flip`. */
static inline double dpts_bit(dpts_draws *draws, double reward, double flip) {
  return dpts_is->bit(draws, reward, flip);
}

/* A counter by the binary mechanism: dpts_tree_size() bytes in the state, aligned for doubles. It takes as many
   items as its levels were made for; an item is in one noisy sum of each level at most. With Laplace noise of scale
   levels / epsilon (items in [0, 1]) all its sums together are epsilon-DP. tree_add() gives the new noisy sum. */
static inline int dpts_tree_levels(double bound) { return dpts_is->tree_levels(bound); }
static inline size_t dpts_tree_size(int levels) { return dpts_is->tree_size(levels); }
static inline void dpts_tree_init(void *tree, int levels, int kind, double scale) {
  dpts_is->tree_init(tree, levels, kind, scale);
}
static inline double dpts_tree_add(void *tree, double item, dpts_draws *draws) {
  return dpts_is->tree_add(tree, item, draws);
}

/* The policy's own chance: uniform between 0 and 1, neither of them; normal; Beta */
static inline double dpts_uniform(dpts_draws *draws) { return dpts_is->uniform(draws); }
static inline double dpts_normal(dpts_draws *draws) { return dpts_is->normal(draws); }
static inline double dpts_beta(dpts_draws *draws, double a, double b) {
  return dpts_is->beta(draws, a, b);
}

/* For skip(): rounds that are left, the next one, and pulls of an arm n times in a row, which give the sum of the
   rewards. */
static inline int64_t dpts_left(const dpts_player *player) { return dpts_is->left(player); }
static inline dpts_round dpts_next(const dpts_player *player) { return dpts_is->next(player); }
static inline double dpts_pull_many(dpts_player *player, int arm, int64_t n) {
  return dpts_is->pull(player, arm, n);
}
static inline double dpts_pull(dpts_player *player, int arm) {
  return dpts_is->pull(player, arm, 1);
}

/* ---- registration ------------------------------------------------------------------------ */

typedef struct {
  unsigned version;
  const dpts_policy *const *policies; /* NULL at the end, or NULL */
  const dpts_adversary *const *adversaries;
} dpts_module;

typedef const dpts_module *(*dpts_entry_t)(const dpts_host *host);
typedef const char *(*dpts_register_t)(const char *library, dpts_entry_t entry); /* NULL, or what is wrong */

#define DPTS_POLICIES(...)                                                \
  DPTS_VISIBLE const dpts_module *dpts_module_of(const dpts_host *host) { \
    static const dpts_policy *const policies[] = {__VA_ARGS__, NULL};     \
    static const dpts_module module = {DPTS_VERSION, policies, NULL};     \
    dpts_is = host;                                                       \
    return &module;                                                       \
  }

#define DPTS_ADVERSARIES(...)                                                  \
  DPTS_VISIBLE const dpts_module *dpts_adversaries_of(const dpts_host *host) { \
    static const dpts_adversary *const adversaries[] = {__VA_ARGS__, NULL};    \
    static const dpts_module module = {DPTS_VERSION, NULL, adversaries};       \
    dpts_is = host;                                                            \
    return &module;                                                            \
  }

#endif
