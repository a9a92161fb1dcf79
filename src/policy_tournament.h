#ifndef DPTS_POLICY_TOURNAMENT_H
#define DPTS_POLICY_TOURNAMENT_H
/* The arm of the best index among thousands, without a look at all of them.

   A kinetic tournament (Basch, Guibas and Hershberger 1999): a binary tree over the arms, in which each match
   keeps its winner and the interval of a *clock* in which this arm surely wins. An index depends on what is
   known of its arm and on a clock that all arms share, and never falls as the clock runs on. So for UCB the
   clock is a function of time, and for IMED, whose index falls as the highest mean rises, it is the highest
   mean with its sign changed, and runs both ways. A match is played again when one of its arms learns
   something, or when the clock leaves its interval: about log2(k) matches a choice in place of k indices.

   It is exact: the arm is that of index_scan(), bit for bit. A match that was played by the computed
   indices holds at that clock; what is said of other clocks holds with room for rounding.

   The tree is a cache in a policy's state: to clear it (tournament_init) changes only the time that a choice
   takes. So choose() may write to it, and to nothing else. */

#include <math.h>
#include <stddef.h>
#include "round.h"

/* A policy's index. */
typedef struct {
  /* Of an arm that has one. */
  double (*index)(const void *state, int arm, double clock);
  /* Have two arms the same index at every clock, and the same rank? */
  int (*alike)(const void *state, int a, int b);
  /* A clock up to which an arm's index is surely below `value`; NULL: found by a try. */
  double (*expiry)(const void *state, int arm, double value);
  /* How fast, at most, the lead between two arms changes while the clock is between what it is now
     and twice that; 0 only if they have the same index at every clock (see apart()). For
     policy_tournament_closing.h, which needs nothing else; of equals the first arm is the best. */
  double (*closing)(const void *state, int a, int b, double clock);
  /* Between which clocks, at least, arm a leads arm b, given its lead now; it may leave *from and
     *to, which are the clock. NULL: found by a try. */
  void (*certificate)(const void *state, int a, int b, double clock, double lead, double *from, double *to);
  /* Of equal indices that of the least rank is the best, and then the first arm. NULL: the first arm. */
  double (*rank)(const void *state, int arm);
  /* By how much, at most, rounding may make it seem to fall as the clock runs on; NULL: 1e-12,
     relative to 1 + |index|. */
  double (*error)(const void *state, int arm, double value);
  double most; /* no index is larger: INFINITY, or what it may be while the clock runs on */
  enum {
    CLOCK_RUNS_ON,
    CLOCK_RUNS_BOTH_WAYS,
    CLOCK_JUMPS /* an index may fall: nothing is known of it at another clock */
  } clock;
} index_t;

/* To be added to a closing(): parallel indices are not the same one if their means differ. */
static inline double apart(double mean_a, double mean_b) { return 1e-200 * fabs(mean_a - mean_b); }

typedef struct {
  int32_t winner;
  float span;              /* by how much the clock could change last time, in a try */
  double from, to;         /* the match is decided between these clocks */
  double all_from, all_to; /* and so are all matches below it */
} match_t;

enum { NONE_CHANGED = -1, NOTHING_PLAYED = -2 };

typedef struct {
  int64_t k, opened; /* all arms before `opened` have had their first pulls */
  int64_t changed;   /* the arm of which something was learned last, or one of these */
  match_t match[];   /* match i has the winners of 2 i and 2 i + 1; arm i is at k + i */
} tournament_t;

static inline int match_winner(const tournament_t *t, int64_t at) {
  return at >= t->k ? (int)(at - t->k) : t->match[at].winner;
}

/* 0 bytes where arms are few. */
size_t tournament_size(int64_t k);
/* The tournament of k arms for which there is room in `memory`; NULL where arms are few. */
static inline tournament_t *tournament_at(const void *memory, int64_t k) {
  return k >= MANY_ARMS ? (tournament_t *)memory : NULL; /* a cache: not const */
}
/* Each takes NULL, too. */
void tournament_init(tournament_t *t, int64_t k);
/* May it be used, if it was read from somewhere? */
int tournament_is_sound(const tournament_t *t, int64_t k);
/* The matches above an arm are to be played again. */
void tournament_forget(tournament_t *t, int arm);
/* Something was learned of an arm. Of one arm at a time the next choice sees to all at once. */
static inline void tournament_changed(tournament_t *t, int arm) {
  if (!t || t->changed == arm || t->changed == NOTHING_PLAYED) return;
  if (t->changed >= 0) tournament_forget(t, (int)t->changed);
  t->changed = arm;
}

/* The arm of the best index among those on offer, by a look at each; -1: an index is NaN. */
int index_scan(const index_t *index, const void *state, const round_t *round, double clock);
/* The same from the tournament, for a round with all arms on offer. */
int tournament_best(const index_t *index, const void *state, tournament_t *t, double clock);

/* The tournament if it serves this round, else NULL. */
static inline tournament_t *tournament_for(const round_t *round, tournament_t *t) {
  return round_is_full(round) ? t : NULL;
}

/* opening_choice(), by the tournament if there is one. */
int tournament_first(tournament_t *t, const round_t *round, const double *n, size_t stride);
static inline int tournament_opening(tournament_t *t, int64_t waiting, const round_t *round, const double *n,
                                     size_t stride) {
  if (waiting == 0) return -1;
  return t ? tournament_first(t, round, n, stride) : opening_choice(waiting, round, n, stride);
}

/* ---- the highest of k numbers ----------------------------------------------------------- */

/* A tree of 2 k numbers, all -Inf at first; none where arms are few. */
size_t highest_size(int64_t k);
void highest_init(double *tree, int64_t k);
void highest_set(double *tree, int64_t k, int arm, double value);
static inline double highest(const double *tree) { return tree[1]; }

#endif
