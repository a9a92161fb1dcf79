#ifndef DPTS_POLICY_LINEAR_RELEASE_H
#define DPTS_POLICY_LINEAR_RELEASE_H
/* What the linear models of policy_linear_model.h release, and with how much noise: the only part of
   them that the guarantee depends on. And how a model lies in memory, which both files must know. */

#include "policy_linear_model.h"

/* Live, contexts and rewards are multiples of 1 / LINEAR_GRID, the root of the grid of exact noise, and
   nothing is learned after so many rounds. */
#define LINEAR_GRID 0x1p10
#define LINEAR_MAX  0x1p24

/* Observations when the present batch began, now, and when it ends; sums over those that were released of
   their weights and of the squares of these. */
typedef struct {
  int64_t begun, seen, due;
  double weights, squares;
} batch_clock_t;

struct linear_t {
  int32_t dim, models, shared, factor;
  int32_t intercept, laplace, nodes; /* laplace: where each round is in one batch */
  int32_t noisy_a, noisy_b, mechanism, levels;
  int32_t terms; /* noisy numbers of one model */
  int32_t batches, link;
  double width, ridge; /* width: the policy's own parameter */
  int64_t seen;        /* observations so far */
  int64_t bits, batch; /* so many first observations of a model are released as bits; a batch has so many */
  batch_clock_t clock; /* of all models' batches, or, with public contexts, of each model's own */
  double growth;
  double leaves;       /* items of a counter; Inf: no bound */
  double centre;       /* of rewards */
  double flip;         /* the chance that a bit is turned */
  double even;         /* a batch of n has the weight n / (n + even) */
  double norm;         /* contexts are cut to it; Inf: as they are */
  double sd_a, sd_b;   /* scales of the noise on A's diagonal and on b, but for the counter's factor */
  double margin, tail; /* see release_margin() */
  /* In doubles: size of a model, where its counters, its batch and, in the block, the scratch space are. */
  uint64_t stride, counters, pending, scratch;
}; /* followed by the models and the scratch space of update() */

/* A model, in doubles: A^-1 as the rows of its lower triangle, b, theta, F if it is kept,
   the counters, and with batches the sums of the present one; the exact A so far, the part of b that is made
   of bits, and the clock. */
static inline int packed(int d) { return d * (d + 1) / 2; }

static inline double *block(const linear_t *linear) { return (double *)(linear + 1); }
static inline double *model_of(const linear_t *linear, int arm) {
  return block(linear) + linear->stride * (uint64_t)(linear->shared ? 0 : arm);
}
static inline double *model_b(const linear_t *linear, double *model) { return model + packed(linear->dim); }
static inline double *model_theta(const linear_t *linear, double *model) {
  return model_b(linear, model) + linear->dim;
}
static inline double *model_pending(const linear_t *linear, double *model) { return model + linear->pending; }
static inline double *model_exact(const linear_t *linear, double *model) {
  return model_pending(linear, model) + packed(linear->dim) + linear->dim;
}
static inline double *model_bits(const linear_t *linear, double *model) {
  return model_exact(linear, model) + packed(linear->dim);
}
static inline batch_clock_t *model_clock(linear_t *linear, double *model) {
  return linear->noisy_a ? &linear->clock : (batch_clock_t *)(model_bits(linear, model) + linear->dim);
}
static inline double *model_factor(const linear_t *linear, double *model) {
  return model_theta(linear, model) + linear->dim;
}

static inline void *model_counters(const linear_t *linear, double *model) { return model + linear->counters; }

/* When the batch ends that begins after so many observations. */
int64_t release_end(const linear_t *linear, int64_t seen);
/* The bound on contexts, how large growing batches are at first, and how many rewards are released as bits.
   */
void release_rule(linear_t *linear, const spec_t *spec);
/* Items of a model's counters within the horizon; needs batch, growth and batches. */
double release_items(const linear_t *linear, double horizon);
/* Levels of a tree with that many leaves. */
int release_levels(const linear_t *linear);
/* Bytes of a model's counters. */
size_t release_size(const linear_t *linear);
/* How much noise. */
void release_begin(linear_t *linear, const spec_t *spec);
void release_init(linear_t *linear, double *model, double epsilon);
/* May a model's counters be used, if they were read from somewhere? */
int release_is_sound(const linear_t *linear, double *model);
/* Give the counters of a model one more item (which is overwritten): `terms` numbers. Returns
   the released sums, of which the last are b. */
const double *release_item(linear_t *linear, double *model, double *item, double *sums, draws_t *draws);
/* A context as a model learns it: entries in [0, 1], then times q, the root of its row's weight, which is
   returned: so that it is no longer than the norm, and, with `weigh`, its row adds as much to b as it
   may. Its reward is multiplied by q, too. Live, on people, it is rounded to the grid first, and cut
   downwards on it. */
double release_context(const linear_t *linear, const double *context, int live, int weigh, double *z);
/* The weight of a batch of so many observations, from now on that of the model's next item. */
double release_weight(const linear_t *linear, double *model, double n);
/* How much A is regularised on account of the noise: see rebuild() in policy_linear_model.c. */
double release_margin(const linear_t *linear, double *model);

#endif
