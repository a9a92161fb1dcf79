#ifndef DPTS_POLICY_GATHER_H
#define DPTS_POLICY_GATHER_H
/* How an arm's rewards gather in batches when they may be late. A batch takes so many pulls, in the order in
   which they are *assigned*; it is full when it has them, and complete when all their rewards have come: then
   its sum may be released. So each reward is in exactly one sum, and which one depends on public counts
   alone. A batch that was never completed has published nothing.

   A full batch may wait for its rewards while the next ones fill. At most GATHER_SLOTS batches wait, far more
   than delays need since batches grow; while so many wait the open batch takes more pulls. */

#include <math.h>
#include <stdint.h>

#define GATHER_SLOTS 16

typedef struct {
  int64_t number; /* from 1; 0: a free slot */
  int64_t size;   /* pulls assigned to it; 0 while it is open */
  int64_t come;   /* rewards that have come */
  double sum;
  double squares; /* about 1/2, of policies that release them */
} gather_batch_t;

typedef struct {
  int64_t assigned;     /* pulls in all */
  int64_t made;         /* batches so far */
  int64_t open;         /* the slot of the open batch, or -1: the next pull opens one */
  int64_t size, filled; /* of the open batch: what it takes, and what it has */
  int64_t missed;       /* visits in the meantime of people whom it holds already */
  gather_batch_t batches[GATHER_SLOTS];
} gather_t;

static inline void gather_init(gather_t *g) { *g = (gather_t){.open = -1}; }

/* May it be used, if it was read from somewhere? Without an open batch there is a slot for the next. */
static inline int gather_is_sound(const gather_t *g) {
  int full = 0;
  for (int i = 0; i < GATHER_SLOTS; i++) full += g->batches[i].number != 0;
  return g->made >= 0 && g->open >= -1 && g->open < GATHER_SLOTS && (g->open >= 0 || full < GATHER_SLOTS);
}
static inline int gathers_are_sound(const gather_t *g, int64_t k) {
  for (int64_t i = 0; i < k; i++) {
    if (!gather_is_sound(&g[i])) return 0;
  }
  return 1;
}

/* Pulls that the open batch still takes. */
static inline int64_t gather_left(const gather_t *g) { return g->size - g->filled; }

/* Open a batch for `size` >= 1 pulls, if none is open. */
static inline void gather_open(gather_t *g, int64_t size) {
  if (g->open >= 0) return;
  int at = 0;
  while (g->batches[at].number != 0) at++; /* gather_assign() leaves one free */
  g->batches[at] = (gather_batch_t){.number = ++g->made};
  g->open = at;
  g->size = size;
  g->filled = 0;
  g->missed = 0;
}

/* Assign n <= gather_left() pulls to the open batch; returns its number. */
static inline int64_t gather_assign(gather_t *g, int64_t n) {
  gather_batch_t *batch = &g->batches[g->open];
  const int64_t number = batch->number;
  g->assigned += n;
  g->filled += n;
  if (g->filled < g->size) return number;
  for (int i = 0; i < GATHER_SLOTS; i++) {
    /* With the last slot taken this batch continues, by one pull at a time. */
    if (g->batches[i].number != 0) continue;
    batch->size = g->filled;
    g->open = -1;
    return number;
  }
  g->size++;
  return number;
}

/* Does the arm's first batch take pulls? */
static inline int gather_begins(const gather_t *g) { return g->made == 0 || (g->made == 1 && g->open >= 0); }

/* Growing batches: opens the next one if none is open, of `first` pulls or of `times` the arm's pulls so
   far, rounded up. The factor below 1 keeps rounding errors, as in (1.1 - 1) * 10, from adding a pull. */
static inline void gather_grow(gather_t *g, double first, double times) {
  const double next = ceil(times * (double)g->assigned * (1 - 1e-12));
  gather_open(g, (int64_t)(g->made == 0 ? first : fmin(fmax(1, next), 0x1p53)));
}

/* gather_assign() for a policy that keeps to one arm, *open, while its batch is open; else that is -1. */
static inline int64_t gather_commit(gather_t *g, int64_t n, int arm, int64_t *open) {
  const int64_t number = gather_assign(g, n);
  if (*open < 0 && g->open >= 0) *open = arm;
  if (*open == arm && g->open < 0) *open = -1;
  return number;
}

/* Batches of 1, 2, 4, ... pulls: opens the next if none is open; returns the pulls that the open one
   still takes. */
static inline int64_t gather_double(gather_t *g) {
  gather_open(g, (int64_t)1 << (g->made < 52 ? g->made : 52));
  return gather_left(g);
}

static inline int64_t gather_assign_doubling(gather_t *g, int64_t n) {
  gather_double(g);
  return gather_assign(g, n);
}

/* n rewards of a batch have come. Returns whether it is complete now: then it is in *full, to be
   released, and its slot is free. */
static inline int gather_add(gather_t *g, int64_t number, int64_t n, double sum, gather_batch_t *full) {
  int at = g->open >= 0 ? (int)g->open : 0; /* where most rewards belong */
  if (g->batches[at].number != number) {
    for (at = 0; at < GATHER_SLOTS && g->batches[at].number != number;) at++;
    if (at == GATHER_SLOTS) return 0;
  }
  gather_batch_t *batch = &g->batches[at];
  batch->come += n;
  batch->sum += sum;
  if (batch->come != batch->size) return 0;
  *full = *batch;
  *batch = (gather_batch_t){0};
  return 1;
}

/* For pass() of a policy: a visit of a person whose last reward is in batch `held`, -1: is not in yet. */
static inline int gather_pass(gather_t *g, int64_t held) {
  if (held < 0) return 1;
  if (g->open < 0 || g->batches[g->open].number != held) return 0;
  return ++g->missed > g->size ? 2 : 1;
}

/* The open batch takes no more pulls. Returns whether it is complete: then it is in *full, to be released.
   While no slot is free for the next one it goes on. */
static inline int gather_close(gather_t *g, gather_batch_t *full) {
  if (g->open < 0 || g->filled == 0) return 0;
  gather_batch_t *batch = &g->batches[g->open];
  const int complete = batch->come == g->filled;
  int free = complete;
  for (int i = 0; i < GATHER_SLOTS; i++) free |= g->batches[i].number == 0;
  if (!free) return 0;
  batch->size = g->filled;
  g->open = -1;
  if (!complete) return 0;
  *full = *batch;
  *batch = (gather_batch_t){0};
  return 1;
}

/* The slot of a batch; GATHER_SLOTS: it is not there. */
static inline int gather_slot(const gather_t *g, int64_t number) {
  int at = 0;
  while (at < GATHER_SLOTS && g->batches[at].number != number) at++;
  return at;
}

/* The squares of rewards of a batch: before gather_add() is told of their sum, which may complete it. */
static inline void gather_square(gather_t *g, int64_t number, double squares) {
  int at = g->open >= 0 ? (int)g->open : 0; /* where most rewards belong */
  if (g->batches[at].number != number) at = gather_slot(g, number);
  if (at < GATHER_SLOTS) g->batches[at].squares += squares;
}

/* gather_assign() and gather_add() for a pull and its reward, where neither fills a batch. Returns
   whether that is so; if not, nothing has happened. */
static inline int gather_take(gather_t *g, double reward) {
  if (g->open < 0 || g->filled + 1 >= g->size) return 0;
  gather_batch_t *batch = &g->batches[g->open];
  g->assigned++;
  g->filled++;
  batch->come++;
  batch->sum += reward;
  return 1;
}

/* The end: *rest is the oldest batch of which some rewards have come, as far as they have, and *at its
   slot; 0 when there are no more. Those without a reward are dropped. What comes later for a batch that was
   released or dropped finds none. */
static inline int gather_finish_at(gather_t *g, gather_batch_t *rest, int *at) {
  gather_batch_t *oldest = 0;
  g->open = -1;
  for (int i = 0; i < GATHER_SLOTS; i++) {
    gather_batch_t *batch = &g->batches[i];
    if (batch->come == 0) *batch = (gather_batch_t){0};
    else if (!oldest || batch->number < oldest->number) oldest = batch;
  }
  if (!oldest) return 0;
  *rest = *oldest;
  *at = (int)(oldest - g->batches);
  rest->size = rest->come;
  *oldest = (gather_batch_t){0};
  return 1;
}

static inline int gather_finish(gather_t *g, gather_batch_t *rest) {
  int at;
  return gather_finish_at(g, rest, &at);
}

#endif
