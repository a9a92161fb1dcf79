#include "noise_moving_average.h"
#include <math.h>

/* Every release is scaled down by this, so that rounding errors cannot push the sum of a reward's
   squared shifts above 1 (for batches of up to 2^29 rewards). */
#define MARGIN 0x1p-20

moving_row_t moving_average_release(moving_average_t *a, draws_t *draws, double size, double sum,
                                    double correlation, double sd) {
  const double gain = sqrt((1 - correlation) * (1 + correlation)) * (1 - MARGIN);
  const double before = a->correlation, noise_before = a->noise_variance, seen_before = a->seen;
  a->held = sum + before * a->held;
  a->seen = release_average(draws, gain * a->held, sd) / gain;
  release_was_average(draws, gain, before);
  a->correlation = correlation;
  a->noise_variance = sd * sd / (gain * gain);

  /* The estimate of the batch's own sum subtracts `before` times the last release and its noise. In the
     total the remaining 1 - `before` of that noise stays; the noise of this release is new. */
  a->total += a->seen - before * seen_before;
  if (sd > 0) a->terms += (1 - correlation) * (1 - correlation) * a->noise_variance / (sd * sd);
  return (moving_row_t){size, before * seen_before, a->noise_variance + before * before * noise_before,
                        -before * noise_before};
}

/* The next row of LDL', in units of v: `below` is the entry of L left of its unit diagonal. */
void moving_average_learn(moving_average_t *a, const moving_row_t *row, double v) {
  const double off = row->off / v;
  const double below = off == 0 ? 0 : off / a->pivot;
  const double below_slope = off == 0 ? 0 : -below * a->pivot_slope / a->pivot;
  a->load_slope = -below_slope * a->load - below * a->load_slope;
  a->load = row->size - below * a->load;
  a->shown = a->seen - row->previous - below * a->shown;
  a->pivot_slope = row->size + below * below * a->pivot_slope;
  a->pivot = row->size + row->diagonal / v - below * off;

  const double share = a->load / a->pivot;
  a->information += share * a->load;
  a->information_slope += share * (2 * a->load_slope - share * a->pivot_slope);
  a->weighted += share * a->shown;
}

double moving_average_mean(const moving_average_t *a) { return a->weighted / a->information; }

/* With weights w the rewards contribute v w' diag(L) w / (w' L)^2 to the variance, and w' diag(L) w is
   the derivative of -L' (cov(u) / v)^-1 L with respect to a factor of diag(L). */
double moving_average_rewards(const moving_average_t *a) {
  return -a->information * a->information / a->information_slope;
}

double moving_average_noise(const moving_average_t *a, double v) {
  const double variance = v * (1 / a->information - 1 / moving_average_rewards(a));
  return variance > 0 ? sqrt(variance) : 0;
}

report_t moving_average_report(const moving_average_t *a, double rewards, double releases, double sd) {
  return (report_t){.rewards = rewards,
                    .sum = a->total,
                    .kind = NOISE_GAUSSIAN,
                    .terms = a->terms,
                    .scale = sd,
                    .last_terms = 1,
                    .last_scale = a->correlation * sqrt(a->noise_variance),
                    .looks = releases};
}
