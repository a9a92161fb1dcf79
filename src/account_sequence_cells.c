/* The certified grid of the sequence accountant, first half: nodes, the table
   of H and the majorants of the cells. account_sequence_grid.c steps on them.

   Between nodes n_k < n_(k+1), W is read as linear in log(n + 1). One round's
   loss at the integer n of the cell is then H(d(n), g(n)) with
   g(n) = l(n) G / L, l(n) = log((n+2)/(n+1)), G = W(n_k) - W(n_(k+1)) and
   L = log((n_(k+1)+1)/(n_k+1)). In units of the node's own shift the slope is
   gamma = l(n_k) G / (L d(n_k)^2), and the majorant of cell k,

     X_k(gamma) >= H(d(n), g(n)) / (1 - s(n) (1 - f_k))   for all n of the cell,

   s(n) = log((n+1)/(n_k+1)) / L, is what the node's own rate must reach so
   that the rates (1 - s) r_k + s r_(k+1) suffice in the whole cell, provided
   r_(k+1) >= f_k X_k. It is found part by part: in n = from, ..., to the shift
   is at most d(from), the slope at least l(to) G / L, and s at most s(to).

   H is convex in g (the logarithm of a supremum of A e^-g + B), so chords lie
   above it, and a maximum of convex functions of gamma is convex: the table in
   gamma, read linearly, is an upper bound. Between its columns, in log d, the
   table is read with a margin (`read_column`). */
#include "account.h"
#include "account_bit.h"

#include <math.h>

#include "account_sequence_grid.h"

static double next_node(double n) {
  double next = floor((n + 1) * (1 + GRID_CELL_RATIO) - 1);
  return next > n + 1 ? next : n + 1;
}

static long count_nodes(double start, double rounds, double *last) {
  long count = 1;
  double n = start;
  for (; n < start + rounds; n = next_node(n)) count++;
  *last = n;
  return count;
}

/* Columns cover the shifts from node to node, and one more on each side. */
static long count_shifts(double start, double last) {
  return (long)ceil(0.5 * log((last + 1) / (start + 1)) / GRID_SHIFT_STEP) + 4;
}

double sequence_grid_size(double rounds, double start) {
  double last, nodes = count_nodes(start, rounds, &last);
  double shifts = count_shifts(start, last);
  return shifts * (GRID_CHARGES + 1) + 2 * GRID_CHARGES + nodes * (GRID_CHARGES + 10);
}

static double shift_at(const sequence_grid *run, double n) {
  return 1 / sqrt(run->scale * (n + 1));
}

static double log_loss(double alpha, double d, double gamma, bit_search *search) {
  double loss = bit_loss(alpha, d, gamma * d * d, search) / (d * d);
  return log(loss > 1e-300 ? loss : 1e-300);
}

/* The charges that matter: past the last, what a round can lose is either
   negligible over all rounds or has stopped falling. */
static long count_charges(const sequence_grid *run) {
  long most = 40;
  for (int end = 0; end < 2; end++) {
    double d = exp(run->log_shift[end ? run->shifts - 1 : 0]);
    bit_search search = {{0, 0}, 0};
    double first = log_loss(run->alpha, d, 0, &search), before = first;
    for (long j = 1; j < GRID_CHARGES; j++) {
      double now = log_loss(run->alpha, d, run->charge[j], &search);
      if (j >= most) most = j + 1;
      if (now < first - log(run->rounds) - 14) break;
      if (j >= 40 && now > before - 1e-7) break;
      before = now;
    }
  }
  return most;
}

void sequence_grid_begin(sequence_grid *run, double alpha, double rounds, double start,
                         double scale, double *work) {
  double last;
  run->alpha = alpha;
  run->rounds = rounds;
  run->start = start;
  run->scale = scale;
  run->tau = 0;
  run->steps = 0;
  run->slack = 1;
  run->cap = alpha * (alpha - 1) / 2 * rounds / (scale * (start + 1));
  long n = run->nodes = count_nodes(start, rounds, &last);
  long m = run->shifts = count_shifts(start, last);
  run->log_shift = work;
  work += m;
  run->charge = work;
  work += GRID_CHARGES;
  run->column = work;
  work += GRID_CHARGES;
  run->table = work;
  work += m * GRID_CHARGES;
  run->loss = work;
  work += n * GRID_CHARGES;
  run->count = work;
  work += n;
  run->to_gamma = work;
  work += n;
  run->fall = work;
  work += n;
  run->tilt = work;
  work += n;
  run->excess = work;
  work += n;
  run->value = work;
  work += n;
  run->gain = work;
  work += n;
  run->gamma = work;
  work += n;
  run->place = work;
  work += n;
  run->ahead = work;
  double node = start;
  for (long k = 0; k < n; k++, node = next_node(node)) {
    run->count[k] = node;
    run->value[k] = run->gain[k] = run->gamma[k] = run->place[k] = 0;
    run->ahead[k] = 1;
  }
  for (long i = 0; i < m; i++)
    run->log_shift[i] = log(shift_at(run, start)) + GRID_SHIFT_STEP * (1 - i);
  /* Charges in units of alpha (alpha-1) / 2, half of which is what makes H
     of a small shift fall by a factor e; wider ones for the far tail. */
  double unit = alpha * (alpha - 1) / 2, step = 0.06;
  run->charge[0] = 0;
  for (long j = 1; j < GRID_CHARGES; j++) {
    run->charge[j] = run->charge[j - 1] + unit * step;
    if (step < 0.25) step += 0.01;
    else if (j > 100) step *= 1.025;
  }
  run->charges = count_charges(run);
}

void sequence_grid_column(sequence_grid *run, long i) {
  double d = exp(run->log_shift[i]);
  bit_search search = {{0, 0}, 0};
  double before[2];
  double *column = run->table + i * GRID_CHARGES;
  for (long j = 0; j < run->charges; j++) {
    double at[2] = {search.x[0], search.x[1]};
    /* the maximisers drift evenly: start where they would be next */
    for (int k = 0; j > 1 && k < 2; k++) search.x[k] += at[k] - before[k];
    for (int k = 0; k < 2; k++) before[k] = at[k];
    column[j] = log_loss(run->alpha, d, run->charge[j], &search);
  }
}

/* A bound on H(d, gamma d^2) at all charges, into `column`. Lagrange's cubic in
   log d, or the chord if that is higher, and once more their difference: the
   difference is the size of the second-order term, where the cubic's error is
   of fourth order, or of the chord's order at a kink between two maximisers. */
static void read_column(sequence_grid *run, double d) {
  double u = (run->log_shift[0] - log(d)) / GRID_SHIFT_STEP;
  long i = (long)floor(u) - 1;
  if (i < 0) i = 0;
  if (i > run->shifts - 4) i = run->shifts - 4;
  double t = u - i;
  double w0 = -(t - 1) * (t - 2) * (t - 3) / 6, w1 = t * (t - 2) * (t - 3) / 2;
  double w2 = -t * (t - 1) * (t - 3) / 2, w3 = t * (t - 1) * (t - 2) / 6;
  const double *c0 = run->table + i * GRID_CHARGES, *c1 = c0 + GRID_CHARGES;
  const double *c2 = c1 + GRID_CHARGES, *c3 = c2 + GRID_CHARGES;
  for (long j = 0; j < run->charges; j++) {
    double cubic = w0 * c0[j] + w1 * c1[j] + w2 * c2[j] + w3 * c3[j];
    double chord = (2 - t) * c1[j] + (t - 1) * c2[j];
    double gap = cubic - chord;
    run->column[j] = d * d * exp(cubic + (gap > 0 ? gap : -2 * gap) + GRID_MARGIN);
  }
}

/* Raise the majorant to what the integers from ... to of the cell need. */
static void raise_part(sequence_grid *run, double *loss, double ratio, double weight) {
  const double *charge = run->charge, *column = run->column;
  long last = run->charges - 1, m = 0;
  for (long j = 0; j <= last; j++) {
    double gamma = ratio * charge[j], need = column[last];
    if (gamma < charge[last]) {
      while (charge[m + 1] <= gamma) m++;
      need = column[m] + (column[m + 1] - column[m]) * (gamma - charge[m]) /
                             (charge[m + 1] - charge[m]);
    }
    if (weight * need > loss[j]) loss[j] = weight * need;
  }
}

void sequence_grid_cell(sequence_grid *run, long k) {
  double n = run->count[k], d = shift_at(run, n);
  double *loss = run->loss + k * GRID_CHARGES;
  read_column(run, d);
  for (long j = 0; j < run->charges; j++) loss[j] = run->column[j];
  run->fall[k] = run->tilt[k] = run->to_gamma[k] = 0;
  run->excess[k] = 1;
  if (k == run->nodes - 1) return;

  double next = run->count[k + 1], width = next - n;
  double length = log((next + 1) / (n + 1)), slope = log1p(1 / (n + 1));
  run->to_gamma[k] = slope / (length * d * d);
  if (width == 1) return; /* one integer, at the node itself */

  /* How far the rates may fall towards the next node: as d^2 does, less a
     little for H / d^2 not being constant. */
  double fall = (n + 1) / (next + 1);
  const double *above = loss + GRID_CHARGES;
  if (above[0] < fall * loss[0]) fall = above[0] / loss[0];
  fall *= 0.999;
  run->fall[k] = fall;
  double s = log(next / (n + 1)) / length; /* s at the cell's last integer */
  run->tilt[k] = s / (1 - s);
  double base = loss[0];
  int parts = width < GRID_PARTS ? (int)width : GRID_PARTS;
  double from = n;
  for (int i = 1; i <= parts; i++) {
    double to = i == parts ? next - 1 : floor(n + width * i / parts) - 1;
    double shift = shift_at(run, from);
    double ratio = log1p(1 / (to + 1)) / slope * (d * d) / (shift * shift);
    s = log((to + 1) / (n + 1)) / length;
    read_column(run, shift);
    raise_part(run, loss, ratio, 1 / (1 - s * (1 - fall)));
    from = to + 1;
  }
  run->excess[k] = loss[0] / base;
}
