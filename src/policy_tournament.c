#include "policy_tournament.h"
#include "math_util.h"

/* ---- the reference ---------------------------------------------------------------------- */

int index_scan(const index_t *index, const void *state, const round_t *round, double clock) {
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    const double value = index->index(state, i, clock);
    if (index->rank && value == best.value && best.arm >= 0 &&
        index->rank(state, i) < index->rank(state, best.arm)) {
      best.arm = i;
    }
    argmax_add(&best, i, value);
  }
  return argmax_arm(&best);
}

/* ---- the tree --------------------------------------------------------------------------- */

size_t tournament_size(int64_t k) {
  if (k < MANY_ARMS) return 0;
  return sizeof(tournament_t) + sizeof(match_t) * (size_t)k;
}

void tournament_init(tournament_t *t, int64_t k) {
  if (!t) return;
  *t = (tournament_t){.k = k, .changed = NOTHING_PLAYED};
  t->match[0] = (match_t){0};
  for (int64_t at = k - 1; at > 0; at--) {
    t->match[at] = (match_t){.winner = match_winner(t, 2 * at),
                             .span = 0x1p-6f,
                             .from = INFINITY,
                             .to = -INFINITY,
                             .all_from = INFINITY,
                             .all_to = -INFINITY};
  }
}

int tournament_is_sound(const tournament_t *t, int64_t k) {
  if (!t) return 1;
  int sound = t->k == k && t->opened >= 0 && t->opened <= k && t->changed >= NOTHING_PLAYED && t->changed < k;
  for (int64_t i = 1; i < k && sound; i++) sound = t->match[i].winner >= 0 && t->match[i].winner < k;
  return sound;
}

void tournament_forget(tournament_t *t, int arm) {
  int played = 1; /* did the arm win all its matches so far? */
  for (int64_t at = (t->k + arm) / 2; at > 0; at /= 2) {
    match_t *match = &t->match[at];
    match->all_to = -INFINITY;
    if (!played) continue;
    match->to = -INFINITY;
    played = match->winner == arm;
  }
}

/* ---- a choice by certificates, found by a try or given by an index_t ------------------------ */

typedef struct {
  tournament_t *t;
  const void *state;
  double clock;
  int arm; /* whose index is known ... */
  double value;
  double moved; /* by how much the two indices of the last try moved, see surely_beats() */
  int failed;   /* an index is NaN */
} call_t;

static double value_of(const index_t *index, call_t *call, int arm) {
  if (call->arm != arm) {
    call->value = index->index(call->state, arm, call->clock);
    call->arm = arm;
  }
  return call->value;
}

static int first_of_equals(const index_t *index, const call_t *call, int a, int b) {
  if (index->rank) {
    const double rank_a = index->rank(call->state, a), rank_b = index->rank(call->state, b);
    if (rank_a != rank_b) return rank_a < rank_b;
  }
  return a < b;
}

static void decide(match_t *match, int winner, double from, double to) {
  match->winner = winner;
  match->from = from;
  match->to = to;
}

static double error_of(const index_t *index, const call_t *call, int arm, double value) {
  if (index->error) return index->error(call->state, arm, value);
  return 1e-12 * (1 + fabs(value));
}

/* Does arm a beat arm b whatever the clock shows between now - span and now + span? Its index is
   at least that at the first end, and the other's at most that at the second. */
static int surely_beats(const index_t *index, call_t *call, match_t *match, int a, double value_a, int b,
                        double span) {
  const int back = index->clock == CLOCK_RUNS_BOTH_WAYS;
  const double from = back ? call->clock - span : call->clock, to = call->clock + span;
  const double least = back ? index->index(call->state, a, from) : value_a;
  const double most = index->index(call->state, b, to);
  call->moved = (value_a - least) + most; /* less b's index, which is not known here */
  if (!(least - error_of(index, call, a, least) > most + error_of(index, call, b, most))) return 0;
  decide(match, a, from, to);
  return 1;
}

static int below_for_a_while(const index_t *index, const call_t *call, match_t *match, int a, double value_a,
                             int b) {
  const double to = index->expiry(call->state, b, value_a);
  if (!(to > call->clock)) return 0;
  decide(match, a, call->clock, to);
  return 1;
}

static void play(const index_t *index, call_t *call, match_t *match, int a, int b) {
  /* a: the arm whose index is known, or that won the last time */
  if (call->arm == b || (call->arm != a && match->winner == b)) {
    const int other = a;
    a = b, b = other;
  }
  double value_a = value_of(index, call, a);
  const double span = match->span;
  if (index->expiry && below_for_a_while(index, call, match, a, value_a, b)) return;
  if (index->alike(call->state, a, b)) {
    decide(match, a < b ? a : b, -INFINITY, INFINITY);
    return;
  }
  if (!index->expiry && !index->certificate && index->clock != CLOCK_JUMPS &&
      surely_beats(index, call, match, a, value_a, b, span)) {
    if (span < 0x1p40) match->span = (float)(2 * span);
    return;
  }
  double value_b = index->index(call->state, b, call->clock);
  if (value_a != value_a || value_b != value_b) {
    call->failed = 1;
    match->from = INFINITY; /* to be seen again */
    return;
  }
  if (value_b > value_a || (value_b == value_a && first_of_equals(index, call, b, a))) {
    const int other = a;
    const double value = value_a;
    a = b, b = other;
    value_a = value_b, value_b = value;
    call->arm = a;
    call->value = value_a;
  }
  decide(match, a, call->clock, call->clock);
  if (index->clock == CLOCK_JUMPS) return;
  if (value_a >= index->most && index->clock == CLOCK_RUNS_ON && first_of_equals(index, call, a, b)) {
    match->to = INFINITY; /* a stays there, and b at most comes up to it */
  } else if (index->expiry) {
    below_for_a_while(index, call, match, a, value_a, b);
  } else if (index->certificate) {
    const double lead =
        value_a - error_of(index, call, a, value_a) - (value_b + error_of(index, call, b, value_b));
    if (lead > 0) index->certificate(call->state, a, b, call->clock, lead, &match->from, &match->to);
  } else if (value_a > value_b) {
    const double moved = call->moved - value_b;
    /* half the lead, by the rate at which indices moved */
    double next = moved > 0 ? span * fmin(0.5 * (value_a - value_b) / moved, 1) : span / 4;
    if (!(next > 1e-15 * fabs(call->clock))) return;
    match->span = (float)next;
    surely_beats(index, call, match, a, value_a, b, match->span);
  }
}

static int holds(const tournament_t *t, int64_t at, double clock) {
  return at >= t->k || (t->match[at].all_from <= clock && clock <= t->match[at].all_to);
}

/* The matches below a match decide no longer than it does. */
static void gather_times(const tournament_t *t, match_t *match, int64_t left) {
  double from = match->from, to = match->to;
  for (int64_t below = left; below <= left + 1 && below < t->k; below++) {
    const match_t *part = &t->match[below];
    from = from > part->all_from ? from : part->all_from;
    to = to < part->all_to ? to : part->all_to;
  }
  match->all_from = from;
  match->all_to = to;
}

/* Make the winner of a match the right one for the clock. */
static void renew(const index_t *index, call_t *call, int64_t at) {
  tournament_t *t = call->t;
  match_t *match = &t->match[at];
  const double clock = call->clock;
  const int64_t left = 2 * at, right = left + 1;
  int a = match_winner(t, left), b = match_winner(t, right);
  const int had_a = a, had_b = b;
  if (!holds(t, left, clock)) renew(index, call, left), a = match_winner(t, left);
  if (!holds(t, right, clock)) renew(index, call, right), b = match_winner(t, right);
  if (call->failed) return;
  if (a != had_a || b != had_b || !(match->from <= clock && clock <= match->to)) {
    play(index, call, match, a, b);
  }
  gather_times(t, match, left);
}

/* The same for all matches above an arm of which something was learned: from the bottom up, since
   these are to be seen anyway. */
static void renew_above(const index_t *index, call_t *call, int arm) {
  tournament_t *t = call->t;
  const double clock = call->clock;
  int had = arm, has = arm;               /* the winner below: before, and now */
  double from = -INFINITY, to = INFINITY; /* all matches below are decided in these times */
  for (int64_t below = t->k + arm; below > 1; below /= 2) {
    const int64_t beside = below ^ 1;
    match_t *match = &t->match[below / 2];
    int other = match_winner(t, beside), again = had == arm || has != had;
    if (beside < t->k) {
      const match_t *part = &t->match[beside];
      if (!(part->all_from <= clock && clock <= part->all_to)) {
        const int other_had = other;
        renew(index, call, beside);
        other = part->winner;
        again |= other != other_had;
      }
      from = from > part->all_from ? from : part->all_from;
      to = to < part->all_to ? to : part->all_to;
    }
    had = match->winner;
    if (again || !(match->from <= clock && clock <= match->to)) {
      if (call->failed) break;
      play(index, call, match, has, other);
    }
    has = match->winner;
    from = from > match->from ? from : match->from;
    to = to < match->to ? to : match->to;
    match->all_from = from;
    match->all_to = to;
  }
}

int tournament_best(const index_t *index, const void *state, tournament_t *t, double clock) {
  call_t call = {.t = t, .state = state, .clock = clock, .arm = -1};
  const int64_t changed = t->changed;
  t->changed = NONE_CHANGED;
  if (changed >= 0) renew_above(index, &call, (int)changed);
  else if (!holds(t, 1, clock)) renew(index, &call, 1);
  if (!call.failed) return t->match[1].winner;
  if (changed >= 0) tournament_forget(t, (int)changed);
  return -1;
}

int tournament_first(tournament_t *t, const round_t *round, const double *n, size_t stride) {
  int64_t *at = &t->opened;
  for (; *at < t->k; ++*at) {
    const double had = *(const double *)((const char *)n + stride * (size_t)*at);
    if (!(had > 0) && round->pulls[*at] == 0) return (int)*at;
  }
  return least_pulled(round);
}

/* ---- the highest ------------------------------------------------------------------------ */

size_t highest_size(int64_t k) { return k < MANY_ARMS ? 0 : 2 * sizeof(double) * (size_t)k; }

void highest_init(double *tree, int64_t k) {
  for (int64_t i = 0; k >= MANY_ARMS && i < 2 * k; i++) tree[i] = -INFINITY;
}

void highest_set(double *tree, int64_t k, int arm, double value) {
  if (k < MANY_ARMS) return;
  int64_t at = k + arm;
  tree[at] = value;
  for (at /= 2; at > 0; at /= 2) {
    const double *below = tree + 2 * at;
    const double higher = below[0] > below[1] ? below[0] : below[1];
    if (higher == tree[at]) return;
    tree[at] = higher;
  }
}
