#include <math.h>
#include "policy_evidence_means.h"
#include "math_special.h"
#include "math_util.h"

enum { FIXED = 11 }; /* gaps, 0 the first; then those around the committed gap */
static const double SMALLEST = 0.005, RATIO = 1.6, /* of the fixed gaps */
    AROUND[] = {0.6, 1, 1.6}, WEIGHT_AROUND[] = {0.0625, 0.125, 0.0625};
/* A gap of 0 is evidence of 1 for ever: what an arm of very many rewards says cannot fall without end
   on the far side of its mean, so that a starved rival can be judged. */
static const double WEIGHT_NONE = 0.02, WEIGHT_FIXED = 0.073;
static const double LEAST_VARIANCE = 0.03; /* of a reward, for tilts */
static const double FIRST_GAP = 0.05;      /* before anything is known */
static const double MOST_TILT = 20;
/* Tilts that differ by less are taken for one: evidence is flat around the best. */
static const double ALIKE = 1.06;

/* Independent noise that has the same effect in the long run */
static noise_law_t as_independent(const noise_law_t *noise) {
  noise_law_t law = *noise;
  law.scale *= sqrt((1 - law.correlation) / (1 + law.correlation));
  return law;
}

void evidence_begin(evidence_t *e, double risk) {
  *e = (evidence_t){
      .mean = 0.5, .variance = INFINITY, .reward_variance = 0.25, .gap = FIRST_GAP, .risk = risk};
}

void evidence_commit(evidence_t *e, double gap) { e->gap = fmax(gap, 0); }

/* The l that maximises l g L - l^2 v L / 2 - c(l). With Laplace or geometric noise of scale b, u = b l is the
   root in (0, 1) of g L / b - u v L / b^2 - c'(u), which falls in u; for Laplace noise c'(u) >= 2 u. */
static double best_tilt(const noise_law_t *noise, double gap, double v, double size) {
  const double b = noise->scale;
  if (!noise_is_bounded(noise)) {
    return fmin(gap / (v + b * b / size), MOST_TILT);
  }
  const double g = gap * size / b, w = v * size / (b * b);
  double low = 0, high = fmin(1, g / w);
  if (noise->kind == NOISE_LAPLACE) high = fmin(high, g / 2);
  for (int i = 0; i < 24; i++) {
    const double u = 0.5 * (low + high);
    if (g - u * w > noise_charge_slope(noise, u)) low = u;
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

/* Does the noise have an expectation under these tilts? The capital on a tilt without one is lost. */
static int admits(const noise_law_t *noise, const evidence_piece_t *piece) {
  for (int g = 0; g < EVIDENCE_TILTS && noise_is_bounded(noise); g++)
    if (!(piece->tilt[g] * noise->scale < 1)) return 0;
  return 1;
}

/* Where a batch of these tilts belongs: to the piece with the nearest ones, if they are near or
   there is no room for more. All this is decided by earlier releases and the size. */
static evidence_piece_t *piece_for(evidence_t *e, const noise_law_t *noise, const double *tilt) {
  evidence_piece_t *nearest = 0;
  double least = INFINITY;
  for (int64_t i = 0; i < e->pieces; i++) {
    if (!admits(noise, &e->piece[i])) continue;
    const double far = apart(e->piece[i].tilt, tilt);
    if (far < least || !nearest) least = far, nearest = &e->piece[i];
  }
  if (e->pieces == EVIDENCE_ROOM) return nearest ? nearest : &e->piece[e->pieces - 1];
  if (least <= ALIKE) return nearest;
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
static void learn(evidence_t *e) {
  double weight = 0, weighted = 0;
  for (int64_t i = 0; i < e->pieces; i++) {
    const evidence_piece_t *p = &e->piece[i];
    if (p->size == 0) continue;
    const double w = p->size / (e->reward_variance + p->noise * p->terms / p->size);
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

static void add_to(evidence_piece_t *piece, const noise_law_t *noise, double size, double sum, double terms) {
  const double variance = noise_law_variance(noise);
  piece->terms += terms;
  if (terms > 0) piece->noise += (variance - piece->noise) * (terms / piece->terms);
  piece->size += size;
  piece->sum += sum;
}

/* The piece of a batch of this size, of which nothing is known but what was released before */
static evidence_piece_t *aim_at(evidence_t *e, const noise_law_t *noise, double size) {
  double tilt[EVIDENCE_TILTS], gap = SMALLEST;
  for (int g = 0; g < EVIDENCE_TILTS; g++) {
    const double wanted = g == 0 ? 0 : g < FIXED ? gap : AROUND[g - FIXED] * e->gap;
    if (g > 0) gap *= RATIO;
    tilt[g] = size > 0 ? best_tilt(noise, wanted, e->reward_variance, size) : 0;
  }
  return piece_for(e, noise, tilt);
}

/* t with P(Z > t) <= chance */
static double normal_bound(double chance) {
  double low = 0, high = 40;
  for (int i = 0; i < 60; i++) {
    const double t = 0.5 * (low + high);
    if (normal_cdf(-t) > chance) low = t;
    else high = t;
  }
  return high;
}

static double share_left(const evidence_t *e, int sign) {
  double left = 1;
  for (int64_t i = 0; i < e->valued; i++) left -= e->share[i].share[sign < 0];
  return left;
}

/* The announced shares are valued at this release. */
static void value_shares(evidence_t *e) {
  if (!(e->announced[0] > 0 || e->announced[1] > 0)) return;
  evidence_share_t *part = &e->share[e->valued++];
  for (int i = 0; i < 2; i++) part->share[i] = e->announced[i], e->announced[i] = 0;
  for (int g = 0; g < EVIDENCE_TILTS; g++) {
    part->score[g] = e->score[g];
    part->cost[g] = e->charged[g] + e->fresh[g];
  }
  for (int i = 0; i < EVIDENCE_ROOM; i++) part->size[i] = i < e->pieces ? e->piece[i].size : 0;
}

/* A release of correlated noise, whose tilts were fixed one release ahead, as those of the next are here */
static void release_correlated(evidence_t *e, const noise_law_t *noise, double size, double sum) {
  const double r = noise->correlation;
  const double sd = noise->scale / (sqrt((1 - r) * (1 + r)) * (1 - 0x1p-20));
  const noise_law_t law = as_independent(noise);
  if (e->ahead == 0) e->ahead = aim_at(e, &law, size) - e->piece + 1;
  evidence_piece_t *now = &e->piece[e->ahead - 1], *next = aim_at(e, &law, size);
  e->ahead = next - e->piece + 1;
  e->releases += 1;
  const double bound = normal_bound(e->risk / (e->releases * (e->releases + 1)));
  for (int g = 0; g < EVIDENCE_TILTS; g++) {
    const double l = now->tilt[g], after = r * next->tilt[g], d = l - after;
    /* The sums themselves are rounded, and then with their noise. */
    const double rounded = 2 * noise->step * l * (1 + r) * sd / fmax(noise->scale, 1e-300);
    const double steady = 0.5 * d * d * sd * sd;
    e->score[g] += l * sum;
    e->charged[g] += steady + rounded;
    e->later[g] = after * bound * sd;
    e->fresh[g] = 0.5 * l * l * sd * sd - steady;
  }
  add_to(now, &law, size, sum, 1);
  value_shares(e);
}

void evidence_release(evidence_t *e, const noise_law_t *noise, double size, double sum, double terms) {
  e->n += size;
  if (noise->correlation > 0 && noise->scale > 0) {
    release_correlated(e, noise, size, sum);
  } else {
    evidence_piece_t *piece = aim_at(e, noise, size);
    for (int g = 0; g < EVIDENCE_TILTS; g++) {
      e->score[g] += piece->tilt[g] * sum;
      e->charged[g] += terms * noise_charge(noise, piece->tilt[g]);
    }
    add_to(piece, noise, size, sum, terms);
  }
  learn(e);
}

/* ln E^sign at theta, with its first two derivatives */
typedef struct {
  double theta, value, slope, bend;
} tangent_t;

/* The sum of shares times e^(sign score - cost - sum of size ln(1 + theta move)), over the largest term */
typedef struct {
  double most, total, turned, bent;
} mixture_t;

static void mix_in(mixture_t *m, double value, double weight, double slope, double bend) {
  if (value > m->most) {
    const double shrink = exp(m->most - value);
    m->total *= shrink, m->turned *= shrink, m->bent *= shrink, m->most = value;
  }
  const double w = weight * exp(value - m->most);
  m->total += w, m->turned += w * slope, m->bent += w * (slope * slope + bend);
}

static double weight_of(int g) {
  return g == 0 ? WEIGHT_NONE : g < FIXED ? WEIGHT_FIXED : WEIGHT_AROUND[g - FIXED];
}

/* ln(1 + x), for small x by the series of 2 atanh(x / (2 + x)), which takes a third of the time of log1p() */
static inline double log_of(double x) {
  if (!(fabs(x) < 0.1)) return log(1 + x);
  const double z = x / (2 + x), q = z * z;
  return 2 * z * (1 + q * (1. / 3 + q * (1. / 5 + q * (1. / 7 + q * (1. / 9 + q * (1. / 11 + q / 13))))));
}

/* `fresh`: all of the capital valued at the last release, as E; else as it is */
static tangent_t look(const evidence_t *e, int sign, double theta, int fresh) {
  if (e->pieces == 0) return (tangent_t){.theta = theta}; /* nothing was released */
  double ln[EVIDENCE_ROOM][EVIDENCE_TILTS], rate[EVIDENCE_ROOM][EVIDENCE_TILTS];
  mixture_t all = {.most = -INFINITY};
  for (int64_t i = 0; i < e->pieces; i++) {
    const double *move = sign > 0 ? e->piece[i].rise : e->piece[i].fall;
    for (int g = 0; g < EVIDENCE_TILTS; g++) {
      const double x = theta * move[g];
      ln[i][g] = log_of(x);
      rate[i][g] = move[g] / (1 + x);
    }
  }
  const int64_t valued = fresh ? 0 : e->valued;
  for (int64_t j = 0; j <= valued; j++) {
    const evidence_share_t *part = j < valued ? &e->share[j] : 0;
    const double share = part ? part->share[sign < 0] : fresh ? 1 : share_left(e, sign);
    if (!(share > 0)) continue;
    for (int g = 0; g < EVIDENCE_TILTS; g++) {
      const double cost = part ? part->cost[g] : e->charged[g] + (fresh ? e->fresh : e->later)[g];
      double value = sign * (part ? part->score : e->score)[g] - cost, slope = 0, bend = 0;
      for (int64_t i = 0; i < e->pieces; i++) {
        const double size = part ? part->size[i] : e->piece[i].size, r = rate[i][g];
        value -= size * ln[i][g], slope -= size * r, bend += size * r * r;
      }
      mix_in(&all, value, share * weight_of(g), slope, bend);
    }
  }
  const double slope = all.turned / all.total;
  return (tangent_t){theta, all.most + log(all.total), slope, all.bent / all.total - slope * slope};
}

double evidence_at(const evidence_t *e, int sign, double theta) { return look(e, sign, theta, 0).value; }

static tangent_t touch(const evidence_t *a, const evidence_t *b, double margin, double theta, int fresh) {
  const tangent_t up = look(a, 1, theta, fresh);
  const tangent_t down = look(b, -1, clip01(theta + margin), fresh);
  return (tangent_t){theta, up.value + down.value, up.slope + down.slope, up.bend + down.bend};
}

/* The height at which two tangents meet, and where */
static double meet(const tangent_t *left, const tangent_t *right, double *at) {
  const double width = right->theta - left->theta;
  const double step = (left->value - right->value + right->slope * width) / (right->slope - left->slope);
  *at = left->theta + fmin(fmax(step, 0), width);
  return left->value + left->slope * step;
}

/* The minimum over theta, from below by tangents on both of its sides. Steps are Newton's, and go beyond the
   minimum by so little that the tangent there is good enough. It ends as soon as it is known on which side of
   `enough` the minimum is. */
static double pair_of(const evidence_t *a, const evidence_t *b, double margin, int fresh, double enough) {
  const double low = fmax(0, -margin), high = fmax(low, fmin(1, 1 - margin));
  tangent_t left = {.theta = low, .slope = NAN}, right = {.theta = high, .slope = NAN};
  double next = (a->mean * b->variance + (b->mean - margin) * a->variance) / (a->variance + b->variance);
  double bound = -INFINITY;
  if (!(next > low && next < high)) next = 0.5 * (low + high);
  for (int i = 0; i < 100; i++) {
    const tangent_t t = touch(a, b, margin, next, fresh);
    if (t.value < enough) return -INFINITY;
    const int falls = t.slope < 0;
    if (t.slope == 0 || next == (falls ? high : low)) return t.value;
    if (falls) left = t;
    else right = t;
    const double beyond = sqrt(5e-7 / t.bend);
    next = t.theta - t.slope / t.bend + (falls ? beyond : -beyond);
    if (!isnan(left.slope) && !isnan(right.slope)) {
      double at;
      bound = meet(&left, &right, &at);
      if (bound >= enough && enough > -INFINITY) break;
      if (fmin(left.value, right.value) - bound < 1e-6) break;
      if (right.theta - left.theta < 1e-15) break;
      if (!(next > left.theta && next < right.theta)) next = at;
      if (i % 4 == 3) next = 0.5 * (left.theta + right.theta);
    } else if (!(next > left.theta && next < right.theta)) {
      next = falls ? high : low;
    }
  }
  return bound;
}

double evidence_pair(const evidence_t *a, const evidence_t *b, double margin) {
  return pair_of(a, b, margin, 0, -INFINITY);
}

/* How likely b is still to be better than a, as if all were normal: less is likelier */
static double normal_gap(const evidence_t *a, const evidence_t *b, double margin) {
  const double gap = a->mean - b->mean + margin;
  return gap * fabs(gap) / (a->variance + b->variance);
}

static const evidence_t *of_arm(const evidence_t *first, size_t stride, int i) {
  return (const evidence_t *)((const char *)first + stride * (size_t)i);
}

static void announce(evidence_t *e, const evidence_t *first, size_t stride, int k, double size,
                     double threshold, double margin) {
  const evidence_t *leader = first, *rival = 0;
  if (!(e->risk > 0 && e->n > 0) || e->valued == EVIDENCE_SHARES) return;
  for (int i = 0; i < k; i++) {
    const evidence_t *x = of_arm(first, stride, i);
    if (!(x->n > 0)) return;
    if (x->mean > leader->mean) leader = x;
  }
  for (int i = 0; i < k && e == leader; i++) {
    const evidence_t *x = of_arm(first, stride, i);
    if (x == leader) continue;
    if (!rival || normal_gap(leader, x, margin) < normal_gap(leader, rival, margin)) rival = x;
  }
  if (e != leader) rival = e;
  if (!rival) return;
  const double w = pair_of(leader, rival, margin, 1, -INFINITY), grown = size / e->n;
  const double soon = w + (fmax(w, 0) + 2) * grown;
  const double left = share_left(leader, 1) * share_left(rival, -1) / 4;
  if (log(left) + soon >= threshold - 1) e->announced[e != leader] = share_left(e, e == leader ? 1 : -1) / 2;
}

void evidence_interval(const evidence_t *e, double alpha, double *lower, double *upper) {
  const double line = log(2 / alpha);
  /* E^+ falls in theta, E^- rises. */
  for (int sign = 1; sign >= -1; sign -= 2) {
    double in = sign > 0 ? 1 : 0, out = 1 - in;
    const double end = evidence_at(e, sign, out);
    if (!(end >= line)) in = out;
    for (int i = 0; i < 60 && in != out; i++) {
      const double theta = 0.5 * (in + out);
      if (evidence_at(e, sign, theta) >= line) out = theta;
      else in = theta;
    }
    if (sign > 0) *lower = out;
    else *upper = out;
  }
}

double evidence_lower(const evidence_t *a, const evidence_t *b, double threshold) {
  double low = -1, high = 1; /* W falls in the difference */
  if (!(pair_of(a, b, -low, 0, threshold) >= threshold)) return -1;
  for (int i = 0; i < 40; i++) {
    const double d = 0.5 * (low + high);
    if (pair_of(a, b, -d, 0, threshold) >= threshold) low = d;
    else high = d;
  }
  return low;
}

double evidence_gap(const evidence_t *a, const evidence_t *b, double margin) {
  if (!(a->variance < INFINITY && b->variance < INFINITY)) return FIRST_GAP;
  return fabs(a->mean - b->mean + margin) * a->variance / (a->variance + b->variance);
}

void evidence_aim(evidence_t *e, const evidence_t *first, size_t stride, int k, double size, double threshold,
                  double margin) {
  const evidence_t *rival = 0;
  for (int i = 0; i < k; i++) {
    const evidence_t *other = of_arm(first, stride, i);
    if (other == e || !(other->n > 0)) continue;
    if (!rival || other->mean > rival->mean) rival = other;
  }
  if (rival) evidence_commit(e, evidence_gap(e, rival, margin));
  announce(e, first, stride, k, size, threshold, margin);
}

/* ---- the rule ---------------------------------------------------------------------- */

typedef struct {
  design_t design;
  evidence_t arm[];
} means_t;

static size_t size(int k) { return sizeof(means_t) + (size_t)k * sizeof(evidence_t); }

static void begin(void *state, const design_t *design) {
  means_t *s = state;
  s->design = *design;
  for (int i = 0; i < design->k; i++) evidence_begin(&s->arm[i], design->risk);
}

/* Of an arm of which nothing is known: the gap that its first batch may just prove, as if all were normal */
static double first_gap(const release_t *row, double threshold) {
  const double n = row->size, noise = row->terms * noise_law_variance(&row->noise);
  return n > 0 && threshold < INFINITY ? sqrt(2 * threshold * (0.25 + noise / n) / n) : FIRST_GAP;
}

static void aim(void *state, const release_t *rows, int n) {
  means_t *s = state;
  const design_t *d = &s->design;
  for (int i = 0; i < n; i++) {
    evidence_t *e = &s->arm[rows[i].arm];
    if (isnan(d->rate)) evidence_aim(e, s->arm, sizeof *e, d->k, rows[i].size, d->threshold, d->margin);
    else evidence_commit(e, e->n > 0 ? fabs(e->mean - d->rate) : first_gap(&rows[i], d->threshold));
  }
}

static void release(void *state, const release_t *rows, int n) {
  means_t *s = state;
  for (int i = 0; i < n; i++) {
    const release_t *row = &rows[i];
    evidence_release(&s->arm[row->arm], &row->noise, row->size, row->sum, row->terms);
  }
}

static double pair(const void *state, int a, int b, double margin, double enough) {
  const means_t *s = state;
  const evidence_t *x = &s->arm[a], *y = &s->arm[b];
  const double gap = x->mean - y->mean + margin;
  if (margin > 1) return INFINITY;
  if (enough > 0 && !(gap > 0 && gap * gap >= enough * (x->variance + y->variance))) return -INFINITY;
  return pair_of(x, y, margin, 0, enough);
}

static double lower(const void *state, int a, int b, double threshold) {
  const means_t *s = state;
  return evidence_lower(&s->arm[a], &s->arm[b], threshold);
}

static double against(const void *state, int a, int sign) {
  const means_t *s = state;
  return evidence_at(&s->arm[a], sign, s->design.rate);
}

static double estimate(const void *state, int a, int b) {
  const means_t *s = state;
  const evidence_t *x = &s->arm[a], *y = &s->arm[b];
  return x->n > 0 && y->n > 0 ? x->mean - y->mean : NAN;
}

MARTINGALE(means, .size = size, .begin = begin, .aim = aim, .release = release, .pair = pair, .lower = lower,
           .against = against, .estimate = estimate);
