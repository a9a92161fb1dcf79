/* The certified grid of the sequence accountant, second half: the solve.

   A function U on (tau, n) with U >= 0 at tau = 0 and, for all integers,

       U_(tau+1)(n) >= U_tau(n) + H(d(n), U_tau(n) - U_tau(n+1))       (*)

   is never below the exact W: the recursion is the logarithm of a supremum of A exp W(n+1) + B exp W(n),
   which grows with both values. Here U is linear in log(n + 1) inside the cells (account_sequence_cells.c)
   and linear in the clock u = log(tau + before) over a step of rounds a, ..., e. Let X_k be the majorant of
   cell k, gamma_k the slope in the cell, R_k what node k gains per unit of u and v(tau) = u(tau + 1) -
   u(tau). Then (*) holds in the cell at tau when

       R_k v >= X_k(gamma_k),   R_(k+1) v >= f_k X_k(gamma_k).

   Within the step gamma_k is linear in u and X_k convex, so X_k is below its chord between tau = a and tau =
   e. So is log v above its own chord, v being log-concave in u, and v is above the chord from v_a to v_e
   times exp(-log(v_a / v_e)^2 / 8) (Hoeffding's lemma). With that factor in v_a and v_e it is enough that
   both inequalities hold at a, where they are explicit, and at e, where R_k v_e = X_k(gamma_k) is solved for
   R_k. Nodes are solved from the largest down. Above the largest, U is constant in n, where (*) holds with
   slope 0. */
#include "account_sequence_grid.h"

#include <math.h>

#include "account.h"

/* The majorant at gamma, by linear interpolation. *at is the index of the last reading, near which the
   search starts, since slopes change little. */
static double read_loss(const sequence_grid *run, const double *loss, double gamma, double *at) {
  const double *charge = run->charge;
  long last = run->charges - 1, j = (long)*at;
  if (gamma >= charge[last]) return loss[last];
  while (charge[j] > gamma) j--;
  while (charge[j + 1] <= gamma) j++;
  *at = j;
  return loss[j] + (loss[j + 1] - loss[j]) * (gamma - charge[j]) / (charge[j + 1] - charge[j]);
}

/* The gamma >= 0 with lead + gamma / a = r loss(gamma): the left side increases, the right side
   decreases, and both are linear between charges. */
static double solve_slope(const sequence_grid *run, const double *loss, double lead, double a, double r,
                          double *at) {
  const double *charge = run->charge;
  long last = run->charges - 1, j = (long)*at;
  if (lead >= r * loss[0]) return 0;
  if (lead + charge[last] / a <= r * loss[last]) return a * (r * loss[last] - lead);
  while (j > 0 && lead + charge[j] / a > r * loss[j]) j--;
  while (lead + charge[j + 1] / a <= r * loss[j + 1]) j++;
  *at = j;
  double slope = (loss[j + 1] - loss[j]) / (charge[j + 1] - charge[j]);
  return (r * (loss[j] - slope * charge[j]) - lead) / (1 / a - r * slope);
}

/* The smallest gamma at which the majorant is at most `level`; infinite if there is none. */
static double slope_for(const sequence_grid *run, const double *loss, double level, double *at) {
  const double *charge = run->charge;
  long last = run->charges - 1, j = (long)*at;
  if (level >= loss[0]) return 0;
  if (level < loss[last]) return INFINITY;
  while (loss[j] <= level) j--;
  while (loss[j + 1] > level) j++;
  *at = j;
  return charge[j + 1] - (charge[j + 1] - charge[j]) * (level - loss[j + 1]) / (loss[j] - loss[j + 1]);
}

/* How many rounds before round 0 the clock starts. Any choice is valid; good is the one under which the first
   node's loss over v is steady, as it was over the step before: loss ~ 1 / (tau + before). */
static double clock_start(sequence_grid *run) {
  double loss = read_loss(run, run->loss, run->gamma[0], &run->charge_at[0]);
  double fall = log(run->last_loss / loss) / (run->tau - run->last_tau);
  run->last_loss = loss;
  run->last_tau = run->tau;
  double most = 1e3 * (run->tau + 1);
  return fall * most > 1 ? fmax(1 / fall - run->tau, 1) : most;
}

int sequence_grid_step(sequence_grid *run) {
  double left = run->rounds - run->tau;
  double dt = floor(GRID_STEP_RATIO * run->coarse * run->tau);
  if (dt < 1) dt = 1;
  if (dt > left) dt = left;
  /* the clock at the start of the step's first and last rounds */
  double before = clock_start(run), first = run->tau + before, last = first + dt - 1;
  double v_start = log1p(1 / first), v_end = log1p(1 / last);
  double bend = log(v_start / v_end);
  bend = exp(-bend * bend / 8);
  v_start *= bend;
  v_end *= bend;
  double span = log1p((dt - 1) / first), whole = log1p(dt / first);

  long top = run->nodes - 1;
  double *rate = run->rate, *gamma = run->gamma, *value = run->value;
  double largest = 0;
  /* The loss in the cell below, at the start of the step. */
  double below =
      top > 0 ? read_loss(run, run->loss + (top - 1) * GRID_CHARGES, gamma[top - 1], &run->charge_at[top - 1])
              : 0;
  rate[top] = run->loss[top * GRID_CHARGES] / v_end;
  if (top > 0) /* so much that the cell below needs no more of its upper end */
    rate[top] = fmax(rate[top], run->fall[top - 1] * run->loss[(top - 1) * GRID_CHARGES] / v_end);

  for (long k = top - 1; k >= 0; k--) {
    const double *loss = run->loss + k * GRID_CHARGES;
    double a = run->to_gamma[k], start = gamma[k], upper = rate[k + 1];
    double now = below; /* this cell's loss at the start */
    double r = now / v_start;
    if (dt > 1) {
      double after =
          solve_slope(run, loss, upper - start / (a * span), a * span, 1 / v_end, &run->charge_at[k]);
      r = fmax(r, upper + (after - start) / (a * span));
    }
    /* what the cell below needs of its upper end */
    if (k > 0) {
      below = read_loss(run, loss - GRID_CHARGES, gamma[k - 1], &run->charge_at[k - 1]);
      r = fmax(r, run->fall[k - 1] * below / v_start);
    }
    /* W falls with n */
    r = fmax(r, upper - start / (a * whole));
    if (dt > 1 && run->fall[k] > 0) {
      /* what this cell needs of its upper end at the step's end: a slope so large
         that the upper end's rate will do, or else a rate that makes up for it */
      double least = slope_for(run, loss, upper * v_end / run->fall[k], &run->charge_at[k]);
      double steep = upper + (least - start) / (a * span);
      double lack = run->fall[k] * loss[0] / v_end - upper;
      if (steep > r) r = fmin(steep, r + run->tilt[k] * fmax(lack, 0));
    }
    rate[k] = r;
    gamma[k] = fmax(0, start + a * (r - upper) * whole);
    if (r > largest) largest = r;
    if (r > 0.01 * largest) {
      double at_end = fmax(0, start + a * (r - upper) * span);
      double need = fmax(now / v_start, read_loss(run, loss, at_end, &run->charge_at[k]) / v_end);
      double slack = run->excess[k] * r / need;
      if (slack > run->slack) run->slack = slack;
    }
  }
  for (long k = 0; k <= top; k++) value[k] += rate[k] * whole;
  run->tau += dt;
  run->steps++;
  return run->tau < run->rounds && value[0] < run->cap;
}

double sequence_grid_value(const sequence_grid *run) {
  return run->tau < run->rounds || run->value[0] > run->cap ? run->cap : run->value[0];
}
