#include <math.h>
#include <string.h>
#include "policy_evidence_means.h"
#include "policy_released.h"
#include "math_special.h"
#include "math_util.h"

enum {
  FIXED = 11, /* gaps, 0 the first; then those around the committed gap */
  WIDTH = 16  /* EVIDENCE_TILTS and idle ones: whole vectors */
};
static const double SMALLEST = 0.005, RATIO = 1.6, /* of the fixed gaps */
    AROUND[] = {0.6, 1, 1.6};
/* The capital on each gap. A gap of 0 is evidence of 1 for ever: what an arm of very many rewards says cannot
   fall without end on the far side of its mean, so that a starved rival can be judged. */
static const double WEIGHT[WIDTH] = {0.02,  0.073, 0.073, 0.073, 0.073,  0.073, 0.073,
                                     0.073, 0.073, 0.073, 0.073, 0.0625, 0.125, 0.0625};
static const double MIN_VARIANCE = 0.03; /* of a reward, for tilts */
static const double FIRST_GAP = 0.05;    /* before anything is known */
static const double MAX_TILT = 20;
static const double WITHIN = 0.95;     /* so far into what is allowed */
static const double OFF_CENTRE = 0.15; /* standard deviations by which a centre may be off */
/* Tilts that differ by less are taken for one: evidence is flat around the best. */
static const double ALIKE = 1.06;

/* Independent noise that has the same effect in the long run */
static noise_law_t as_independent(const noise_law_t *noise) {
  noise_law_t law = *noise;
  law.scale *= sqrt((1 - law.correlation) / (1 + law.correlation));
  return law;
}

int evidence_is_sound(const evidence_t *e) {
  int sound = e->kinds >= 0 && e->kinds <= EVIDENCE_KINDS && e->pieces >= 0 && e->pieces <= EVIDENCE_PIECES &&
              e->valued >= 0 && e->valued <= EVIDENCE_SHARES;
  for (int i = 0; i < EVIDENCE_KINDS && sound; i++) sound = e->ahead[i] >= 0 && e->ahead[i] <= e->pieces;
  for (int64_t i = 0; i < e->pieces && sound; i++) {
    sound = e->piece[i].kind >= 0 && e->piece[i].kind < EVIDENCE_KINDS;
  }
  return sound;
}

void evidence_begin(evidence_t *e, double risk) {
  *e = (evidence_t){
      .mean = 0.5, .variance = INFINITY, .coin = 0.25, .spread = 0.25, .gap = FIRST_GAP, .risk = risk};
}

void evidence_commit(evidence_t *e, double gap) { e->gap = fmax(gap, 0); }

/* For each gap the l that maximises l g L - l^2 v L / 2 - c(l). With Laplace or geometric noise of scale b,
   u = b l is the root in (0, 1) of g L / b - u v L / b^2 - c'(u), which falls in u; for Laplace noise
   c'(u) >= 2 u. The roots are halved in side by side. */
static void best_tilts(const noise_law_t *noise, const double *gap, double v, double size, double *tilt) {
  const double b = noise->scale, w = v * size / (b * b);
  double g[WIDTH] = {0}, low[WIDTH] = {0}, high[WIDTH] = {0}, u[WIDTH], slope[WIDTH];
  for (int i = 0; i < EVIDENCE_TILTS; i++) {
    if (!noise_is_bounded(noise)) tilt[i] = fmin(gap[i] / (v + b * b / size), MAX_TILT);
    g[i] = gap[i] * size / b, high[i] = fmin(1, g[i] / w);
    if (noise->kind == NOISE_LAPLACE) high[i] = fmin(high[i], g[i] / 2);
  }
  if (!noise_is_bounded(noise)) return;
  for (int step = 0; step < 24; step++) {
    for (int i = 0; i < WIDTH; i++) u[i] = 0.5 * (low[i] + high[i]);
    noise_charge_slopes(noise, WIDTH, u, slope);
    for (int i = 0; i < WIDTH; i++) {
      const int above = g[i] - u[i] * w > slope[i];
      low[i] = above ? u[i] : low[i], high[i] = above ? high[i] : u[i];
    }
  }
  for (int i = 0; i < EVIDENCE_TILTS; i++) tilt[i] = fmin(low[i] / b, MAX_TILT);
}

/* What a batch of a piece adds to ln E^s with its g-th tilt: factors of its sum, of its squares and of its
   size; s is 1 or -1. */
typedef struct {
  double on_sum, on_squares, each;
} bet_t;

static bet_t bet_of(const evidence_piece_t *p, int s, int g) {
  const double l = p->tilt[s < 0][g], c = p->centre;
  if (p->kind == LINEAR) return (bet_t){.on_sum = s * l};
  const double psi = fan_psi(l, s > 0 ? c : 1 - c);
  return (bet_t){s * l - psi * (1 - 2 * c), -psi, -s * l * c - psi * (c * c - 0.25) - log1p(-s * l * c)};
}

/* Has the noise an expectation under these tilts? The capital on a tilt without one is lost. */
static int admits_bet(const release_t *row, const bet_t *bet, double most) {
  if (!noise_is_bounded(&row->noise)) return 1;
  const double scale = row->noise.scale;
  return fabs(bet->on_sum) * scale < most && -bet->on_squares * scale < most * fmax(row->weight, 1e-300);
}

static int admits(const release_t *row, const evidence_piece_t *piece) {
  if (!noise_is_bounded(&row->noise)) return 1;
  for (int s = 1; s >= -1; s -= 2) {
    for (int g = 0; g < EVIDENCE_TILTS; g++) {
      const bet_t bet = bet_of(piece, s, g);
      if (!admits_bet(row, &bet, 1)) return 0;
    }
  }
  return 1;
}

/* With squares, the l that maximises l g - psi v - l^2 a / 2, a being the noise of a sum over the batch: the
   root of g = v l / (1 - l B) + a l */
static double best_square(const release_t *row, double gap, double v, double centre, int s) {
  const double B = s > 0 ? centre : 1 - centre;
  const double a = noise_law_variance(&row->noise) / row->size, b = v + a + gap * B;
  evidence_piece_t p = {.kind = SQUARES, .centre = centre};
  double *l = &p.tilt[s < 0][0];
  *l = fmin(2 * gap / (b + sqrt(fmax(b * b - 4 * a * B * gap, 0))), fmin(MAX_TILT, WITHIN / B));
  for (;; *l *= 0.9) {
    const bet_t bet = bet_of(&p, s, 0);
    if (s * bet.on_sum >= 0 && admits_bet(row, &bet, WITHIN)) return *l;
  }
}

/* How much two vectors of tilts differ: the largest ratio */
static double apart(const evidence_piece_t *x, const evidence_piece_t *y) {
  double most = 1;
  for (int i = 0; i < (x->kind == LINEAR ? 1 : 2) * EVIDENCE_TILTS; i++) {
    const double a = x->tilt[i / EVIDENCE_TILTS][i % EVIDENCE_TILTS];
    const double b = y->tilt[i / EVIDENCE_TILTS][i % EVIDENCE_TILTS];
    if (a == b) continue;
    const double ratio = a > b ? a / b : b / a;
    if (!(ratio <= most)) most = ratio; /* Inf where one of them is 0 */
  }
  return most;
}

/* Where a batch of these tilts belongs: to the piece with the nearest ones, if they are near or there is no
   room for more; each kind of bet has its part of the room. All this is decided by earlier releases and the
   size. */
static evidence_piece_t *piece_for(evidence_t *e, const release_t *row, const evidence_piece_t *wanted) {
  evidence_piece_t *nearest = 0, *last = 0;
  double least = INFINITY;
  int64_t own = 0;
  for (int64_t i = 0; i < e->pieces; i++) {
    evidence_piece_t *piece = &e->piece[i];
    if (piece->kind != wanted->kind) continue;
    own++, last = piece;
    if (!admits(row, piece)) continue;
    double far = apart(piece, wanted);
    if (fabs(piece->centre - wanted->centre) > OFF_CENTRE * sqrt(e->spread)) far += 1;
    if (far < least || !nearest) least = far, nearest = piece;
  }
  if (own == EVIDENCE_PIECES / e->kinds) return nearest ? nearest : last;
  if (least <= ALIKE) return nearest;
  e->piece[e->pieces] = *wanted;
  return &e->piece[e->pieces++];
}

/* The mean by inverse variances, its variance, and the variance of a reward for the next tilts: for a coin
   that of the mean nearest to 1/2 within one standard deviation. */
static void learn(evidence_t *e) {
  double weight = 0, weighted = 0;
  for (int64_t i = 0; i < e->pieces; i++) {
    const evidence_piece_t *p = &e->piece[i];
    if (p->size == 0 || p->kind != LINEAR) continue;
    const double w = p->size / (e->spread + p->noise * p->terms / p->size);
    weight += w;
    weighted += w * p->sum / p->size;
  }
  if (weight == 0) return;
  e->mean = weighted / weight;
  e->variance = 1 / weight;
  const double sd = sqrt(e->variance);
  const double z = fmin(fmax(0.5, e->mean - sd), e->mean + sd);
  e->coin = fmax(z * (1 - z), MIN_VARIANCE);
  e->spread = e->kinds > 1 ? reward_variance(&e->total) : e->coin;
}

static void add_to(evidence_piece_t *piece, const release_t *row) {
  const double variance = noise_law_variance(&row->noise);
  piece->terms += row->terms;
  if (row->terms > 0) piece->noise += (variance - piece->noise) * (row->terms / piece->terms);
  piece->size += row->size;
  piece->sum += row->sum;
}

/* The piece of a batch of this size, of which nothing is known but what was released before */
static evidence_piece_t *aim_at(evidence_t *e, const release_t *row, int kind) {
  evidence_piece_t p = {.kind = kind, .centre = fmin(fmax(e->mean, 0.01), 0.99)};
  if (kind == LINEAR) p.centre = 0;
  double wanted[EVIDENCE_TILTS] = {0}, gap = SMALLEST;
  for (int g = 1; g < EVIDENCE_TILTS; g++) {
    wanted[g] = g < FIXED ? gap : AROUND[g - FIXED] * e->gap;
    gap *= RATIO;
  }
  if (kind == LINEAR && row->size > 0) best_tilts(&row->noise, wanted, e->coin, row->size, p.tilt[0]);
  for (int g = 0; g < EVIDENCE_TILTS; g++) {
    for (int s = 1; s >= -1 && row->size > 0; s -= 2) {
      const int at = s < 0;
      double *l = &p.tilt[at][g];
      if (kind == SQUARES) *l = best_square(row, wanted[g], e->spread, p.centre, s);
      else *l = p.tilt[0][g];
      p.move[at][g] = kind == SQUARES ? s * *l / (1 - s * *l * p.centre) : expm1(s * *l);
    }
  }
  return piece_for(e, row, &p);
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
  memcpy(part->score, e->score, sizeof part->score);
  for (int i = 0; i < EVIDENCE_KINDS * 2 * EVIDENCE_TILTS; i++) {
    (&part->cost[0][0][0])[i] = (&e->charged[0][0][0])[i] + (&e->cost_valued[0][0][0])[i];
  }
  for (int i = 0; i < EVIDENCE_PIECES; i++) part->size[i] = i < e->pieces ? e->piece[i].size : 0;
}

/* What a batch adds to the score of a tilt */
static double score_of(const bet_t *bet, const release_t *row) {
  const double squares = bet->on_squares != 0 ? bet->on_squares * row->squares + bet->each * row->size : 0;
  return bet->on_sum * row->sum + squares;
}

/* ... and what the noise of its squares is charged */
static double charge_of_squares(const bet_t *bet, const release_t *row) {
  if (bet->on_squares == 0) return 0;
  if (!(row->weight > 0)) return INFINITY; /* there are none: this capital is lost */
  const noise_law_t noise = noise_of_squares(row);
  return row->terms * noise_charge(&noise, -bet->on_squares);
}

/* A release of correlated noise, whose tilts were fixed one release ahead, as those of the next are here */
static void release_correlated(evidence_t *e, const release_t *row, int kind, double bound) {
  const double r = row->noise.correlation;
  const double sd = row->noise.scale / (sqrt((1 - r) * (1 + r)) * (1 - 0x1p-20));
  release_t mild = *row;
  mild.noise = as_independent(&row->noise), mild.terms = 1;
  if (e->ahead[kind] == 0) e->ahead[kind] = aim_at(e, &mild, kind) - e->piece + 1;
  evidence_piece_t *now = &e->piece[e->ahead[kind] - 1], *next = aim_at(e, &mild, kind);
  e->ahead[kind] = next - e->piece + 1;
  for (int s = 1; s >= -1; s -= 2) {
    const int at = s < 0;
    for (int g = 0; g < EVIDENCE_TILTS; g++) {
      const bet_t bet = bet_of(now, s, g), after = bet_of(next, s, g);
      const double l = s * bet.on_sum, kept = r * s * after.on_sum, d = l - kept;
      /* The sums themselves are rounded, and then with their noise. */
      const double rounded = 2 * row->noise.step * l * (1 + r) * sd / fmax(row->noise.scale, 1e-300);
      const double settled = 0.5 * d * d * sd * sd;
      e->score[kind][at][g] += score_of(&bet, row);
      e->charged[kind][at][g] += settled + rounded + charge_of_squares(&bet, row);
      e->cost_announced[kind][at][g] = kept * bound * sd;
      e->cost_valued[kind][at][g] = 0.5 * l * l * sd * sd - settled;
    }
  }
  add_to(now, &mild);
}

static void release_independent(evidence_t *e, const release_t *row, int kind) {
  evidence_piece_t *piece = aim_at(e, row, kind);
  for (int g = 0; g < EVIDENCE_TILTS; g++) {
    double charge = 0;
    for (int s = 1; s >= -1; s -= 2) {
      const int at = s < 0;
      const bet_t bet = bet_of(piece, s, g);
      if (!at || kind == SQUARES) { /* without squares it is the same on both sides */
        charge = row->terms * noise_charge(&row->noise, fabs(bet.on_sum)) + charge_of_squares(&bet, row);
      }
      e->score[kind][at][g] += score_of(&bet, row);
      e->charged[kind][at][g] += charge;
    }
  }
  add_to(piece, row);
}

void evidence_release(evidence_t *e, const release_t *row) {
  const int correlated = row->noise.correlation > 0 && row->noise.scale > 0;
  if (e->kinds == 0) e->kinds = row->weight > 0 ? 2 : 1;
  e->n += row->size;
  e->releases += 1;
  const double bound = correlated ? normal_bound(e->risk / (e->releases * (e->releases + 1))) : 0;
  for (int kind = 0; kind < e->kinds; kind++) {
    if (correlated) release_correlated(e, row, kind, bound);
    else release_independent(e, row, kind);
  }
  value_shares(e);
  e->total = (report_t){.rewards = e->n,
                        .sum = e->total.sum + row->sum,
                        .squares = e->total.squares + row->squares,
                        .terms = e->total.terms + row->terms,
                        .kind = row->noise.kind,
                        .scale = row->noise.scale,
                        .weight = row->weight};
  learn(e);
}

/* ln E^sign at theta, with its first two derivatives */
typedef struct {
  double theta, value, slope, bend;
} tangent_t;

/* The sum of weight e^value over several bets, and of its two derivatives: each over e^most */
typedef struct {
  double most, total, turned, bent;
} mixture_t;

static mixture_t mix(const mixture_t *a, const mixture_t *b) {
  const double most = fmax(a->most, b->most), x = exp(a->most - most), y = exp(b->most - most);
  return (mixture_t){most, x * a->total + y * b->total, x * a->turned + y * b->turned,
                     x * a->bent + y * b->bent};
}

static tangent_t mixed(const mixture_t *m, double theta) {
  const double slope = m->turned / m->total;
  return (tangent_t){theta, m->most + log(m->total), slope, m->bent / m->total - slope * slope};
}

/* Half of the capital on each */
static tangent_t halves(const tangent_t *a, const tangent_t *b) {
  const mixture_t x = {a->value, 0.5, 0.5 * a->slope, 0.5 * (a->slope * a->slope + a->bend)},
                  y = {b->value, 0.5, 0.5 * b->slope, 0.5 * (b->slope * b->slope + b->bend)};
  const mixture_t all = mix(&x, &y);
  return mixed(&all, a->theta);
}

/* What depends on theta takes most of the time of a look. So it is computed of all tilts side by side, in
   loops without branches or calls, which a compiler turns into vectors. */
typedef double tilts_t[WIDTH];

static ALWAYS_INLINE uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static ALWAYS_INLINE double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static ALWAYS_INLINE double polynomial(const double *c, int n, double x) {
  double sum = c[n - 1];
  for (int i = n - 2; i >= 0; i--) sum = c[i] + x * sum;
  return sum;
}

static const double LN2_HIGH = 0x1.62e42feep-1, LN2_LOW = 0x1.a39ef35793c76p-33;
static const double ATANH[] = {1. / 3,  1. / 5,  1. / 7,  1. / 9,  1. / 11,
                               1. / 13, 1. / 15, 1. / 17, 1. / 19, 1. / 21}; /* of z^3, z^5, ... */
static const double EXP[] = {
    1,         1,          1. / 2,      1. / 6,       1. / 24,       1. / 120,       1. / 720,
    1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800};

/* ln(1 + x), NaN unless 0 < 1 + x < Inf, and 1 / (1 + x). With 1 + x = 2^e (1 + f), 1 + f in
   [sqrt(1/2), sqrt(2)), and z = f / (2 + f), ln(1 + f) = 2 atanh(z) = f - z (f - 2 z^2 / 3 - ...). */
static ALWAYS_INLINE void log_of(const double *x, double *ln, double *inverse) {
  const uint64_t root = UINT64_C(0x3fe6a09e667f3bcd), above = UINT64_C(0x3ff0000000000000) - root,
                 fraction = UINT64_C(0xfffffffffffff);
  for (int g = 0; g < WIDTH; g++) {
    const double near = x[g], t = 1 + near;
    const uint64_t bits = bits_of(t) + above;
    const double e = double_of((bits >> 52) + UINT64_C(0x4330000000000000)) - (0x1p52 + 1023);
    const double far = double_of((bits & fraction) + root) - 1, f = e == 0 ? near : far;
    const double both = 1 / (t * (2 + f)), z = f * t * both, q = z * z;
    const double of_f = f - z * (f - 2 * q * polynomial(ATANH, sizeof ATANH / sizeof *ATANH, q));
    ln[g] = ((t > 0) & (t < INFINITY)) ? e * LN2_HIGH + (e * LN2_LOW + of_f) : NAN;
    inverse[g] = (2 + f) * both;
  }
}

/* e^x for x <= 0, and 0 below e^-700. With x = k ln 2 + r, |r| <= ln(2) / 2, it is 2^k e^r. */
static ALWAYS_INLINE void exp_of(const double *x, double *power) {
  for (int g = 0; g < WIDTH; g++) {
    const double own = x[g], shifted = own * (1 / 0.6931471805599453) + 0x1.8p52;
    const double k = shifted - 0x1.8p52, r = own - k * LN2_HIGH - k * LN2_LOW;
    const double value = polynomial(EXP, sizeof EXP / sizeof *EXP, r);
    power[g] = own > -700 ? value * double_of((bits_of(shifted) + 1023) << 52) : 0;
  }
}

/* Of each piece of a kind: ln(1 + theta move), and its derivative */
VECTOR_UNITS static void rates_of(const evidence_t *e, int kind, int at, double theta, tilts_t *ln,
                                  tilts_t *rate) {
  for (int64_t i = 0; i < e->pieces; i++) {
    if (e->piece[i].kind != kind || e->piece[i].size == 0) continue;
    tilts_t move = {0}, x;
    memcpy(move, e->piece[i].move[at], sizeof e->piece[i].move[at]);
    for (int g = 0; g < WIDTH; g++) x[g] = theta * move[g];
    log_of(x, ln[i], rate[i]);
    for (int g = 0; g < WIDTH; g++) rate[i][g] *= move[g];
  }
}

/* By halves: additions that wait for each other would take most of the time. */
static ALWAYS_INLINE double sum_of(double *x) {
  for (int half = WIDTH / 2; half > 0; half /= 2) {
    for (int g = 0; g < half; g++) x[g] += x[g + half];
  }
  return x[0];
}

static ALWAYS_INLINE double largest_of(const double *value) {
  tilts_t x;
  memcpy(x, value, sizeof x);
  for (int half = WIDTH / 2; half > 0; half /= 2) {
    for (int g = 0; g < half; g++) x[g] = x[g] > x[g + half] ? x[g] : x[g + half];
  }
  return x[0];
}

/* The capital on all tilts of a kind, or a share of it that was valued, `part` */
VECTOR_UNITS static mixture_t capital_of(const evidence_t *e, const evidence_share_t *part, int kind, int at,
                                         int as_valued, tilts_t *ln, tilts_t *rate) {
  const double *score = (part ? part->score : e->score)[kind][at];
  const double *charged = e->charged[kind][at],
               *last = (as_valued ? e->cost_valued : e->cost_announced)[kind][at];
  tilts_t value, slope = {0}, bend = {0}, power;
  for (int g = 0; g < WIDTH; g++) value[g] = -INFINITY;
  for (int g = 0; g < EVIDENCE_TILTS; g++) {
    value[g] = score[g] - (part ? part->cost[kind][at][g] : charged[g] + last[g]);
  }
  for (int64_t i = 0; i < e->pieces; i++) {
    const double size = part ? part->size[i] : e->piece[i].size, *l = ln[i], *r = rate[i];
    if (e->piece[i].kind != kind || size == 0) continue;
    for (int g = 0; g < WIDTH; g++) {
      value[g] -= size * l[g], slope[g] -= size * r[g], bend[g] += size * r[g] * r[g];
    }
  }
  mixture_t m = {.most = largest_of(value)};
  for (int g = 0; g < WIDTH; g++) value[g] -= m.most;
  exp_of(value, power);
  for (int g = 0; g < WIDTH; g++) {
    power[g] *= WEIGHT[g];
    bend[g] = power[g] * (slope[g] * slope[g] + bend[g]);
    slope[g] *= power[g];
  }
  m.total = sum_of(power), m.turned = sum_of(slope), m.bent = sum_of(bend);
  return m;
}

/* Of one kind of bet. `as_valued`: all of the capital valued at the last release, as E; else as it is */
static tangent_t look(const evidence_t *e, int kind, int sign, double theta, int as_valued) {
  if (e->pieces == 0) return (tangent_t){.theta = theta}; /* nothing was released */
  const int at = sign < 0;
  tilts_t ln[EVIDENCE_PIECES], rate[EVIDENCE_PIECES];
  rates_of(e, kind, at, theta, ln, rate);
  const double left = as_valued ? 1 : share_left(e, sign);
  mixture_t all = {.most = -INFINITY};
  if (left > 0) {
    all = capital_of(e, 0, kind, at, as_valued, ln, rate);
    all.total *= left, all.turned *= left, all.bent *= left;
  }
  for (int64_t j = 0; j < e->valued && !as_valued; j++) {
    const double share = e->share[j].share[at];
    if (!(share > 0)) continue;
    mixture_t part = capital_of(e, &e->share[j], kind, at, as_valued, ln, rate);
    part.total *= share, part.turned *= share, part.bent *= share;
    all = mix(&all, &part);
  }
  return mixed(&all, theta);
}

double evidence_at(const evidence_t *e, int sign, double theta) {
  const tangent_t linear = look(e, LINEAR, sign, theta, 0);
  if (e->kinds < 2) return linear.value;
  const tangent_t squares = look(e, SQUARES, sign, theta, 0);
  return halves(&linear, &squares).value;
}

static tangent_t touch(const evidence_t *a, const evidence_t *b, double margin, double theta, int as_valued) {
  tangent_t pair[EVIDENCE_KINDS];
  const int kinds = a->kinds > 1 || b->kinds > 1 ? 2 : 1;
  for (int kind = 0; kind < kinds; kind++) {
    const tangent_t up = look(a, kind, 1, theta, as_valued);
    const tangent_t down = look(b, kind, -1, clip01(theta + margin), as_valued);
    pair[kind] = (tangent_t){theta, up.value + down.value, up.slope + down.slope, up.bend + down.bend};
  }
  return kinds > 1 ? halves(&pair[LINEAR], &pair[SQUARES]) : pair[LINEAR];
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
static double pair_of(const evidence_t *a, const evidence_t *b, double margin, int as_valued, double enough) {
  const double low = fmax(0, -margin), high = fmax(low, fmin(1, 1 - margin));
  tangent_t left = {.theta = low, .slope = NAN}, right = {.theta = high, .slope = NAN};
  double next = (a->mean * b->variance + (b->mean - margin) * a->variance) / (a->variance + b->variance);
  double bound = -INFINITY;
  if (!(next > low && next < high)) next = 0.5 * (low + high);
  for (int i = 0; i < 100; i++) {
    const tangent_t t = touch(a, b, margin, next, as_valued);
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
  const double threshold = log(2 / alpha);
  /* E^+ falls in theta, E^- rises. */
  for (int sign = 1; sign >= -1; sign -= 2) {
    double in = sign > 0 ? 1 : 0, out = 1 - in;
    const double end = evidence_at(e, sign, out);
    if (!(end >= threshold)) in = out;
    for (int i = 0; i < 60 && in != out; i++) {
      const double theta = 0.5 * (in + out);
      if (evidence_at(e, sign, theta) >= threshold) out = theta;
      else in = theta;
    }
    if (sign > 0) *lower = out;
    else *upper = out;
  }
}

/* By false position. At the estimate the evidence is below the threshold, unless the means have changed: the
   bound is then above the estimate, so that it may cross the one from the other side. */
double evidence_lower(const evidence_t *a, const evidence_t *b, double threshold, double known) {
  double low = known, high = a->n > 0 && b->n > 0 ? a->mean - b->mean : 1;
  double above = evidence_pair(a, b, -low) - threshold;
  if (!(above >= 0 && high > low)) return known;
  double below = evidence_pair(a, b, -high) - threshold;
  if (!(below < 0)) {
    low = high, above = below, high = 1;
    below = evidence_pair(a, b, -high) - threshold;
    if (!(below < 0)) return high;
  }
  for (int i = 0, side = 0; i < 60 && high - low > 1e-9; i++) {
    const double share = above / (above - below);
    const double d = low + fmin(fmax(share, 0.01), 0.99) * (high - low);
    const double value = evidence_pair(a, b, -d) - threshold;
    if (value >= 0) {
      low = d, above = value;
      if (side > 0) below /= 2;
      side = 1;
    } else {
      high = d, below = value;
      if (side < 0) above /= 2;
      side = -1;
    }
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

static size_t size(const design_t *design) {
  return sizeof(means_t) + (size_t)design->k * sizeof(evidence_t);
}

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
    evidence_release(&s->arm[rows[i].arm], &rows[i]);
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

static double lower(const void *state, int a, int b, double threshold, double known) {
  const means_t *s = state;
  return evidence_lower(&s->arm[a], &s->arm[b], threshold, known);
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
