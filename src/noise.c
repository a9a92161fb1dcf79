#include <math.h>
#include <stddef.h>
#include "noise_exact_normal.h"
#include "noise_exact_release.h"
#include "noise.h"
#include "sample.h"

/* Into the ledger; returns what is released. */
static double enter(ledger_t *ledger, double exact, enum noise_kind kind, double scale,
                    double value) {
  if (ledger->silent) value = exact;
  if (ledger->n < ledger->n_forced) value = ledger->forced[ledger->n];
  const double row[LEDGER_COLUMNS] = {
      exact, kind, scale, ledger->silent ? 0 : value - exact, value, ledger->releases,
      1,     0};
  for (int i = 0; i < LEDGER_COLUMNS && ledger->n < ledger->max; i++) {
    ledger->column[i][ledger->n] = row[i];
  }
  ledger->n++;
  return value;
}

static inline double release(draws_t *draws, double exact, enum noise_kind kind,
                             double scale, double value) {
  if (draws->ledger) value = enter(draws->ledger, exact, kind, scale, value);
  if (value != value) draws->failed = 1;
  draws->releases++;
  return value;
}

/* A release begins: is there noise of this scale? */
static inline int usable(draws_t *draws, double scale) {
  if (draws->ledger) draws->ledger->releases++;
  if (scale >= 0 && scale < INFINITY) return 1;
  draws->failed = 1;
  return 0;
}

/* The exact value of a sum with noise of the operating system. */
static double release_live(draws_t *draws, double exact, enum noise_kind kind,
                           double scale) {
  double noisy = exact;
  if (scale > 0) {
    bits_t bits = bits_open(bits_from_system, NULL);
    const enum exact_status status =
        kind == NOISE_RESPONSE
            ? exact_release_bit(&bits, exact, scale, &noisy)
            : exact_release(&bits, kind == NOISE_LAPLACE ? exact_laplace : exact_normal,
                            exact, scale, &noisy);
    bits_close(&bits);
    if (status != EXACT_OK) {
      draws->failed = 1;
      return NAN;
    }
  }
  return release(draws, exact, kind, scale, noisy);
}

double release_noisy(draws_t *draws, enum noise_kind kind, double exact, double scale) {
  if (!usable(draws, scale)) return NAN;
  if (draws->live) return release_live(draws, exact, kind, scale);
  const double noise = !(scale > 0)            ? 0
                       : kind == NOISE_LAPLACE ? sample_laplace(&draws->noise, scale)
                                               : scale * sample_normal(&draws->noise);
  return release(draws, exact, kind, scale, exact + noise);
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
  if (draws->live) return release_live(draws, reward, NOISE_RESPONSE, flip);
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
  if (!ledger || ledger->n > ledger->max) return;
  ledger->column[LEDGER_GAIN][ledger->n - 1] = gain;
  ledger->column[LEDGER_CARRY][ledger->n - 1] = carry;
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
