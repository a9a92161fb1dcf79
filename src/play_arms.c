#include <math.h>
#include <stddef.h>
#include <string.h>
#include "play_arms.h"
#include "sample.h"
#include "math_util.h"

static double bernoulli_draw(const arms_t *arms, int arm, rng_t *rng) { return arms_toss(arms, arm, rng); }

static int bernoulli_sound(const double *par, int n, double mean) {
  (void)n;
  return *par >= 0 && *par <= 1 && mean >= 0 && mean <= 1;
}

static double bernoulli_sum(const arms_t *arms, int arm, double n, rng_t *rng) {
  return sample_binomial(rng, n, arms->mean[arm]);
}

/* An exponential of the given rate, truncated to [0, 1], by inversion. A negative rate mirrors a
   positive one; a rate near 0 is uniform. */
static double truncexp_draw(const arms_t *arms, int arm, rng_t *rng) {
  const double rate = *arms->source[arm].par, u = rng_unif(rng), a = fabs(rate);
  if (a < 1e-12) return u;
  const double x = fmin(1, -log1p(u * expm1(-a)) / a);
  return rate > 0 ? x : 1 - x;
}

static double beta_draw(const arms_t *arms, int arm, rng_t *rng) {
  const double *par = arms->source[arm].par;
  return sample_beta(rng, par[0], par[1]);
}

static int beta_sound(const double *par, int n, double mean) {
  (void)n, (void)mean;
  return par[0] > 0 && par[1] > 0;
}

/* par, per arm: m values, then Walker's (1977) alias table, made in R: m thresholds and m aliases. */
static double discrete_draw(const arms_t *arms, int arm, rng_t *rng) {
  const int m = arms->source[arm].n_par / 3;
  const double *values = arms->source[arm].par;
  const double *keep = values + m, *alias = keep + m;
  const double u = rng_unif(rng) * m;
  const int i = u < m ? (int)u : m - 1;
  return u - i < keep[i] ? values[i] : values[(int)alias[i]];
}

static int discrete_sound(const double *par, int n, double mean) {
  (void)mean;
  const int m = n / 3;
  for (int i = n - m; i < n; i++) {
    if (!(par[i] >= 0 && par[i] < m && par[i] == floor(par[i]))) return 0;
  }
  return n % 3 == 0;
}

/* par: mean and standard deviation; a nonzero third number means that rewards are clipped to [0, 1]. */
static double gaussian_draw(const arms_t *arms, int arm, rng_t *rng) {
  const double *par = arms->source[arm].par;
  const double x = par[0] + par[1] * sample_normal(rng);
  return par[2] != 0 ? clip01(x) : x;
}

static int gaussian_sound(const double *par, int n, double mean) {
  (void)n, (void)mean;
  return par[1] >= 0;
}

/* par: outcomes, one of which is drawn with equal probabilities. */
static double data_draw(const arms_t *arms, int arm, rng_t *rng) {
  const source_t *source = &arms->source[arm];
  return source->par[rng_below(rng, source->n_par)];
}

double linear_draw_alone(const arms_t *arms, int arm, rng_t *rng); /* play_arms_linear.c */

static const distribution_t DISTRIBUTIONS[] = {
    {"bernoulli", 1, bernoulli_draw, bernoulli_sum, bernoulli_sound},
    {"truncexp", 1, truncexp_draw, NULL, NULL},
    {"beta", 2, beta_draw, NULL, beta_sound},
    {"discrete", SOME, discrete_draw, NULL, discrete_sound},
    {"gaussian", 3, gaussian_draw, NULL, gaussian_sound},
    {"data", SOME, data_draw, NULL, NULL},
    {"linear", SOME, linear_draw_alone, NULL, NULL},
    {"supplied", 0, NULL, NULL, NULL},
};

const distribution_t *distribution_find(const char *name) {
  for (size_t i = 0; i < sizeof DISTRIBUTIONS / sizeof *DISTRIBUTIONS; i++) {
    if (strcmp(DISTRIBUTIONS[i].name, name) == 0) return &DISTRIBUTIONS[i];
  }
  return NULL;
}

int distribution_is_sound(const distribution_t *distribution, const double *par, int n, double mean) {
  if (distribution->n_par == SOME ? n < 1 : n != distribution->n_par) return 0;
  for (int i = 0; i < n; i++) {
    if (!isfinite(par[i])) return 0;
  }
  return !distribution->sound || distribution->sound(par, n, mean);
}
