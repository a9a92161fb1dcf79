#include "tournament_play.h"

/* ---- the reference ---------------------------------------------------------------------- */

int index_scan(const index_t *index, const void *state, const round_t *round,
               double clock) {
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
  if (k < TOURNAMENT_ARMS) return 0;
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

int tournament_best(const index_t *index, const void *state, tournament_t *t,
                    double clock) {
  return tournament_winner(index, state, t, clock);
}

int tournament_opening(tournament_t *t, const round_t *round, const double *n,
                       size_t stride, double first) {
  int64_t *at = &t->opened;
  for (; *at < t->k; ++*at) {
    const double had = *(const double *)((const char *)n + stride * (size_t)*at);
    if (had < first && (double)round->pulls[*at] < first) return (int)*at;
  }
  return least_pulled(round);
}

/* ---- the highest ------------------------------------------------------------------------ */

size_t highest_size(int64_t k) {
  return k < TOURNAMENT_ARMS ? 0 : 2 * sizeof(double) * (size_t)k;
}

void highest_init(double *tree, int64_t k) {
  for (int64_t i = 0; k >= TOURNAMENT_ARMS && i < 2 * k; i++) tree[i] = -INFINITY;
}

void highest_set(double *tree, int64_t k, int arm, double value) {
  if (k < TOURNAMENT_ARMS) return;
  int64_t at = k + arm;
  tree[at] = value;
  for (at /= 2; at > 0; at /= 2) {
    const double *below = tree + 2 * at;
    const double higher = below[0] > below[1] ? below[0] : below[1];
    if (higher == tree[at]) return;
    tree[at] = higher;
  }
}
