#ifndef DPTS_POLICY_DOUBLING_H
#define DPTS_POLICY_DOUBLING_H
/* Forgetful doubling batches, the counter of the lazy policies (Hu, Huang and Mehta 2021;
   Hu and Hegde 2022, Algorithm 2): rewards gather in batches of 1, 2, 4, 8, ... items. When
   a batch is complete its sum is released with fresh noise and gives the new private mean;
   older rewards are forgotten. Each item is in one noisy sum, so Laplace noise of scale
   1 / epsilon gives epsilon-DP for items of [0, 1], and Gaussian noise of sd 1 / mu gives
   mu-GDP. A batch that is not complete has told nothing. */

#include "policy_gather.h"
#include "noise.h"
#include "play_report.h"

/* What indices see of an arm; its exact sums stand apart, in a gather_t. */
typedef struct {
  double n, mean;     /* size and private mean of the last complete batch; n = 0: none */
  double noise_share; /* what a unit of noise does to that mean: 1 / n */
  int64_t last; /* its number: a batch that was overtaken by a later one is not used */
  double rewards, total, releases; /* of all batches: what the arm's means forget */
} doubling_t;

/* Opens the next batch if none is open; returns the pulls that the open one still takes. */
static inline int64_t doubling_left(gather_t *g) {
  gather_open(g, (int64_t)1 << (g->made < 52 ? g->made : 52));
  return gather_left(g);
}

/* Assign n <= doubling_left() pulls; returns their batch. */
static inline int64_t doubling_assign(gather_t *g, int64_t n) {
  doubling_left(g);
  return gather_assign(g, n);
}

/* n items of a batch. If it is complete now its sum is released; returns whether that renews
   the mean. */
static inline int doubling_add(doubling_t *d, gather_t *g, int64_t number, int64_t n,
                               double sum, enum noise_kind kind, double scale,
                               draws_t *draws) {
  gather_batch_t *batch = gather_add(g, number, n, sum);
  if (!batch) return 0;
  const double noisy = kind == NOISE_LAPLACE ? release_laplace(draws, batch->sum, scale)
                                             : release_gaussian(draws, batch->sum, scale);
  d->rewards += (double)batch->size;
  d->total += noisy;
  d->releases += 1;
  const int newer = batch->number > d->last;
  if (newer) {
    d->n = (double)batch->size;
    d->mean = noisy / d->n;
    d->noise_share = 1 / d->n;
    d->last = batch->number;
  }
  gather_release(batch);
  return newer;
}

static inline report_t doubling_report(const doubling_t *d, enum noise_kind kind,
                                       double scale) {
  return (report_t){.rewards = d->rewards,
                    .sum = d->total,
                    .kind = kind,
                    .terms = d->releases,
                    .scale = scale};
}

#endif
