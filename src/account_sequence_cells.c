/* The certified grid of the sequence accountant, first half: nodes, the table
   of H and the majorants of the cells. account_sequence_grid.c steps on them.

   Between nodes n_k < n_(k+1), W is read as linear in log(n + 1). One round's
   loss at the integer n of the cell is then H(d(n), g(n)) with
   g(n) = l(n) G / L, l(n) = log((n+2)/(n+1)), G = W(n_k) - W(n_(k+1)) and
   L = log((n_(k+1)+1)/(n_k+1)). In units of the node's own shift the slope is
   gamma = l(n_k) G / (L d(n_k)^2), and the majorant of cell k,

     X_k(gamma) >= H(d(n), g(n)) / (1 - s(n) (1 - f_k))   for all n of the cell,

   s(n) = log((n+1)/(n_k+1)) / L, is what the node's own rate must reach so that the rates (1 - s) r_k + s
   r_(k+1) suffice in the whole cell, provided r_(k+1) >= f_k X_k. It is found part by part: in n = from, ...,
   to the shift is at most d(from), the slope at least l(to) G / L, and s at most s(to).

   H is jointly convex in (d, g) (theorem 2 of account_bit.c), so chords lie above it: between the charges of
   a column, between two columns (`read_column`), and, as a maximum of convex functions of gamma is convex,
   between the charges of a majorant. Nothing is left to an estimate of an error but rounding: GRID_MARGIN, in
   account_sequence_grid.h, says how much of it there is. */
#include "account.h"
#include "account_bit.h"

#include <math.h>

#include "account_sequence_grid.h"

static long count_nodes(double start, double rounds, double coarse, double *last) {
  return account_nodes(start, rounds, GRID_CELL_RATIO * coarse, last);
}

static double shift_of(double scale, double n) { return 1 / sqrt(scale * (n + 1)); }

/* The smallest shift in the table; below it H has a bound in closed form. */
static double smallest_shift(double scale, double last) {
  return fmax(shift_of(scale, last), GRID_MIN_SHIFT);
}

/* Columns cover the shifts from node to node, both ends included. */
static long count_shifts(double start, double last, double scale, double coarse) {
  double span = log(shift_of(scale, start) / smallest_shift(scale, last));
  return (long)ceil(fmax(span, 0) / (GRID_SHIFT_STEP * coarse)) + 2;
}

double sequence_grid_size(double rounds, double start, double scale, double coarse) {
  double last, nodes = count_nodes(start, rounds, coarse, &last);
  double shifts = count_shifts(start, last, scale, coarse);
  return shifts * (GRID_CHARGES + 1) + 2 * GRID_CHARGES + nodes * (GRID_CHARGES + 9);
}

static double shift_at(const sequence_grid *run, double n) { return shift_of(run->scale, n); }

/* H(d, gamma d^2) / d^2, kept above 0 where it underflows. */
static double loss_ratio(double alpha, double d, double gamma, bit_search *search) {
  return fmax(bit_loss(alpha, d, gamma * d * d, search) / (d * d), 1e-300);
}

/* A loss that adds next to nothing to the first of its column, even over all rounds. */
static double negligible(const sequence_grid *run, double first) { return first * 1e-6 / run->rounds; }

/* The number of charges: after the last one, the loss of a round is either negligible or constant. */
static long count_charges(const sequence_grid *run) {
  long most = 40;
  for (int end = 0; end < 2; end++) {
    double d = run->shift[end ? run->shifts - 1 : 0];
    bit_search search = {0, 0};
    double first = loss_ratio(run->alpha, d, 0, &search), before = first;
    for (long j = 1; j < GRID_CHARGES; j++) {
      double now = loss_ratio(run->alpha, d, run->charge[j], &search);
      if (j >= most) most = j + 1;
      if (now < negligible(run, first)) break;
      if (j >= 40 && now > before * (1 - 1e-7)) break;
      before = now;
    }
  }
  return most;
}

void sequence_grid_begin(sequence_grid *run, double alpha, double rounds, double start, double scale,
                         double coarse, double *work) {
  double last;
  run->alpha = alpha;
  run->coarse = coarse;
  run->rounds = rounds;
  run->start = start;
  run->scale = scale;
  run->tau = 0;
  run->steps = 0;
  run->last_tau = -1;
  run->last_loss = 0;
  run->slack = 1;
  run->cap = alpha * (alpha - 1) / 2 * rounds / (scale * (start + 1));
  long n = run->nodes = count_nodes(start, rounds, coarse, &last);
  long m = run->shifts = count_shifts(start, last, scale, coarse);
  run->shift = account_take(&work, m);
  run->charge = account_take(&work, GRID_CHARGES);
  run->column = account_take(&work, GRID_CHARGES);
  run->table = account_take(&work, m * GRID_CHARGES);
  run->loss = account_take(&work, n * GRID_CHARGES);
  double **const by_node[] = {&run->count, &run->to_gamma, &run->fall,  &run->tilt,     &run->excess,
                              &run->value, &run->rate,     &run->gamma, &run->charge_at};
  for (int i = 0; i < 9; i++) *by_node[i] = account_take(&work, n);
  double node = start;
  for (long k = 0; k < n; k++, node = account_next_node(node, GRID_CELL_RATIO * coarse)) {
    run->count[k] = node;
    run->value[k] = run->rate[k] = run->gamma[k] = run->charge_at[k] = 0;
  }
  for (long i = 0; i < m; i++) run->shift[i] = shift_at(run, start) * exp(-GRID_SHIFT_STEP * coarse * i);
  /* Charges in units of alpha (alpha-1) / 2; half a unit makes H of a small shift decrease by a factor
     e. The far tail has wider steps. */
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
  double d = run->shift[i], *column = run->table + i * GRID_CHARGES;
  /* The maximisers change almost linearly from column to column; those of the previous column are stored
     where `read_column` will work later. */
  double *maximiser = run->column, drift = 0, before = 0;
  bit_search search = {0, 0};
  for (long j = 0; j < run->charges; j++) {
    if (j > 0 && column[j - 1] < negligible(run, column[0])) {
      column[j] = column[j - 1]; /* H decreases in the charge */
      continue;
    }
    double at = search.x;
    if (i > 0) search = (bit_search){maximiser[j] + drift, 1};
    else if (j > 1) search.x += at - before;
    before = at;
    column[j] = loss_ratio(run->alpha, d, run->charge[j], &search);
    if (i > 0) drift = search.x - maximiser[j];
    maximiser[j] = search.x;
  }
}

/* For d = t d_1 + (1 - t) d_2 between two columns, convexity gives

     H(d, gamma (1 + e) d^2) <= t H(d_1, gamma d_1^2) + (1 - t) H(d_2, gamma d_2^2),

   as t d_1^2 + (1 - t) d_2^2 = (1 + e) d^2, e = t (1 - t) (d_1 - d_2)^2 / d^2. The
   right side goes into `column`, for all gamma of the table; returned is 1 + e. */
static double read_column(sequence_grid *run, double d) {
  if (d < GRID_MIN_SHIFT) {
    /* a whole draw loses no more, whatever the charge */
    double whole = run->alpha * (run->alpha - 1) / 2 * d * d;
    for (long j = 0; j < run->charges; j++) run->column[j] = whole;
    return 1;
  }
  long i = (long)floor(log(run->shift[0] / d) / (GRID_SHIFT_STEP * run->coarse));
  if (i < 0) i = 0;
  if (i > run->shifts - 2) i = run->shifts - 2;
  double d1 = run->shift[i], d2 = run->shift[i + 1];
  double t = fmin(1, fmax(0, (d - d2) / (d1 - d2)));
  double w1 = (1 + GRID_MARGIN) * t * d1 * d1;
  double w2 = (1 + GRID_MARGIN) * (1 - t) * d2 * d2;
  const double *c1 = run->table + i * GRID_CHARGES, *c2 = c1 + GRID_CHARGES;
  for (long j = 0; j < run->charges; j++) run->column[j] = w1 * c1[j] + w2 * c2[j];
  return 1 + t * (1 - t) * (d1 - d2) * (d1 - d2) / (d * d);
}

/* Raise the majorant to `weight` times the loss at the charges ratio * gamma, by the column just read. */
static void raise_part(sequence_grid *run, double *loss, double ratio, double weight) {
  const double *charge = run->charge, *column = run->column;
  long last = run->charges - 1, m = 0;
  for (long j = 0; j <= last; j++) {
    double gamma = ratio * charge[j], need = column[last];
    if (gamma < charge[last]) {
      while (charge[m + 1] <= gamma) m++;
      need = column[m] + (column[m + 1] - column[m]) * (gamma - charge[m]) / (charge[m + 1] - charge[m]);
    }
    if (weight * need > loss[j]) loss[j] = weight * need;
  }
}

void sequence_grid_cell(sequence_grid *run, long k) {
  double n = run->count[k], d = shift_at(run, n);
  double *loss = run->loss + k * GRID_CHARGES;
  for (long j = 0; j < run->charges; j++) loss[j] = 0;
  raise_part(run, loss, 1 / read_column(run, d), 1);
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
  fall *= 0.9997;
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
    ratio /= read_column(run, shift);
    raise_part(run, loss, ratio, 1 / (1 - s * (1 - fall)));
    from = to + 1;
  }
  run->excess[k] = loss[0] / base;
}
