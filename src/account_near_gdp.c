/* The near-GDP accountant: the arms published in T rounds of Gaussian Thompson
   sampling are mu-GDP up to nu, for every epsilon at once.

   Let U_tau(n, s) be the largest hockey-stick divergence E_P (1 - e^(s - log P/Q))_+ of tau rounds whose
   private arm starts with n rewards, and G(s; m) that of N(sqrt m, 1) against N(0, 1). The solve below builds
   M_tau(n), falling with n, such that one more round never lifts G(s; M_tau) above G(s; M_(tau+1)) + nu / T:

     p G(s - l1; M_tau(n+1)) + (1-p) G(s - l0; M_tau(n))
       <= G(s; M_(tau+1)(n)) + nu / T,                                         (*)

   l1 = log p/q, l0 = log (1-p)/(1-q), for all real s, all positions x and both signs. Then U_T(n0, s) <= G(s;
   M_T(n0)) + nu. The proof is in inst/paper/proofs.md; in short, at s = beta m, m = M_tau(n):

   * Divided by f(s) / 2, f the density of N(m/2, m), the left side of (*) exceeds
     G(s; m) by at most (F_a - 1) / kap - ghat(g) p^a q^(1-a): a Renyi round of order
     a = 1/2 + beta, kap = a (a-1) / 2, with a pull credited for g = M(n) - M(n+1).
   * That is convex in beta up to Hoeffding's factor, so finitely many orders cover
     |beta| <= B; beyond B the excess is below nu / T.
   * In an order the supremum over positions is E = e^H - 1 (account_bit.c). It is convex in the shift and in
     the slope, so four corners cover a cell of n and a step of tau.
   * Raising M by h = Y (1 + 2 e Y), e = 1/(4m) + 1/16, makes up for an excess of Y;
     h = d^2, a whole draw, always does. */
#include "account.h"
#include "account_bit.h"
#include "account_near_gdp.h"
#include "math_special.h"

#include <math.h>

/* Below this shift, publishing the whole draw is used in place of the bit, whose loss would be a
   rounding error. */
#define MIN_SHIFT 3e-7

/* The relative rounding error of e^H - 1; bit_climb() itself is an upper bound. At its best
   position e^H - 1 = p w + (1 - p) l, with w and l the relative gains of the two terms. Each is beta times a
   change of log Phi, correct to 1e-13 of itself (rise_of()), and both are at most some beta d r in size,
   while their sum is of the order beta d times what is left, (beta + 1) d r: digits are lost in
   proportion to 1 / d, at most 2e-13 / d. The 1e-9 is for the sums around it. Against 33 digits the worst of
   30,000 points is 4e-14 / d (account_sequence_grid.h). */
static double rounding_at(double d) { return 1 + 1e-9 + 2e-13 / d; }

/* ---- the nodes ---------------------------------------------------------------- */

static long count_nodes(double rounds, double start, double coarse) {
  double last;
  return account_nodes(start, rounds, NEAR_CELL_RATIO * coarse, &last);
}

double near_gdp_size(double rounds, double start, double coarse) {
  return count_nodes(rounds, start, coarse) * (5 + 2.0 * NEAR_ORDERS);
}

void near_gdp_begin(near_gdp *run, double rounds, double start, double scale, double nu, double coarse,
                    double *work) {
  long n = run->nodes = count_nodes(rounds, start, coarse);
  run->rounds = rounds;
  run->coarse = coarse;
  run->allowance = nu / rounds;
  run->tau = 0;
  run->before = 1;
  run->last_tau = -1;
  run->last_need = 0;
  run->count = work;
  run->shift = work + n;
  run->value = work + 2 * n;
  run->rate = work + 3 * n;
  run->cut = work + 4 * n;
  run->maximiser = work + 5 * n;
  double node = start;
  for (long k = 0; k < n; k++, node = account_next_node(node, NEAR_CELL_RATIO * coarse)) {
    run->count[k] = node;
    run->shift[k] = 1 / sqrt(scale * (node + 1));
    run->value[k] = run->rate[k] = 0;
    run->cut[k] = -1;
  }
  for (long k = 0; k < 2 * NEAR_ORDERS * n; k++) run->maximiser[k] = 0;
}

/* ---- one cell in one step ----------------------------------------------------- */

/* The cell of the integers from node k to node k + 1, the latter excluded. What is frozen for a step is taken
   at the least m of cell and step, that of node k + 1 at the start: what a round needs falls with m. */
typedef struct {
  int whole;     /* M gains d^2 a round: what follows is not needed */
  int narrow;    /* one integer: node k + 1 is not in it */
  double d[2];   /* shifts at the two nodes */
  double to_g;   /* g at node k is this times M_k - M_(k+1) */
  double m, chi; /* chi: at least g / (m - g) */
  double factor; /* 1 + 2 e d^2 */
  double edge;   /* what a round needs where |l1| > lambda */
  double start;  /* what it needs at node k at the start of the step */
  int orders;
  struct {
    double a, kap, allow;
    double keep, curve; /* ghat = keep (1 - e^(-curve g)) / curve, */
    double cap, bend;   /* at most cap, divided by bend */
  } order[NEAR_ORDERS];
  double *maximiser; /* the maximisers by order, at node k and at node k + 1 */
} cell;

/* Where the orders lie between the least and the largest beta; dense where they bind. */
static const double ORDER_AT[NEAR_ORDERS] = {0, 0.3, 0.5, 0.6, 0.68, 0.75, 0.81, 0.87, 0.93, 1};
#define MIN_BETA 0.505

/* The largest beta: beyond |s| = beta m, a whole draw, which is always enough, adds no more than the
   allowance: d^2 / 2 times the largest density at s of N(m'/2, m'), m <= m' <= m + d^2. */
static double largest_beta(double m, double d, double allowance) {
  double m2 = m + d * d;
  double tail = log(d * d / (2 * allowance * DPTS_SQRT_2PI * sqrt(m)));
  return fmax((m2 / 2 + sqrt(2 * m2 * fmax(tail, 0))) / m, MIN_BETA);
}

/* The excess of order a where the lower of the two positions is below w, a pull not
   credited: under both signs it rises up to its one maximum (theorem 1), and it grows
   with d. Negative if w is not surely left of the maxima. */
static double edge_at(double a, double d, double w) {
  bit_point more = bit_at(a, d, 0, w), less = bit_at(a, -d, 0, w + d);
  if (!(more.slope > 0 && less.slope > 0)) return -1;
  double h = fmax(more.value, less.value);
  return expm1(h) / (a * (a - 1) / 2) * rounding_at(d);
}

/* The cut: left of it no pull is credited. There the largest order needs most, as the excess is convex in
   beta. The need is kept somewhat below `goal`. Any cut is valid, if one is found. */
static int find_cut(cell *c, double *cut, double a, double goal) {
  double d = c->d[0], higher = edge_at(a, d, *cut + 0.1);
  if (higher >= 0 && higher < goal) {
    *cut += 0.1;
    c->edge = higher;
    return 1;
  }
  for (; *cut > -12; *cut -= 0.1) {
    c->edge = edge_at(a, d, *cut);
    if (c->edge >= 0 && c->edge < goal) return 1;
  }
  *cut = -1;
  return 0;
}

/* What a round of the cell needs at node k + end when g at node k is `g`. The maximisers move
   with g by nearly the same in neighbouring orders: that is where each search starts. */
static double need_at(const cell *c, int end, double g) {
  double d = c->d[end], share = (d / c->d[0]) * (d / c->d[0]), most = 0;
  double *x = c->maximiser + end * NEAR_ORDERS, drift = 0;
  for (int j = 0; j < c->orders; j++) {
    double curve = c->order[j].curve, kap = c->order[j].kap;
    double ghat = c->order[j].keep * -expm1(-curve * g) / curve;
    ghat = share * fmin(ghat, c->order[j].cap) / c->order[j].bend;
    double last = x[j];
    x[j] += drift;
    double h = bit_climb(c->order[j].a, -d, -log1p(-kap * ghat), &x[j]);
    drift = x[j] - last;
    most = fmax(most, expm1(h) / kap * rounding_at(d) - c->order[j].allow);
  }
  return c->factor * most;
}

/* Fill `c` for cell k; v_end is the least v of the step. */
static void freeze(near_gdp *run, cell *c, long k, double v_end) {
  double n = run->count[k], next = run->count[k + 1];
  double d = c->d[0] = run->shift[k];
  c->d[1] = run->shift[k + 1];
  c->narrow = next == n + 1;
  c->to_g = log1p(1 / (n + 1)) / log((next + 1) / (n + 1));
  c->maximiser = run->maximiser + 2 * NEAR_ORDERS * k;
  double m = c->m = run->value[k + 1];
  /* d^2 <= min(1, m / 2) makes e d^2 < 0.2, which the factor rests on. */
  c->whole = d * d > 1 || m < 2 * d * d || c->d[1] < MIN_SHIFT;
  if (c->whole) return;

  double top = largest_beta(m, d, run->allowance), a_top = 0.5 + top;
  c->orders = top > MIN_BETA ? NEAR_ORDERS : 1;
  c->factor = 1 + 2 * d * d * (1 / (4 * m) + 1.0 / 16);
  double goal = fmin(0.8 * v_end * run->rate[c->narrow ? k : k + 1], d * d);
  c->whole = !find_cut(c, &run->cut[k], a_top, goal);
  if (c->whole) return;
  double lambda = bit_log_ratio(run->cut[k], d) * rounding_at(d);

  double g = c->to_g * (run->value[k] - run->value[k + 1]);
  double gap = c->narrow ? 0 : (d - c->d[1]) / c->d[1];
  c->chi = 2 * g / m + 1e-6;
  double before = -MIN_BETA, beta = MIN_BETA;
  for (int j = 0; j < c->orders; j++) {
    double after = beta;
    if (j + 1 < c->orders) after += (ORDER_AT[j + 1] - ORDER_AT[j]) * (top - MIN_BETA);
    double width = fmax(beta - before, after - beta);
    double a = 0.5 + beta, kap = a * (a - 1) / 2, r = after + lambda / m;
    double keep = exp(-lambda * lambda * (1 / (2 * m) + width * width / 8));
    /* Credit is capped where it would make the chord in d loose. */
    double y = fmin(0.9, 1.5 * kap * keep * g + 1e-3);
    c->order[j].a = a;
    c->order[j].kap = kap;
    c->order[j].keep = keep;
    c->order[j].curve = r * r * (1 + c->chi) / 2;
    c->order[j].cap = y / kap;
    c->order[j].bend = 1 + gap * gap / 4 * (1 + y) / ((1 - y) * (1 - y));
    c->order[j].allow = before <= 0.5 ? 0
                                      : 2 * run->allowance * DPTS_SQRT_2PI * sqrt(m) *
                                            exp(m * (before - 0.5) * (before - 0.5) / 2);
    before = beta;
    beta = after;
  }
}

/* ---- the solve ---------------------------------------------------------------- */

/* M is linear in u = log(tau + before) over a step of rounds a, ..., e: node k gains
   R_k v a round, v(tau) = u(tau + 1) - u(tau), as in account_sequence_grid.c. */
typedef struct {
  double v_start, v_end; /* v at a and at e, with Hoeffding's factor */
  double span, whole;    /* u from a to e, and from a to e + 1 */
  int long_step;         /* more rounds than one */
} ticks;

static ticks ticks_of(double tau, double before, double dt) {
  double first = tau + before, last = first + dt - 1;
  ticks t = {log1p(1 / first), log1p(1 / last), log1p((dt - 1) / first), log1p(dt / first), dt > 1};
  double bend = log(t.v_start / t.v_end), factor = exp(-bend * bend / 8);
  t.v_start *= factor;
  t.v_end *= factor;
  return t;
}

/* Freeze cell k and find what it asks of R_(k+1): at the start of the step, and where
   its pulls are not credited. What it asks of R_k at the start is kept in the cell. */
static double ask_upper(near_gdp *run, cell *c, long k, const ticks *t) {
  freeze(run, c, k, t->v_end);
  double d0 = c->d[0], d1 = c->d[1];
  if (!c->whole) {
    double g = c->to_g * (run->value[k] - run->value[k + 1]);
    c->start = need_at(c, 0, g);
    double upper = c->narrow ? 0 : need_at(c, 1, g);
    if (c->start <= d0 * d0 && upper <= d1 * d1)
      return c->narrow ? 0 : fmax(upper / t->v_start, c->factor * c->edge / t->v_end);
    c->whole = 1;
  }
  return c->narrow ? 0 : d1 * d1 / t->v_end;
}

/* The least R_k >= r for which R_k v_end covers what its cell needs of node k at the
   step's end. The need falls with R_k and is convex in it, so that the chord between
   two points x and need(x) meets the diagonal where the need is met. */
static double meet_end(const cell *c, const ticks *t, double r, double guess, double upper, double g) {
  double per = c->to_g * t->span;
  double x = fmax(r, guess), need = need_at(c, 0, g + per * (x - upper)) / t->v_end;
  if (x == r && need <= r) return r;
  double x2 = fmax(r, need);
  double need2 = need_at(c, 0, g + per * (x2 - upper)) / t->v_end;
  if (x2 == r && need2 <= r) return r;
  double over = x - need, over2 = x2 - need2; /* of opposite signs, or 0 */
  if (over == over2) return fmax(x, x2);
  return x2 - over2 * (x2 - x) / (over2 - over);
}

/* R_k, given R_(k+1) and what cell k - 1 asks. Negative if a long step would leave an inequality unmet. */
static double solve_node(const near_gdp *run, const cell *c, long k, const ticks *t, double asked) {
  double upper = run->rate[k + 1], d0 = c->d[0], d1 = c->d[1];
  double least = fmax(asked, upper), whole = d0 * d0 / t->v_end;
  if (c->whole) return fmax(least, whole);
  double r = fmax(least, c->start / t->v_start);
  if (c->narrow) r = fmax(r, c->factor * c->edge / t->v_end);
  if (!t->long_step) return r;

  double g = c->to_g * (run->value[k] - run->value[k + 1]);
  r = meet_end(c, t, r, 0.98 * run->rate[k], upper, g);
  if (r > whole) { /* a whole draw is less */
    if (!c->narrow && upper * t->v_end < d1 * d1) return -1;
    return fmax(least, whole);
  }
  double per = c->to_g * t->span;
  if (!c->narrow) {
    int tries = 0;
    while (need_at(c, 1, g + per * (r - upper)) > upper * t->v_end) {
      if (++tries > 8) return -1;
      r *= 1.002;
    }
  }
  double m_end = run->value[k + 1] + t->span * upper;
  if (g + per * (r - upper) > c->chi * m_end) return -1;
  return r;
}

/* All R_k of a step, from the largest node down. Above it M is constant in n: no credit, so whole draws. */
static int solve_rates(near_gdp *run, const ticks *t) {
  long top = run->nodes - 1;
  cell cells[2];
  for (long k = top; k >= 0; k--) {
    double asked = k > 0 ? ask_upper(run, &cells[(k - 1) % 2], k - 1, t) : 0;
    double r = k < top ? solve_node(run, &cells[k % 2], k, t, asked)
                       : fmax(asked, run->shift[k] * run->shift[k] / t->v_end);
    if (!(r >= 0)) return 0;
    run->rate[k] = r * (1 + 1e-12);
  }
  /* The clock of the next step: one by which the first node's need is steady. */
  const cell *c = &cells[0];
  double need = c->whole ? c->d[0] * c->d[0] : c->start;
  double fall = log(run->last_need / need) / (run->tau - run->last_tau);
  double most = 1e3 * (run->tau + 1);
  run->before = fall * most > 1 ? fmax(1 / fall - run->tau, 1) : most;
  run->last_need = need;
  run->last_tau = run->tau;
  return 1;
}

int near_gdp_step(near_gdp *run) {
  double dt = fmax(1, floor(NEAR_STEP_RATIO * run->coarse * run->tau));
  dt = fmin(dt, run->rounds - run->tau);
  ticks t = ticks_of(run->tau, run->before, dt);
  while (!solve_rates(run, &t)) {
    if (dt == 1) return -1;
    dt = ceil(dt / 4);
    t = ticks_of(run->tau, run->before, dt);
  }
  for (long k = 0; k < run->nodes; k++) run->value[k] += run->rate[k] * t.whole;
  run->tau += dt;
  return run->tau < run->rounds;
}

double near_gdp_mu(const near_gdp *run) {
  double whole = run->rounds * run->shift[0] * run->shift[0];
  return sqrt(fmin(run->value[0], whole)) * (1 + 1e-12);
}
