#include "policy_released.h"

#include <math.h>

const char *const NOISE_CHOICES[] = {"laplace", "gaussian", NULL};
const char *const OUTCOMES[] = {"binary", "continuous", NULL};

/* Of the variance seen, Q / n - (x - 1/2)^2, the noise has the standard deviation s sqrt(1 / w^2 + 4 (x -
   1/2)^2) with s that of the noise in the mean. Two of these, and what sampling may hide, are added: an arm
   whose variance is taken too small is never pulled again. (With one of them, and 0.25 / n, up to 2% of runs
   on coins lost everything, and none of 1,000 with these.) And it is no more than that of a coin, whose mean
   is the nearest to 1/2 within two standard deviations. */
double reward_variance(const report_t *report) {
  const double n = report->rewards, w = report->weight;
  if (!(w > 0 && n > 0)) return REWARD_VARIANCE;
  const double releases = report->looks > 0 ? report->looks : report->terms;
  const double noise = sqrt(releases * noise_variance((enum noise_kind)report->kind, report->scale)) / n;
  const double x = report->sum / n - 0.5;
  const double seen = fmax(report->squares / n - x * x, 0);
  const double safe =
      seen + 2 * noise * sqrt(1 / (w * w) + 4 * x * x) + 0.35 * sqrt(seen / n) + 0.7 / n + 1e-4;
  const double far = fmax(fmin(fabs(x), 0.5) - 2 * (noise + 0.5 / sqrt(n)), 0);
  return fmin(safe, REWARD_VARIANCE - far * far);
}

/* The sum of a batch, and its squares if they are released */
double release_sum(const mechanism_t *how, released_t *a, const gather_batch_t *batch, draws_t *draws) {
  double squares = 0;
  const double noisy = how->weight > 0 ? release_pair(draws, how->kind, batch->sum, batch->squares,
                                                      how->scale, how->weight, &squares)
                                       : release_noisy(draws, how->kind, batch->sum, how->scale);
  a->n += (double)batch->size;
  a->releases += 1;
  a->total += noisy;
  a->terms += 1;
  a->square_total += squares;
  return noisy;
}

static int average(const mechanism_t *how, released_t *a, const gather_batch_t *batch, draws_t *draws) {
  moving_average_t *average = &a->average;
  const moving_row_t row =
      moving_average_release(average, draws, (double)batch->size, batch->sum, how->correlation, how->scale);
  if (how->weight > 0) a->square_total += release_beside(draws, batch->squares, how->scale / how->weight);
  a->n += (double)batch->size;
  a->releases += 1;
  const report_t report = released_report(how, a);
  a->v = reward_variance(&report);
  moving_average_learn(average, &row, a->v);
  a->mean = moving_average_mean(average);
  a->m = moving_average_rewards(average);
  a->spread = how->scale > 0 ? moving_average_noise(average, a->v) / how->scale : 0;
  return 1;
}

/* With sizes L_j, noisy means y_j, weights w_j and W = sum w_j: mean = sum w_j y_j / W. Its rewards have the
   variance of W^2 / sum(w_j^2 / L_j) rewards; its noise is sum q_j Z_j / W with q_j = w_j / L_j. */
int release_batch(const mechanism_t *how, released_t *a, const gather_batch_t *batch, draws_t *draws) {
  if (how->correlation > 0) return average(how, a, batch, draws);
  const double noisy = release_sum(how, a, batch, draws), size = (double)batch->size;
  if (how->forget) {
    if (batch->number < a->last) return 0;
    a->weight = a->weighted = a->load = a->squares = 0;
  }
  a->last = batch->number;
  const report_t report = released_report(how, a);
  a->v = reward_variance(&report);
  const double noise = how->scale * how->scale / a->v;
  const double w = how->by_variance ? size * size / (size + noise) : size;
  const double q = w / size;
  a->weight += w;
  a->weighted += q * noisy;
  a->load += w * q;
  a->squares += q * q;
  a->mean = a->weighted / a->weight;
  a->m = a->weight * a->weight / a->load;
  a->spread = sqrt(a->squares) / a->weight;
  return 1;
}

double report_release(report_t *report, double rewards, double sum, double squares, draws_t *draws) {
  const enum noise_kind kind = (enum noise_kind)report->kind;
  double noisy_squares = 0;
  const double noisy = report->weight > 0 ? release_pair(draws, kind, sum, squares, report->scale,
                                                         report->weight, &noisy_squares)
                                          : release_noisy(draws, kind, sum, report->scale);
  report->rewards += rewards;
  report->sum += noisy;
  report->squares += noisy_squares;
  report->terms += 1;
  return noisy;
}

void report_release_rest(report_t *report, gather_t *gather, draws_t *draws) {
  gather_batch_t batch;
  while (gather_finish(gather, &batch)) {
    report_release(report, (double)batch.size, batch.sum, batch.squares, draws);
  }
}

report_t released_report(const mechanism_t *how, const released_t *a) {
  report_t report =
      how->correlation > 0
          ? moving_average_report(&a->average, a->n, a->releases, how->scale)
          : (report_t){
                .rewards = a->n, .sum = a->total, .kind = how->kind, .terms = a->terms, .scale = how->scale};
  report.squares = a->square_total;
  report.weight = how->weight;
  return report;
}
