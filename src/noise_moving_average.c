#include "noise_moving_average.h"
#include <math.h>

/* Taken off every release, so that the rounding of sums and products cannot carry a reward's
   squares past 1 (for batches of up to 2^29 rewards). */
#define MARGIN 0x1p-20

void moving_average_release(moving_average_t *a, draws_t *draws, double size, double sum,
                            double carry, double sd) {
  const double gain = sqrt((1 - carry) * (1 + carry)) * (1 - MARGIN);
  const double before = a->carry, noise_before = a->noise_variance, seen_before = a->seen;
  a->held = sum + before * a->held;
  a->seen = release_average(draws, gain * a->held, sd) / gain;
  release_was_average(draws, gain, before);
  a->carry = carry;
  a->noise_variance = sd * sd / (gain * gain);

  /* The next row of LDL': `below` is the entry of L, left of its diagonal of ones. */
  const double off = -before * noise_before;
  const double below = off == 0 ? 0 : off / a->pivot;
  const double below_slope = off == 0 ? 0 : -below * a->pivot_slope / a->pivot;
  a->load_slope = -below_slope * a->load - below * a->load_slope;
  a->load = size - below * a->load;
  a->shown = a->seen - before * seen_before - below * a->shown;
  a->pivot_slope = size + below * below * a->pivot_slope;
  a->pivot = REWARD_VARIANCE * size + a->noise_variance + before * before * noise_before -
             below * off;

  const double share = a->load / a->pivot;
  a->information += share * a->load;
  a->information_slope += share * (2 * a->load_slope - share * a->pivot_slope);
  a->weighted += share * a->shown;

  /* What is learnt of the batch's own sum takes back the carried share of the last release's
     noise. So the share that is not carried stays in the total; the rest is this one's alone. */
  a->total += a->seen - before * seen_before;
  if (sd > 0) a->terms += (1 - carry) * (1 - carry) * a->noise_variance / (sd * sd);
}

double moving_average_mean(const moving_average_t *a) {
  return a->weighted / a->information;
}

/* With weights w the part of the variance that rewards have is v w' diag(L) w / (w' L)^2, and
   w' diag(L) w is the derivative of -L' cov(u)^-1 L by v. */
double moving_average_rewards(const moving_average_t *a) {
  return -a->information * a->information / a->information_slope;
}

double moving_average_noise(const moving_average_t *a) {
  const double variance = 1 / a->information - REWARD_VARIANCE / moving_average_rewards(a);
  return variance > 0 ? sqrt(variance) : 0;
}

report_t moving_average_report(const moving_average_t *a, double rewards, double releases,
                               double sd) {
  return (report_t){.rewards = rewards,
                    .sum = a->total,
                    .kind = NOISE_GAUSSIAN,
                    .terms = a->terms,
                    .scale = sd,
                    .last_terms = 1,
                    .last_scale = a->carry * sqrt(a->noise_variance),
                    .looks = releases};
}
