#ifndef DPTS_PLAY_REPORT_H
#define DPTS_PLAY_REPORT_H
/* What a policy may tell of an arm: the sum of rewards that it has released, or, without privacy,
   the plain sum; and how noisy it is, so that whoever reads it can say how sure it is
   (R/estimates.R). */

#include "dpts.h"
#include "noise.h"

typedef dpts_report report_t;

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
