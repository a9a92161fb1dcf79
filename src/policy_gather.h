#ifndef DPTS_POLICY_GATHER_H
#define DPTS_POLICY_GATHER_H
/* How an arm's rewards gather in batches when they may be late. A batch takes so many pulls,
   in the order in which they are *assigned*; it is full when it has them, and complete when
   all their rewards have come: then its sum may be released. So each reward is in exactly
   one sum, and which one depends on public counts alone. A batch that was never completed has
   told nothing.

   A full batch may wait for its rewards while the next ones fill. There is room for
   GATHER_ROOM batches that wait, far more than delays need since batches grow; if all of it is
   taken, the open batch takes more pulls until there is room again. */

#include <stdint.h>

#define GATHER_ROOM 16

typedef struct {
  int64_t number; /* from 1; 0: a free place */
  int64_t size;   /* pulls assigned to it; 0 while it is open */
  int64_t come;   /* rewards that have come */
  double sum;
} gather_batch_t;

typedef struct {
  int64_t assigned;     /* pulls in all */
  int64_t made;         /* batches so far */
  int64_t open;         /* the place of the open batch, or -1: the next pull opens one */
  int64_t size, filled; /* of the open batch: what it takes, and what it has */
  gather_batch_t batches[GATHER_ROOM];
} gather_t;

static inline void gather_init(gather_t *g) { *g = (gather_t){.open = -1}; }

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
}

/* Assign n <= gather_left() pulls to the open batch; returns its number. */
static inline int64_t gather_assign(gather_t *g, int64_t n) {
  gather_batch_t *batch = &g->batches[g->open];
  const int64_t number = batch->number;
  g->assigned += n;
  g->filled += n;
  if (g->filled < g->size) return number;
  for (int i = 0; i < GATHER_ROOM; i++) {
    /* With the last place taken this batch goes on, by one pull at a time. */
    if (g->batches[i].number != 0) continue;
    batch->size = g->filled;
    g->open = -1;
    return number;
  }
  g->size++;
  return number;
}

/* Batches of 1, 2, 4, ... pulls: opens the next if none is open; returns the pulls that the open one
   still takes. */
static inline int64_t gather_double(gather_t *g) {
  gather_open(g, (int64_t)1 << (g->made < 52 ? g->made : 52));
  return gather_left(g);
}

/* n rewards of a batch have come. Returns the batch if it is complete now, else NULL. Read
   it, then gather_release() it. */
static inline gather_batch_t *gather_add(gather_t *g, int64_t number, int64_t n,
                                         double sum) {
  int at = g->open >= 0 ? (int)g->open : 0; /* where most rewards belong */
  if (g->batches[at].number != number) {
    for (at = 0; at < GATHER_ROOM && g->batches[at].number != number;) at++;
    if (at == GATHER_ROOM) return 0;
  }
  gather_batch_t *batch = &g->batches[at];
  batch->come += n;
  batch->sum += sum;
  return batch->come == batch->size ? batch : 0;
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

static inline void gather_release(gather_batch_t *batch) { *batch = (gather_batch_t){0}; }

/* The end: the oldest batch of which some rewards have come, as far as they have, to be read and
   then released; NULL when there are no more. Those without a reward are dropped. What comes
   later for a batch that was released or dropped finds none. */
static inline gather_batch_t *gather_finish(gather_t *g) {
  gather_batch_t *oldest = 0;
  g->open = -1;
  for (int i = 0; i < GATHER_ROOM; i++) {
    gather_batch_t *batch = &g->batches[i];
    if (batch->come == 0) gather_release(batch);
    else if (!oldest || batch->number < oldest->number) oldest = batch;
  }
  if (oldest) oldest->size = oldest->come;
  return oldest;
}

#endif
