#include <math.h>
#include <stddef.h>
#include "noise_exact_normal.h"
#include "noise_exact_release.h"
#include "noise.h"
#include "sample.h"

/* Adds a row to the ledger; returns the value to release. */
static double enter(ledger_t *ledger, double exact, enum noise_kind kind, double scale, double value) {
  if (ledger->silent) value = exact;
  if (ledger->n < ledger->n_forced) value = ledger->forced[ledger->n];
  const double row[LEDGER_COLUMNS] = {
      exact, kind, scale, ledger->silent ? 0 : value - exact, value, ledger->releases, 1, 0};
  for (int i = 0; i < LEDGER_COLUMNS && ledger->n < ledger->max; i++) {
    ledger->column[i][ledger->n] = row[i];
  }
  ledger->n++;
  return value;
}

static inline double release(draws_t *draws, double exact, enum noise_kind kind, double scale, double value) {
  if (draws->ledger) value = enter(draws->ledger, exact, kind, scale, value);
  if (value != value) draws->failed = 1;
  draws->releases++;
  return value;
}

/* Begins a release; returns whether there is noise of this scale. */
static inline int usable(draws_t *draws, double scale) {
  if (draws->ledger) draws->ledger->releases++;
  if (scale >= 0 && scale < INFINITY) return 1;
  draws->failed = 1;
  return 0;
}

/* Exact noise, made from bits of the operating system. */
static double release_live(draws_t *draws, double exact, enum noise_kind kind, double scale) {
  double noisy = exact;
  if (scale > 0) {
    bits_t bits = bits_open(bits_from_system, NULL);
    const enum exact_status status =
        kind == NOISE_RESPONSE ? exact_release_bit(&bits, exact, scale, &noisy)
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

/* One number of a release that has begun. */
static double with_noise(draws_t *draws, enum noise_kind kind, double exact, double scale) {
  if (draws->live) return release_live(draws, exact, kind, scale);
  const double noise = !(scale > 0)            ? 0
                       : kind == NOISE_LAPLACE ? sample_laplace(&draws->noise, scale)
                                               : scale * sample_normal(&draws->noise);
  return release(draws, exact, kind, scale, exact + noise);
}

double release_noisy(draws_t *draws, enum noise_kind kind, double exact, double scale) {
  return usable(draws, scale) ? with_noise(draws, kind, exact, scale) : NAN;
}

double release_pair(draws_t *draws, enum noise_kind kind, double sum, double squares, double scale,
                    double weight, double *noisy_squares) {
  const int laplace = kind == NOISE_LAPLACE;
  const double most = laplace ? WEIGHT_LAPLACE : WEIGHT_GAUSSIAN;
  *noisy_squares = NAN;
  if (!(weight > 0 && weight <= most)) draws->failed = 1;
  if (!usable(draws, scale) || draws->failed) return NAN;
  if (laplace && draws->live) scale *= 1 + 1 / EXACT_GRID;
  const double noisy = with_noise(draws, kind, sum, scale);
  *noisy_squares = with_noise(draws, kind, squares, scale / weight);
  return noisy;
}

double reward_square(const draws_t *draws, double reward) {
  const double x = reward - 0.5;
  return draws->live ? ceil(x * x * EXACT_GRID) / EXACT_GRID : x * x;
}

double release_beside(draws_t *draws, double squares, double sd) {
  if (!(sd >= 0 && sd < INFINITY)) draws->failed = 1;
  return draws->failed ? NAN : with_noise(draws, NOISE_GAUSSIAN, squares, sd);
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

void release_was_average(draws_t *draws, double gain, double correlation) {
  const ledger_t *ledger = draws->ledger;
  if (!ledger || ledger->n > ledger->max) return;
  ledger->column[LEDGER_GAIN][ledger->n - 1] = gain;
  ledger->column[LEDGER_CORRELATION][ledger->n - 1] = correlation;
}

/* A uniform direction times a Gamma(p, scale) radius: Mishra and Thakurta (2015). */
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
