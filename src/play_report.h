#ifndef DPTS_PLAY_REPORT_H
#define DPTS_PLAY_REPORT_H
/* What a policy may tell of an arm: the sum of rewards that it has released, or, without privacy,
   the plain sum; and how noisy it is, so that whoever reads it can say how sure it is
   (R/estimates.R). */

#include "noise.h"

typedef struct {
  double rewards; /* in the sum; 0: nothing is known */
  double sum;     /* of them, noise included */
  /* The noise: independent variables that stay in all later sums, so many of one scale (a sum of
     squares of scales, for a Gaussian, in units of it); and some that this sum alone has. The
     first scale is the same at all times. */
  enum noise_kind kind;
  double terms, scale;
  double last_terms, last_scale;
  double looks; /* sums released so far, where there are variables of the second sort */
  double
      chance; /* of a policy that tosses: of the arm in the block that was released last. No
                    number of report_write() */
} report_t;

/* A report as numbers, in this order; the kind as in enum noise_kind. */
enum { N_REPORT = 8 };
static inline void report_write(const report_t *report, double *out) {
  const double numbers[N_REPORT] = {report->rewards,    report->sum,   (double)report->kind,
                                    report->terms,      report->scale, report->last_terms,
                                    report->last_scale, report->looks};
  for (int i = 0; i < N_REPORT; i++) out[i] = numbers[i];
}

/* A plain sum. */
static inline report_t report_plain(double rewards, double sum) {
  return (report_t){.rewards = rewards, .sum = sum, .kind = NOISE_GAUSSIAN};
}

#endif
