#ifndef DPTS_POLICY_FINAL_TEST_H
#define DPTS_POLICY_FINAL_TEST_H
/* One test at the planned end of an experiment in which people are tossed to arms: is a better than b, on
   average over all people?

   A stratum is a sequence of blocks in which the chances are the same; of people in several strata it is one
   of blocks of the same stratum of people. With D_g the difference of the two
   arms' means in stratum g, V_g its variance, noise included, and n_g the people in it, the difference is
   estimated by D = sum n_g D_g / n, with the variance V = sum n_g^2 V_g / n^2. In a stratum the tosses do not
   depend on the outcomes, so D_g estimates the average difference over its people, whatever drifts; and D
   that over all people, since the weights are their numbers.

   If chances follow outcomes, V does too: an arm that came out well by luck gets more people, and V is small
   where D is too large, so that D / sqrt(V) is above 1.96 in up to 3.1% of runs without a difference. Each
   term of Z = sum sqrt(n_g / n) D_g / sqrt(V_g) is nearly standard normal given what came before, and so is
   Z, if there is no difference at any time. A claim asks for both. With one stratum they are the same. */

#include <stddef.h>
#include "policy_evidence.h"

typedef struct {
  double n, sum, noise;  /* rewards, their noisy sum, the variance of the noise */
  double squares, doubt; /* noisy sum of (reward - 1/2)^2, NAN without, and the variance of its noise */
  double laplace;        /* sum of scale^4 of noise with Laplace tails */
  double heavy;          /* variance of that noise */
  double chance;         /* 0: people are not tossed to it */
} stratum_arm_t;

/* Of a pair, as sums over strata */
typedef struct {
  double people, difference; /* sum of n_g, of n_g D_g */
  double scaled;             /* sum of sqrt(n_g) D_g / sqrt(V_g) */
  double variance;           /* sum of n_g^2 V_g */
  double heavy, fourth;      /* of noise with Laplace tails: its part of the variance, its fourth cumulant */
} final_pair_t;

typedef struct {
  int k, strata;       /* arms, and strata of people */
  stratum_arm_t *open; /* the last stratum, of each stratum of people */
  final_pair_t *pairs; /* k by k, arm a against b at a + k b */
} final_test_t;

typedef struct {
  double difference, error; /* NAN: no stratum had both arms */
  double z;                 /* Z */
  double share, terms;      /* of Laplace noise: see R/interval.R */
} final_result_t;

size_t final_test_size(int k, int strata);

/* On memory of that size */
void final_test_begin(final_test_t *test, int k, int strata, void *memory);

/* Makes one what another one is, of as many arms and strata. */
void final_test_copy(final_test_t *to, const final_test_t *from);

/* A block: rows of one release */
void final_test_add(final_test_t *test, const release_t *rows, int n);

/* After the last block */
void final_test_close(final_test_t *test);
final_result_t final_test_of(const final_test_t *test, int a, int b);

#endif
