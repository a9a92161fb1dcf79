/* Kernels of the privacy accountants. They work on numbers and on buffers that the caller owns: no R
   header, no allocation. */
#ifndef DPTS_ACCOUNT_H
#define DPTS_ACCOUNT_H

#include <math.h>
#include <stdint.h>

/* A grid over the number n of an arm's rewards: the next node, at a distance of `ratio` (n + 1). */
static inline double account_next_node(double n, double ratio) {
  const double next = floor((n + 1) * (1 + ratio) - 1);
  return next > n + 1 ? next : n + 1;
}

/* The number of nodes from `start` to the first that is at least start + rounds; *last is set to that
   node. */
static inline long account_nodes(double start, double rounds, double ratio, double *last) {
  long count = 1;
  for (*last = start; *last < start + rounds; *last = account_next_node(*last, ratio)) count++;
  return count;
}

/* Takes the next n doubles of a buffer. */
static inline double *account_take(double **work, long n) {
  double *piece = *work;
  *work += n;
  return piece;
}

/* Gaussian differential privacy (Dong, Roth, Su 2022); account_gdp.c */
double gdp_delta(double mu, double epsilon, int log);
double gdp_epsilon(double mu, double delta);
double gdp_mu(double epsilon, double delta);

/* The sequence accountant: account_sequence.c (exact recursion) and account_sequence_grid.c (certified
   grid). Both are upper bounds on W = log E_Q[(P/Q)^alpha] of the arms published in `rounds` rounds of
   Gaussian Thompson sampling whose private arm starts with `start` rewards; D_alpha = W / (alpha - 1). */

/* Exact recursion. `work` holds sequence_exact_size(rounds) doubles. Call begin, then step until it
   returns 0; step tau costs rounds - tau evaluations of the loss. The bound is value[0]. */
typedef struct {
  double alpha, rounds, start, scale;
  double tau;                     /* rounds done */
  double *value, *shift, *search; /* W, d and the maximisers at start, start + 1, ... */
} sequence_exact;
double sequence_exact_size(double rounds);
void sequence_exact_begin(sequence_exact *run, double alpha, double rounds, double start, double scale,
                          double *work);
int sequence_exact_step(sequence_exact *run);

/* Certified grid. `work` holds sequence_grid_size(rounds, start, scale, coarse) doubles. Nodes and steps
   are `coarse` times as wide as in account_sequence_grid.h; the result is then still an upper bound, but
   a looser one. Call begin, fill columns 0, ..., shifts - 1, then cells nodes - 1 down to 0, then step
   until it returns 0. The bound is sequence_grid_value(). */
typedef struct {
  double alpha, rounds, start, scale, coarse;
  long nodes, shifts, charges; /* sizes in use */
  double tau;                  /* rounds done */
  long steps;
  double last_tau, last_loss; /* start of the last step, and the loss of a round in it */
  double slack;               /* largest inflation of H that mattered */
  double cap;                 /* the bound on W if all draws were published */
  /* the table: H(d, gamma d^2) / d^2 by shift and charge */
  double *shift, *charge, *table, *column;
  /* by cell: the majorant of H at each charge, and constants */
  double *loss, *count, *to_gamma, *fall, *tilt, *excess;
  /* the solution: W at the nodes, its gain per unit of log time in this step, the slope towards the next
     node in units of d^2, and the index of that slope among the charges */
  double *value, *rate, *gamma, *charge_at;
} sequence_grid;
double sequence_grid_size(double rounds, double start, double scale, double coarse);
void sequence_grid_begin(sequence_grid *run, double alpha, double rounds, double start, double scale,
                         double coarse, double *work);
void sequence_grid_column(sequence_grid *run, long i);
void sequence_grid_cell(sequence_grid *run, long k);
int sequence_grid_step(sequence_grid *run);
double sequence_grid_value(const sequence_grid *run);

/* The near-GDP accountant (account_near_gdp.c): the arms published are mu-GDP up to nu. `work` holds
   near_gdp_size(rounds, start, coarse) doubles, `coarse` as above. Call begin, then step until it
   returns 0; -1 means that an inequality of the proof could not be met, and then there is no value. */
typedef struct {
  double rounds, coarse, allowance; /* nu / rounds */
  long nodes;
  double tau;                         /* rounds done */
  double before, last_tau, last_need; /* the clock of the next step */
  /* by node: n, d, M = mu^2, its gain per unit of the clock, the position beyond which a pull is not
     credited, and the maximisers */
  double *count, *shift, *value, *rate, *cut, *maximiser;
} near_gdp;
double near_gdp_size(double rounds, double start, double coarse);
void near_gdp_begin(near_gdp *run, double rounds, double start, double scale, double nu, double coarse,
                    double *work);
int near_gdp_step(near_gdp *run);
double near_gdp_mu(const near_gdp *run);

/* The direct accountant on a lattice (account_lattice.c): bounds on delta(epsilon) at the points epsilon
   = step (j - below), j = 0, ..., points - 1. There is a node for each number of the private arm's
   rewards from `start` to start + nodes - 1. `work` holds sequence_lattice_size(nodes, points) doubles.
   Call begin, then step until it returns 0. */
typedef struct {
  double rounds, start, scale, step;
  long nodes, below, points;
  double tau;         /* rounds done */
  double floor;       /* values of U below this are raised to it */
  double sure;        /* the largest probability of losses off the lattice that was omitted */
  double *now, *next; /* U by node and point */
  double *fade;       /* e^(-step i) */
  /* by node: the number of corners, the point from which U is at the floor, the longest shift */
  double *corners, *reach, *longest;
  double *stencils; /* by node and corner */
} sequence_lattice;
double sequence_lattice_size(double nodes, double points);
void sequence_lattice_begin(sequence_lattice *run, double rounds, double start, double scale, double nodes,
                            double step, double below, double points, double *work);
int sequence_lattice_step(sequence_lattice *run);
const double *sequence_lattice_value(const sequence_lattice *run);

/* The atoms of a privacy loss, in increasing order, with their probabilities under P and Q; sums of two
   losses, by cells (knot[c], knot[c + 1]] (account_losses.c). */
typedef struct {
  long n;
  const double *loss, *p, *q;
} losses_t;
void losses_add(const losses_t *x, const losses_t *y, const double *knot, long cells, double *p, double *q);

/* Explicit adversaries of order alpha (account_adversary.c). `work` holds adversary_size(rounds, start)
   doubles. Call begin, solve until it returns 0, then play transcripts by number, in any order: this
   gives their loss L = log P/Q and log P/R, R being the distribution that they are sampled from. */
typedef struct {
  double rounds, scale, alpha;
  int bounded; /* restrict positions to those of rewards in [0, 1]? The sign of the shift; 0: no */
  long nodes, times, solved;
  double *count, *value, *position, *time, *acts;
} adversary;
double adversary_size(double rounds, double start);
void adversary_begin(adversary *run, double rounds, double start, double scale, double alpha, int bounded,
                     double *work);
int adversary_solve(adversary *run);
void adversary_play(const adversary *run, uint64_t seed, uint64_t number, double *loss, double *weight);

#endif
