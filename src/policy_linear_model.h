#ifndef DPTS_POLICY_LINEAR_MODEL_H
#define DPTS_POLICY_LINEAR_MODEL_H
/* What LinUCB, its logistic kin and contextual Thompson sampling know: ridge regressions of the reward on the
   context,

     A = ridge I + sum z z',  b = sum r z,  theta = A^-1 b,

   one an arm ("disjoint") or one for all arms ("shared"). Without noise an observation costs O(d^2). With
   noise, A and b are released by tree-based aggregation, as in Mishra and Thakurta (2015), Appendix D, or by
   a factorisation (noise_counter_toeplitz.h). Either an observation is an item of its arm's counters, as
   there; or every so many observations, of whichever arms, each arm's counters get one item, the sum over the
   batch. Then no item's place depends on which arms were pulled. Gaussian noise is always in batches.

   With a logistic link the mean reward is sigma(theta . z), sigma(x) = 1 / (1 + e^-x). Each reward
   then enters as in one step of Fisher scoring from the theta in force when it comes: at eta = theta . z,
   cut to +-LINEAR_REACH, with the weight w = sigma'(eta),

     A += w z z',  b += z (r - sigma(eta) + w eta).

   It is the regression of (r - sigma(eta) + w eta) / sqrt(w) on sqrt(w) z, and all else stays as it is.

   It is the state of these policies: one flat block of linear_size(spec) bytes, made for the parameters
   that they share. */

#include "policy.h"

/* The policies name their parameters in this order; the first is their own. */
enum {
  LINEAR_WIDTH,
  LINEAR_EPSILON,
  LINEAR_SHARED,
  LINEAR_PUBLIC, /* contexts are public: noise on b alone */
  LINEAR_MECHANISM,
  LINEAR_RIDGE,
  LINEAR_BATCH,    /* private sums are released every so many rounds; 0: after each */
  LINEAR_GROWTH,   /* and not before the rounds have grown by this factor; 0: then at once */
  LINEAR_MU,       /* Gaussian noise, mu-GDP; Inf: none of it */
  LINEAR_NORM,     /* a bound of the contexts' Euclidean norm; NaN: sqrt(d) */
  LINEAR_MARGIN,   /* so many times the bound of the spectral norm of A's noise: see rebuild() */
  LINEAR_CENTRE,   /* of rewards */
  LINEAR_INTERCEPT /* a context gets a 1 in front */
};
enum { LINEAR_TREE, LINEAR_GAMMA, LINEAR_TOEPLITZ, LINEAR_BATCHES }; /* mechanisms */
extern const char *const LINEAR_MECHANISMS[];
#define LINEAR_PARAMETERS(WIDTH)                                                                      \
  PARAMETERS(PARAMS, NEEDS(WIDTH), NEEDS("epsilon"), NEEDS("shared"), NEEDS("public"),                \
             ONE_OF("mechanism", LINEAR_MECHANISMS), NEEDS("ridge"), NEEDS("batch"), NEEDS("growth"), \
             NEEDS("mu"), TAKES("norm"), NEEDS("margin"), NEEDS("centre"), NEEDS("intercept"))

/* The most numbers of a context, with its intercept. */
#define LINEAR_DIM (MAX_CONTEXT + 1)

enum link { LINK_IDENTITY, LINK_LOGIT };
#define LINEAR_REACH 3.0 /* beyond it the logistic link continues in a straight line */

typedef struct linear_t linear_t;

/* factor: keep F with F F' = A^-1, for draws of theta. */
size_t linear_size(const spec_t *spec, int factor);
void linear_init(void *state, const spec_t *spec, int factor, enum link link);

/* Looking at a round: a context with its intercept, and the products of its entries. */
typedef struct {
  const double *context;
  double own[LINEAR_DIM];
  double zz[LINEAR_DIM * (LINEAR_DIM + 1) / 2];
} linear_view_t;
void linear_look(const linear_t *linear, const round_t *round, linear_view_t *view);

/* An arm's context as the models see it. */
const double *linear_context(const linear_t *linear, const round_t *round, int arm, double *own);

/* theta . z of an arm, and its width, sqrt(z' A^-1 z) times the policy's first parameter. */
double linear_score(const linear_t *linear, const round_t *round, int arm, linear_view_t *view,
                    double *width);

/* theta + v F g, v the first parameter and g standard normal: a draw from N(theta, v^2 A^-1) of the shared
   model. */
void linear_draw(const linear_t *linear, rng_t *rng, double *theta);

void linear_update(void *state, const feedback_t *feedback, draws_t *draws);

/* The batch that is open is released as it is. */
void linear_finish(void *state, draws_t *draws);

/* For policy_t's sound() */
int linear_sound(const void *state, const void *fresh);

/* Models of more arms, made by linear_init(): those of new arms begin with nothing. */
void linear_grow(void *state, const void *old, int k);

/* After how many rounds or, with public contexts, rewards of an arm sums are first released; 0: at once, or
   there are no batches */
int64_t linear_first_batch(const spec_t *spec);

int linear_dim(const linear_t *linear);
int linear_is_shared(const linear_t *linear);

/* For tests: A^-1 (d x d), b and theta of an arm's model. */
void linear_read(const linear_t *linear, int arm, double *inverse, double *b, double *theta);

#endif
