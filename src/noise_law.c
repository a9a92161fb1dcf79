#include <math.h>
#include "math_util.h"
#include "noise_exact_release.h"
#include "noise_law.h"

/* With h = step / scale and a = e^-h, geometric noise has E e^(l noise) = (1 - a)^2 / ((1 - a e^(l
   step)) (1 - a e^(-l step))) = 1 / (1 - (sinh(l step / 2) / sinh(h / 2))^2). */
double noise_charge(const noise_law_t *noise, double l) {
  if (noise->scale == 0) return 0;
  double u = l * noise->scale;
  if (!noise_is_bounded(noise)) return 0.5 * u * u + 0.5 * l * noise->step;
  if (!(u < 1)) return INFINITY;
  if (noise->kind == NOISE_GEOMETRIC) {
    u = sinh(0.5 * l * noise->step) / sinh(0.5 * noise->step / noise->scale);
  }
  return -log1p(-u * u);
}

VECTOR_UNITS static void laplace_slopes(int n, const double *u, double *slope) {
  for (int i = 0; i < n; i++) slope[i] = 2 * u[i] / (1 - u[i] * u[i]);
}

void noise_charge_slopes(const noise_law_t *noise, int n, const double *u, double *slope) {
  const double h = noise->step / noise->scale;
  if (noise->kind == NOISE_LAPLACE) laplace_slopes(n, u, slope);
  else
    for (int i = 0; i < n; i++) slope[i] = h / expm1(h * (1 - u[i])) - h / expm1(h * (1 + u[i]));
}

double noise_law_variance(const noise_law_t *noise) {
  if (noise->kind != NOISE_GEOMETRIC) return noise_variance(noise->kind, noise->scale);
  const double x = noise->scale > 0 ? noise->step / sinh(0.5 * noise->step / noise->scale) : 0;
  return 0.5 * x * x;
}

/* Exact noise has a rate that is rounded down to 24 bits, and Laplace noise beside squares is larger by 2^-20
   (release_pair()), hence the larger scale. The discrete Laplace distribution has a smaller ln E e^(l noise)
   than the continuous one. */
noise_law_t noise_as_drawn(const noise_law_t *noise, const draws_t *draws) {
  noise_law_t law = *noise;
  if (!draws->live || law.scale == 0) return law;
  law.scale *= 1 + 0x1p-19;
  if (law.kind == NOISE_GAUSSIAN) law.step = 1 / EXACT_GRID;
  return law;
}
