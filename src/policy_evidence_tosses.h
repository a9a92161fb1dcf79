#ifndef DPTS_POLICY_EVIDENCE_TOSSES_H
#define DPTS_POLICY_EVIDENCE_TOSSES_H
/* Evidence from tosses: what a randomised experiment proves of two arms, whatever drifts.

   In a block people are tossed to arm a with chance p and to b with q = 1 - p, given that it is one of
   the two. At its end the numbers tossed, n_a and n_b, and noisy sums y_a and y_b are released. With a
   kappa that is the same in all blocks and a centre c that is fixed before the block,

     a0 = 1 - kappa c / p, a1 = 1 + kappa (1 - c) / p, b0 = 1 + kappa c / q, b1 = 1 - kappa (1 - c) / q
     l = ln(a1 / a0), l' = ln(b0 / b1)
     ln F = sum over blocks of n_a ln a0 + n_b ln b0 + l y_a - l' y_b - c_a(l) - c_b(l')

   where c_a and c_b are ln E e^(l noise) of the block's own noise. Each person multiplies by at most
   1 + kappa Delta in the mean, Delta being by how much a's mean is above b's at that person. So F over the
   product of these is a supermartingale, and the product is at most (1 + kappa D)^n, D being the average
   Delta of the n people so far: ln is concave. Hence for a mixture W of F / (1 + kappa d)^n over kappas
   P(ever W >= 1 / alpha while D <= d) <= alpha, under any drift.

   People may be of several strata, whose blocks interleave: F multiplies over all of them. Each stratum has a
   centre of its own, from its own blocks before, and n and D are of the people of all. There are then kappas
   between the others, too: the best one grows as the variance within strata falls, and a mixture of more is
   nearer to it.

   The kappas are fixed at the first block, from the floor of the design (no p or q is ever below it) and the
   law of that block's noise. Both are known before the block. Chances and laws of later blocks may differ.
   Where the noise of a later block has no E e^(l noise), the F of that kappa is 0 from then on. That is
   valid, as a capital may be lost. To leave out the block for that kappa would not be valid: D counts its
   people.

   Against a known rate r the people of one arm count, each with the conditional mean m of their reward. With
   a0 = 1 - kappa r and a1 = 1 + kappa (1 - r), ln F = sum over blocks of n_a ln a0 + l y_a - c_a(l), and a
   person multiplies by at most 1 + kappa (m - r) in the mean. The product of these is at most
   (1 + kappa (M - r))^n, M being the average m so far, so F is evidence against "M is at most r". With a
   negative kappa it is evidence against "at least r". Who is tossed does not enter: the same holds
   in permuted blocks.

   Where squares about 1/2 are released, too, four fifths of the capital, of residuals all, are on other bets,
   which know the spread of the rewards. A person's score is xi = (X - c) (1{a} / p - 1{b} / q) >= -B with B =
   max(c / p, (1 - c) / q), and by fan_psi() e^(kappa xi - psi xi^2) <= 1 + kappa xi, whose mean is 1 + kappa
   Delta. So with r = y - n c and R = Q + (1 - 2 c) y + n (c^2 - 1/4), the noisy sums of X - c and (X - c)^2,

     ln F = sum over blocks of kappa (r_a / p - r_b / q) - psi (R_a / p^2 + R_b / q^2)
            - ln E e^(kappa / p - psi (1 - 2 c) / p^2) N_a - the same of N_b and of the noise in Q_a and Q_b

   has the properties of the F above. (Against a rate p is 1, c is the rate, and there is no b.) These kappas
   go up to 0.4, and to 0.8 against a rate, as small spreads ask for large ones: c is such that kappa B <=
   0.95. Larger ones lose more by psi than they win. The linear bets are
   exact for rewards of 0 or 1, but those with squares are nearly as good there, so that a fifth is enough.

   Permuted blocks have fixed numbers n_a and n_b in random order. Then l = t n_b / n, l' = t n_a / n with
   t = kappa n^2 / (n_a n_b), and
     ln F = sum of l y_a - l' y_b - t^2 (n_a n_b + min(n_a, n_b)) / (8 n) - c_a(l) - c_b(l'),
   against "no person does better under a" (Serfling 1974), if rewards do not depend on the tosses of
   others in the block. If every person does worse under a by eta or more, l y_a - l' y_b is in each block at
   most what it is for eta = 0, less l n_a eta = kappa n eta. So the mixture is of F e^(kappa eta n). The
   normaliser above would be too small, (1 - kappa eta)^n < e^(-kappa eta n). */

#include "policy_evidence.h"

enum { BETS = 5, FINE_BETS = 2 * BETS - 1, ALL_BETS = FINE_BETS + BETS };

/* The kappas: `n` of them. Those after the first `coins` are of bets with squares, which have most of the
   capital. */
typedef struct {
  int n, coins;
  double linear; /* the part of the capital on these */
  double centre; /* of the first block */
  int strata;    /* of people */
  double kappa[ALL_BETS];
} stakes_t;

/* What a pair of arms has proved: people tossed to one of the two, and ln F for each kappa. To estimate the
   difference: over blocks in which both have people, the sum of the differences of their means, each by its
   precision, and of the precisions. */
typedef struct {
  double n, log[ALL_BETS];
  double difference, weight;
} bet_t;

/* What one arm has in a block, and had before it */
typedef struct {
  release_t now;                             /* chance 0: it is not in the block */
  double n_before, sum_before, noise_before; /* the last is the variance of the noise in the sum */
} tossed_t;

/* The kappas for blocks whose chances of a pair, p and 1 - p, are never below `floor`: all are admissible for
   every centre if the noise is of this law. With squares if their `weight` is above 0. */
stakes_t bet_stakes(const noise_law_t *noise, double weight, double floor, int strata);

/* A block of k arms: the bet on a against b is at a k + b. What it had is then before the next one. */
void bets_add(bet_t *bets, int k, const stakes_t *stakes, tossed_t *block, int permuted);

/* ln W, against "the average difference so far is at most d", or if permuted "nobody's is above d" */
double bet_log(const bet_t *bet, const stakes_t *stakes, int permuted, double d);

/* The d of (-1, 1) at which "the average difference so far is at most d" has ln-evidence `threshold`: a
   lower bound of that average at all looks at once. -1: none yet */
double bet_lower(const bet_t *bet, const stakes_t *stakes, double threshold);

#endif
