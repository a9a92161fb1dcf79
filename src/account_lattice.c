/* The direct accountant on a lattice: the largest hockey-stick divergence U_tau(n, s) = E_P (1 - e^(s - log
   P/Q))_+ of tau rounds whose private arm starts with n rewards, by its recursion

     U_(tau+1)(n, s) = sup p U_tau(n+1, s - log(p/q))
                         + (1-p) U_tau(n, s - log((1-p)/(1-q))),   U_0 = (1 - e^s)_+,

   over q = Phi(x), p = Phi(x +/- d(n)). delta(epsilon) = U_T(n0, epsilon). Every approximation is upward:

   * U is a supremum of expectations of (1 - y e^-L)_+, so convex in y = e^s, falling, and 1 at y = 0. Between
     two points of a lattice in s it is read on the chord in y, which is above it: every loss is rounded up to
     a mixture of two lattice losses. Left of the lattice it is read on the chord to U = 1 at y = 0; right of
     it as constant. The chord's weights are the same at all points, as the lattice is uniform in s.
   * What is so read is convex in y again, as the next item needs: chords through points of a convex function
     are, with the two ends; a round makes of convex functions, falling and 1 at y = 0, for each corner below
     a function of the same kind; so is the maximum of these, and the maximum with a constant, the floor.
   * p V(y q/p) is jointly convex in (p, q) for convex V (it is V's perspective). So the supremum over the
     region between the two curves is at most the largest value at the corners of a polygon around it: the
     meeting points of tangents at some positions, two ends beyond the first and the last tangent, the mirror
     image of all these, and (0, 0) and (1, 1), where nothing is learned and U(n, s) or U(n+1, s) stays. A
     random largest draw of the other arms is an average over the region. A smaller shift is inside it.
   * U falls with n (a smaller shift is inside the region): the last node stands for all
     n above it, and a pull there leads nowhere. This is used of the true U alone:
     polygons of neighbouring n need not be nested, nor what is read of them ordered.
   * Where all that a round would read is at the floor, it is not computed. A corner whose
     loss leads off the lattice reads U = 1 there, its `sure`; left out, that is at most
     `sure` a round, and rounds x sure is added in the end.

   So a round is, for each node, the maximum over some fifty corners of a sum of four
   shifted copies of U. Cost grows with rounds squared for a given sharpness; it serves
   a few thousand rounds where d is not small. */
#include "account.h"
#include "math_special.h"
#include "math_util.h"

#include <math.h>

/* The inner loop is arithmetic on arrays. It is vectorised, without fused multiply-add, so that every
   vector unit gives the same digits. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "fp-contract=off")
#endif

/* ---- the polygon -------------------------------------------------------------- */

#define CORNERS 192 /* an upper bound on the corners of a polygon */
#define FAR     9.0 /* the tangents reach this far into the tails */

typedef struct {
  double p, q, p_rest, q_rest; /* p, q, 1 - p, 1 - q, each to relative accuracy */
} corner;

/* Where the tangents at a and b to (q, p) = (Phi(t), Phi(t + d)) meet: q is the mean of Phi(t) over [a, b]
   weighted by the slope e^(-t d), p that of Phi(t + d) weighted by its inverse. Gauss-Legendre, 8 nodes
   (Abramowitz and Stegun 1964, table 25.4), in panels of at most 1/2, is exact to 1e-11. */
static void tangents_meet(double a, double b, double d, double *p, double *q) {
  static const double X[4] = {0.183434642495650, 0.525532409916329, 0.796666477413627, 0.960289856497536};
  static const double W[4] = {0.362683783378362, 0.313706645877887, 0.222381034453374, 0.101228536290376};
  double sum_q = 0, sum_p = 0, all_q = 0, all_p = 0, middle = (a + b) / 2;
  int panels = (int)ceil(2 * (b - a));
  for (int i = 0; i < 8 * panels; i++) {
    double x = i % 8 < 4 ? X[i % 4] : -X[i % 4], w = W[i % 4];
    double step = (b - a) * ((i / 8 + (1 + x) / 2) / panels - 0.5);
    double down = w * exp(-step * d), up = w * exp(step * d);
    sum_q += down * normal_cdf(middle + step);
    all_q += down;
    sum_p += up * normal_cdf(middle + step + d);
    all_p += up;
  }
  *q = sum_q / all_q;
  *p = sum_p / all_p;
}

/* The corners of a polygon around the upper curve, on which P pulls more: where the tangents at neighbouring
   positions meet, dense where p or q is moderate, and two ends outside the first and the last tangent.
   Returns how many; (0, 0) and (1, 1) are left out. The lower half is the mirror image, p, q <-> 1 - p, 1 -
   q. `dense` is the distance of positions where it matters most: a corner there stands out as if d were
   larger by a share of dense^2 / 8. */
static int polygon(double d, double dense, corner *c) {
  double t = -FAR - d, before;
  int count = 0;
  c[count++] = (corner){normal_cdf(t + d), 0, 1, 1};
  while (t < FAR && count < CORNERS / 2 - 1) {
    before = t;
    double out = fmax(fmax(-d - t, t), 0);
    t += out < 2 ? dense : out < 4 ? 0.7 : 2;
    tangents_meet(before, t, d, &c[count].p, &c[count].q);
    tangents_meet(-t - d, -before - d, d, &c[count].q_rest, &c[count].p_rest);
    count++;
  }
  c[count++] = (corner){1, normal_cdf(t), 0, normal_cdf(-t)};
  return count;
}

/* ---- one round ---------------------------------------------------------------- */

/* What a corner makes of U: sure + pull[0] U'(j - up) + pull[1] U'(j - up - 1)
                                  + pass[0] U(j - down) + pass[1] U(j - down - 1)
   at point j, U' being that of the next node. */
typedef struct {
  double sure, pull[2], pass[2], up, down;
} stencil;

/* The share `p` of U at s - loss: the two points around it, or U = 1 where the loss
   leads off the lattice to the left. */
static double shift_of(double p, double loss, double step, double guard, double *share, double *sure) {
  share[0] = share[1] = 0;
  if (p == 0) return 0;
  double points = floor(loss / step);
  if (!(points < guard - 1)) {
    *sure += p;
    return 0;
  }
  points = fmax(points, -guard);
  double rest = fmax(loss - points * step, 0);
  double w = (exp(-rest) - exp(-step)) / -expm1(-step);
  share[0] = p * w;
  share[1] = p * (1 - w);
  return points;
}

static stencil stencil_of(const corner *c, double step, double guard) {
  stencil s = {0, {0, 0}, {0, 0}, 0, 0};
  double l1 = c->q > 0 ? log(c->p / c->q) : INFINITY;
  double l0 = c->q_rest > 0 ? log(c->p_rest / c->q_rest) : INFINITY;
  s.up = shift_of(c->p, l1, step, guard, s.pull, &s.sure);
  s.down = shift_of(c->p_rest, l0, step, guard, s.pass, &s.sure);
  return s;
}

/* Two corners at a time, so that `out` is read and written half as often. In vectors it is up to four times
   as fast. */
VECTOR_UNITS static void raise_to(double *restrict out, const double *restrict pulled,
                                  const double *restrict passed, const stencil *s, const stencil *s2,
                                  long n) {
  const double *a = pulled - (long)s->up, *b = passed - (long)s->down;
  const double *c = pulled - (long)s2->up, *d = passed - (long)s2->down;
  double sure = s->sure, a0 = s->pull[0], a1 = s->pull[1], b0 = s->pass[0], b1 = s->pass[1];
  double sure2 = s2->sure, c0 = s2->pull[0], c1 = s2->pull[1], d0 = s2->pass[0], d1 = s2->pass[1];
  for (long j = 0; j < n; j++) {
    double u = sure + a0 * a[j] + a1 * a[j - 1] + b0 * b[j] + b1 * b[j - 1];
    double u2 = sure2 + c0 * c[j] + c1 * c[j - 1] + d0 * d[j] + d1 * d[j - 1];
    double most = u > u2 ? u : u2;
    out[j] = out[j] > most ? out[j] : most;
  }
}

/* ---- the lattice -------------------------------------------------------------- */

#define FLOOR 1e-18 /* less than this makes no difference to it */

/* An upper bound on the relative rounding error of a round: sums of four products, and weights of a
   chord that are off by 1e-16 / step, times what U changes from point to point. */
#define ROUNDING 1e-13

/* A row holds `points` values, and points + 1 more on each side. */
static long row_size(double points) { return 3 * (long)points + 2; }

#define STENCIL_DOUBLES ((long)(sizeof(stencil) / sizeof(double)))

double sequence_lattice_size(double nodes, double points) {
  return nodes * (2.0 * row_size(points) + CORNERS * STENCIL_DOUBLES + 3) + points + 1;
}

static double *row(const sequence_lattice *run, double *table, long k) {
  return table + k * row_size(run->points) + run->points + 1;
}

static stencil *stencils(const sequence_lattice *run, long k) {
  return (stencil *)(run->stencils + k * CORNERS * STENCIL_DOUBLES);
}

/* Fills the stencils of node k; returns the largest `sure`. */
static double fill_stencils(sequence_lattice *run, long k) {
  /* slightly more than d, to cover rounding errors of the corners */
  double d = (1 + 1e-9) / sqrt(run->scale * (run->start + k + 1));
  corner c[CORNERS];
  int half = polygon(d, run->rounds <= 200 ? 0.1 : 0.2, c);
  double longest = 0, sure = 0;
  stencil *s = stencils(run, k);
  for (int i = 0; i < 2 * half; i++) {
    corner now = c[i % half];
    if (i >= half) now = (corner){now.p_rest, now.q_rest, now.p, now.q};
    s[i] = stencil_of(&now, run->step, run->points);
    longest = fmax(longest, fmax(s[i].up, s[i].down));
    sure = fmax(sure, s[i].sure);
  }
  run->corners[k] = 2 * half;
  run->longest[k] = longest + 1;
  return sure;
}

void sequence_lattice_begin(sequence_lattice *run, double rounds, double start, double scale, double nodes,
                            double step, double below, double points, double *work) {
  long n = run->nodes = (long)nodes, size = row_size(points);
  run->rounds = rounds;
  run->start = start;
  run->scale = scale;
  run->step = step;
  run->below = (long)below;
  run->points = (long)points;
  run->tau = 0;
  run->now = work;
  run->next = work + n * size;
  run->fade = work + 2 * n * size;
  run->corners = run->fade + run->points + 1;
  run->reach = run->corners + n;
  run->longest = run->reach + n;
  run->stencils = run->longest + n;
  double sure = 0;
  for (long k = 0; k < n; k++) sure = fmax(sure, fill_stencils(run, k));
  run->floor = FLOOR;
  run->sure = rounds * sure;
  for (long i = 0; i <= run->points; i++) run->fade[i] = exp(-step * i);
  for (long k = 0; k < n; k++) {
    double *now = row(run, run->now, k), *next = row(run, run->next, k);
    for (long j = -run->points - 1; j < 2 * run->points + 1; j++) {
      double s = step * (j - run->below);
      now[j] = next[j] = fmax(s < 0 ? -expm1(s) : 0, run->floor);
    }
    run->reach[k] = run->below;
  }
}

static void step_node(const sequence_lattice *run, long k) {
  long points = run->points;
  const double *own = row(run, run->now, k);
  /* a pull at the last node stays there */
  const double *up = row(run, run->now, k + 1 < run->nodes ? k + 1 : k);
  double *out = row(run, run->next, k);
  /* right of these points, all that is read is at the floor */
  double far = run->reach[k];
  if (k + 1 < run->nodes) far = fmax(far, run->reach[k + 1]);
  long n = (long)fmin(points, far + run->longest[k]), reach = 0;
  for (long j = 0; j < n; j++) out[j] = own[j] > up[j] ? own[j] : up[j]; /* (0,0), (1,1) */
  const stencil *s = stencils(run, k);
  for (long i = 0; i < (long)run->corners[k]; i += 2)
    raise_to(out, up, own, &s[i], &s[i + 1], n); /* their number is even */
  for (long j = 0; j < n; j++) {
    out[j] *= 1 + ROUNDING;
    if (out[j] > run->floor) reach = j + 1;
  }
  for (long j = reach; j < n; j++) out[j] = run->floor;
  run->reach[k] = reach;
  /* U = 1 at y = 0, and a chord from there; constant on the right */
  double gap = 1 - out[0];
  for (long j = 1; j <= points; j++) out[-j] = 1 - run->fade[j] * gap;
  if (reach == points)
    for (long j = 0; j <= points; j++) out[points + j] = out[points - 1];
}

int sequence_lattice_step(sequence_lattice *run) {
  /* nodes that can still be reached */
  double last = fmin(run->nodes, run->rounds - run->tau);
  for (long k = 0; k < (long)last; k++) step_node(run, k);
  double *swap = run->now;
  run->now = run->next;
  run->next = swap;
  run->tau++;
  if (run->tau < run->rounds) return 1;
  double *value = row(run, run->now, 0);
  for (long j = 0; j < run->points; j++) value[j] += run->sure;
  return 0;
}

const double *sequence_lattice_value(const sequence_lattice *run) { return row(run, run->now, 0); }
