#ifndef DPTS_NOISE_REPORT_H
#define DPTS_NOISE_REPORT_H
/* A report of an arm: the sum of rewards that a policy has released, or, without privacy, the plain sum;
   and how noisy it is, from which readers compute intervals (R/estimates.R). */

#include "dpts.h"
#include "noise.h"

typedef dpts_report report_t;

/* Writes a report as numbers, in this order; the kind is that of enum noise_kind. */
enum { N_REPORT = 10 };
static inline void report_write(const report_t *report, double *out) {
  const double numbers[N_REPORT] = {report->rewards, report->sum,        (double)report->kind, report->terms,
                                    report->scale,   report->last_terms, report->last_scale,   report->looks,
                                    report->squares, report->weight};
  for (int i = 0; i < N_REPORT; i++) out[i] = numbers[i];
}

/* The report of a sum without noise. */
static inline report_t report_plain(double rewards, double sum) {
  return (report_t){.rewards = rewards, .sum = sum, .kind = NOISE_GAUSSIAN};
}

#endif
