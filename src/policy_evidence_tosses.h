#ifndef DPTS_POLICY_EVIDENCE_TOSSES_H
#define DPTS_POLICY_EVIDENCE_TOSSES_H
/* Evidence from tosses: what a randomised experiment proves of two arms, whatever drifts.

   In a block people are tossed to arm a with chance p and to b with q = 1 - p, given that it is one of
   the two. At its end the numbers tossed, n_a and n_b, and noisy sums y_a and y_b are released. With a
   kappa that is the same in all blocks and a centre c that is fixed before the block,

     a0 = 1 - kappa c / p, a1 = 1 + kappa (1 - c) / p, b0 = 1 + kappa c / q, b1 = 1 - kappa (1 - c) / q
     l = ln(a1 / a0), l' = ln(b0 / b1)
     ln F = sum over blocks of n_a ln a0 + n_b ln b0 + l y_a - l' y_b - c(l) - c(l')

   where c(l) = ln E e^(l noise). Each person multiplies by at most 1 + kappa Delta in the mean, Delta
   being by how much a's mean is above b's at that person. So P(ever W >= 1 / alpha while the average
   Delta so far is <= 0) <= alpha for a mixture W of fixed kappas, under any drift: ln is concave.

   Permuted blocks have fixed numbers n_a and n_b in random order. Then l = t n_b / n, l' = t n_a / n and
     ln F = sum of l y_a - l' y_b - t^2 (n_a n_b + min(n_a, n_b)) / (8 n) - c(l) - c(l'),
   against "no person does better under a" (Serfling 1974), if rewards do not depend on the tosses of
   others in the block. */

#include "policy_evidence.h"

enum { BETS = 5 };

/* What a pair of arms has proved: people tossed to one of the two, and ln F for each kappa */
typedef struct {
  double n, log[BETS];
} bet_t;

/* What one arm has in a block, and had before it */
typedef struct {
  double chance, n, sum;       /* its toss, people tossed, noisy sum of their rewards */
  double n_before, sum_before; /* released in earlier blocks */
} tossed_t;

/* The kappas for blocks whose chances of a pair, p and 1 - p, are never below `least` */
void bet_kappas(const noise_law_t *noise, double least, double kappa[BETS]);

/* A block of k arms: the bet on a against b is at a k + b. What it had is then before the next one. */
void bets_add(bet_t *bets, int k, const noise_law_t *noise, const double kappa[BETS],
              tossed_t *block, int permuted);

/* ln W, against "the average difference so far is at most d" */
double bet_log(const bet_t *bet, const double kappa[BETS], double d);

/* The d of (-1, 1) at which "the average difference so far is at most d" has ln-evidence `line`: a
   lower bound of that average at all looks at once. -1: none yet */
double bet_lower(const bet_t *bet, const double kappa[BETS], double line);

#endif
