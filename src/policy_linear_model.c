#include <math.h>
#include <string.h>
#include "noise_counter_gamma.h"
#include "noise_counter_toeplitz.h"
#include "noise_counter_tree.h"
#include "math_linalg.h"
#include "policy_linear_model.h"
#include "sample.h"
#include "math_util.h"

const char *const LINEAR_MECHANISMS[] = {"tree", "gamma", "toeplitz", NULL};

struct linear_t {
  int32_t dim, models, shared, factor;
  int32_t noisy_a, noisy_b, mechanism, levels;
  int32_t terms; /* noisy numbers of one model */
  int32_t batches, link;
  double ridge;
  int64_t seen, due, batch; /* observations so far, those when the batch ends, and in it */
  double growth;
  double leaves;       /* items of a counter; Inf: no bound */
  double norm;         /* contexts are cut to it; Inf: as they are */
  double sd_a, sd_b;   /* of Gaussian releases */
  double margin, tail; /* see spectral_margin() */
  /* In doubles: size of a model, where its counters and its batch stand, and where the
     scratch space stands in the block. */
  uint64_t stride, counters, pending, scratch;
}; /* followed by the models and the scratch space of update() */

/* A noisy A is positive definite in all releases of a run together, but for this chance. */
static const double FAILURE = 0.01;
/* No run has more rounds. */
static const double MOST_ROUNDS = 0x1p53;

/* A model, in doubles: A^-1 as the rows of its lower triangle, b, theta, F if it is kept,
   the counters, and with batches the sums of the present one and the exact A so far. */
static int packed(int d) { return d * (d + 1) / 2; }

static double *block(const linear_t *linear) { return (double *)(linear + 1); }
static double *model_of(const linear_t *linear, int arm) {
  return block(linear) + linear->stride * (uint64_t)(linear->shared ? 0 : arm);
}
static double *model_b(const linear_t *linear, double *model) {
  return model + packed(linear->dim);
}
static double *model_theta(const linear_t *linear, double *model) {
  return model_b(linear, model) + linear->dim;
}
static double *model_pending(const linear_t *linear, double *model) {
  return model + linear->pending;
}
static double *model_factor(const linear_t *linear, double *model) {
  return model_theta(linear, model) + linear->dim;
}

/* When the batch ends that begins after so many observations. */
static int64_t batch_end(const linear_t *linear, int64_t seen) {
  const int64_t least = seen + (linear->batch > 1 ? linear->batch : 1);
  const int64_t grown = (int64_t)(linear->growth * (double)seen);
  return grown > least ? grown : least;
}

/* Batches that end within so many rounds. */
static double batches_within(const linear_t *linear, double rounds) {
  if (linear->growth == 0) return floor(rounds / (double)linear->batch);
  double batches = 0;
  if (!(rounds <= MOST_ROUNDS)) rounds = MOST_ROUNDS;
  for (int64_t end = batch_end(linear, 0); (double)end <= rounds;
       end = batch_end(linear, end))
    batches++;
  return batches;
}

/* Gaussian noise: the sd of a release of A's diagonal and of b, before the counter's factor.

   One round's context and reward are replaced, (z, r) by (y, s), with entries in [0, 1] and norms of
   at most N. Its items are z z' and r z. How far do they move? In one model, if both rounds pull its
   arm,

     ||z z' - y y'||_F^2 = ||z||^4 + ||y||^4 - 2 (z.y)^2 <= 2 N^4,
     ||r z - s y||^2 = r^2 ||z||^2 + s^2 ||y||^2 - 2 r s z.y <= 2 N^2,

   as z.y >= 0; and no more than d^2 and d, as no entry moves by more than 1. If one of them pulls
   another arm, the models of two arms move by ||z||^4 + ||y||^4 and r^2 ||z||^2 + s^2 ||y||^2: again at
   most 2 N^4 and 2 N^2, and here not less.

   (With any signs and |r| <= 1 the first square and w times the second would add up to at most
   2 N^4 + 2 w N^2 + w^2 / 2: for m = |z.y| the sum is no more than
   ||z||^4 + ||y||^4 + w (||z||^2 + ||y||^2) + 2 w m - 2 m^2, and 2 w m - 2 m^2 <= w^2 / 2.)

   Symmetric noise of variance v on the diagonal and v / 2 off it measures a move by its Frobenius
   norm: an entry off the diagonal is released once, counts twice in the norm and has half the
   variance. A and b each take half of mu^2. With public contexts r alone changes, b moves by at most
   N, and all of mu is for it.

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

static void gaussian_noise(const spec_t *spec, enum link link, double *sd_a, double *sd_b) {
  const double d = spec->dim, mu = spec->par[LINEAR_MU];
  const double given = spec->par[LINEAR_NORM], norm = given < sqrt(d) ? given : sqrt(d);
  if (spec->par[LINEAR_PUBLIC] != 0) {
    *sd_a = 0;
    *sd_b = norm / mu;
    return;
  }
  if (link == LINK_LOGIT) {
    *sd_a = MOVE_LOGIT * norm * norm / mu;
    *sd_b = MOVE_RATIO * MOVE_LOGIT * norm / mu;
    return;
  }
  double move_a = sqrt(2) * norm * norm, move_b = sqrt(2) * norm;
  if (spec->par[LINEAR_SHARED] != 0) {
    move_a = fmin(move_a, d);
    move_b = fmin(move_b, sqrt(d));
  }
  *sd_a = sqrt(2) * move_a / mu;
  *sd_b = sqrt(2) * move_b / mu;
}

/* Everything but the models themselves, as a function of the spec. */
static linear_t plan(const spec_t *spec, int factor) {
  const int d = spec->dim;
  const double epsilon = spec->par[LINEAR_EPSILON];
  linear_t plan = {.dim = d,
                   .shared = spec->par[LINEAR_SHARED] != 0,
                   .factor = factor,
                   .mechanism = (int32_t)spec->par[LINEAR_MECHANISM],
                   .ridge = spec->par[LINEAR_RIDGE],
                   .norm = INFINITY};
  plan.models = plan.shared ? 1 : spec->k;
  plan.noisy_b = epsilon < INFINITY || spec->par[LINEAR_MU] < INFINITY;
  plan.noisy_a = plan.noisy_b && spec->par[LINEAR_PUBLIC] == 0;
  if (plan.noisy_b) { /* else there are no counters, and the horizon may be unknown */
    plan.batch = (int64_t)spec->par[LINEAR_BATCH];
    plan.growth = spec->par[LINEAR_GROWTH];
    plan.batches = plan.batch > 0 || plan.growth > 0;
    plan.leaves = plan.batches ? batches_within(&plan, spec->horizon) : spec->horizon;
    if (plan.leaves < 1) plan.leaves = 1;
    if (plan.batches) plan.due = batch_end(&plan, 0);
    if (plan.mechanism != LINEAR_TOEPLITZ)
      plan.levels = tree_levels(fmin(plan.leaves, MOST_ROUNDS));
  }
  plan.terms = (plan.noisy_a ? packed(d) : 0) + (plan.noisy_b ? d : 0);
  plan.counters = (uint64_t)(packed(d) + 2 * d + (factor ? d * d : 0));
  plan.stride = plan.counters;
  if (plan.noisy_b) {
    const size_t bytes =
        plan.mechanism == LINEAR_TOEPLITZ ? toeplitz_size(plan.leaves, plan.terms)
        : plan.mechanism == LINEAR_GAMMA  ? gamma_tree_size(plan.levels, plan.terms)
                                          : tree_size(plan.levels) * (size_t)plan.terms;
    plan.stride += bytes / sizeof(double);
  }
  plan.pending = plan.stride;
  if (plan.batches) plan.stride += (uint64_t)(2 * packed(d) + d);
  plan.scratch = plan.stride * (uint64_t)plan.models;
  return plan;
}

size_t linear_size(const spec_t *spec, int factor) {
  const linear_t p = plan(spec, factor);
  const size_t d = (size_t)p.dim;
  return sizeof(linear_t) +
         sizeof(double) * (p.scratch + 2 * (size_t)(packed(p.dim) + p.dim) + 2 * d * d +
                           linalg_scratch(p.dim));
}

int linear_dim(const linear_t *linear) { return linear->dim; }

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
    gamma_tree_init(counters, levels, linear->terms,
                    moved * levels * sqrt(linear->terms) / epsilon);
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

void linear_init(linear_t *linear, const spec_t *spec, int factor, enum link link) {
  *linear = plan(spec, factor);
  linear->link = link;
  const int d = linear->dim;
  memset(block(linear), 0, linear_size(spec, factor) - sizeof(linear_t));
  if (spec->par[LINEAR_MU] < INFINITY) {
    gaussian_noise(spec, link, &linear->sd_a, &linear->sd_b);
    if (spec->par[LINEAR_NORM] < sqrt(d)) linear->norm = spec->par[LINEAR_NORM];
    linear->margin = linear->noisy_a ? spec->par[LINEAR_MARGIN] : 0;
    linear->tail = log(linear->models / FAILURE);
  }
  for (int m = 0; m < linear->models; m++) {
    double *model = block(linear) + linear->stride * (uint64_t)m;
    for (int i = 0; i < d; i++) model[packed(i) + i] = 1 / linear->ridge;
    if (factor) {
      double *f = model_factor(linear, model);
      for (int i = 0; i < d; i++) f[i + i * d] = 1 / sqrt(linear->ridge);
    }
    if (!linear->noisy_b) continue;
    void *counters = model + linear->counters;
    if (linear->mechanism == LINEAR_TOEPLITZ)
      toeplitz_init(counters, linear->leaves, linear->terms);
    else init_trees(linear, counters, spec->par[LINEAR_EPSILON]);
  }
}

/* ---- scores ---------------------------------------------------------------------- */

/* The products z_i z_j that go with the lower triangle of A^-1, so that z' A^-1 z is one
   scalar product for each arm. */
static void products(int d, const double *restrict z, double *restrict out) {
  for (int i = 0; i < d; i++) {
    const double twice = 2 * z[i];
    for (int j = 0; j < i; j++) out[j] = twice * z[j];
    out[i] = z[i] * z[i];
    out += i + 1;
  }
}

void linear_look(const linear_t *linear, const round_t *round, linear_view_t *view) {
  if (round->context_step == 0) products(linear->dim, round->context, view->zz);
}

double linear_score(const linear_t *linear, const round_t *round, int arm,
                    linear_view_t *view, double *width) {
  const int d = linear->dim;
  const double *z = round_context(round, arm);
  double *model = model_of(linear, arm);
  if (round->context_step != 0) products(d, z, view->zz);
  const double q = dot(packed(d), model, view->zz);
  *width = q > 0 ? sqrt(q) : 0;
  return dot(d, z, model_theta(linear, model));
}

void linear_draw(const linear_t *linear, double v, rng_t *rng, double *theta) {
  const int d = linear->dim;
  double *model = block(linear);
  const double *f = model_factor(linear, model);
  memcpy(theta, model_theta(linear, model), sizeof(double) * (size_t)d);
  for (int j = 0; j < d; j++) {
    const double g = v * sample_normal(rng);
    for (int i = 0; i < d; i++) theta[i] += g * f[i + j * d];
  }
}

/* ---- observations ---------------------------------------------------------------- */

/* The regression's row for a context and a reward: with the logistic link, that of one step of Fisher
   scoring from the present theta, which is made of releases alone. Changes z, returns the response. */
static double working_row(const linear_t *linear, double *model, double *z, double reward) {
  if (linear->link == LINK_IDENTITY) return reward;
  const int d = linear->dim;
  double eta = dot(d, z, model_theta(linear, model));
  eta = fmax(-LINEAR_REACH, fmin(LINEAR_REACH, eta));
  const double mean = 1 / (1 + exp(-eta)), weight = mean * (1 - mean), root = sqrt(weight);
  for (int i = 0; i < d; i++) z[i] *= root;
  return (reward - mean + weight * eta) / root;
}

/* y = P x for P given by its lower triangle. */
static void times(int d, const double *restrict p, const double *restrict x,
                  double *restrict y) {
  for (int i = 0; i < d; i++) {
    const double xi = x[i];
    double s = 0;
    for (int j = 0; j < i; j++) {
      s += p[j] * x[j];
      y[j] += p[j] * xi;
    }
    y[i] = s + p[i] * xi;
    p += i + 1;
  }
}

/* A += z z': A^-1 by Sherman and Morrison, its factor by Potter's square root,
   F (I - c w w') with w = F'z. Returns 1 + z' A^-1 z, and leaves A^-1 z (of the old A) in g. */
static double add_context(linear_t *linear, double *model, const double *z,
                          double *restrict g) {
  const int d = linear->dim;
  times(d, model, z, g);
  const double form = dot(d, z, g), q = form > 0 ? form : 0, one = 1 + q, share = 1 / one;
  double *restrict p = model;
  for (int i = 0; i < d; i++) {
    const double gi = share * g[i];
    for (int j = 0; j <= i; j++) p[j] -= gi * g[j];
    p += i + 1;
  }
  if (linear->factor && q > 0) {
    /* F w = A^-1 z = g. */
    double *f = model_factor(linear, model);
    const double c = (1 - 1 / sqrt(one)) / q;
    for (int j = 0; j < d; j++) {
      const double w = c * dot(d, z, f + j * d);
      for (int i = 0; i < d; i++) f[i + j * d] -= w * g[i];
    }
  }
  return one;
}

static void update_exact(linear_t *linear, double *model, const double *context,
                         double reward) {
  const int d = linear->dim;
  double z[MAX_CONTEXT], g[MAX_CONTEXT];
  memcpy(z, context, sizeof(double) * (size_t)d);
  reward = working_row(linear, model, z, reward);
  double *b = model_b(linear, model), *theta = model_theta(linear, model);
  const double one = add_context(linear, model, z, g);
  const double miss = (reward - dot(d, z, theta)) / one;
  for (int i = 0; i < d; i++) {
    b[i] += reward * z[i];
    theta[i] += miss * g[i];
  }
}

/* What is added to A on account of its Gaussian noise.

   The noise is sqrt(v) times a symmetric matrix with N(0, 1) on the diagonal and N(0, 1/2) off it.
   By comparison with a Gaussian vector (Davidson and Szarek 2001, Theorem 2.11) its largest
   eigenvalue has a mean of at most sqrt(2 d), and it moves by at most the Frobenius norm of a change:
   so it exceeds sqrt(2 d) + sqrt(2 t) with a chance of at most e^-t, and minus the least one no less.
   The chances of all releases add up to FAILURE at most. */
static double spectral_margin(const linear_t *linear, double *model) {
  if (linear->margin == 0) return 0;
  const void *counters = model + linear->counters;
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

/* A = (ridge + margin) I + released sums, symmetric because each pair i <= j is released once; its
   eigenvalues below the ridge, which only noise can cause, are raised to it. */
static void rebuild(linear_t *linear, double *model, const double *sums, double *scratch) {
  const int d = linear->dim;
  double *a = scratch, *inverse = scratch + d * d;
  const double added = linear->ridge + spectral_margin(linear, model);
  for (int i = 0; i < d; i++) {
    for (int j = 0; j <= i; j++) a[i + j * d] = *sums++ + (i == j ? added : 0);
  }
  if (linalg_inverse_above(d, a, linear->ridge, inverse, inverse + d * d) < 0) return;
  double *p = model;
  for (int i = 0; i < d; i++) {
    for (int j = 0; j <= i; j++) *p++ = inverse[i + j * d];
  }
  if (linear->factor)
    memcpy(model_factor(linear, model), a, sizeof(double) * (size_t)(d * d));
}

static void add_toeplitz(linear_t *linear, toeplitz_t *t, const double *item, double *sums,
                         draws_t *draws) {
  double sd[MAX_TERMS];
  scales(linear, t->norm, sd);
  toeplitz_add(t, item, sd, sums, draws);
}

/* Give the counters of a model one more item (which is overwritten): `terms` numbers. Returns
   the released sums. */
static const double *add_item(linear_t *linear, double *model, double *item, double *sums,
                              draws_t *draws) {
  void *counters = model + linear->counters;
  if (linear->mechanism == LINEAR_TOEPLITZ) {
    add_toeplitz(linear, counters, item, sums, draws);
  } else if (linear->mechanism == LINEAR_GAMMA) {
    gamma_tree_add(counters, item, sums, draws);
  } else {
    for (int i = 0; i < linear->terms; i++) {
      sums[i] = tree_add(tree_at(counters, linear->levels, (size_t)i), item[i], draws);
    }
  }
  memcpy(model_b(linear, model), sums + linear->terms - linear->dim,
         sizeof(double) * (size_t)linear->dim);
  return sums;
}

/* The batch is over: each model's sums over it become a leaf, be they zero or not. */
static void release_batch(linear_t *linear, double *sums, double *scratch, draws_t *draws) {
  const int d = linear->dim, p = packed(d);
  for (int m = 0; m < linear->models; m++) {
    double *model = block(linear) + linear->stride * (uint64_t)m;
    double *pending = model_pending(linear, model), *exact_a = pending + p + d;
    double *item = pending;
    const double *a = sums;
    if (!linear->noisy_a) {
      for (int i = 0; i < p; i++) exact_a[i] += pending[i];
      item = pending + p;
      a = exact_a;
    }
    add_item(linear, model, item, sums, draws);
    rebuild(linear, model, a, scratch);
    times(d, model, model_b(linear, model), model_theta(linear, model));
    memset(pending, 0, sizeof(double) * (size_t)(p + d));
  }
}

static void update_noisy(linear_t *linear, double *model, const double *context,
                         double reward, draws_t *draws) {
  const int d = linear->dim, p = packed(d);
  double *item = block(linear) + linear->scratch, *sums = item + p + d;
  double *scratch = sums + p + d;
  /* Terms in [0, 1], whatever comes: the guarantee rests on it. */
  double z[MAX_CONTEXT], *at = item;
  for (int i = 0; i < d; i++) z[i] = clip01(context[i]);
  reward = clip01(reward);
  if (linear->norm < INFINITY) {
    const double length = sqrt(dot(d, z, z));
    if (length > linear->norm) {
      for (int i = 0; i < d; i++) z[i] *= linear->norm / length;
    }
  }
  reward = working_row(linear, model, z, reward);
  for (int i = 0; i < d; i++) {
    for (int j = 0; j <= i; j++) *at++ = z[i] * z[j];
  }
  for (int i = 0; i < d; i++) *at++ = reward * z[i];

  if (linear->batches) {
    double *pending = model_pending(linear, model);
    for (int i = 0; i < p + d; i++) pending[i] += item[i];
    if (++linear->seen < linear->due) return;
    release_batch(linear, sums, scratch, draws);
    linear->due = batch_end(linear, linear->seen);
    return;
  }
  if (linear->noisy_a) {
    rebuild(linear, model, add_item(linear, model, item, sums, draws), scratch);
  } else {
    double g[MAX_CONTEXT];
    add_item(linear, model, item + p, sums, draws);
    add_context(linear, model, z, g);
  }
  times(d, model, model_b(linear, model), model_theta(linear, model));
}

void linear_update(linear_t *linear, const feedback_t *feedback, draws_t *draws) {
  double *model = model_of(linear, feedback->arm);
  const double *z = feedback->context;
  if (linear->noisy_b) update_noisy(linear, model, z, feedback->reward, draws);
  else update_exact(linear, model, z, feedback->reward);
}

void linear_read(const linear_t *linear, int arm, double *inverse, double *b,
                 double *theta) {
  const int d = linear->dim;
  double *model = model_of(linear, arm);
  const double *p = model;
  for (int i = 0; i < d; i++) {
    for (int j = 0; j <= i; j++) inverse[i + j * d] = inverse[j + i * d] = *p++;
  }
  memcpy(b, model_b(linear, model), sizeof(double) * (size_t)d);
  memcpy(theta, model_theta(linear, model), sizeof(double) * (size_t)d);
}
