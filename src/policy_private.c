/* Any policy made private by batches: the reduction of Asi, Raman and Talwar (2025). A choice of the inner
   policy is played `batch` times in a row; what that learns is one reward, the batch's noisy sum over its
   size. Each reward is in one noisy sum, and all else is computed from those.

   Ours: rewards may be late and arms off offer. Then an arm's batch stays open until the arm is back, and
   the inner policy's next choice is played meanwhile; its rewards come to it late. */

#include <string.h>
#include "policy_inner.h"
#include "policy_released.h"

enum { NOISE, SCALE, BATCH, CLIP };
PARAMETERS(PARAMS, ONE_OF("noise", NOISE_CHOICES), NEEDS("scale"), NEEDS("batch"), NEEDS("clip"));

typedef struct {
  gather_t gather;
  released_t released;
  /* Of the batch in each slot of `gather`: the inner policy's round and batch */
  int64_t t[GATHER_SLOTS], batch[GATHER_SLOTS];
} arm_t;

typedef struct {
  const spec_t *inner; /* not saved: a spec's `inner` */
  int64_t k, rounds;   /* arms; choices of the inner policy so far */
  int64_t open;        /* the arm whose batch is open and was played last, or -1 */
  double size, clip;
  mechanism_t how;
  arm_t arms[]; /* then the inner policy */
} state_t;

static inner_t inner(const state_t *s) { return inner_at(s->inner, s->arms + s->k); }

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + sizeof(arm_t) * (size_t)spec->k + inner_size(spec->inner);
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  const double *par = spec->par;
  *s = (state_t){.inner = spec->inner,
                 .k = spec->k,
                 .open = -1,
                 .size = par[BATCH],
                 .clip = par[CLIP],
                 .how = mechanism_of(par[NOISE], par[SCALE])};
  for (int i = 0; i < spec->k; i++) s->arms[i] = (arm_t){.gather.open = -1};
  inner_begin(inner(s));
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  if (s->open >= 0 && on_offer(round, s->k, s->open)) return (int)s->open;
  return inner_choose(inner(s), round, s->rounds + 1, draws);
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  state_t *s = state;
  arm_t *a = &s->arms[arm];
  if (a->gather.open < 0) {
    gather_open(&a->gather, (int64_t)s->size);
    const int64_t at = a->gather.open, t = a->t[at] = ++s->rounds;
    a->batch[at] = inner_commit(inner(s), round, t, arm, draws);
  }
  const int64_t number = gather_assign(&a->gather, 1);
  s->open = a->gather.open >= 0 ? arm : -1;
  return number;
}

/* Release a batch that was in a slot, and tell the inner policy. */
static void release(state_t *s, int arm, int at, const gather_batch_t *batch, draws_t *draws) {
  arm_t *a = &s->arms[arm];
  const double mean = release_sum(&s->how, &a->released, batch, draws) / (double)batch->size;
  const double seen = s->clip != 0 ? fmin(fmax(mean, 0), 1) : mean;
  const feedback_t own = {.t = a->t[at], .arm = arm, .reward = seen, .batch = a->batch[at]};
  inner_update(inner(s), &own, draws);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  state_t *s = state;
  gather_t *g = &s->arms[feedback->arm].gather;
  const int at = gather_slot(g, feedback->batch);
  gather_batch_t full;
  if (gather_add(g, feedback->batch, 1, feedback->reward, &full)) {
    release(s, feedback->arm, at, &full, draws);
  }
}

static void finish(void *state, draws_t *draws) {
  state_t *s = state;
  s->open = -1;
  for (int i = 0; i < s->k; i++) {
    gather_batch_t rest;
    int at;
    while (gather_finish_at(&s->arms[i].gather, &rest, &at)) release(s, i, at, &rest, draws);
  }
}

static report_t report(const void *state, int arm) {
  const state_t *s = state;
  return released_report(&s->how, &s->arms[arm].released);
}

static void grow(void *state, const void *of_old, int k) {
  state_t *s = state;
  const state_t *old = of_old;
  s->rounds = old->rounds;
  s->open = old->open;
  memcpy(s->arms, old->arms, sizeof *s->arms * (size_t)k);
  memcpy(inner(s).counts, inner(old).counts, sizeof(int64_t) * (size_t)k);
  s->inner->policy->grow(inner(s).state, inner(old).state, k);
}

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  int all = SAME(k) && is_in(s->open, -1, s->k);
  for (int64_t i = 0; all && i < s->k; i++) all = gather_is_sound(&s->arms[i].gather);
  return all && inner_is_sound(inner_at(f->inner, s->arms + s->k), inner(f));
}

POLICY(private, .state_version = 1, .tosses = 1, .releases = 1, .batches = GATHER_SLOTS, .each_once = 1,
       .commit = commit, .update = update, .report = report, .finish = finish, .grow = grow, .sound = sound);
