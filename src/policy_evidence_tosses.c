#include <math.h>
#include "policy_evidence_tosses.h"
#include "math_util.h"

static const double LARGEST = 0.02 * 2.2 * 2.2 * 2.2 * 2.2, RATIO = 2.2; /* of the kappas */
static const double WITHIN = 0.95;                                       /* so far into what is allowed */

void bet_kappas(const noise_law_t *noise, double floor, double kappa[BETS]) {
  double most = LARGEST;
  if (noise_is_bounded(noise)) {
    most = fmin(most, -WITHIN * floor * expm1(-1 / noise->scale)); /* l scale < 1 for every c */
  }
  for (int i = BETS - 1; i >= 0; i--, most /= RATIO) kappa[i] = most;
}

/* A mean from earlier blocks, drawn to 1/2 */
static double guess(const tossed_t *a) { return clip01((a->sum_before + 5) / (a->n_before + 10)); }

static void bet_add(bet_t *bet, const double kappa[BETS], const tossed_t *a, const tossed_t *b) {
  const double p = a->chance / (a->chance + b->chance), q = b->chance / (a->chance + b->chance);
  const double centre = q * guess(a) + p * guess(b); /* of the least variance */
  for (int i = 0; i < BETS; i++) {
    const double k = kappa[i];
    const double c = clip01(fmin(fmax(centre, 1 - WITHIN * q / k), WITHIN * p / k));
    const double a0 = log1p(-k * c / p), l = log1p(k * (1 - c) / p) - a0;
    const double b0 = log1p(k * c / q), m = b0 - log1p(-k * (1 - c) / q);
    bet->log[i] += a->n * a0 + b->n * b0 + l * a->sum - m * b->sum - noise_charge(&a->noise, l) -
                   noise_charge(&b->noise, m);
  }
  bet->n += a->n + b->n;
}

static void bet_add_permuted(bet_t *bet, const double kappa[BETS], const tossed_t *a, const tossed_t *b) {
  const double n = a->n + b->n;
  if (!(a->n > 0 && b->n > 0)) return;
  for (int i = 0; i < BETS; i++) {
    const double t = kappa[i] * n * n / (a->n * b->n), l = t * b->n / n, m = t * a->n / n;
    bet->log[i] += l * a->sum - m * b->sum - t * t * (a->n * b->n + fmin(a->n, b->n)) / (8 * n) -
                   noise_charge(&a->noise, l) - noise_charge(&b->noise, m);
  }
  bet->n += n;
}

/* Of the mean of so many rewards in [0, 1] with this noise in their sum, at most */
static double variance_of(const tossed_t *a) { return (0.25 + noise_law_variance(&a->noise) / a->n) / a->n; }

/* A block in which an arm got nobody says nothing of a difference, and one in which it got few people says
   little, as the noise of a sum is divided among them. */
static void compare(bet_t *bet, const tossed_t *a, const tossed_t *b) {
  if (!(a->n > 0 && b->n > 0)) return;
  const double weight = 1 / (variance_of(a) + variance_of(b));
  bet->difference += weight * (a->sum / a->n - b->sum / b->n);
  bet->weight += weight;
}

void bets_add(bet_t *bets, int k, const double kappa[BETS], tossed_t *block, int permuted) {
  for (int i = 0; i < k * k; i++) {
    const tossed_t *a = &block[i / k], *b = &block[i % k];
    if (a == b || !(a->chance > 0 && b->chance > 0)) continue;
    (permuted ? bet_add_permuted : bet_add)(&bets[i], kappa, a, b);
    compare(&bets[i], a, b);
  }
  for (int i = 0; i < k; i++) {
    if (!(block[i].chance > 0)) continue;
    block[i].n_before += block[i].n, block[i].sum_before += block[i].sum;
  }
}

/* People of one arm, of whom each multiplies by at most 1 + sign kappa (their mean - rate) in the mean */
static void bet_add_rate(bet_t *bet, const double kappa[BETS], const release_t *row, double rate, int sign) {
  for (int i = 0; i < BETS; i++) {
    const double zero = log1p(-sign * kappa[i] * rate), l = log1p(sign * kappa[i] * (1 - rate)) - zero;
    bet->log[i] += row->size * zero + l * row->sum - noise_charge(&row->noise, fabs(l));
  }
}

/* ln of the mean of F, each divided by the most that it can be in the mean if no difference is above d */
double bet_log(const bet_t *bet, const double kappa[BETS], int permuted, double d) {
  double value[BETS], most = -INFINITY, total = 0;
  for (int i = 0; i < BETS; i++) {
    value[i] = bet->log[i] - bet->n * (permuted ? kappa[i] * d : log1p(kappa[i] * d));
    most = fmax(most, value[i]);
  }
  if (most == -INFINITY) return most;
  for (int i = 0; i < BETS; i++) total += exp(value[i] - most);
  return most + log(total / BETS);
}

double bet_lower(const bet_t *bet, const double kappa[BETS], double threshold) {
  double low = -1, high = 1; /* falls in d */
  if (!(bet_log(bet, kappa, 0, low) >= threshold)) return -1;
  for (int i = 0; i < 60; i++) {
    const double d = 0.5 * (low + high);
    if (bet_log(bet, kappa, 0, d) >= threshold) low = d;
    else high = d;
  }
  return low;
}

/* ---- the rule ---------------------------------------------------------------------- */

typedef struct {
  design_t design;
  int begun; /* are the kappas known? */
  double kappa[BETS];
  tossed_t *block;
  bet_t bets[]; /* of a against b at a k + b; with a rate, of a at 2 a: above it, and at 2 a + 1: below it */
} tosses_t;

static size_t size(int k) {
  return sizeof(tosses_t) + (size_t)k * ((size_t)(k + 1) * sizeof(bet_t) + sizeof(tossed_t));
}

static void begin(void *state, const design_t *design) {
  tosses_t *s = state;
  const int k = design->k;
  *s = (tosses_t){.design = *design, .block = (tossed_t *)(s->bets + k * (k + 1))};
  for (int i = 0; i < k * (k + 1); i++) s->bets[i] = (bet_t){0};
  for (int i = 0; i < k; i++) s->block[i] = (tossed_t){0};
}

/* Those that every law of the first block admits */
static void fix_kappas(tosses_t *s, const release_t *rows, int n) {
  const noise_law_t *widest = &rows[0].noise;
  for (int i = 1; i < n; i++) {
    const noise_law_t *noise = &rows[i].noise;
    if (noise_is_bounded(noise) && !(noise_is_bounded(widest) && widest->scale >= noise->scale))
      widest = noise;
  }
  bet_kappas(widest, isnan(s->design.rate) ? s->design.floor : 1, s->kappa);
  s->begun = 1;
}

static void release(void *state, const release_t *rows, int n) {
  tosses_t *s = state;
  const int k = s->design.k;
  if (!s->begun) fix_kappas(s, rows, n);
  for (int i = 0; i < n && !isnan(s->design.rate); i++) {
    bet_t *own = s->bets + 2 * rows[i].arm;
    bet_add_rate(own, s->kappa, &rows[i], s->design.rate, 1);
    bet_add_rate(own + 1, s->kappa, &rows[i], s->design.rate, -1);
  }
  if (!isnan(s->design.rate)) return;
  for (int i = 0; i < k; i++) s->block[i].chance = 0;
  for (int i = 0; i < n; i++) {
    tossed_t *arm = &s->block[rows[i].arm];
    arm->chance = rows[i].chance, arm->noise = rows[i].noise;
    arm->n = rows[i].size, arm->sum = rows[i].sum;
  }
  bets_add(s->bets, k, s->kappa, s->block, s->design.permuted);
}

static const bet_t *bet_of(const tosses_t *s, int a, int b) { return &s->bets[a * s->design.k + b]; }

static double pair(const void *state, int a, int b, double margin, double enough) {
  const tosses_t *s = state;
  (void)enough;
  if (margin > 1) return INFINITY;
  return bet_log(bet_of(s, a, b), s->kappa, s->design.permuted, -margin);
}

static double lower(const void *state, int a, int b, double threshold) {
  const tosses_t *s = state;
  return s->design.permuted ? NAN : bet_lower(bet_of(s, a, b), s->kappa, threshold);
}

static double against(const void *state, int a, int sign) {
  const tosses_t *s = state;
  return bet_log(&s->bets[2 * a + (sign < 0)], s->kappa, 0, 0);
}

static double estimate(const void *state, int a, int b) {
  const bet_t *bet = bet_of(state, a, b);
  return bet->weight > 0 ? bet->difference / bet->weight : NAN;
}

MARTINGALE(tosses, .size = size, .begin = begin, .release = release, .pair = pair, .lower = lower,
           .against = against, .estimate = estimate);
