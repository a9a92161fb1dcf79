/* The certified grid of the sequence accountant, second half: the solve.

   A function U on (tau, n) with U >= 0 at tau = 0 and, for all integers,

       U_(tau+1)(n) >= U_tau(n) + H(d(n), U_tau(n) - U_tau(n+1))       (*)

   is never below the exact W: the recursion is the logarithm of a supremum of
   A exp W(n+1) + B exp W(n), which grows with both values. Here U is linear in
   log(n + 1) inside the cells (account_sequence_cells.c) and linear in tau over
   steps of dt rounds. Let X_k(gamma) be the majorant of cell k, gamma_k the
   slope in the cell, r_k the gain of node k over the step divided by dt. As
   slopes are linear in tau, (*) holds in the cell throughout the step when

       r_k >= X_k(min(gamma_k at the start, gamma_k at the end)),
       r_(k+1) >= f_k times that.

   Both are checked, and mended if need be, as each node is solved, from the
   largest node down. Above the largest node U is constant in n, where (*) holds
   with slope 0. Steps of one round are explicit. Longer ones are implicit,

       r_k = lambda X_k(gamma_k at the end),

   which is stable for any dt; lambda is what X fell by over the step before,
   so that r_k also covers the slope at the start. */
#include "account_sequence_grid.h"

#include <math.h>

#include "account.h"

/* The majorant read at gamma; `place` remembers where, as slopes drift. */
static double read_loss(const sequence_grid *run, const double *loss, double gamma,
                        double *place) {
  const double *charge = run->charge;
  long last = run->charges - 1, j = (long)*place;
  if (gamma >= charge[last]) return loss[last];
  while (charge[j] > gamma) j--;
  while (charge[j + 1] <= gamma) j++;
  *place = j;
  return loss[j] +
         (loss[j + 1] - loss[j]) * (gamma - charge[j]) / (charge[j + 1] - charge[j]);
}

/* gamma >= 0 with lead + gamma / a = r loss(gamma): the left side grows, the
   right side falls, both are linear between charges. */
static double solve_slope(const sequence_grid *run, const double *loss, double lead,
                          double a, double r, double *place) {
  const double *charge = run->charge;
  long last = run->charges - 1, j = (long)*place;
  if (lead >= r * loss[0]) return 0;
  if (lead + charge[last] / a <= r * loss[last]) return a * (r * loss[last] - lead);
  while (j > 0 && lead + charge[j] / a > r * loss[j]) j--;
  while (lead + charge[j + 1] / a <= r * loss[j + 1]) j++;
  *place = j;
  double slope = (loss[j + 1] - loss[j]) / (charge[j + 1] - charge[j]);
  return (r * (loss[j] - slope * charge[j]) - lead) / (1 / a - r * slope);
}

int sequence_grid_step(sequence_grid *run) {
  double left = run->rounds - run->tau;
  double dt = floor(GRID_STEP_RATIO * run->tau);
  if (dt < 1) dt = 1;
  if (dt > left) dt = left;
  long top = run->nodes - 1;
  double *gain = run->gain, *gamma = run->gamma, *value = run->value;
  double largest = 0;
  /* The loss in the cell below, at the start of the step. */
  double below = top > 0 ? read_loss(run, run->loss + (top - 1) * GRID_CHARGES,
                                     gamma[top - 1], &run->place[top - 1])
                         : 0;
  gain[top] = dt * run->loss[top * GRID_CHARGES];
  if (top > 0) gain[top] = fmax(gain[top], run->fall[top - 1] * dt * below);

  for (long k = top - 1; k >= 0; k--) {
    const double *loss = run->loss + k * GRID_CHARGES;
    double a = run->to_gamma[k], start = gamma[k], now = below, end = now;
    /* W(n_k) may gain this much before it would fall below W(n_(k+1)). */
    double lead = value[k + 1] + gain[k + 1] - value[k];
    double g;
    if (dt == 1) {
      g = now;
    } else {
      double after =
          solve_slope(run, loss, lead, a, run->ahead[k] * dt, &run->place[k]);
      g = lead + after / a;
      end = read_loss(run, loss, after, &run->place[k]);
      run->ahead[k] = now > end ? 1.0005 * now / end : 1;
      if (after >= start && g < dt * now) g = dt * now;
    }
    /* what the cell below needs of its upper end */
    if (k > 0) {
      below = read_loss(run, loss - GRID_CHARGES, gamma[k - 1], &run->place[k - 1]);
      g = fmax(g, run->fall[k - 1] * dt * below);
    }
    g = fmax(g, lead);
    /* what this cell needs of its upper end, if its slope has fallen */
    double need = dt * now, after = a * (g - lead);
    if (dt > 1 && after < start)
      need = dt * read_loss(run, loss, after, &run->place[k]);
    double lack = run->fall[k] * need - gain[k + 1];
    if (lack > 0) g += run->tilt[k] * lack;

    gain[k] = g;
    gamma[k] = a * (g - lead);
    if (g > largest) largest = g;
    if (g > 0.01 * largest && end > 0) {
      double slack = run->excess[k] * g / (dt * end);
      if (slack > run->slack) run->slack = slack;
    }
  }
  for (long k = 0; k <= top; k++) value[k] += gain[k];
  run->tau += dt;
  run->steps++;
  return run->tau < run->rounds && value[0] < run->cap;
}

double sequence_grid_value(const sequence_grid *run) {
  return run->tau < run->rounds || run->value[0] > run->cap ? run->cap : run->value[0];
}
