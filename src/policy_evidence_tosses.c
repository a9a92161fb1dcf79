#include <math.h>
#include "policy_evidence_tosses.h"
#include "math_util.h"

static const double LARGEST = 0.02 * 2.2 * 2.2 * 2.2 * 2.2, RATIO = 2.2; /* of the kappas */
static const double WITHIN = 0.95; /* so far into what is allowed */

void bet_kappas(const noise_law_t *noise, double least, double kappa[BETS]) {
  double most = LARGEST;
  if (noise->kind == NOISE_LAPLACE && noise->scale > 0) {
    most = fmin(most,
                -WITHIN * least * expm1(-1 / noise->scale)); /* l scale < 1 for every c */
  }
  for (int i = BETS - 1; i >= 0; i--, most /= RATIO) kappa[i] = most;
}

/* A mean from earlier blocks, drawn to 1/2 */
static double guess(const tossed_t *a) {
  return clip01((a->sum_before + 5) / (a->n_before + 10));
}

static void bet_add(bet_t *bet, const noise_law_t *noise, const double kappa[BETS],
                    const tossed_t *a, const tossed_t *b) {
  const double p = a->chance / (a->chance + b->chance),
               q = b->chance / (a->chance + b->chance);
  const double centre = q * guess(a) + p * guess(b); /* of the least variance */
  for (int i = 0; i < BETS; i++) {
    const double k = kappa[i];
    const double c = clip01(fmin(fmax(centre, 1 - WITHIN * q / k), WITHIN * p / k));
    const double a0 = log1p(-k * c / p), l = log1p(k * (1 - c) / p) - a0;
    const double b0 = log1p(k * c / q), m = b0 - log1p(-k * (1 - c) / q);
    bet->log[i] += a->n * a0 + b->n * b0 + l * a->sum - m * b->sum -
                   noise_charge(noise, l) - noise_charge(noise, m);
  }
  bet->n += a->n + b->n;
}

static void bet_add_permuted(bet_t *bet, const noise_law_t *noise, const double kappa[BETS],
                             const tossed_t *a, const tossed_t *b) {
  const double n = a->n + b->n;
  if (!(a->n > 0 && b->n > 0)) return;
  for (int i = 0; i < BETS; i++) {
    const double t = kappa[i] * n * n / (a->n * b->n), l = t * b->n / n, m = t * a->n / n;
    bet->log[i] += l * a->sum - m * b->sum -
                   t * t * (a->n * b->n + fmin(a->n, b->n)) / (8 * n) -
                   noise_charge(noise, l) - noise_charge(noise, m);
  }
  bet->n += n;
}

void bets_add(bet_t *bets, int k, const noise_law_t *noise, const double kappa[BETS],
              tossed_t *block, int permuted) {
  for (int i = 0; i < k * k; i++) {
    const tossed_t *a = &block[i / k], *b = &block[i % k];
    if (a == b || !(a->chance > 0 && b->chance > 0)) continue;
    (permuted ? bet_add_permuted : bet_add)(&bets[i], noise, kappa, a, b);
  }
  for (int i = 0; i < k; i++) {
    if (!(block[i].chance > 0)) continue;
    block[i].n_before += block[i].n, block[i].sum_before += block[i].sum;
  }
}

/* ln of the mean of F, each divided by (1 + kappa d)^n */
double bet_log(const bet_t *bet, const double kappa[BETS], double d) {
  double value[BETS], most = -INFINITY, total = 0;
  for (int i = 0; i < BETS; i++) {
    value[i] = bet->log[i] - bet->n * log1p(kappa[i] * d);
    most = fmax(most, value[i]);
  }
  for (int i = 0; i < BETS; i++) total += exp(value[i] - most);
  return most + log(total / BETS);
}

double bet_lower(const bet_t *bet, const double kappa[BETS], double line) {
  double low = -1, high = 1; /* falls in d */
  if (!(bet_log(bet, kappa, low) >= line)) return -1;
  for (int i = 0; i < 60; i++) {
    const double d = 0.5 * (low + high);
    if (bet_log(bet, kappa, d) >= line) low = d;
    else high = d;
  }
  return low;
}
