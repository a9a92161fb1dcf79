#include <math.h>
#include <string.h>
#include "math_linalg.h"
#include "noise_counter_toeplitz.h"
#include "noise_exact_release.h"
#include "policy_linear_release.h"
#include "sample.h"
#include "math_util.h"

/* Everything but the models themselves, as a function of the spec. */
static linear_t plan(const spec_t *spec, int factor) {
  const int intercept = spec->par[LINEAR_INTERCEPT] != 0, d = spec->dim + intercept;
  const double epsilon = spec->par[LINEAR_EPSILON];
  linear_t plan = {.dim = d,
                   .shared = spec->par[LINEAR_SHARED] != 0,
                   .factor = factor,
                   .mechanism = (int32_t)spec->par[LINEAR_MECHANISM],
                   .width = spec->par[LINEAR_WIDTH],
                   .ridge = spec->par[LINEAR_RIDGE],
                   .centre = on_grid(spec->par[LINEAR_CENTRE], LINEAR_GRID),
                   .intercept = intercept,
                   .norm = INFINITY};
  plan.models = plan.shared ? 1 : spec->k;
  plan.noisy_b = epsilon < INFINITY || spec->par[LINEAR_MU] < INFINITY;
  plan.noisy_a = plan.noisy_b && spec->par[LINEAR_PUBLIC] == 0;
  if (plan.noisy_b) { /* else there are no counters, and the horizon may be unknown */
    plan.batch = (int64_t)spec->par[LINEAR_BATCH];
    plan.growth = spec->par[LINEAR_GROWTH];
    plan.batches = plan.batch > 0 || plan.growth > 0;
    plan.laplace = plan.mechanism == LINEAR_BATCHES;
    release_rule(&plan, spec);
    plan.leaves = release_items(&plan, spec->horizon);
    if (plan.mechanism < LINEAR_TOEPLITZ) plan.levels = release_levels(&plan);
    if (plan.mechanism == LINEAR_TOEPLITZ) plan.nodes = toeplitz_nodes(plan.leaves);
  }
  plan.terms = (plan.noisy_a ? packed(d) : 0) + (plan.noisy_b ? d : 0);
  plan.counters = (uint64_t)(packed(d) + 2 * d + (factor ? d * d : 0));
  plan.stride = plan.counters;
  if (plan.noisy_b) plan.stride += release_size(&plan) / sizeof(double);
  plan.pending = plan.stride;
  if (plan.batches) plan.stride += (uint64_t)(2 * (packed(d) + d)) + sizeof(batch_clock_t) / sizeof(double);
  plan.scratch = plan.stride * (uint64_t)plan.models;
  return plan;
}

size_t linear_size(const spec_t *spec, int factor) {
  const linear_t p = plan(spec, factor);
  const size_t d = (size_t)p.dim;
  return sizeof(linear_t) + sizeof(double) * (p.scratch + 2 * (size_t)(packed(p.dim) + p.dim) + 2 * d * d +
                                              linalg_scratch(p.dim));
}

int64_t linear_first_batch(const spec_t *spec) {
  const linear_t p = plan(spec, 0);
  return p.batches && p.bits == 0 ? p.batch : 0;
}

int linear_dim(const linear_t *linear) { return linear->dim; }
int linear_is_shared(const linear_t *linear) { return linear->shared; }

void linear_init(void *state, const spec_t *spec, int factor, enum link link) {
  linear_t *linear = state;
  *linear = plan(spec, factor);
  linear->link = link;
  const int d = linear->dim;
  memset(block(linear), 0, linear_size(spec, factor) - sizeof(linear_t));
  release_begin(linear, spec);
  for (int m = 0; m < linear->models; m++) {
    double *model = block(linear) + linear->stride * (uint64_t)m;
    for (int i = 0; i < d; i++) model[packed(i) + i] = 1 / linear->ridge;
    if (factor) {
      double *f = model_factor(linear, model);
      for (int i = 0; i < d; i++) f[i + i * d] = 1 / sqrt(linear->ridge);
    }
    if (linear->noisy_b) release_init(linear, model, spec->par[LINEAR_EPSILON]);
    if (linear->batches) model_clock(linear, model)->due = release_end(linear, linear->bits);
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

const double *linear_context(const linear_t *linear, const round_t *round, int arm, double *own) {
  const double *z = round_context(round, arm);
  if (!linear->intercept) return z;
  own[0] = 1;
  memcpy(own + 1, z, sizeof(double) * (size_t)(linear->dim - 1));
  return own;
}

static void look(const linear_t *linear, const round_t *round, int arm, linear_view_t *view) {
  view->context = linear_context(linear, round, arm, view->own);
  products(linear->dim, view->context, view->zz);
}

void linear_look(const linear_t *linear, const round_t *round, linear_view_t *view) {
  if (round->context_step == 0) look(linear, round, 0, view);
}

double linear_score(const linear_t *linear, const round_t *round, int arm, linear_view_t *view,
                    double *width) {
  const int d = linear->dim;
  double *model = model_of(linear, arm);
  if (round->context_step != 0) look(linear, round, arm, view);
  const double q = dot(packed(d), model, view->zz);
  *width = linear->width * (q > 0 ? sqrt(q) : 0);
  return dot(d, view->context, model_theta(linear, model));
}

void linear_draw(const linear_t *linear, rng_t *rng, double *theta) {
  const int d = linear->dim;
  double *model = block(linear);
  const double *f = model_factor(linear, model);
  memcpy(theta, model_theta(linear, model), sizeof(double) * (size_t)d);
  for (int j = 0; j < d; j++) {
    const double g = linear->width * sample_normal(rng);
    for (int i = 0; i < d; i++) theta[i] += g * f[i + j * d];
  }
}

/* ---- observations ---------------------------------------------------------------- */

/* The regression's row for a reward and its context z, shortened by `q`: with the logistic link, that of one
   step of Fisher scoring from the present theta, which is made of releases alone. Changes z, returns the
   response. */
static double working_row(const linear_t *linear, double *model, double *z, double q, double reward) {
  if (linear->link == LINK_IDENTITY) return q * (reward - linear->centre);
  const int d = linear->dim;
  double eta = dot(d, z, model_theta(linear, model)) / q;
  eta = fmax(-LINEAR_REACH, fmin(LINEAR_REACH, eta));
  const double mean = 1 / (1 + exp(-eta)), weight = mean * (1 - mean), root = sqrt(weight);
  for (int i = 0; i < d; i++) z[i] *= root;
  return q * (reward - mean + weight * eta) / root;
}

/* y = P x for P given by its lower triangle. */
static void times(int d, const double *restrict p, const double *restrict x, double *restrict y) {
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
static double add_context(linear_t *linear, double *model, const double *z, double *restrict g) {
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

static void update_exact(linear_t *linear, double *model, const double *context, double reward) {
  const int d = linear->dim, first = linear->intercept;
  double z[LINEAR_DIM], g[LINEAR_DIM];
  z[0] = 1;
  memcpy(z + first, context, sizeof(double) * (size_t)(d - first));
  reward = working_row(linear, model, z, 1, reward);
  double *b = model_b(linear, model), *theta = model_theta(linear, model);
  const double one = add_context(linear, model, z, g);
  const double miss = (reward - dot(d, z, theta)) / one;
  for (int i = 0; i < d; i++) {
    b[i] += reward * z[i];
    theta[i] += miss * g[i];
  }
}

/* A = ridge I + sums, symmetric because each pair i <= j is released once. Only noise can make an eigenvalue
   of the sums negative, and a small one is mostly noise. So each eigenvalue a becomes sqrt(max(a, 0)^2 +
   margin^2): as large as the margin where it is lost in noise, and hardly changed where it is far above, so
   that theta is not shrunk there. With public contexts the sums are exact, and the margin is added. With
   weights w that are not 1, A and b are divided by sum w^2 / sum w, so that A is of the size of so many equal
   rounds as tell as much. */
static void rebuild(linear_t *linear, double *model, const double *sums, double scale, double *scratch) {
  const int d = linear->dim;
  double *a = scratch, *inverse = scratch + d * d;
  const double margin = scale * release_margin(linear, model), raise = linear->noisy_a ? margin : 0;
  const double added = linear->ridge + margin - raise;
  for (int i = 0; i < d; i++) {
    for (int j = 0; j <= i; j++) a[i + j * d] = scale * *sums++ + (i == j ? added : 0);
  }
  if (linalg_inverse_raised(d, a, linear->ridge, raise, inverse, inverse + d * d) < 0) return;
  double *p = model;
  for (int i = 0; i < d; i++) {
    for (int j = 0; j <= i; j++) *p++ = inverse[i + j * d];
  }
  if (linear->factor) memcpy(model_factor(linear, model), a, sizeof(double) * (size_t)(d * d));
}

/* A model's sums over the batch become an item of its counters, be they zero or not. */
static void release_model(linear_t *linear, double *model, double *sums, double *scratch, draws_t *draws) {
  const int d = linear->dim, p = packed(d);
  double *pending = model_pending(linear, model), *exact = model_exact(linear, model);
  const batch_clock_t *clock = model_clock(linear, model);
  const double n = (double)(clock->seen - clock->begun), weight = release_weight(linear, model, n);
  const double total = clock->weights + weight * n, squares = clock->squares + weight * weight * n;
  const double scale = squares > 0 ? total / squares : 1;
  if (!linear->noisy_a) {
    for (int i = 0; i < p; i++) exact[i] += weight * pending[i];
  }
  release_item(linear, model, linear->noisy_a ? pending : pending + p, sums, draws);
  double *b = model_b(linear, model);
  for (int i = 0; i < d; i++) b[i] = scale * (b[i] + model_bits(linear, model)[i]);
  rebuild(linear, model, linear->noisy_a ? sums : exact, scale, scratch);
  times(d, model, b, model_theta(linear, model));
  memset(pending, 0, sizeof(double) * (size_t)(p + d));
}

/* Batches end for all models together, where contexts are private. Where they are public, so is which model
   an observation belongs to, and each model has its own. */
static void release_batch(linear_t *linear, double *model, draws_t *draws) {
  double *sums = block(linear) + linear->scratch + packed(linear->dim) + linear->dim;
  double *scratch = sums + packed(linear->dim) + linear->dim;
  for (int m = 0; linear->noisy_a && m < linear->models; m++) {
    release_model(linear, block(linear) + linear->stride * (uint64_t)m, sums, scratch, draws);
  }
  if (!linear->noisy_a) release_model(linear, model, sums, scratch, draws);
  batch_clock_t *clock = model_clock(linear, model);
  const double n = (double)(clock->seen - clock->begun), weight = release_weight(linear, model, n);
  clock->weights += weight * n;
  clock->squares += weight * weight * n;
  clock->begun = clock->seen;
  clock->due = release_end(linear, clock->seen);
}

/* An observation whose reward is released as a random bit: its weight is the inverse of how much larger the
   bit's variance is than that of a reward of 0 or 1 may be. */
static void update_bit(linear_t *linear, double *model, double *z, double q, double reward, draws_t *draws) {
  const int d = linear->dim;
  const double right = 1 - 2 * linear->flip;
  const double bit = (release_bit(draws, reward, linear->flip) - linear->flip) / right;
  double g[LINEAR_DIM], *b = model_b(linear, model);
  const double response = right * working_row(linear, model, z, q, bit);
  batch_clock_t *clock = model_clock(linear, model);
  clock->weights += right * right;
  clock->squares += right * right;
  for (int i = 0; i < d; i++) z[i] *= right;
  for (int i = 0; i < d; i++) {
    b[i] += response * z[i];
    model_bits(linear, model)[i] += response * z[i];
  }
  double *a = model_exact(linear, model);
  for (int i = 0; i < d; i++) {
    for (int j = 0; j <= i; j++) *a++ += z[i] * z[j];
  }
  add_context(linear, model, z, g);
  times(d, model, b, model_theta(linear, model));
}

static void update_noisy(linear_t *linear, double *model, const double *context, double reward,
                         draws_t *draws) {
  const int d = linear->dim, p = packed(d);
  double *item = block(linear) + linear->scratch, *sums = item + p + d, *scratch = sums + p + d;
  if (draws->live && (double)linear->seen++ >= LINEAR_MAX) return;
  /* Terms in [-1, 1], whatever comes: the guarantee rests on it. */
  double z[LINEAR_DIM], *at = item;
  reward = clip01(reward);
  batch_clock_t *clock = linear->batches ? model_clock(linear, model) : NULL;
  const int bit = clock && clock->seen++ < linear->bits;
  const double q = release_context(linear, context, draws->live, !bit, z);
  if (bit) {
    clock->begun = clock->seen;
    update_bit(linear, model, z, q, reward, draws);
    return;
  }
  if (draws->live && linear->link == LINK_IDENTITY) reward = on_grid(reward, LINEAR_GRID);
  reward = working_row(linear, model, z, q, reward);
  /* Towards 0, so that its product with a context stays within the bound. */
  if (draws->live && linear->link == LINK_IDENTITY) reward = trunc(reward * LINEAR_GRID) / LINEAR_GRID;
  for (int i = 0; i < d; i++) {
    for (int j = 0; j <= i; j++) *at++ = z[i] * z[j];
  }
  for (int i = 0; i < d; i++) *at++ = reward * z[i];
  if (draws->live) {
    for (int i = 0; i < p + d; i++) item[i] = on_grid(item[i], EXACT_GRID);
  }

  if (linear->batches) {
    double *pending = model_pending(linear, model);
    for (int i = 0; i < p + d; i++) pending[i] += item[i];
    if (clock->seen >= clock->due) release_batch(linear, model, draws);
    return;
  }
  if (linear->noisy_a) {
    rebuild(linear, model, release_item(linear, model, item, sums, draws), 1, scratch);
  } else {
    double g[LINEAR_DIM];
    release_item(linear, model, item + p, sums, draws);
    add_context(linear, model, z, g);
  }
  times(d, model, model_b(linear, model), model_theta(linear, model));
}

void linear_update(void *state, const feedback_t *feedback, draws_t *draws) {
  linear_t *linear = state;
  double *model = model_of(linear, feedback->arm);
  const double *z = feedback->context;
  if (linear->noisy_b) update_noisy(linear, model, z, feedback->reward, draws);
  else update_exact(linear, model, z, feedback->reward);
}

void linear_finish(void *state, draws_t *draws) {
  linear_t *linear = state;
  for (int m = 0; linear->batches && m < linear->models; m++) {
    double *model = block(linear) + linear->stride * (uint64_t)m;
    const batch_clock_t *clock = model_clock(linear, model);
    if (clock->seen > clock->begun) release_batch(linear, model, draws);
  }
}

int linear_sound(const void *state, const void *fresh) {
  const linear_t *s = state, *f = fresh;
  if (!SAME(dim) || !SAME(models) || !SAME(shared) || !SAME(factor) || !SAME(noisy_a) || !SAME(noisy_b) ||
      !SAME(mechanism) || !SAME(levels) || !SAME(terms) || !SAME(batches) || !SAME(link) || !SAME(batch) ||
      !SAME(growth) || !SAME(leaves) || !SAME(stride) || !SAME(counters) || !SAME(pending) ||
      !SAME(scratch) || !SAME(nodes) || !SAME(laplace) || !SAME(intercept) || !SAME(bits)) {
    return 0;
  }
  for (int i = 0; i < s->models && s->noisy_b; i++) {
    if (!release_is_sound(s, model_of(s, i))) return 0;
  }
  return 1;
}

/* A round still moves the models of two arms at most, and each as before: a new arm's counters are at their
   first item, and so take fewer. */
void linear_grow(void *state, const void *of_old, int k) {
  linear_t *linear = state;
  const linear_t *old = of_old;
  (void)k;
  linear->seen = old->seen;
  linear->clock = old->clock;
  memcpy(block(linear), block(old), sizeof(double) * old->scratch);
}

void linear_read(const linear_t *linear, int arm, double *inverse, double *b, double *theta) {
  const int d = linear->dim;
  double *model = model_of(linear, arm);
  const double *p = model;
  for (int i = 0; i < d; i++) {
    for (int j = 0; j <= i; j++) inverse[i + j * d] = inverse[j + i * d] = *p++;
  }
  memcpy(b, model_b(linear, model), sizeof(double) * (size_t)d);
  memcpy(theta, model_theta(linear, model), sizeof(double) * (size_t)d);
}
