#include "policy_released.h"

#include <math.h>

const char *const NOISE_CHOICES[] = {"laplace", "gaussian", NULL};

double release_sum(const mechanism_t *how, released_t *a, const gather_batch_t *batch,
                   draws_t *draws) {
  const double noisy = release_noisy(draws, how->kind, batch->sum, how->scale);
  a->n += (double)batch->size;
  a->releases += 1;
  a->total += noisy;
  a->terms += 1;
  return noisy;
}

static int average(const mechanism_t *how, released_t *a, const gather_batch_t *batch,
                   draws_t *draws) {
  moving_average_t *average = &a->average;
  moving_average_release(average, draws, (double)batch->size, batch->sum, how->correlation,
                         how->scale);
  a->n += (double)batch->size;
  a->releases += 1;
  a->mean = moving_average_mean(average);
  a->m = moving_average_rewards(average);
  a->spread = how->scale > 0 ? moving_average_noise(average) / how->scale : 0;
  return 1;
}

/* With sizes L_j, noisy means y_j, weights w_j and W = sum w_j: mean = sum w_j y_j / W. Its
   rewards have the variance of W^2 / sum(w_j^2 / L_j) rewards; its noise is sum q_j Z_j / W with
   q_j = w_j / L_j. */
int release_batch(const mechanism_t *how, released_t *a, const gather_batch_t *batch,
                  draws_t *draws) {
  if (how->correlation > 0) return average(how, a, batch, draws);
  const double noisy = release_sum(how, a, batch, draws), size = (double)batch->size;
  if (how->forget) {
    if (batch->number < a->last) return 0;
    a->weight = a->weighted = a->load = a->squares = 0;
  }
  a->last = batch->number;
  /* A reward has a variance of at most 1/4, the noise its own. */
  const double w =
      how->by_variance ? size * size / (size + 4 * how->scale * how->scale) : size;
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

double report_release(report_t *report, double rewards, double sum, draws_t *draws) {
  const double noisy =
      release_noisy(draws, (enum noise_kind)report->kind, sum, report->scale);
  report->rewards += rewards;
  report->sum += noisy;
  report->terms += 1;
  return noisy;
}

void report_release_rest(report_t *report, gather_t *gather, draws_t *draws) {
  gather_batch_t batch;
  while (gather_finish(gather, &batch)) {
    report_release(report, (double)batch.size, batch.sum, draws);
  }
}

report_t released_report(const mechanism_t *how, const released_t *a) {
  if (how->correlation > 0)
    return moving_average_report(&a->average, a->n, a->releases, how->scale);
  return (report_t){.rewards = a->n,
                    .sum = a->total,
                    .kind = how->kind,
                    .terms = a->terms,
                    .scale = how->scale};
}
