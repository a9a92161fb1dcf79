#ifndef DPTS_POLICY_TOURNAMENT_CLOSING_H
#define DPTS_POLICY_TOURNAMENT_CLOSING_H
/* How the matches of policy_tournament.h are played where it is known how fast a lead closes: an index that
   is mean + slope * clock, or nearly. Each match is computed now, and lasts for lead / closing(). A match
   takes a few nanoseconds, so all above an arm of which something was learned are played again, whether they
   need to be or not, and without a branch, which would be mispredicted too often. */

#include <string.h>
#include "policy_tournament.h"
#include "math_util.h"

typedef struct {
  int arm;      /* the winner, */
  double value; /* its index, */
  double to;    /* and the clock up to which it surely wins */
} won_t;

static ALWAYS_INLINE won_t closing_match(const index_t *index, const void *state, double clock, int a,
                                         double value_a, int b) {
  const double value_b = index->index(state, b, clock);
  const double ahead = value_a - value_b, best = value_a > value_b ? value_a : value_b;
  int64_t bits; /* negative if `ahead` is; 0 for equals, of which the first arm wins */
  memcpy(&bits, &ahead, sizeof bits);
  const int second = (int)(bits >> 63) | -((bits == 0) & (a > b));
  /* Less room for rounding: no index is larger than |best| + lead. (x + |x|) / 2 is max(x, 0). For
     arms with the same index at every clock this is 0 / 0, and then lasts < clock is false. */
  const double lead = fabs(ahead), slack = 1e-12 * (2 * (1 + fabs(best)) + lead);
  const double lasts = 0.5 * (lead - slack + fabs(lead - slack)) / index->closing(state, a, b, clock);
  return (won_t){.arm = a ^ ((a ^ b) & second), .value = best, .to = clock + (lasts < clock ? lasts : clock)};
}

/* A clock that only runs on needs no look at where a match's times begin. */
static int closing_holds(const index_t *index, const match_t *match, double clock) {
  if (index->clock == CLOCK_RUNS_BOTH_WAYS && !(match->all_from <= clock)) return 0;
  return clock <= match->all_to;
}

static ALWAYS_INLINE void closing_store(const index_t *index, match_t *match, int winner, double clock,
                                        double to) {
  match->winner = winner;
  match->all_to = to;
  if (index->clock == CLOCK_RUNS_BOTH_WAYS) match->all_from = clock;
}

/* Make the winner of match `at` the right one for the clock. 1: an index is NaN. */
static NOINLINE int closing_renew(const index_t *index, const void *state, tournament_t *t, double clock,
                                  int64_t at) {
  double to = INFINITY;
  int failed = 0;
  for (int64_t below = 2 * at; below <= 2 * at + 1 && below < t->k; below++) {
    const match_t *part = &t->match[below];
    if (!closing_holds(index, part, clock)) failed |= closing_renew(index, state, t, clock, below);
    to = to < part->all_to ? to : part->all_to;
  }
  const int a = match_winner(t, 2 * at), b = match_winner(t, 2 * at + 1);
  const double value_a = index->index(state, a, clock);
  const won_t won = closing_match(index, state, clock, a, value_a, b);
  failed |= value_a != value_a || won.value != won.value;
  to = to < won.to ? to : won.to;
  if (failed) to = -INFINITY; /* to be seen again */
  closing_store(index, &t->match[at], won.arm, clock, to);
  return failed;
}

/* The same for all matches above an arm of which something was learned, from the bottom up. */
static ALWAYS_INLINE int closing_replay(const index_t *index, const void *state, tournament_t *t,
                                        double clock, int arm) {
  double to = INFINITY; /* up to which all matches below are decided */
  won_t won = {.arm = arm, .value = index->index(state, arm, clock)};
  int failed = won.value != won.value;
  for (int64_t below = t->k + arm; below > 1; below /= 2) {
    const int64_t beside = below ^ 1;
    int other = (int)(beside - t->k);
    if (other < 0) {
      const match_t *part = &t->match[beside];
      if (!closing_holds(index, part, clock)) failed |= closing_renew(index, state, t, clock, beside);
      to = to < part->all_to ? to : part->all_to;
      other = part->winner;
    } else {
      const double value = index->index(state, other, clock);
      failed |= value != value; /* it may be new, too */
    }
    won = closing_match(index, state, clock, won.arm, won.value, other);
    to = to < won.to ? to : won.to;
    closing_store(index, &t->match[below / 2], won.arm, clock, to);
  }
  if (failed) tournament_forget(t, arm);
  return failed;
}

/* The arm of the best index, for a round with all arms on offer; -1: an index is NaN. */
static NOINLINE int closing_winner(const index_t *index, const void *state, tournament_t *t, double clock) {
  const int64_t changed = t->changed;
  int failed = 0;
  t->changed = NONE_CHANGED;
  if (changed >= 0) failed = closing_replay(index, state, t, clock, (int)changed);
  else if (!closing_holds(index, &t->match[1], clock)) failed = closing_renew(index, state, t, clock, 1);
  return failed ? -1 : t->match[1].winner;
}

#endif
