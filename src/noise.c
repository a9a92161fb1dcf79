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

void release_gamma(dice_t *dice, double *vector, int p, double scale) {
  /* A uniform direction g / ||g||, g normal, and a radius from Gamma(p, scale): the noise
     itself is drawn normal by normal into the vector once its norm is known, so the
     normals are drawn twice from one state of the stream. */
  rng_t again = dice->noise;
  double square = 0;
  for (int i = 0; i < p; i++) {
    const double g = sample_normal(&dice->noise);
    square += g * g;
  }
  const double radius = scale > 0 ? scale * sample_gamma(&dice->noise, p) : 0;
  for (int i = 0; i < p; i++) {
    const double noise = radius * sample_normal(&again) / sqrt(square);
    vector[i] = release(dice, vector[i], NOISE_GAMMA, scale, noise);
  }
}
