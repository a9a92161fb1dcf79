#include <math.h>
#include "policy_evidence_tosses.h"
#include "math_util.h"

static const double LARGEST = 0.02 * 2.2 * 2.2 * 2.2 * 2.2, RATIO = 2.2; /* of the kappas */
static const double LARGEST_SQUARE = 0.4, RATIO_SQUARE = 1.8; /* and of those of bets with squares */
static const double LINEAR_PART = 0.2; /* of the capital, where there are bets with squares */
static const double WITHIN = 0.95;     /* so far into what is allowed */

static void geometric(int n, double most, double ratio, double *kappa) {
  for (int i = n - 1; i >= 0; i--, most /= ratio) kappa[i] = most;
}

/* With u = kappa / floor, every coefficient of the noise in a sum is at most -ln(1 - u), and in squares at
   most that less u: both times the scale must be below 1 where the noise is bounded. */
stakes_t bet_stakes(const noise_law_t *noise, double weight, double floor, int strata) {
  const int coins = strata > 1 ? FINE_BETS : BETS;
  stakes_t stakes = {.n = coins + (weight > 0 ? BETS : 0),
                     .coins = coins,
                     .linear = weight > 0 ? LINEAR_PART : 1,
                     .centre = 0.5,
                     .strata = strata};
  double most = INFINITY;
  if (noise_is_bounded(noise)) most = -WITHIN * floor * expm1(-1 / noise->scale);
  geometric(coins, fmin(LARGEST, most), coins > BETS ? sqrt(RATIO) : RATIO, stakes.kappa);
  if (noise_is_bounded(noise) && weight > 0) {
    while ((-log1p(-most / floor) - most / floor) * noise->scale > WITHIN * weight) most *= WITHIN;
  }
  most = fmin(LARGEST_SQUARE * fmax(1, 2 * floor), most);
  geometric(BETS, most, RATIO_SQUARE, stakes.kappa + coins);
  return stakes;
}

/* A mean from earlier blocks, drawn to the first one, as if that were the mean of ten people. Strata differ
   in their means, each has fewer people, and so it pays to be exact. With an unknown mean of variance 1/12, a
   reward's variance of 0.2 and that of the noise, the best weight is 12 (0.2 n + noise) / n people. */
static double guess(const tossed_t *a, const stakes_t *stakes) {
  const double own = stakes->strata > 1 ? 2.4 + 12 * a->noise_before / fmax(a->n_before, 1) : 10;
  return clip01((a->sum_before + own * stakes->centre) / (a->n_before + own));
}

/* What an arm of chance p adds to a bet with squares; `sign` -1: to one against it */
static double square_term(const release_t *a, double p, double c, double kappa, double psi, int sign) {
  if (!(a->weight > 0)) return -INFINITY; /* a capital may be lost */
  const double m = 1 - 2 * c, on_sum = sign * kappa / p - psi * m / (p * p), on_squares = psi / (p * p);
  const noise_law_t noise = noise_of_squares(a);
  return sign * kappa / p * (a->sum - c * a->size) -
         on_squares * (a->squares + m * a->sum + a->size * (c * c - 0.25)) -
         noise_charge(&a->noise, fabs(on_sum)) - noise_charge(&noise, on_squares);
}

static void bet_add(bet_t *bet, const stakes_t *stakes, const tossed_t *first, const tossed_t *second) {
  const release_t *a = &first->now, *b = &second->now;
  const double p = a->chance / (a->chance + b->chance), q = b->chance / (a->chance + b->chance);
  const double of_first = guess(first, stakes), of_second = guess(second, stakes);
  const double centre = q * of_first + p * of_second; /* of the least variance */
  for (int i = 0; i < stakes->n; i++) {
    const double k = stakes->kappa[i];
    const double c = clip01(fmin(fmax(centre, 1 - WITHIN * q / k), WITHIN * p / k));
    if (i < stakes->coins) {
      const double a0 = log1p(-k * c / p), l = log1p(k * (1 - c) / p) - a0;
      const double b0 = log1p(k * c / q), m = b0 - log1p(-k * (1 - c) / q);
      bet->log[i] += a->size * a0 + b->size * b0 + l * a->sum - m * b->sum - noise_charge(&a->noise, l) -
                     noise_charge(&b->noise, m);
    } else {
      const double psi = fan_psi(k, fmax(c / p, (1 - c) / q));
      bet->log[i] += square_term(a, p, c, k, psi, 1) + square_term(b, q, c, k, psi, -1);
    }
  }
  bet->n += a->size + b->size;
}

static void bet_add_permuted(bet_t *bet, const stakes_t *stakes, const release_t *a, const release_t *b) {
  const double n = a->size + b->size;
  if (!(a->size > 0 && b->size > 0)) return;
  for (int i = 0; i < stakes->coins; i++) {
    const double t = stakes->kappa[i] * n * n / (a->size * b->size), l = t * b->size / n, m = t * a->size / n;
    bet->log[i] += l * a->sum - m * b->sum - t * t * (a->size * b->size + fmin(a->size, b->size)) / (8 * n) -
                   noise_charge(&a->noise, l) - noise_charge(&b->noise, m);
  }
  bet->n += n;
}

/* Of the mean of so many rewards in [0, 1] with this noise in their sum, at most */
static double variance_of(const release_t *a) {
  return (0.25 + noise_law_variance(&a->noise) / a->size) / a->size;
}

/* A block in which an arm got nobody says nothing of a difference, and one in which it got few people says
   little, as the noise of a sum is divided among them. */
static void compare(bet_t *bet, const release_t *a, const release_t *b) {
  if (!(a->size > 0 && b->size > 0)) return;
  const double weight = 1 / (variance_of(a) + variance_of(b));
  bet->difference += weight * (a->sum / a->size - b->sum / b->size);
  bet->weight += weight;
}

void bets_add(bet_t *bets, int k, const stakes_t *stakes, tossed_t *block, int permuted) {
  for (int i = 0; i < k * k; i++) {
    const tossed_t *a = &block[i / k], *b = &block[i % k];
    if (a == b || !(a->now.chance > 0 && b->now.chance > 0)) continue;
    if (permuted) bet_add_permuted(&bets[i], stakes, &a->now, &b->now);
    else bet_add(&bets[i], stakes, a, b);
    compare(&bets[i], &a->now, &b->now);
  }
  for (int i = 0; i < k; i++) {
    if (!(block[i].now.chance > 0)) continue;
    block[i].n_before += block[i].now.size, block[i].sum_before += block[i].now.sum;
    block[i].noise_before += noise_law_variance(&block[i].now.noise);
  }
}

/* People of one arm, of whom each multiplies by at most 1 + sign kappa (their mean - rate) in the mean */
static void bet_add_rate(bet_t *bet, const stakes_t *stakes, const release_t *row, double rate, int sign) {
  for (int i = 0; i < stakes->n; i++) {
    const double k = stakes->kappa[i], zero = log1p(-sign * k * rate),
                 l = log1p(sign * k * (1 - rate)) - zero;
    const int coin = i < stakes->coins;
    if (coin) bet->log[i] += row->size * zero + l * row->sum - noise_charge(&row->noise, fabs(l));
    else bet->log[i] += square_term(row, 1, rate, k, fan_psi(k, sign > 0 ? rate : 1 - rate), sign);
  }
}

/* ln of the mean of F, each divided by the most that it can be in the mean if no difference is above d */
double bet_log(const bet_t *bet, const stakes_t *stakes, int permuted, double d) {
  double value[ALL_BETS], most = -INFINITY, total = 0;
  for (int i = 0; i < stakes->n; i++) {
    const double kappa = stakes->kappa[i];
    value[i] = bet->log[i] - bet->n * (permuted ? kappa * d : log1p(kappa * d));
    most = fmax(most, value[i]);
  }
  if (most == -INFINITY) return most;
  for (int i = 0; i < stakes->n; i++) {
    const int coin = i < stakes->coins;
    total += exp(value[i] - most) * (coin ? stakes->linear * BETS / stakes->coins : 1 - stakes->linear);
  }
  return most + log(total / BETS);
}

double bet_lower(const bet_t *bet, const stakes_t *stakes, double threshold) {
  double low = -1, high = 1; /* falls in d */
  if (!(bet_log(bet, stakes, 0, low) >= threshold)) return -1;
  for (int i = 0; i < 60; i++) {
    const double d = 0.5 * (low + high);
    if (bet_log(bet, stakes, 0, d) >= threshold) low = d;
    else high = d;
  }
  return low;
}

/* ---- the rule ---------------------------------------------------------------------- */

typedef struct {
  design_t design;
  stakes_t stakes; /* from the first block on */
  bet_t bets[]; /* of a against b at a k + b; with a rate, of a at 2 a: above it, and at 2 a + 1: below it */
} tosses_t;

/* The last block of each stratum, after the bets */
static tossed_t *blocks(tosses_t *s) { return (tossed_t *)(s->bets + s->design.k * (s->design.k + 1)); }

static size_t size(const design_t *design) {
  const size_t k = (size_t)design->k;
  return sizeof(tosses_t) + k * ((k + 1) * sizeof(bet_t) + (size_t)design->strata * sizeof(tossed_t));
}

static void begin(void *state, const design_t *design) {
  tosses_t *s = state;
  const int k = design->k;
  *s = (tosses_t){.design = *design,
                  .stakes = {.n = BETS, .coins = BETS, .linear = 1, .centre = 0.5, .strata = 1}};
  for (int i = 0; i < k * (k + 1); i++) s->bets[i] = (bet_t){0};
  for (int i = 0; i < k * design->strata; i++) blocks(s)[i] = (tossed_t){0};
}

/* Those that every law of the first block admits. There are squares if all its rows have them. */
static void fix_stakes(tosses_t *s, const release_t *rows, int n) {
  const noise_law_t *widest = &rows[0].noise;
  double weight = s->design.permuted && isnan(s->design.rate) ? 0 : rows[0].weight;
  for (int i = 1; i < n; i++) {
    const noise_law_t *noise = &rows[i].noise;
    if (noise_is_bounded(noise) && !(noise_is_bounded(widest) && widest->scale >= noise->scale))
      widest = noise;
    weight = fmin(weight, rows[i].weight);
  }
  const double floor = isnan(s->design.rate) ? s->design.floor : 1;
  s->stakes = bet_stakes(widest, weight, floor, s->design.strata);
  if (isnan(s->design.centre)) return;
  s->stakes.centre = s->design.centre;
  if (weight > 0) s->stakes.linear = 0; /* a residual is never a coin */
}

static void release(void *state, const release_t *rows, int n) {
  tosses_t *s = state;
  const int k = s->design.k;
  if (s->stakes.kappa[0] == 0) fix_stakes(s, rows, n);
  for (int i = 0; i < n && !isnan(s->design.rate); i++) {
    bet_t *own = s->bets + 2 * rows[i].arm;
    bet_add_rate(own, &s->stakes, &rows[i], s->design.rate, 1);
    bet_add_rate(own + 1, &s->stakes, &rows[i], s->design.rate, -1);
  }
  if (!isnan(s->design.rate)) return;
  tossed_t *block = blocks(s) + rows[0].stratum * k;
  for (int i = 0; i < k; i++) block[i].now.chance = 0;
  for (int i = 0; i < n; i++) block[rows[i].arm].now = rows[i];
  bets_add(s->bets, k, &s->stakes, block, s->design.permuted);
}

static const bet_t *bet_of(const tosses_t *s, int a, int b) { return &s->bets[a * s->design.k + b]; }

static double pair(const void *state, int a, int b, double margin, double enough) {
  const tosses_t *s = state;
  (void)enough;
  if (margin > 1) return INFINITY;
  return bet_log(bet_of(s, a, b), &s->stakes, s->design.permuted, -margin);
}

static double lower(const void *state, int a, int b, double threshold, double known) {
  const tosses_t *s = state;
  (void)known; /* of people before: it does not hold of all */
  return s->design.permuted ? NAN : bet_lower(bet_of(s, a, b), &s->stakes, threshold);
}

static double against(const void *state, int a, int sign) {
  const tosses_t *s = state;
  return bet_log(&s->bets[2 * a + (sign < 0)], &s->stakes, 0, 0);
}

static double estimate(const void *state, int a, int b) {
  const bet_t *bet = bet_of(state, a, b);
  return bet->weight > 0 ? bet->difference / bet->weight : NAN;
}

MARTINGALE(tosses, .size = size, .begin = begin, .release = release, .pair = pair, .lower = lower,
           .against = against, .estimate = estimate);
