#include <math.h>
#include <stddef.h>
#include "noise.h"
#include "sample.h"

static double release(dice_t *dice, double exact, enum noise_law law, double scale,
                      double noise) {
  ledger_t *ledger = dice->ledger;
  if (ledger) {
    if (ledger->silent) noise = 0;
    if (ledger->n < ledger->max) {
      ledger->exact[ledger->n] = exact;
      ledger->law[ledger->n] = law;
      ledger->scale[ledger->n] = scale;
      ledger->noise[ledger->n] = noise;
    }
    ledger->n++;
  }
  return exact + noise;
}

double release_laplace(dice_t *dice, double exact, double scale) {
  const double noise = scale > 0 ? sample_laplace(&dice->noise, scale) : 0;
  return release(dice, exact, NOISE_LAPLACE, scale, noise);
}

double release_gaussian(dice_t *dice, double exact, double sd) {
  const double noise = sd > 0 ? sd * sample_normal(&dice->noise) : 0;
  return release(dice, exact, NOISE_GAUSSIAN, sd, noise);
}

/* A uniform direction and a radius of law Gamma(p, scale): Mishra and Thakurta (2015). */
void release_gamma(dice_t *dice, int p, const double *exact, double scale, double *out) {
  double norm = 0;
  for (int i = 0; i < p; i++) {
    out[i] = sample_normal(&dice->noise);
    norm += out[i] * out[i];
  }
  const double radius = scale * sample_gamma(&dice->noise, p) / sqrt(norm);
  for (int i = 0; i < p; i++) {
    out[i] = release(dice, exact[i], NOISE_GAMMA, scale, radius * out[i]);
  }
}
