#include "policy_linear_release.h"
#include <math.h>
#include <string.h>
#include "noise_counter_gamma.h"
#include "noise_counter_toeplitz.h"
#include "noise_counter_tree.h"
#include "noise_exact_release.h"
#include "math_util.h"

const char *const LINEAR_MECHANISMS[] = {"tree", "gamma", "toeplitz", "batches", NULL};

/* A noisy A is positive definite in all releases of a run together, but for this chance. */
static const double FAILURE = 0.01;
/* No run has more rounds. */
static const double MAX_ROUNDS = 0x1p53;

/* ---- batches ------------------------------------------------------------------------ */

int64_t release_end(const linear_t *linear, int64_t seen) {
  const int64_t least = seen + (linear->batch > 1 ? linear->batch : 1);
  const int64_t grown = (int64_t)(linear->growth * (double)seen);
  return grown > least ? grown : least;
}

/* With public contexts each model has its own batches. Under pure privacy its first rewards are released one
   by one, as bits that are turned with a chance f. A bit, taken as (bit - f) / (1 - 2f), has a variance that
   is larger by f (1 - f) / (1 - 2f)^2. A release of the sums of r z has a variance of 2 N^2 / epsilon^2 for
   each number. If squares of a context's entries are min(1/3, N / d) on average, the two are equal after
   `even` rewards. Four times as many are bits, or 12 (1 - 2f)^2 times, and no batch is smaller than
   `even`. */
static double square(const linear_t *linear) { return fmin(1. / 3, linear->norm / linear->dim); }

void release_rule(linear_t *linear, const spec_t *spec) {
  const double epsilon = spec->par[LINEAR_EPSILON];
  if (spec->par[LINEAR_MU] < INFINITY || linear->laplace) {
    const double most = linear->laplace ? spec->dim : sqrt(spec->dim), norm = spec->par[LINEAR_NORM];
    linear->norm = norm < most ? norm : most;
  }
  /* The intercept's 1 is a public number of each context, and makes it longer. */
  if (linear->intercept)
    linear->norm = linear->laplace ? 1 + linear->norm : sqrt(1 + linear->norm * linear->norm);
  if (linear->batch > 0 || linear->growth == 0) return;
  if (linear->noisy_a) {
    /* In the first batch arms are pulled at random, and sums of fewer rounds are noise. The rule is tuned;
       epsilon = 5 has about the noise of mu = 1. */
    const double mu = spec->par[LINEAR_MU], budget = fmin(1, mu < INFINITY ? mu : epsilon / 5);
    linear->batch = (int64_t)ceil(fmin(300, 1.5 * sqrt(spec->horizon) / budget));
  } else if (linear->laplace) {
    const double flip = 1 / (1 + exp(epsilon)), more = flip * (1 - flip) / ((1 - 2 * flip) * (1 - 2 * flip));
    const double noise = linear->norm / epsilon, right = 1 - 2 * flip;
    const double even = ceil(2 * noise * noise / (square(linear) * more));
    linear->flip = fmax(1, ceil(flip * (1 + 1e-15) * 0x1p53)) * 0x1p-53;
    linear->batch = even < LINEAR_MAX ? (int64_t)even : (int64_t)LINEAR_MAX;
    linear->bits = (int64_t)(fmax(4, 12 * right * right) * (double)linear->batch);
  } else {
    linear->batch = 4 * linear->dim;
  }
}

/* Batches within so many rounds, the last of which may be open. */
static double batches_within(const linear_t *linear, double rounds) {
  if (linear->growth == 0) return ceil(rounds / (double)linear->batch);
  double batches = 1;
  if (!(rounds <= MAX_ROUNDS)) rounds = MAX_ROUNDS;
  for (int64_t end = release_end(linear, 0); (double)end < rounds; end = release_end(linear, end)) batches++;
  return batches;
}

double release_items(const linear_t *linear, double horizon) {
  return linear->batches ? batches_within(linear, horizon) : fmax(1, horizon);
}

/* ---- how much noise ----------------------------------------------------------------- */

/* One round's context and reward are replaced, (z, r) by (y, s): contexts are not negative, p = r - c and
   q = s - c lie in [-c, 1 - c], c the centre. A row has a weight, N / |z| where |z| <= N, so that what it
   adds to b is as long as it may be: the items are N |z| u u' and N p u, u the direction of z. (A longer
   context has the weight N^2 / |z|^2: N^2 u u', and less in b; that of length 0 adds nothing.) How far do
   they move? For Gaussian noise lengths are Euclidean. In one model, with N = 1, m = u.v >= 0, f and g
   the lengths of z and y, at most 1, and any w

     ||f u u' - g v v'||_F^2 + w ||p u - q v||^2 = f^2 + g^2 - 2 f g m^2 + w (p^2 + q^2 - 2 p q m),

   with shorter p and q for long contexts. Let h = max(c, 1 - c). If p q >= 0 this is at most 2 + 2 w h^2,
   which is also the bound if the round moves to another arm and the models of both move. If p q < 0, |p| +
   |q| <= 1 and p^2 + q^2 <= 1 - 2 c (1 - c). The sum is convex in f and in g, so largest where they are 0 or
   1: with f g = 0 it is at most 1 + w, and with f = g = 1, as -2 m^2 + 2 w |p q| m <= (w p q)^2 / 2, at most
   2 + w (1 - 2 c (1 - c)) + (w c (1 - c))^2 / 2. Let M^2 be the largest of the three: noise of sd M N^2 / mu
   for A and M N / (mu sqrt(w)) for b costs mu in all. Here w = 5 / (4 h^2): for c = 1/2, w = 5 and M^2 = 6.
   (What costs regret is the noise in b: half of it is worth more than a quarter of that in A.)

   Symmetric noise of variance v on the diagonal and v / 2 off it measures a move by its Frobenius norm: an
   entry off the diagonal is released once, counts twice in the norm and has half the variance. With public
   contexts r alone changes, b moves by at most N, and all of mu is for it.

   For Laplace's noise lengths are sums of entries. With half of the scale off the diagonal, an entry there
   counts twice, as it does in the matrix: the move of A is at most 2 N^2, and that of b at most 2 h N.
   Scales of 5 N^2 / epsilon for A and 10/3 h N / epsilon for b cost 2/5 and 3/5 of epsilon.

   With the logistic link rows are weighted in the same way: the items are w N |z| u u' and c N u, where c =
   r - sigma(eta) + w eta has either sign. As r is in [0, 1], |c| <= h = sigma(|eta|) - w |eta|. For N = 1,
   m = |u.v| and any l, in one model

     ||f w u u' - g w' v v'||_F^2 + l ||c u - c' v||^2
       <= (f w)^2 + (g w')^2 - 2 f g w w' m^2 + l (h^2 + h'^2 + 2 h h' m),

   with less for two models. It is convex in f and in g, so largest where they are 0 or 1. Where w is large,
   h is small: so A and b are not moved far by the same round, and one budget serves both better than two
   halves. With l = 1/16 the right side is at most 0.414^2 for all |eta|, |eta'| <= LINEAR_REACH and m <= 1
   (it is 0.1709 at f = 1, g = 0, eta = 0, eta' = 3, m = 1, and 0.1669 at eta = -eta' = 3, m = 1; the tests
   bound it by a grid). Noise of sd 0.414 N^2 / mu for A and sqrt(16) 0.414 N / mu for b therefore costs mu in
   all. */
static const double MOVE_LOGIT = 0.414, MOVE_RATIO = 4, SHARE_B = 0.6;
/* Of the width, where bits come first: tuned. */
static const double WIDTH_BITS = 0.7;

/* For a budget of 1 */
static void noise_scales(const linear_t *linear, int gaussian, double *sd_a, double *sd_b) {
  const double norm = linear->norm, c = linear->centre, h = fmax(c, 1 - c);
  if (!linear->noisy_a) {
    *sd_a = 0;
    *sd_b = norm;
  } else if (!gaussian) {
    *sd_a = 2 / (1 - SHARE_B) * norm * norm;
    *sd_b = 2 / SHARE_B * h * norm;
  } else if (linear->link == LINK_LOGIT) {
    *sd_a = MOVE_LOGIT * norm * norm;
    *sd_b = MOVE_RATIO * MOVE_LOGIT * norm;
  } else {
    const double w = 1.25 / (h * h), cc = c * (1 - c);
    const double one = fmax(1 + w, 2 + w * (1 - 2 * cc) + w * w * cc * cc / 2);
    const double move = sqrt(fmax(2 + 2 * w * h * h, one));
    *sd_a = move * norm * norm;
    *sd_b = move * norm / sqrt(w);
  }
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
   absolute values. An item is no larger than the larger of 1 and N^2, so that sum is at most the number of
   rounds times that; with batches of one size at most batch sqrt(n) norm times that (Cauchy and Schwarz).

   Let `unit` be what a step in all numbers of the two models that move costs in one release, in units of mu:
   the root of the sum of 1 / sd^2. By the triangle inequality the releases of a move that cost mu then cost
   at most

     mu (1 + unit (step if logistic + sqrt(n) (step + error / norm))),

   and so much more noise makes up for it. After LINEAR_MAX rounds nothing more is learned: n is at most
   the number of batches in them. */
static double rounding(const linear_t *linear) {
  const double step = 1 / EXACT_GRID, d = linear->dim;
  const double n = fmin(linear->leaves, batches_within(linear, LINEAR_MAX));
  const double most = linear->growth > 0 ? LINEAR_MAX : (double)linear->batch * sqrt(n);
  const double error = 2 * (3 * n + 64) * 0x1p-53 * most * fmax(1, linear->norm * linear->norm);
  double a, b;
  noise_scales(linear, 1, &a, &b);
  const double unit = sqrt((linear->shared ? 1 : 2) * ((a > 0 ? d * d / (a * a) : 0) + d / (b * b)));
  const double once = linear->link == LINK_LOGIT ? step : 0;
  return 1 + 0x1p-40 + unit * (once + sqrt(n) * (step + error));
}

double release_context(const linear_t *linear, const double *context, int live, int weigh, double *z) {
  const int d = linear->dim, first = linear->intercept;
  double length = 0;
  for (int i = 0; i < d; i++) {
    z[i] = i < first ? 1 : clip01(context[i - first]);
    if (live) z[i] = on_grid(z[i], LINEAR_GRID);
    length += linear->laplace ? z[i] : z[i] * z[i];
  }
  if (!linear->laplace) length = sqrt(length);
  if (length == 0 || linear->norm == INFINITY) return 1;
  double q = linear->norm / length;
  if (q >= 1) q = weigh ? sqrt(q) : 1;
  if (q == 1) return 1;
  for (int i = 0; i < d; i++) {
    z[i] *= q;
    if (live) z[i] = floor(z[i] * (1 - 0x1p-40) * LINEAR_GRID) / LINEAR_GRID;
  }
  return q;
}

/* The scale of the noise for each of a model's numbers: on A's diagonal, off it, in b; times
   what the counter asks for. */
static void scales(const linear_t *linear, double factor, double *sd) {
  const double off = linear->laplace ? 2 : sqrt(2);
  if (linear->noisy_a) {
    for (int i = 0; i < linear->dim; i++) {
      for (int j = 0; j < i; j++) *sd++ = factor * linear->sd_a / off;
      *sd++ = factor * linear->sd_a;
    }
  }
  for (int i = 0; i < linear->dim; i++) *sd++ = factor * linear->sd_b;
}

/* The most noisy numbers of a model. */
#define MAX_TERMS (LINEAR_DIM * (LINEAR_DIM + 1) / 2 + LINEAR_DIM)

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

int release_levels(const linear_t *linear) { return tree_levels(fmin(linear->leaves, MAX_ROUNDS)); }

size_t release_size(const linear_t *linear) {
  if (linear->mechanism >= LINEAR_TOEPLITZ) return toeplitz_size(linear->nodes, linear->terms);
  if (linear->mechanism == LINEAR_GAMMA) return gamma_tree_size(linear->levels, linear->terms);
  return tree_size(linear->levels) * (size_t)linear->terms;
}

void release_begin(linear_t *linear, const spec_t *spec) {
  const double mu = spec->par[LINEAR_MU];
  if (!(mu < INFINITY) && !linear->laplace) return;
  noise_scales(linear, !linear->laplace, &linear->sd_a, &linear->sd_b);
  const double budget = linear->laplace ? spec->par[LINEAR_EPSILON] : mu;
  linear->sd_a /= budget;
  linear->sd_b /= budget;
  if (linear->bits > 0) linear->width *= WIDTH_BITS;
  if (linear->laplace) {
    const double noise = linear->sd_b * linear->sd_b + linear->sd_a * linear->sd_a * (linear->dim + 1) / 8;
    linear->even = 8 * noise / square(linear) * (linear->noisy_a ? linear->models : 1);
  }
  linear->margin = spec->par[LINEAR_MARGIN];
  linear->tail = log(linear->models / FAILURE);
}

void release_init(linear_t *linear, double *model, double epsilon) {
  void *counters = model_counters(linear, model);
  if (linear->mechanism < LINEAR_TOEPLITZ) init_trees(linear, counters, epsilon);
  else {
    const double bound = linear->nodes > 0 ? linear->leaves : INFINITY;
    toeplitz_init(counters, bound, linear->nodes, linear->terms);
  }
}

int release_is_sound(const linear_t *linear, double *model) {
  const void *counters = model_counters(linear, model);
  if (linear->mechanism >= LINEAR_TOEPLITZ) {
    const toeplitz_t *t = counters;
    return t->nodes == linear->nodes && t->numbers == linear->terms && t->n >= 0 && t->weight >= 0 &&
           t->weight <= 1;
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

/* The least noise in theta is that of batches with weights n / (n + even), if n rewards of variance 1/4
   make up for a batch's noise, whatever its size, after `even` rounds: that in b, and that in A times a
   theta of variance 1/4. */
double release_weight(const linear_t *linear, double *model, double n) {
  if (!linear->laplace) return 1;
  toeplitz_t *t = model_counters(linear, model);
  return t->weight = n / (n + linear->even);
}

/* How much A is regularised on account of the noise.

   Gaussian noise in A is sqrt(v) times a symmetric matrix with N(0, 1) on the diagonal and N(0, 1/2) off it.
   By comparison with a Gaussian vector (Davidson and Szarek 2001, Theorem 2.11) its largest
   eigenvalue has a mean of at most sqrt(2 d), and it moves by at most the Frobenius norm of a change:
   so it exceeds sqrt(2 d) + sqrt(2 t) with a chance of at most e^-t, and minus the least one no less.
   The chances of all releases add up to FAILURE at most. Laplace's noise is measured by its variance in the
   same way, without such a bound. With public contexts the noise of b alone is the measure: its sd. */
double release_margin(const linear_t *linear, double *model) {
  if (linear->margin == 0) return 0;
  const void *counters = model_counters(linear, model);
  const double scale = linear->noisy_a ? linear->sd_a : linear->sd_b;
  double variance, items;
  if (linear->mechanism >= LINEAR_TOEPLITZ) {
    const toeplitz_t *t = counters;
    variance = t->variance * t->norm * t->norm *
               noise_variance(linear->laplace ? NOISE_LAPLACE : NOISE_GAUSSIAN, scale);
    items = (double)t->n;
  } else {
    const tree_t *tree = counters;
    variance = tree_terms(tree) * tree->scale * tree->scale;
    items = (double)tree->n;
  }
  if (!linear->noisy_a) return linear->margin * sqrt(variance);
  /* Without a bound, item n gets a share 6 / (pi n)^2 of the chance. */
  const double looks = linear->leaves < INFINITY ? linear->leaves : 1.645 * items * items;
  const double bound = sqrt(2.0 * linear->dim) + sqrt(2 * (linear->tail + log(looks)));
  return linear->margin * sqrt(variance) * bound;
}

static void add_toeplitz(linear_t *linear, toeplitz_t *t, const double *item, double *sums, draws_t *draws) {
  double scale[MAX_TERMS];
  const double more = draws->live && linear->mechanism == LINEAR_TOEPLITZ ? rounding(linear) : 1;
  scales(linear, t->norm * more, scale);
  toeplitz_add(t, item, linear->laplace ? NOISE_LAPLACE : NOISE_GAUSSIAN, scale, sums, draws);
}

const double *release_item(linear_t *linear, double *model, double *item, double *sums, draws_t *draws) {
  void *counters = model_counters(linear, model);
  if (linear->mechanism >= LINEAR_TOEPLITZ) {
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
