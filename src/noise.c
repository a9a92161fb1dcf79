#include <math.h>
#include <stddef.h>
#include "noise_exact_release.h"
#include "noise.h"
#include "sample.h"

/* Into the ledger; returns what is released. */
static double enter(ledger_t *ledger, double exact, enum noise_kind kind, double scale,
                    double value) {
  if (ledger->silent) value = exact;
  if (ledger->n < ledger->n_forced) value = ledger->forced[ledger->n];
  if (ledger->n < ledger->max) {
    ledger->exact[ledger->n] = exact;
    ledger->kind[ledger->n] = kind;
    ledger->scale[ledger->n] = scale;
    ledger->noise[ledger->n] = ledger->silent ? 0 : value - exact;
    if (ledger->value) ledger->value[ledger->n] = value;
    if (ledger->release) ledger->release[ledger->n] = ledger->releases;
    if (ledger->gain) ledger->gain[ledger->n] = 1, ledger->carry[ledger->n] = 0;
  }
  ledger->n++;
  return value;
}

static inline double release(draws_t *draws, double exact, enum noise_kind kind,
                             double scale, double value) {
  if (draws->ledger) value = enter(draws->ledger, exact, kind, scale, value);
  if (value != value) draws->failed = 1;
  return value;
}

/* A release begins: is there noise of this scale? */
static inline int usable(draws_t *draws, double scale) {
  if (draws->ledger) draws->ledger->releases++;
  if (scale >= 0 && scale < INFINITY) return 1;
  draws->failed = 1;
  return 0;
}

typedef enum exact_status (*exact_release_t)(bits_t *, double, double, double *);

/* The exact value of a sum with noise of the operating system. */
static double release_live(draws_t *draws, double exact, enum noise_kind kind, double scale,
                           exact_release_t exact_release) {
  double noisy = exact;
  if (scale > 0) {
    bits_t bits = bits_open(bits_from_system, NULL);
    const enum exact_status status = exact_release(&bits, exact, scale, &noisy);
    bits_close(&bits);
    if (status != EXACT_OK) {
      draws->failed = 1;
      return NAN;
    }
  }
  return release(draws, exact, kind, scale, noisy);
}

double release_laplace(draws_t *draws, double exact, double scale) {
  if (!usable(draws, scale)) return NAN;
  if (draws->live) {
    return release_live(draws, exact, NOISE_LAPLACE, scale, exact_release_laplace);
  }
  const double noise = scale > 0 ? sample_laplace(&draws->noise, scale) : 0;
  return release(draws, exact, NOISE_LAPLACE, scale, exact + noise);
}

double release_gaussian(draws_t *draws, double exact, double sd) {
  if (!usable(draws, sd)) return NAN;
  if (draws->live) {
    return release_live(draws, exact, NOISE_GAUSSIAN, sd, exact_release_normal);
  }
  const double noise = sd > 0 ? sd * sample_normal(&draws->noise) : 0;
  return release(draws, exact, NOISE_GAUSSIAN, sd, exact + noise);
}

double release_average(draws_t *draws, double exact, double sd) {
  if (!draws->live || !usable(draws, sd)) return release_gaussian(draws, exact, sd);
  double on_grid;
  if (exact_average(exact, &on_grid) != EXACT_OK) {
    draws->failed = 1;
    return NAN;
  }
  return release_gaussian(draws, on_grid, sd * EXACT_AVERAGE_SD);
}

double release_bit(draws_t *draws, double reward, double flip) {
  if (draws->live) {
    return release_live(draws, reward, NOISE_RESPONSE, flip, exact_release_bit);
  }
  const double shown = sample_response(&draws->noise, reward, flip);
  return release(draws, reward, NOISE_RESPONSE, flip, shown);
}

double release_bits(draws_t *draws, double sum, double n, double flip) {
  const double kept = sum - sample_binomial(&draws->noise, sum, flip);
  const double shown = kept + sample_binomial(&draws->noise, n - sum, flip);
  return release(draws, sum, NOISE_RESPONSE, flip, shown);
}

void release_was_average(draws_t *draws, double gain, double carry) {
  const ledger_t *ledger = draws->ledger;
  if (!ledger || !ledger->gain || ledger->n > ledger->max) return;
  ledger->gain[ledger->n - 1] = gain;
  ledger->carry[ledger->n - 1] = carry;
}

/* A uniform direction and a radius of distribution Gamma(p, scale): Mishra and Thakurta
   (2015). */
void release_gamma(draws_t *draws, int p, const double *exact, double scale, double *out) {
  if (draws->live) draws->failed = 1;
  if (draws->live || !usable(draws, scale)) {
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
    out[i] = release(draws, exact[i], NOISE_GAMMA, scale, exact[i] + radius * out[i]);
  }
}
