#ifndef DPTS_POLICY_RELEASED_H
#define DPTS_POLICY_RELEASED_H
/* What is released of an arm whose rewards gather in batches (policy_gather.h): the sum of each complete
   batch with fresh noise, or a moving average of these sums; and the private mean of an arm from it. Each
   reward is in one noisy sum, so Laplace noise of scale 1 / epsilon gives epsilon-DP for rewards of [0, 1],
   and Gaussian noise of sd 1 / mu gives mu-GDP. A batch that is not complete has released nothing. */

#include "noise_moving_average.h"
#include "noise_report.h"
#include "policy_gather.h"

typedef struct {
  enum noise_kind kind;
  double scale;       /* of the noise of one batch: Laplace's scale or the Gaussian's sd */
  int forget;         /* only the last batch counts; one that was overtaken by a later one does not */
  int by_variance;    /* for a Gaussian: weigh batches by their inverse variance, else by size */
  double weight;      /* above 0: release the squares about 1/2, too (release_pair()) */
  double correlation; /* above 0, for a Gaussian: release a moving average, the correlation of its neighbours
                         (noise_moving_average.h) */
} mechanism_t;

/* The variance of a reward in [0, 1], as far as a report with squares tells it, and rather too large; 1/4
   where it has none. */
double reward_variance(const report_t *report);

/* What a reward is known to be: a coin, or any number of [0, 1], of which the square is released, too */
extern const char *const OUTCOMES[];
enum { BINARY, CONTINUOUS };
static inline mechanism_t with_squares(mechanism_t how, double outcome) {
  how.weight = outcome != CONTINUOUS ? 0 : how.kind == NOISE_LAPLACE ? WEIGHT_LAPLACE : WEIGHT_GAUSSIAN;
  return how;
}

extern const char *const NOISE_CHOICES[]; /* of a parameter that says which noise */
static inline mechanism_t mechanism_of(double choice, double scale) {
  return (mechanism_t){.kind = choice == 0 ? NOISE_LAPLACE : NOISE_GAUSSIAN, .scale = scale};
}
/* Of a budget, mu or epsilon; one that is missing or Inf asks for no noise. */
static inline mechanism_t mechanism_for(double mu, double epsilon) {
  if (epsilon < INFINITY) return mechanism_of(0, 1 / epsilon);
  return mechanism_of(1, mu < INFINITY ? 1 / mu : 0);
}

/* The private mean of an arm is sum_j c_j (noisy sum of batch j) / (size of batch j), with
   weights c_j that add up to 1. Weights in proportion to sizes give the plain mean. */
typedef struct {
  double n, releases; /* rewards in all released batches, and how many these are */
  double mean;        /* private, not clipped */
  double m;           /* rewards that it is worth: n for the plain mean of all; 0: there is no mean */
  double spread;      /* the noise in it over that of one batch */
  double weight, weighted, load, squares; /* sums over batches */
  moving_average_t average;               /* or this, in their place */
  double total, terms;                    /* of all releases, and the noise in it; see noise_report.h */
  double square_total;                    /* of the squares, noise included */
  double v;     /* the variance of a reward as far as it is known; 0 before the first release */
  int64_t last; /* number of the last batch that counts */
} released_t;

/* Release a complete batch's sum; returns it with its noise, if it is one for itself. */
double release_sum(const mechanism_t *how, released_t *a, const gather_batch_t *batch, draws_t *draws);
/* The same, and the mean is renewed; returns whether it is: not by a batch that is forgotten already. */
int release_batch(const mechanism_t *how, released_t *a, const gather_batch_t *batch, draws_t *draws);
report_t released_report(const mechanism_t *how, const released_t *a);

/* For arms that have no mean of their own, and a report with the kind and scale of their noise: release a
   sum of so many rewards; returns it with its noise. And all that is left in the end, for reports only. */
static inline report_t report_of(const mechanism_t *how) {
  return (report_t){.kind = how->kind, .scale = how->scale, .weight = how->weight};
}
double report_release(report_t *report, double rewards, double sum, double squares, draws_t *draws);
void report_release_rest(report_t *report, gather_t *gather, draws_t *draws);

#endif
