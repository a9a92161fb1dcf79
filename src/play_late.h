#ifndef DPTS_PLAY_LATE_H
#define DPTS_PLAY_LATE_H
/* Delayed rewards of a simulation or a replay: a queue of pulls whose rewards are outstanding. The
   reward of round t comes at the end of round t + delay, and is learned at the end of the group of
   rounds that this round belongs to. First in, first out. */

#include "sample_rng.h"
#include "round.h"

/* A pull whose reward is outstanding. */
typedef struct {
  int64_t t, batch;
  double reward;
  int32_t arm;
  int32_t next; /* the next free entry, or the next pull that is due in the same round */
} pending_t;

/* A queue of `capacity` entries with dim numbers each, and mask + 1 due times: see late_on(). */
typedef struct {
  int64_t delay;     /* in rounds ... */
  const int *delays; /* ... or these; NULL: all delays are `delay` */
  int64_t n_delays;  /* one for each round, recycled, */
  int sampled;       /* or one of them at random? */
  rng_t rng;         /* to draw delays */
  int64_t group;     /* rounds in a group; 0 or 1: no groups */
  int64_t mask;      /* mask + 1 is a power of 2 above the longest wait */
  int *first, *last; /* first and last pull that is learned after round t, at t & mask; -1: none */
  int capacity;
  int free; /* the first free entry, or -1 */
  pending_t *pending;
  int dim;
  double *context; /* dim x capacity */
} late_t;

static inline int64_t late_longest_of(const int *delays, int64_t n) {
  int64_t longest = 0;
  for (int64_t i = 0; i < n; i++) {
    if (delays[i] > longest) longest = delays[i];
  }
  return longest;
}

/* The longest wait, in rounds, for delays of at most `delay`; and the numbers of due times and of
   entries that it needs. A pull is added before those that are due are resolved. */
static inline int64_t late_longest(int64_t delay, int64_t group) {
  return delay + (group > 1 ? group - 1 : 0);
}
static inline size_t late_places(int64_t longest) {
  size_t places = 1;
  while (places < (size_t)longest + 1) places *= 2;
  return places;
}
static inline size_t late_capacity(int64_t longest) { return (size_t)longest + 1; }

static inline double *late_context(const late_t *late, int at) {
  return late->dim ? late->context + (size_t)late->dim * (size_t)at : NULL;
}

/* A queue for waits of at most `longest` rounds is one block of late_size() bytes. */
size_t late_size(int64_t longest, int dim);
void late_on(late_t *late, void *block, int64_t longest, int dim);

void late_begin(late_t *late);

/* Adds a pull of time `now`, whose reward is outstanding. Returns the time at whose end it is learned, 0 if
   the queue is full. */
int64_t late_add(late_t *late, int64_t now, const round_t *round, int arm, int64_t batch, double reward);

/* The next reward that is learned at the end of round t; returns 0 if there are no more. late_drop()
   then removes it. */
static inline int late_next(const late_t *late, int64_t t, feedback_t *feedback) {
  const int at = late->first[t & late->mask];
  if (at < 0) return 0;
  const pending_t *pending = &late->pending[at];
  *feedback = (feedback_t){pending->t, pending->arm, pending->reward, pending->batch, late_context(late, at)};
  return 1;
}

static inline void late_drop(late_t *late, int64_t t) {
  const int64_t due = t & late->mask;
  const int at = late->first[due];
  late->first[due] = late->pending[at].next;
  if (late->first[due] < 0) late->last[due] = -1;
  late->pending[at].next = late->free;
  late->free = at;
}

#endif
