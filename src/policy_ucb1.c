/* UCB1: Auer, Cesa-Bianchi and Fischer (2002), Figure 1.

   Pull each arm once; then the arm of the largest mean + sqrt(2 ln t / n), where t is
   the number of rounds played so far. */

#include <math.h>
#include "policy_plain_means.h"
#include "policy_tournament_closing.h"
#include "skip_ucb.h"

static const param_t PARAMS[] = {{.name = NULL}};

static double index_of(const void *state, int arm, double w) {
  const plain_arm_t *a = &((const plain_t *)state)->arms[arm];
  return a->mean + w * a->of_n;
}

static double closing(const void *state, int a, int b, double w) {
  (void)w;
  const plain_arm_t *arms = ((const plain_t *)state)->arms;
  return fabs(arms[a].of_n - arms[b].of_n) + apart(arms[a].mean, arms[b].mean);
}

static const index_t ORDER = {.index = index_of, .closing = closing};

static int choose(const void *state, const round_t *round, draws_t *draws) {
  (void)draws;
  const plain_t *s = state;
  tournament_t *t = tournament_for(round, plain_tournament(s));
  const int first = plain_opening(s, round, t);
  if (first >= 0) return first;
  const double w = ucb_width((double)(round->t - 1));
  if (t) return closing_winner(&ORDER, s, t, w);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) argmax_add(&best, i, index_of(s, i, w));
  return argmax_arm(&best);
}

static void add(void *state, int arm, double sum, double n) {
  plain_arm_t *a = plain_add(state, arm, sum, n);
  a->of_n = 1 / sqrt(a->n);
}

static double sure(const void *state, int k, int l, double played) {
  const plain_arm_t *arms = ((const plain_t *)state)->arms, *a = &arms[l];
  if (!(a->n > 0)) return 0;
  if (k == 1) return INFINITY;
  const double w = ucb_width(played);
  ucb_rivals_t rivals = UCB_RIVALS;
  for (int i = 0; i < k; i++) {
    if (i != l) ucb_rivals_add(&rivals, index_of(state, i, w), arms[i].of_n);
  }
  return ucb_sure(a->mean, 0, a->n, rivals, played, INFINITY);
}

PLAIN_POLICY(ucb1, 0)
