/* UCB that forgets, for means that change: SW-UCB and D-UCB (Garivier and Moulines 2011) on batches.

   A batch of `batch` rewards of an arm publishes their noisy sum once. It weighs 1 while the round of its
   last pull is among the last `window`, and 0 then; or `discount` to the power of its age. Both depend on
   public times alone. With N, S and R an arm's weighted rewards, sums and batches, v the variance of a
   batch's noise, and n the lesser of t and `window`, or all arms' N, pull for a batch the arm of the largest

     S / N + sqrt(width ln(n) (N + 4 v R)) / N.

   Without noise, in batches of one reward, that is SW-UCB with xi = width, and D-UCB with 4 xi = width. */

#include <string.h>
#include "policy.h"
#include "policy_released.h"

enum { NOISE, SCALE, BATCH, WINDOW, DISCOUNT, WIDTH };
PARAMETERS(PARAMS, ONE_OF("noise", NOISE_CHOICES), NEEDS("scale"), NEEDS("batch"), TAKES("window"),
           TAKES("discount"), NEEDS("width"));

typedef struct {
  gather_t gather;
  int64_t at[GATHER_SLOTS]; /* the last pull of the batch in each slot */
  released_t released;
  double n, sum, batches; /* weighted */
} arm_t;

/* A batch that counts, of a window */
typedef struct {
  int64_t arm, at;
  double size, sum;
} kept_t;

typedef struct {
  int64_t k, open;     /* arms; the arm whose batch is open, or -1 */
  int64_t played, now; /* rounds; and those up to which it has forgotten */
  int64_t kept;        /* batches in the window */
  double batch, window, discount, width, variance;
  mechanism_t how;
  arm_t arms[]; /* then the batches of a window */
} state_t;

static kept_t *kept(const state_t *s) { return (kept_t *)(s->arms + s->k); }

/* How many batches end in a window: but for the first and the last of each arm, all pulls lie in it. */
static size_t capacity(double window, double batch, int k) {
  return window > 0 ? (size_t)(window / batch) + 2 * (size_t)k + 1 : 0;
}

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + sizeof(arm_t) * (size_t)spec->k +
         sizeof(kept_t) * capacity(spec->par[WINDOW], spec->par[BATCH], spec->k);
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  const double *par = spec->par;
  const mechanism_t how = mechanism_of(par[NOISE], par[SCALE]);
  *s = (state_t){.k = spec->k,
                 .open = -1,
                 .batch = par[BATCH],
                 .window = par[WINDOW],
                 .discount = par[DISCOUNT],
                 .width = par[WIDTH],
                 .variance = noise_variance(how.kind, how.scale),
                 .how = how};
  for (int i = 0; i < spec->k; i++) s->arms[i] = (arm_t){.gather.open = -1};
  for (size_t i = 0; i < capacity(s->window, s->batch, spec->k); i++) kept(s)[i] = (kept_t){0};
}

static void count(state_t *s, const kept_t *b, double weight) {
  arm_t *a = &s->arms[b->arm];
  a->n += weight * b->size;
  a->sum += weight * b->sum;
  a->batches += weight;
}

/* What counts now, from the batches themselves in a window: no error of rounding adds up. */
static void forget(state_t *s) {
  const double old = s->window > 0 ? 0 : pow(s->discount, (double)(s->played - s->now));
  s->now = s->played;
  for (int i = 0; i < s->k; i++) {
    arm_t *a = &s->arms[i];
    a->n *= old, a->sum *= old, a->batches *= old;
  }
  const int64_t all = s->kept;
  s->kept = 0;
  for (int64_t i = 0; i < all; i++) {
    if ((double)(s->now - kept(s)[i].at) >= s->window) continue;
    kept(s)[s->kept] = kept(s)[i];
    count(s, &kept(s)[s->kept++], 1);
  }
}

static void release(state_t *s, int arm, int64_t at, const gather_batch_t *batch, draws_t *draws) {
  const double sum = release_sum(&s->how, &s->arms[arm].released, batch, draws);
  const kept_t new = {arm, at, (double)batch->size, sum};
  forget(s);
  const double age = (double)(s->now - at);
  if (!(s->window > 0)) {
    count(s, &new, pow(s->discount, age));
  } else if (age < s->window && s->kept < (int64_t)capacity(s->window, s->batch, (int)s->k)) {
    kept(s)[s->kept++] = new;
    count(s, &new, 1);
  }
}

/* A full batch of the arm is waiting for rewards. */
static int waits(const gather_t *g) {
  int n = 0;
  for (int i = 0; i < GATHER_SLOTS; i++) n += g->batches[i].number != 0 && i != g->open;
  return n > 0;
}

static double index_of(const state_t *s, int arm, double ln_n) {
  const arm_t *a = &s->arms[arm];
  return (a->sum + sqrt(s->width * ln_n * (a->n + 4 * s->variance * a->batches))) / a->n;
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)draws;
  const state_t *s = state;
  if (s->open >= 0 && on_offer(round, s->k, s->open)) return (int)s->open;
  double n = s->window > 0 ? fmin((double)round->t, s->window) : 0;
  for (int i = 0; !(s->window > 0) && i < s->k; i++) n += s->arms[i].n;
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    const int known = s->arms[i].n > 0;
    if (!known && !waits(&s->arms[i].gather)) return i;
    if (known) argmax_add(&best, i, index_of(s, i, log(fmax(1, n))));
  }
  return best.arm < 0 ? least_pulled(round) : argmax_arm(&best);
}

/* n pulls of an arm, up to a round */
static int64_t assign(state_t *s, int arm, int64_t n, int64_t t) {
  arm_t *a = &s->arms[arm];
  s->played = t;
  gather_open(&a->gather, (int64_t)s->batch);
  a->at[a->gather.open] = t;
  return gather_commit(&a->gather, n, arm, &s->open);
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  (void)draws;
  return assign(state, arm, 1, round->t);
}

static void add(state_t *s, int arm, int64_t number, int64_t n, double sum, draws_t *draws) {
  gather_t *g = &s->arms[arm].gather;
  const int at = gather_slot(g, number);
  gather_batch_t full;
  if (gather_add(g, number, n, sum, &full)) release(s, arm, s->arms[arm].at[at], &full, draws);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  add(state, feedback->arm, feedback->batch, 1, feedback->reward, draws);
}

static void skip(void *state, player_t *player, draws_t *draws) {
  state_t *s = state;
  const int arm = player_choose(player, choose, s, draws);
  if (arm < 0) return;
  gather_open(&s->arms[arm].gather, (int64_t)s->batch);
  const int64_t n = player_stretch(player, (double)gather_left(&s->arms[arm].gather));
  const int64_t number = assign(s, arm, n, player->t + n);
  add(s, arm, number, n, player_pull_many(player, arm, n), draws);
}

static void finish(void *state, draws_t *draws) {
  state_t *s = state;
  s->open = -1;
  for (int i = 0; i < s->k; i++) {
    gather_batch_t rest;
    int at;
    while (gather_finish_at(&s->arms[i].gather, &rest, &at)) {
      release(s, i, s->arms[i].at[at], &rest, draws);
    }
  }
}

static void grow(void *state, const void *of_old, int k) {
  state_t *s = state;
  const state_t *old = of_old;
  s->open = old->open;
  s->played = old->played;
  s->now = old->now;
  s->kept = old->kept;
  memcpy(s->arms, old->arms, sizeof *s->arms * (size_t)k);
  memcpy(kept(s), kept(old), sizeof(kept_t) * capacity(s->window, s->batch, k));
}

static report_t report(const void *state, int arm) {
  const state_t *s = state;
  return released_report(&s->how, &s->arms[arm].released);
}

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  const size_t most = capacity(f->window, f->batch, (int)f->k);
  int all = SAME(k) && capacity(s->window, s->batch, (int)s->k) == most && is_in(s->open, -1, s->k);
  for (int64_t i = 0; all && i < s->k; i++) all = gather_is_sound(&s->arms[i].gather);
  if (!all || !is_in(s->kept, 0, (int64_t)most + 1)) return 0;
  for (int64_t i = 0; all && i < s->kept; i++) all = is_in(kept(s)[i].arm, 0, s->k);
  return all;
}

POLICY(forget, .state_version = 1, .releases = 1, .batches = GATHER_SLOTS, .each_once = 1, .commit = commit,
       .update = update, .skip = skip, .report = report, .finish = finish, .grow = grow, .sound = sound);
