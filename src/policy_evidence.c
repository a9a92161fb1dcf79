#include <math.h>
#include "noise_exact_release.h"
#include "policy_evidence.h"
#include "math_util.h"

enum { FIXED = 10 }; /* gaps; then those around the committed gap */
static const double SMALLEST = 0.005, RATIO = 1.6, /* of the fixed gaps */
    AROUND[] = {0.6, 1, 1.6}, WEIGHT_AROUND[] = {0.0625, 0.125, 0.0625};
static const double WEIGHT_FIXED = 0.075;
static const double LEAST_VARIANCE = 0.03; /* of a reward, for tilts */
static const double FIRST_GAP = 0.05;      /* before anything is known */
static const double MOST_TILT = 20;
/* Tilts that differ by less are taken for one: evidence is flat around the best. */
static const double ALIKE = 1.06;

double noise_charge(const noise_law_t *noise, double l) {
  if (noise->scale == 0) return 0;
  const double u = l * noise->scale;
  if (noise->kind == NOISE_LAPLACE) return u < 1 ? -log1p(-u * u) : INFINITY;
  return 0.5 * u * u + l * noise->rounding;
}

/* The rate of exact noise is rounded down to 32 bits. The discrete Laplace has a smaller ln E e^(l noise)
   than the continuous one. */
noise_law_t noise_as_drawn(const noise_law_t *noise, const draws_t *draws) {
  noise_law_t law = *noise;
  if (!draws->live || law.scale == 0) return law;
  law.scale *= 1 + 0x1p-20;
  if (law.kind == NOISE_GAUSSIAN) law.rounding = 0.5 / EXACT_GRID;
  return law;
}

static double noise_variance(const noise_law_t *noise) {
  return noise->scale * noise->scale * (noise->kind == NOISE_LAPLACE ? 2 : 1);
}

void evidence_begin(evidence_t *e) {
  *e = (evidence_t){
      .mean = 0.5, .variance = INFINITY, .reward_variance = 0.25, .gap = FIRST_GAP};
}

void evidence_commit(evidence_t *e, double gap) { e->gap = fmax(gap, 0); }

/* The l that maximises l g L - l^2 v L / 2 - c(l). With Laplace noise of scale b, u = b l is
   the root in (0, 1) of g L / b - u v L / b^2 - 2 u / (1 - u^2), which falls in u. */
static double best_tilt(const noise_law_t *noise, double gap, double v, double size) {
  const double b = noise->scale;
  if (noise->kind != NOISE_LAPLACE || b == 0) {
    return fmin(gap / (v + b * b / size), MOST_TILT);
  }
  const double g = gap * size / b, w = v * size / (b * b);
  double low = 0, high = fmin(1, fmin(g / w, g / 2));
  for (int i = 0; i < 24; i++) {
    const double u = 0.5 * (low + high);
    if (g - u * w > 2 * u / (1 - u * u)) low = u;
    else high = u;
  }
  return fmin(low / b, MOST_TILT);
}

/* How much two vectors of tilts differ: the largest ratio */
static double apart(const double *x, const double *y) {
  double most = 1;
  for (int g = 0; g < EVIDENCE_TILTS; g++) {
    if (x[g] == y[g]) continue;
    const double ratio = x[g] > y[g] ? x[g] / y[g] : y[g] / x[g];
    if (!(ratio <= most)) most = ratio; /* Inf where one of them is 0 */
  }
  return most;
}

/* Where a batch of these tilts belongs: to the piece with the nearest ones, if they are near or
   there is no room for more. All this is decided by earlier releases and the size. */
static evidence_piece_t *piece_for(evidence_t *e, const double *tilt) {
  evidence_piece_t *nearest = 0;
  double least = INFINITY;
  for (int64_t i = 0; i < e->pieces; i++) {
    const double far = apart(e->piece[i].tilt, tilt);
    if (far < least || !nearest) least = far, nearest = &e->piece[i];
  }
  if (nearest && (least <= ALIKE || e->pieces == EVIDENCE_ROOM)) return nearest;
  evidence_piece_t *piece = &e->piece[e->pieces++];
  *piece = (evidence_piece_t){0};
  for (int g = 0; g < EVIDENCE_TILTS; g++) {
    piece->tilt[g] = tilt[g];
    piece->rise[g] = expm1(tilt[g]);
    piece->fall[g] = expm1(-tilt[g]);
  }
  return piece;
}

/* The mean by inverse variances, its variance, and the variance of a reward for the next tilts: that
   of the mean nearest to 1/2 within one standard deviation. */
static void learn(evidence_t *e, const noise_law_t *noise) {
  double weight = 0, weighted = 0;
  for (int64_t i = 0; i < e->pieces; i++) {
    const evidence_piece_t *p = &e->piece[i];
    if (p->size == 0) continue;
    const double w =
        p->size / (e->reward_variance + noise_variance(noise) * p->batches / p->size);
    weight += w;
    weighted += w * p->sum / p->size;
  }
  if (weight == 0) return;
  e->mean = weighted / weight;
  e->variance = 1 / weight;
  const double sd = sqrt(e->variance);
  const double z = fmin(fmax(0.5, e->mean - sd), e->mean + sd);
  e->reward_variance = fmax(z * (1 - z), LEAST_VARIANCE);
}

void evidence_release(evidence_t *e, const noise_law_t *noise, double size, double sum,
                      double terms) {
  double tilt[EVIDENCE_TILTS], gap = SMALLEST;
  for (int g = 0; g < EVIDENCE_TILTS; g++, gap *= RATIO) {
    const double wanted = g < FIXED ? gap : AROUND[g - FIXED] * e->gap;
    tilt[g] = size > 0 ? best_tilt(noise, wanted, e->reward_variance, size) : 0;
  }
  evidence_piece_t *piece = piece_for(e, tilt);
  for (int g = 0; g < EVIDENCE_TILTS; g++) {
    e->score[g] += piece->tilt[g] * sum;
    e->charged[g] += terms * noise_charge(noise, piece->tilt[g]);
  }
  piece->batches += terms;
  piece->size += size;
  piece->sum += sum;
  e->n += size;
  learn(e, noise);
  learn(e, noise); /* once more, with its own variance */
}

double evidence_at(const evidence_t *e, int sign, double theta, double *slope) {
  double value[EVIDENCE_TILTS], rate[EVIDENCE_TILTS], most = -INFINITY;
  for (int g = 0; g < EVIDENCE_TILTS; g++) {
    value[g] = sign * e->score[g] - e->charged[g];
    rate[g] = 0;
  }
  for (int64_t i = 0; i < e->pieces; i++) {
    const evidence_piece_t *p = &e->piece[i];
    const double *move = sign > 0 ? p->rise : p->fall;
    for (int g = 0; g < EVIDENCE_TILTS; g++) {
      const double x = theta * move[g];
      value[g] -= p->size * (fabs(x) < 0.01 ? log1p(x) : log(1 + x));
      rate[g] -= p->size * move[g] / (1 + x);
    }
  }
  for (int g = 0; g < EVIDENCE_TILTS; g++) most = fmax(most, value[g]);
  double total = 0, turned = 0;
  for (int g = 0; g < EVIDENCE_TILTS; g++) {
    const double w =
        (g < FIXED ? WEIGHT_FIXED : WEIGHT_AROUND[g - FIXED]) * exp(value[g] - most);
    total += w;
    turned += w * rate[g];
  }
  if (slope) *slope = turned / total;
  return most + log(total);
}

typedef struct {
  double theta, value, slope;
} tangent_t;

static tangent_t touch(const evidence_t *a, const evidence_t *b, double margin,
                       double theta) {
  tangent_t t = {.theta = theta};
  double up, down;
  t.value =
      evidence_at(a, 1, theta, &up) + evidence_at(b, -1, clip01(theta + margin), &down);
  t.slope = up + down;
  return t;
}

/* The height at which two tangents meet, and where */
static double meet(const tangent_t *left, const tangent_t *right, double *at) {
  const double width = right->theta - left->theta;
  const double step =
      (left->value - right->value + right->slope * width) / (right->slope - left->slope);
  *at = left->theta + fmin(fmax(step, 0), width);
  return left->value + left->slope * step;
}

double evidence_pair(const evidence_t *a, const evidence_t *b, double margin) {
  tangent_t left = touch(a, b, margin, fmax(0, -margin));
  if (left.slope >= 0 || !(fabs(margin) < 1)) return left.value;
  tangent_t right = touch(a, b, margin, fmin(1, 1 - margin));
  if (right.slope <= 0) return right.value;
  double next = (a->mean * b->variance + (b->mean - margin) * a->variance) /
                (a->variance + b->variance);
  double bound = -INFINITY;
  for (int i = 0; i < 100; i++) {
    const double width = right.theta - left.theta;
    if (!(next > left.theta + 1e-3 * width && next < right.theta - 1e-3 * width)) {
      next = left.theta + 0.5 * width;
    }
    const tangent_t t = touch(a, b, margin, next);
    if (t.slope < 0) left = t;
    else right = t;
    double at;
    bound = meet(&left, &right, &at);
    if (t.value - bound < 1e-6 || t.slope == 0 || width < 1e-15) break;
    /* Where the slope is 0 by the secant; every third time the middle, so that both ends move. */
    next = i % 3 == 2 ? at
                      : left.theta - left.slope * (right.theta - left.theta) /
                                         (right.slope - left.slope);
  }
  return bound;
}

void evidence_interval(const evidence_t *e, double alpha, double *lower, double *upper) {
  const double line = log(2 / alpha);
  /* E^+ falls in theta, E^- rises. */
  for (int sign = 1; sign >= -1; sign -= 2) {
    double in = sign > 0 ? 1 : 0, out = 1 - in;
    const double end = evidence_at(e, sign, out, 0);
    if (!(end >= line)) in = out;
    for (int i = 0; i < 60 && in != out; i++) {
      const double theta = 0.5 * (in + out);
      if (evidence_at(e, sign, theta, 0) >= line) out = theta;
      else in = theta;
    }
    if (sign > 0) *lower = out;
    else *upper = out;
  }
}

double evidence_lower(const evidence_t *a, const evidence_t *b, double line) {
  double low = -1, high = 1; /* W falls in the difference */
  if (!(evidence_pair(a, b, -low) >= line)) return -1;
  for (int i = 0; i < 40; i++) {
    const double d = 0.5 * (low + high);
    if (evidence_pair(a, b, -d) >= line) low = d;
    else high = d;
  }
  return low;
}

double evidence_gap(const evidence_t *a, const evidence_t *b, double margin) {
  if (!(a->variance < INFINITY && b->variance < INFINITY)) return FIRST_GAP;
  return fabs(a->mean - b->mean + margin) * a->variance / (a->variance + b->variance);
}

void evidence_aim(evidence_t *e, const evidence_t *first, size_t stride, int k,
                  double margin) {
  const evidence_t *rival = 0;
  for (int i = 0; i < k; i++) {
    const evidence_t *other =
        (const evidence_t *)((const char *)first + stride * (size_t)i);
    if (other == e || !(other->n > 0)) continue;
    if (!rival || other->mean > rival->mean) rival = other;
  }
  if (rival) evidence_commit(e, evidence_gap(e, rival, margin));
}
