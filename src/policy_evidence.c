#include <math.h>
#include "noise_exact_release.h"
#include "policy_evidence.h"
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

/* Independent noise that has the same effect in the long run */
static noise_law_t as_independent(const noise_law_t *noise) {
  noise_law_t law = *noise;
  law.scale *= sqrt((1 - law.carry) / (1 + law.carry));
  return law;
}

void evidence_begin(evidence_t *e, double risk) {
  *e = (evidence_t){.mean = 0.5,
                    .variance = INFINITY,
                    .reward_variance = 0.25,
                    .gap = FIRST_GAP,
                    .risk = risk};
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
        p->size / (e->reward_variance +
                   noise_variance(noise->kind, noise->scale) * p->batches / p->size);
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

/* The piece of a batch of this size, of which nothing is known but what was released before */
static evidence_piece_t *aim_at(evidence_t *e, const noise_law_t *noise, double size) {
  double tilt[EVIDENCE_TILTS], gap = SMALLEST;
  for (int g = 0; g < EVIDENCE_TILTS; g++) {
    const double wanted = g == 0 ? 0 : g < FIXED ? gap : AROUND[g - FIXED] * e->gap;
    if (g > 0) gap *= RATIO;
    tilt[g] = size > 0 ? best_tilt(noise, wanted, e->reward_variance, size) : 0;
  }
  return piece_for(e, tilt);
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
  for (int i = 0; i < EVIDENCE_ROOM; i++)
    part->size[i] = i < e->pieces ? e->piece[i].size : 0;
}

/* A release of correlated noise, whose tilts were fixed one release ahead, as those of the next are here */
static void release_correlated(evidence_t *e, const noise_law_t *noise, double size,
                               double sum) {
  const double r = noise->carry;
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
    const double rounded =
        4 * noise->rounding * l * (1 + r) * sd / fmax(noise->scale, 1e-300);
    const double steady = 0.5 * d * d * sd * sd;
    e->score[g] += l * sum;
    e->charged[g] += steady + rounded;
    e->later[g] = after * bound * sd;
    e->fresh[g] = 0.5 * l * l * sd * sd - steady;
  }
  now->batches += 1;
  now->size += size;
  now->sum += sum;
  value_shares(e);
}

void evidence_release(evidence_t *e, const noise_law_t *noise, double size, double sum,
                      double terms) {
  const noise_law_t law = as_independent(noise);
  e->n += size;
  if (noise->carry > 0 && noise->scale > 0) {
    release_correlated(e, noise, size, sum);
  } else {
    evidence_piece_t *piece = aim_at(e, noise, size);
    for (int g = 0; g < EVIDENCE_TILTS; g++) {
      e->score[g] += piece->tilt[g] * sum;
      e->charged[g] += terms * noise_charge(noise, piece->tilt[g]);
    }
    piece->batches += terms;
    piece->size += size;
    piece->sum += sum;
  }
  learn(e, &law);
}

/* ln of sum of shares times mixtures of e^(sign score - cost - sum size ln(1 + theta move)), and its
   derivative */
typedef struct {
  double most, total, turned;
} mixture_t;

static void mix_in(mixture_t *m, double value, double weight, double rate) {
  if (value > m->most) {
    const double shrink = exp(m->most - value);
    m->total *= shrink, m->turned *= shrink, m->most = value;
  }
  const double w = weight * exp(value - m->most);
  m->total += w, m->turned += w * rate;
}

static double weight_of(int g) {
  return g == 0 ? WEIGHT_NONE : g < FIXED ? WEIGHT_FIXED : WEIGHT_AROUND[g - FIXED];
}

/* `fresh`: all of the capital valued at the last release, as E; else as it is */
static double evidence_look(const evidence_t *e, int sign, double theta, double *slope,
                            int fresh) {
  if (e->pieces == 0) { /* nothing was released */
    if (slope) *slope = 0;
    return 0;
  }
  double ln[EVIDENCE_ROOM][EVIDENCE_TILTS], rate[EVIDENCE_ROOM][EVIDENCE_TILTS];
  mixture_t all = {.most = -INFINITY};
  for (int64_t i = 0; i < e->pieces; i++) {
    const double *move = sign > 0 ? e->piece[i].rise : e->piece[i].fall;
    for (int g = 0; g < EVIDENCE_TILTS; g++) {
      const double x = theta * move[g];
      ln[i][g] = fabs(x) < 0.01 ? log1p(x) : log(1 + x);
      rate[i][g] = move[g] / (1 + x);
    }
  }
  const int64_t valued = fresh ? 0 : e->valued;
  for (int64_t j = 0; j <= valued; j++) {
    const evidence_share_t *part = j < valued ? &e->share[j] : 0;
    const double share = part ? part->share[sign < 0] : fresh ? 1 : share_left(e, sign);
    if (!(share > 0)) continue;
    for (int g = 0; g < EVIDENCE_TILTS; g++) {
      const double cost =
          part ? part->cost[g] : e->charged[g] + (fresh ? e->fresh : e->later)[g];
      double value = sign * (part ? part->score : e->score)[g] - cost, slopes = 0;
      for (int64_t i = 0; i < e->pieces; i++) {
        const double size = part ? part->size[i] : e->piece[i].size;
        value -= size * ln[i][g], slopes -= size * rate[i][g];
      }
      mix_in(&all, value, share * weight_of(g), slopes);
    }
  }
  if (slope) *slope = all.turned / all.total;
  return all.most + log(all.total);
}

double evidence_at(const evidence_t *e, int sign, double theta, double *slope) {
  return evidence_look(e, sign, theta, slope, 0);
}

typedef struct {
  double theta, value, slope;
} tangent_t;

static tangent_t touch(const evidence_t *a, const evidence_t *b, double margin,
                       double theta, int fresh) {
  tangent_t t = {.theta = theta};
  double up, down;
  t.value = evidence_look(a, 1, theta, &up, fresh) +
            evidence_look(b, -1, clip01(theta + margin), &down, fresh);
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

static double pair_of(const evidence_t *a, const evidence_t *b, double margin, int fresh) {
  tangent_t left = touch(a, b, margin, fmax(0, -margin), fresh);
  if (left.slope >= 0 || !(fabs(margin) < 1)) return left.value;
  tangent_t right = touch(a, b, margin, fmin(1, 1 - margin), fresh);
  if (right.slope <= 0) return right.value;
  double next = (a->mean * b->variance + (b->mean - margin) * a->variance) /
                (a->variance + b->variance);
  double bound = -INFINITY;
  for (int i = 0; i < 100; i++) {
    const double width = right.theta - left.theta;
    if (!(next > left.theta + 1e-3 * width && next < right.theta - 1e-3 * width)) {
      next = left.theta + 0.5 * width;
    }
    const tangent_t t = touch(a, b, margin, next, fresh);
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

double evidence_pair(const evidence_t *a, const evidence_t *b, double margin) {
  return pair_of(a, b, margin, 0);
}

/* How likely b is still to be better than a, as if all were normal: less is likelier */
static double normal_gap(const evidence_t *a, const evidence_t *b, double margin) {
  const double gap = a->mean - b->mean + margin;
  return gap * fabs(gap) / (a->variance + b->variance);
}

static const evidence_t *of_arm(const evidence_t *first, size_t stride, int i) {
  return (const evidence_t *)((const char *)first + stride * (size_t)i);
}

static void announce(evidence_t *e, const evidence_t *first, size_t stride, int k,
                     double size, double line, double margin) {
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
    if (!rival || normal_gap(leader, x, margin) < normal_gap(leader, rival, margin))
      rival = x;
  }
  if (e != leader) rival = e;
  if (!rival) return;
  const double w = pair_of(leader, rival, margin, 1), grown = size / e->n;
  const double soon = w + (fmax(w, 0) + 2) * grown;
  const double left = share_left(leader, 1) * share_left(rival, -1) / 4;
  if (log(left) + soon >= line - 1)
    e->announced[e != leader] = share_left(e, e == leader ? 1 : -1) / 2;
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

void evidence_aim(evidence_t *e, const evidence_t *first, size_t stride, int k, double size,
                  double line, double margin) {
  const evidence_t *rival = 0;
  for (int i = 0; i < k; i++) {
    const evidence_t *other = of_arm(first, stride, i);
    if (other == e || !(other->n > 0)) continue;
    if (!rival || other->mean > rival->mean) rival = other;
  }
  if (rival) evidence_commit(e, evidence_gap(e, rival, margin));
  announce(e, first, stride, k, size, line, margin);
}
