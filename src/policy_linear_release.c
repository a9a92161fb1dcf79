#include "policy_linear_release.h"
#include <math.h>
#include <string.h>
#include "noise_counter_gamma.h"
#include "noise_counter_toeplitz.h"
#include "noise_counter_tree.h"
#include "noise_exact_release.h"
#include "math_util.h"

const char *const LINEAR_MECHANISMS[] = {"tree", "gamma", "toeplitz", NULL};

/* A noisy A is positive definite in all releases of a run together, but for this chance. */
static const double FAILURE = 0.01;
/* No run has more rounds. */
static const double MOST_ROUNDS = 0x1p53;

/* ---- batches ------------------------------------------------------------------------ */

int64_t release_end(const linear_t *linear, int64_t seen) {
  const int64_t least = seen + (linear->batch > 1 ? linear->batch : 1);
  const int64_t grown = (int64_t)(linear->growth * (double)seen);
  return grown > least ? grown : least;
}

/* Batches that end within so many rounds. */
static double batches_within(const linear_t *linear, double rounds) {
  if (linear->growth == 0) return floor(rounds / (double)linear->batch);
  double batches = 0;
  if (!(rounds <= MOST_ROUNDS)) rounds = MOST_ROUNDS;
  for (int64_t end = release_end(linear, 0); (double)end <= rounds; end = release_end(linear, end)) batches++;
  return batches;
}

double release_items(const linear_t *linear, double horizon) {
  const double items = linear->batches ? batches_within(linear, horizon) : horizon;
  return items < 1 ? 1 : items;
}

/* ---- how much noise ----------------------------------------------------------------- */

/* Gaussian noise: the sd of a release of A's diagonal and of b, before the counter's factor.

   One round's context and reward are replaced, (z, r) by (y, s), with entries in [0, 1] and norms of at most
   N. Its items are z z' and r z. How far do they move? In one model, if both rounds pull its arm,

     ||z z' - y y'||_F^2 = ||z||^4 + ||y||^4 - 2 (z.y)^2 <= 2 N^4,
     ||r z - s y||^2 = r^2 ||z||^2 + s^2 ||y||^2 - 2 r s z.y <= 2 N^2,

   as z.y >= 0; and no more than d^2 and d, as no entry moves by more than 1. If one of them pulls
   another arm, the models of two arms move by ||z||^4 + ||y||^4 and r^2 ||z||^2 + s^2 ||y||^2: again at
   most 2 N^4 and 2 N^2, and here not less.

   (With any signs and |r| <= 1 the first square and w times the second would add up to at most
   2 N^4 + 2 w N^2 + w^2 / 2: for m = |z.y| the sum is no more than
   ||z||^4 + ||y||^4 + w (||z||^2 + ||y||^2) + 2 w m - 2 m^2, and 2 w m - 2 m^2 <= w^2 / 2.)

   Symmetric noise of variance v on the diagonal and v / 2 off it measures a move by its Frobenius norm: an
   entry off the diagonal is released once, counts twice in the norm and has half the variance. A and b each
   take half of mu^2. With public contexts r alone changes, b moves by at most N, and all of mu is for it.

   With the logistic link the items are w z z' and c z, where c = r - sigma(eta) + w eta has either
   sign. As r is in [0, 1], |c| <= h = sigma(|eta|) - w |eta|. For N = 1, m = z.y and any l, in one model

     ||w z z' - w' y y'||_F^2 + l ||c z - c' y||^2
       <= w^2 + w'^2 - 2 w w' m^2 + l (h^2 + h'^2 + 2 h h' |m|),

   with less for shorter vectors or two models. Where w is large, h is small: so A and b are not moved
   far by the same round, and one budget serves both better than two halves. With l = 1/16 the right
   side is at most 0.41^2 for all |eta|, |eta'| <= LINEAR_REACH and |m| <= 1 (it is 0.1669 at eta = -eta'
   = 3, m = 1, and 0.1582 at eta = eta' = 0; the tests bound it by a grid). Noise of sd 0.41 N^2 / mu for
   A and sqrt(16) 0.41 N / mu for b therefore costs mu in all. */
static const double MOVE_LOGIT = 0.41, MOVE_RATIO = 4;

/* For mu = 1 */
static void gaussian_noise(const linear_t *linear, double *sd_a, double *sd_b) {
  const double d = linear->dim, norm = fmin(linear->norm, sqrt(d));
  if (!linear->noisy_a) {
    *sd_a = 0;
    *sd_b = norm;
    return;
  }
  if (linear->link == LINK_LOGIT) {
    *sd_a = MOVE_LOGIT * norm * norm;
    *sd_b = MOVE_RATIO * MOVE_LOGIT * norm;
    return;
  }
  double move_a = sqrt(2) * norm * norm, move_b = sqrt(2) * norm;
  if (linear->shared) {
    move_a = fmin(move_a, d);
    move_b = fmin(move_b, sqrt(d));
  }
  *sd_a = sqrt(2) * move_a;
  *sd_b = sqrt(2) * move_b;
}

/* Live, on people: by what the sd of a factorisation's releases must be larger, as what is released is
   rounded.

   Contexts and rewards lie on the grid of multiples of 2^-10 (release_context()), and are cut to the norm
   after that. So with the identity link all that was said above holds for what is added up: products of two
   such numbers are multiples of 2^-20 in [0, 1], their sums are exact in doubles, and trees release these
   integers. With the logistic link each product is rounded to 2^-20: another round then moves it by at most
   one step of 2^-20 more. A factorisation releases weighted sums of batches, rounded down to 2^-20: one step
   more in each of n releases. And before they are rounded the doubles are off: with three roundings an item
   for n items, none of them after a cancellation, by at most (3 n + 64) 2^-53 times the weighted sum of
   absolute values. An item is no larger than 1, so that sum is at most the number of rounds; with batches of
   one size it is also at most batch sqrt(n) norm (Cauchy and Schwarz).

   Let `unit` be what a step in all numbers of the two models that move costs in one release, in units of mu:
   the root of the sum of 1 / sd^2. By the triangle inequality the releases of a move that cost mu then cost
   at most

     mu (1 + unit (step if logistic + sqrt(n) (step + error / norm))),

   and so much more noise makes up for it. After LINEAR_MOST rounds nothing more is learned: n is at most
   the number of batches in them. */
static double rounding(const linear_t *linear) {
  const double step = 1 / EXACT_GRID, d = linear->dim;
  const double n = fmin(linear->leaves, batches_within(linear, LINEAR_MOST));
  const double most = linear->growth > 0 ? LINEAR_MOST : (double)linear->batch * sqrt(n);
  const double error = 2 * (3 * n + 64) * 0x1p-53 * most;
  double a, b;
  gaussian_noise(linear, &a, &b);
  const double unit = sqrt((linear->shared ? 1 : 2) * ((a > 0 ? d * d / (a * a) : 0) + d / (b * b)));
  const double once = linear->link == LINK_LOGIT ? step : 0;
  return 1 + 0x1p-40 + unit * (once + sqrt(n) * (step + error));
}

void release_context(const linear_t *linear, const double *context, int live, double *z) {
  const int d = linear->dim;
  for (int i = 0; i < d; i++) {
    z[i] = clip01(context[i]);
    if (live) z[i] = on_grid(z[i], LINEAR_GRID);
  }
  if (!(linear->norm < INFINITY)) return;
  const double length = sqrt(dot(d, z, z));
  if (!(length > linear->norm)) return;
  for (int i = 0; i < d; i++) {
    z[i] *= linear->norm / length;
    if (live) z[i] = floor(z[i] * (1 - 0x1p-40) * LINEAR_GRID) / LINEAR_GRID;
  }
}

/* The sd of Gaussian noise for each of a model's numbers: on A's diagonal, off it, in b; times
   what the counter asks for. */
static void scales(const linear_t *linear, double factor, double *sd) {
  if (linear->noisy_a) {
    for (int i = 0; i < linear->dim; i++) {
      for (int j = 0; j < i; j++) *sd++ = factor * linear->sd_a / sqrt(2);
      *sd++ = factor * linear->sd_a;
    }
  }
  for (int i = 0; i < linear->dim; i++) *sd++ = factor * linear->sd_b;
}

/* The most noisy numbers of a model. */
#define MAX_TERMS (MAX_CONTEXT * (MAX_CONTEXT + 1) / 2 + MAX_CONTEXT)

static void init_trees(linear_t *linear, void *counters, double epsilon) {
  const int levels = linear->levels;
  /* In batches a round of one arm may become one of another, and move both arms' sums. */
  const double moved = linear->batches && linear->noisy_a && !linear->shared ? 2 : 1;
  if (linear->mechanism == LINEAR_GAMMA) {
    /* The terms lie in [0, 1]: another round moves them by at most sqrt(terms). */
    gamma_tree_init(counters, levels, linear->terms, moved * levels * sqrt(linear->terms) / epsilon);
    return;
  }
  /* Every term has its own tree. Under Laplace noise each has an equal share of epsilon; under
     Gaussian noise all of them together cost mu, and an item is in `levels` nodes. */
  const double scale = moved * levels / (epsilon / linear->terms);
  double sd[MAX_TERMS];
  scales(linear, sqrt(levels), sd);
  for (int i = 0; i < linear->terms; i++) {
    tree_t *tree = tree_at(counters, levels, (size_t)i);
    if (linear->sd_b > 0) tree_init(tree, levels, NOISE_GAUSSIAN, sd[i]);
    else tree_init(tree, levels, NOISE_LAPLACE, scale);
  }
}

int release_levels(const linear_t *linear) { return tree_levels(fmin(linear->leaves, MOST_ROUNDS)); }

size_t release_size(const linear_t *linear) {
  if (linear->mechanism == LINEAR_TOEPLITZ) return toeplitz_size(linear->leaves, linear->terms);
  if (linear->mechanism == LINEAR_GAMMA) return gamma_tree_size(linear->levels, linear->terms);
  return tree_size(linear->levels) * (size_t)linear->terms;
}

void release_begin(linear_t *linear, const spec_t *spec) {
  if (!(spec->par[LINEAR_MU] < INFINITY)) return;
  if (spec->par[LINEAR_NORM] < sqrt(spec->dim)) linear->norm = spec->par[LINEAR_NORM];
  gaussian_noise(linear, &linear->sd_a, &linear->sd_b);
  linear->sd_a /= spec->par[LINEAR_MU];
  linear->sd_b /= spec->par[LINEAR_MU];
  linear->margin = linear->noisy_a ? spec->par[LINEAR_MARGIN] : 0;
  linear->tail = log(linear->models / FAILURE);
}

void release_init(linear_t *linear, double *model, double epsilon) {
  void *counters = model_counters(linear, model);
  if (linear->mechanism == LINEAR_TOEPLITZ) toeplitz_init(counters, linear->leaves, linear->terms);
  else init_trees(linear, counters, epsilon);
}

int release_is_sound(const linear_t *linear, double *model) {
  const void *counters = model_counters(linear, model);
  if (linear->mechanism == LINEAR_TOEPLITZ) {
    const toeplitz_t *t = counters;
    return t->nodes == toeplitz_nodes(linear->leaves) && t->numbers == linear->terms && t->n >= 0;
  }
  if (linear->mechanism == LINEAR_GAMMA) {
    const gamma_tree_t *t = counters;
    return t->levels == linear->levels && t->p == linear->terms && t->n >= 0 &&
           t->n < (int64_t)1 << t->levels;
  }
  for (int i = 0; i < linear->terms; i++) {
    const tree_t *tree = tree_at(counters, linear->levels, (size_t)i);
    if (tree->levels != linear->levels || !tree_is_sound(tree, linear->levels)) return 0;
  }
  return 1;
}

/* ---- releases ----------------------------------------------------------------------- */

/* What is added to A on account of its Gaussian noise.

   The noise is sqrt(v) times a symmetric matrix with N(0, 1) on the diagonal and N(0, 1/2) off it.
   By comparison with a Gaussian vector (Davidson and Szarek 2001, Theorem 2.11) its largest
   eigenvalue has a mean of at most sqrt(2 d), and it moves by at most the Frobenius norm of a change:
   so it exceeds sqrt(2 d) + sqrt(2 t) with a chance of at most e^-t, and minus the least one no less.
   The chances of all releases add up to FAILURE at most. */
double release_margin(const linear_t *linear, double *model) {
  if (linear->margin == 0) return 0;
  const void *counters = model_counters(linear, model);
  double variance, items;
  if (linear->mechanism == LINEAR_TOEPLITZ) {
    const toeplitz_t *t = counters;
    const double sd = linear->sd_a * t->norm;
    variance = t->variance * sd * sd;
    items = (double)t->n;
  } else {
    const tree_t *tree = counters;
    variance = tree_terms(tree) * tree->scale * tree->scale;
    items = (double)tree->n;
  }
  /* Without a bound, item n gets a share 6 / (pi n)^2 of the chance. */
  const double looks = linear->leaves < INFINITY ? linear->leaves : 1.645 * items * items;
  const double bound = sqrt(2.0 * linear->dim) + sqrt(2 * (linear->tail + log(looks)));
  return linear->margin * sqrt(variance) * bound;
}

static void add_toeplitz(linear_t *linear, toeplitz_t *t, const double *item, double *sums, draws_t *draws) {
  double sd[MAX_TERMS];
  scales(linear, t->norm * (draws->live ? rounding(linear) : 1), sd);
  toeplitz_add(t, item, sd, sums, draws);
}

const double *release_item(linear_t *linear, double *model, double *item, double *sums, draws_t *draws) {
  void *counters = model_counters(linear, model);
  if (linear->mechanism == LINEAR_TOEPLITZ) {
    add_toeplitz(linear, counters, item, sums, draws);
  } else if (linear->mechanism == LINEAR_GAMMA) {
    gamma_tree_add(counters, item, sums, draws);
  } else {
    for (int i = 0; i < linear->terms; i++) {
      sums[i] = tree_add(tree_at(counters, linear->levels, (size_t)i), item[i], draws);
    }
  }
  memcpy(model_b(linear, model), sums + linear->terms - linear->dim, sizeof(double) * (size_t)linear->dim);
  return sums;
}
