#include <math.h>
#include <stddef.h>
#include "noise.h"
#include "sample.h"

static double release(draws_t *draws, double exact, enum noise_kind kind, double scale,
                      double noise) {
  ledger_t *ledger = draws->ledger;
  double value = exact + noise;
  if (ledger) {
    if (ledger->silent) value = exact;
    if (ledger->n < ledger->n_forced) value = ledger->forced[ledger->n];
    if (ledger->n < ledger->max) {
      ledger->exact[ledger->n] = exact;
      ledger->kind[ledger->n] = kind;
      ledger->scale[ledger->n] = scale;
      ledger->noise[ledger->n] = ledger->silent ? 0 : value - exact;
      ledger->value[ledger->n] = value;
      ledger->release[ledger->n] = ledger->releases;
    }
    ledger->n++;
  }
  return value;
}

/* A release begins: is there noise of this scale? */
static int usable(draws_t *draws, double scale) {
  if (draws->ledger) draws->ledger->releases++;
  if (scale >= 0 && scale < INFINITY) return 1;
  draws->failed = 1;
  return 0;
}

double release_laplace(draws_t *draws, double exact, double scale) {
  if (!usable(draws, scale)) return NAN;
  const double noise = scale > 0 ? sample_laplace(&draws->noise, scale) : 0;
  return release(draws, exact, NOISE_LAPLACE, scale, noise);
}

double release_gaussian(draws_t *draws, double exact, double sd) {
  if (!usable(draws, sd)) return NAN;
  const double noise = sd > 0 ? sd * sample_normal(&draws->noise) : 0;
  return release(draws, exact, NOISE_GAUSSIAN, sd, noise);
}

/* A uniform direction and a radius of distribution Gamma(p, scale): Mishra and Thakurta
   (2015). */
void release_gamma(draws_t *draws, int p, const double *exact, double scale, double *out) {
  if (!usable(draws, scale)) {
    for (int i = 0; i < p; i++) out[i] = NAN;
    return;
  }
  double norm = 0;
  for (int i = 0; i < p; i++) {
    out[i] = sample_normal(&draws->noise);
    norm += out[i] * out[i];
  }
  const double radius = scale * sample_gamma(&draws->noise, p) / sqrt(norm);
  for (int i = 0; i < p; i++) {
    out[i] = release(draws, exact[i], NOISE_GAMMA, scale, radius * out[i]);
  }
}
