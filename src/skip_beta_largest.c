#include "skip_beta_largest.h"

#include <math.h>
#include "sample.h"

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

/* Gauss-Legendre with eight nodes: Abramowitz and Stegun (1964), table 25.4. */
static const double NODE[8] = {-0.960289856497536232, -0.796666477413626740,
                               -0.525532409916328986, -0.183434642495649805,
                               0.183434642495649805,  0.525532409916328986,
                               0.796666477413626740,  0.960289856497536232};
static const double WEIGHT[8] = {
    0.101228536290376259, 0.222381034453374471, 0.313706645877887287, 0.362683783378361983,
    0.362683783378361983, 0.313706645877887287, 0.222381034453374471, 0.101228536290376259};

/* What is left out has a chance of at most exp(-DROP), Chernoff's bound. */
#define DROP 30.0
/* Width of a panel in sds of the narrowest peak. */
#define WIDTH 1.0

static double sd_of(beta_t beta) { return sqrt((beta.a + beta.b) / (beta.a * beta.b)); }

/* log(1 + x0 expm1(d)), and its slope, where x0 / (1 - x0) = exp(y0) */
static double rise(double x0, double d) { return log1p(x0 * expm1(d)); }

/* Chernoff's bound of the chance to be beyond peak + d, in logarithm: a concave function of d. */
static double log_bound(beta_t beta, double d, double *slope) {
  const double n = beta.a + beta.b, x0 = beta.a / n, grown = x0 * expm1(d);
  *slope = beta.a - n * (x0 + grown) / (1 + grown);
  return beta.a * d - n * log1p(grown);
}

/* Where that is -DROP, to the left (sign -1) or right of the peak, or farther out: a tangent of a
   concave function lies above it. */
static double end_of(beta_t beta, double sign) {
  double d = sign * sqrt(2 * DROP) * sd_of(beta);
  for (int i = 0; i < 3; i++) {
    double slope;
    const double value = log_bound(beta, d, &slope);
    d -= (value + DROP) / slope;
  }
  return log(beta.a / beta.b) + d;
}

/* Where all variates are lower with a chance of at most exp(-DROP), from a point to the left. */
static double left_end(const beta_t *beta, int k, double y) {
  for (int i = 0; i < 4; i++) {
    double sum = DROP, slope = 0;
    for (int j = 0; j < k; j++) {
      double each;
      const double d = y - log(beta[j].a / beta[j].b);
      if (d >= 0) continue;
      sum += log_bound(beta[j], d, &each);
      slope += each;
    }
    if (sum >= 0) break;
    y -= sum / slope;
  }
  return y;
}

/* Integrals from node r to the right edge of [-1, 1] of the polynomial through values at the nodes,
   by its Legendre series: that of P_m is (P_(m-1) - P_(m+1)) / (2 m + 1) at the node. */
static void fill_inner(double inner[8][8]) {
  double p[8][9];
  for (int r = 0; r < 8; r++) {
    p[r][0] = 1;
    p[r][1] = NODE[r];
    for (int m = 1; m < 8; m++) {
      p[r][m + 1] = ((2 * m + 1) * NODE[r] * p[r][m] - m * p[r][m - 1]) / (m + 1);
    }
  }
  for (int r = 0; r < 8; r++) {
    for (int s = 0; s < 8; s++) {
      double sum = 1 - NODE[r];
      for (int m = 1; m < 8; m++) sum += p[s][m] * (p[r][m - 1] - p[r][m + 1]);
      inner[r][s] = WEIGHT[s] * sum / 2;
    }
  }
}

int largest_begin(largest_t *grid, const beta_t *low, const beta_t *high, int k) {
  double left = -INFINITY;
  for (int i = 0; i < k; i++) left = fmax(left, end_of(low[i], -1));
  left = left_end(low, k, left);
  double right[LARGEST_MAX], width[LARGEST_MAX];
  grid->k = 0;
  for (int i = 0; i < k; i++) {
    const double end = end_of(high[i], 1);
    if (end <= left) continue;
    right[grid->k] = end;
    width[grid->k] = WIDTH * fmin(sd_of(low[i]), sd_of(high[i]));
    grid->who[grid->k++] = i;
  }
  double edge[LARGEST_PANELS + 1];
  int n = 0;
  edge[0] = left;
  for (;;) {
    double narrowest = INFINITY;
    for (int m = 0; m < grid->k; m++) {
      if (right[m] > edge[n] && width[m] < narrowest) narrowest = width[m];
    }
    if (narrowest == INFINITY) break;
    if (n == LARGEST_PANELS) return 0;
    edge[n + 1] = edge[n] + narrowest;
    n += 1;
  }
  grid->n = n;
  grid->left = left;
  const double x0 = 1 / (1 + exp(-left));
  for (int i = 0; i < n; i++) {
    const double half = 0.5 * (edge[n - i] - edge[n - i - 1]);
    const double middle = 0.5 * (edge[n - i] + edge[n - i - 1]) - left;
    grid->half[i] = half;
    for (int r = 0; r < 8; r++) {
      grid->d[i][r] = middle + half * NODE[r];
      grid->rise[i][r] = rise(x0, grid->d[i][r]);
    }
  }
  fill_inner(grid->inner);
  return 1;
}

double largest_chances(const largest_t *grid, const beta_t *beta, double *chance) {
  const int k = grid->k;
  const double x0 = 1 / (1 + exp(-grid->left));
  double peak[LARGEST_MAX];  /* log of what exp(a d - n rise) is to be multiplied by */
  double above[LARGEST_MAX]; /* mass to the right of a panel */
  for (int m = 0; m < k; m++) {
    const double a = beta[grid->who[m]].a, b = beta[grid->who[m]].b, n = a + b;
    const double d = log(a / b) - grid->left;
    peak[m] = stirling_error(n) - stirling_error(a) - stirling_error(b) +
              0.5 * log(a * b / (2 * M_PI * n)) - (a * d - n * rise(x0, d));
    chance[m] = above[m] = 0;
  }
  for (int panel = 0; panel < grid->n; panel++) {
    const double half = grid->half[panel], *d = grid->d[panel], *risen = grid->rise[panel];
    double f[LARGEST_MAX][8], below[LARGEST_MAX][8], all[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int m = 0; m < k; m++) {
      const double a = beta[grid->who[m]].a, n = a + beta[grid->who[m]].b;
      double beyond[8] = {0}, mass = 0;
      for (int s = 0; s < 8; s++) {
        f[m][s] = half * exp(peak[m] + a * d[s] - n * risen[s]);
        mass += WEIGHT[s] * f[m][s];
        for (int r = 0; r < 8; r++) beyond[r] += grid->inner[r][s] * f[m][s];
      }
      for (int r = 0; r < 8; r++) {
        /* Rounding errors; and a quotient of products wants no zeros. */
        below[m][r] = fmax(1 - above[m] - beyond[r], 1e-18);
        all[r] *= below[m][r];
      }
      above[m] += mass;
    }
    for (int m = 0; m < k; m++) {
      for (int r = 0; r < 8; r++) chance[m] += WEIGHT[r] * f[m][r] * all[r] / below[m][r];
    }
  }
  double sum = 0;
  for (int m = 0; m < k; m++) sum += chance[m];
  return fabs(sum - 1);
}
