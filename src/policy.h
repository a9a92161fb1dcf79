#ifndef DPTS_POLICY_H
#define DPTS_POLICY_H
/* What a policy is. In each round it chooses an arm; once the choice is played it commits to
   it; when the reward comes, at once or much later, it updates. Where it can, it skips: it
   plays many rounds at once, exactly. Every driver uses the same code, through a session
   (play_session.h). What policies from outside share with those of the package is in inst/include/dpts.h. */

#include "noise_report.h"
#include "round_player.h"

#define POLICY_MAX_PAR 20

typedef struct policy_t policy_t;
typedef struct spec_t spec_t;

typedef dpts_param param_t;

/* clang-format off */
/* A policy's parameters: those that it needs, and those that it takes, in the order of an enum beside them */
#define PARAMETERS(NAME, ...) static const param_t NAME[] = {__VA_ARGS__, {.name = NULL}}
#define NEEDS(NAME)           {NAME, REQUIRED, NULL}
#define TAKES(NAME)           {NAME, OPTIONAL, NULL}
#define BY_HORIZON(NAME)      {NAME, FROM_HORIZON, NULL}
#define ONE_OF(NAME, CHOICES) {NAME, REQUIRED, CHOICES}
/* clang-format on */

/* A policy made ready for a problem. With `every` it is started anew after so many rounds, with
   `flip` it sees rewards as random bits: a session sees to both (play_session_view.h). */
struct spec_t {
  const policy_t *policy;
  int k;                      /* arms */
  int dim;                    /* numbers in a context, 0 without contexts */
  double horizon;             /* of one life of the policy; Inf: not known */
  int64_t every;              /* 0: it has one life */
  double flip;                /* the chance that a bit is turned; 0: it sees rewards as they are */
  double par[POLICY_MAX_PAR]; /* in the order of policy->params */
  void *host;                 /* of a policy whose code is the caller's, which knows what it is; else NULL */
  const spec_t *inner;        /* of a policy around another one, which is played by it; else NULL */
  /* The state then begins with this pointer, host or inner, which is not saved. */
};

typedef dpts_verdict verdict_t;

/* State is one flat block of size() bytes, aligned for doubles and without pointers, so
   that it can be copied, saved and compared. state_version grows with every change of its
   layout: an old state is refused. */
struct policy_t {
  const char *name;
  const param_t *params; /* a parameter without a name at the end */
  uint32_t state_version;
  /* What it is. R reads these, and has no list of policies (policy_properties() in R). */
  int tosses;        /* its choices depend on random numbers of its own */
  int releases;      /* it learns from noisy sums that it releases, and from nothing else */
  int batches;       /* the reward that completes a batch of an arm releases its sum, once, with fresh noise,
                        and nothing else is released: so many batches of an arm may be open. 0: not so */
  int each_once;     /* each reward is in one released sum at most, with noise of its own unless a parameter
                        "correlation" says otherwise */
  int by_tosses;     /* these sums weigh a reward by the chance of its arm: evidence holds under any drift */
  int needs_horizon; /* it cannot play when the horizon is not known */
  int needs_context; /* it cannot play without contexts */
  int fails_rarely;  /* in a few runs of a thousand or hundred it stays with a wrong arm so long that these
                        runs make much of its mean regret */
  int from_outside;  /* its code is a user's: its chances are looked at in every round */
  int tosses_coins;  /* for a reward between 0 and 1, and these are not published */
  size_t (*size)(const spec_t *spec);
  void (*init)(void *state, const spec_t *spec);
  /* An arm on offer. It leaves the state alone, but for a tournament (policy_tournament.h), which is a
     cache and changes no choice, and only draws: a replay may discard the choice. A negative
     number says that an index was NaN. */
  int (*choose)(const void *state, const round_t *round, draws_t *draws);
  /* The choice is played: counts of assigned pulls grow now. Returns the batch that the
     reward will belong to, 0 for policies without batches. NULL: nothing to do. */
  int64_t (*commit)(void *state, const round_t *round, int arm, draws_t *draws);
  /* A person comes again whose last reward is in batch `held` of `arm`. If that batch still takes pulls, or
     for -1 in any case, this visit is in no batch: returns 1, and 2 if so many of such visits have come that
     the caller is to close() the batch. NULL: it does not keep the rewards of a person in different
     batches. */
  int (*pass)(void *state, const round_t *round, int arm, int64_t held);
  /* The batch of `arm`, or the block of all arms, takes no more pulls, and is released if its rewards are in.
     Returns its number if it was a batch that is released now, else 0. NULL: nothing can be closed. */
  int64_t (*close)(void *state, int arm, draws_t *draws);
  /* A pull of `arm` in `batch`, whose reward never comes, is as if it had not been: the batch has one less,
     and the state is the one without it, but for a batch that it filled, which has ended. What is complete by
     it is not released here. Returns whether the batch was there; 2: it is gone now, for nobody is left in
     it. NULL: a choice that followed may rest on the pull. */
  int (*unpull)(void *state, int arm, int64_t batch);
  /* A reward. NULL: nothing to learn. */
  void (*update)(void *state, const feedback_t *feedback, draws_t *draws);
  /* commit() and update() in one, for a reward that comes at once: the state is the same after it.
     NULL: the two. */
  void (*learn)(void *state, const round_t *round, int arm, double reward, draws_t *draws);
  /* Plays at least one and at most player_left() rounds by player_pull() and its kin, with
     the distribution of as many rounds of choose, commit and update; NULL if the policy has no short
     cut. Work in one call stays below some 1e5 operations. */
  void (*skip)(void *state, player_t *player, draws_t *draws);
  /* Is skip() quicker than rounds one by one under these parameters? NULL: always. */
  int (*skip_pays)(const spec_t *spec);
  /* What may be published of an arm. NULL: nothing, for no sums are released. */
  report_t (*report)(const void *state, int arm);
  /* The chance of each arm in this round: k numbers, 0 when this is called. For a policy that
     tosses; NULL: it cannot say, or does not toss. */
  void (*probability)(const void *state, const round_t *round, double *p);
  /* At the end, before finish(): release a sum that is complete and waits for its turn, so that each can be
     seen. Returns whether there was one. NULL: none waits. */
  int (*release_next)(void *state, draws_t *draws);
  /* The end is known: release what is open, once. A batch of which no reward has come is
     dropped; what comes later for a batch that was released is not used. NULL: nothing is open. */
  void (*finish)(void *state, draws_t *draws);
  /* There are more arms now: what it knew of the `k` that it had, in a state that init() made for all of
     them. What was promised with fewer must still hold. NULL: it cannot take on arms. */
  void (*grow)(void *state, const void *old, int k);
  /* What of the state commit() and update() change for their own arm alone: the i-th stretch, from 0, of
     `each` bytes for each arm from `from` on. Returns 0 if there are no more. NULL: none is known. */
  int (*own)(const void *state, int i, size_t *from, size_t *each);
  /* May one stop? NULL: it never says so. */
  verdict_t (*verdict)(const void *state);
  /* May a state be used that was read from somewhere? Its constants are those of `fresh`, a state of init(),
     and each number that is an index is in its range; what else it holds may be wrong, and does no harm.
     NULL: it holds no such numbers. */
  int (*sound)(const void *state, const void *fresh);
  /* What a privacy filter has charged so far: the most mu^2 of an arm; NaN without a filter, as
     where this is NULL. */
  double (*charged)(const void *state);
};

/* A policy: its name, the version of its state, and what it is and does beyond what all do: PARAMS, size(),
   init() and choose() of its file; POLICY_OF(): parameters, init() and choose() of another name. */
#define POLICY(NAME, ...) POLICY_OF(NAME, PARAMS, init, choose, __VA_ARGS__)
#define POLICY_OF(NAME, OWN_PARAMS, OWN_INIT, OWN_CHOOSE, ...) \
  const policy_t policy_##NAME = {.name = #NAME,               \
                                  .params = OWN_PARAMS,        \
                                  .size = size,                \
                                  .init = OWN_INIT,            \
                                  .choose = OWN_CHOOSE,        \
                                  __VA_ARGS__}

/* For sound(): has the state `s` the constant of the fresh state `f`? Is a number in [low, high)? */
#define SAME(FIELD) (s->FIELD == f->FIELD)
static inline int is_in(int64_t x, int64_t low, int64_t high) { return x >= low && x < high; }

extern const policy_t policy_strata; /* around another one, in no list: kernels alone name it */

const policy_t *policy_find(const char *name); /* NULL if there is none */
const policy_t *policy_at(size_t i);           /* the i-th, from 0; NULL: there are no more */

/* Are there sums of batches, each reward in one of them? */
static inline int releases_batches(const policy_t *policy) { return policy->each_once && policy->report; }

/* Are there sums to conclude from: of batches, or of bits that are random already? */
static inline int spec_concludes(const spec_t *spec) {
  return spec->every == 0 && (spec->flip > 0 || releases_batches(spec->policy));
}

/* The policy of one stratum */
static inline const policy_t *spec_in_stratum(const spec_t *spec) {
  return spec->policy == &policy_strata ? spec->inner->policy : spec->policy;
}

/* Can it say with which chance an arm is chosen? */
static inline int spec_says_chances(const spec_t *spec) { return spec_in_stratum(spec)->probability != NULL; }

/* Can there be pulls whose rewards are in no batch, which then have the number 0? */
static inline int spec_leaves_out(const spec_t *spec) { return spec_in_stratum(spec)->unpull != NULL; }

#endif
