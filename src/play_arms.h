#ifndef DPTS_PLAY_ARMS_H
#define DPTS_PLAY_ARMS_H
/* The reward distributions of K arms, each with one of its own. All but Gaussian rewards lie in [0, 1]. */

#include <stdint.h>
#include "sample_rng.h"

typedef struct arms_t arms_t;

typedef struct {
  const char *name;
  int n_par; /* number of parameters of an arm; SOME: one or more */
  /* Draws a reward of an arm. NULL: the caller supplies rewards (play_supply.h). */
  double (*draw)(const arms_t *arms, int arm, rng_t *rng);
  /* Draws the sum of n rewards at once; NULL: only one by one. */
  double (*draw_sum)(const arms_t *arms, int arm, double n, rng_t *rng);
  /* Are n finite numbers valid parameters of an arm? NULL: any are. */
  int (*sound)(const double *par, int n, double mean);
} distribution_t;

enum { SOME = -1 };

/* The reward distribution of one arm. */
typedef struct {
  const distribution_t *distribution;
  const double *par; /* parameters, laid out by the R constructor */
  int n_par;
} source_t;

struct arms_t {
  int k;              /* number of arms */
  const double *mean; /* k exact means */
  const double *gap;  /* k gaps to the best mean */
  const source_t *source;
  int bernoulli; /* are all arms of the distribution "bernoulli"? */
  int sums;      /* have all arms a draw_sum()? */
  int unit;      /* do all rewards lie in [0, 1]? */
  /* For contextual arms (play_arms_linear.c): the contexts' dimension, and how they are drawn. */
  int dim;          /* 0 without contexts */
  int own;          /* has each arm a context of its own? */
  int context_kind; /* enum context_kind */
  int n_contexts;
  const double *contexts; /* dim x n_contexts, one of which is drawn */
  double noise;           /* variance of a reward, divided by mean (1 - mean) */
  int logit;              /* is the mean 1 / (1 + exp(-theta . z)), in place of theta . z? */
};

const distribution_t *distribution_find(const char *name); /* NULL if there is none */
/* Are these valid parameters of the distribution? A user may have edited the arms. */
int distribution_is_sound(const distribution_t *distribution, const double *par, int n, double mean);

/* Contextual arms: kinds of contexts, and the number of values in all contexts of a round. */
enum context_kind { CONTEXT_GIVEN, CONTEXT_UNIFORM, CONTEXT_SIMPLEX };
int context_kind_find(const char *name); /* "given", "uniform", "simplex"; -1 for any other */
static inline int arms_context_size(const arms_t *arms) { return arms->dim * (arms->own ? arms->k : 1); }

/* Draws a reward of a Bernoulli arm. */
static inline double arms_toss(const arms_t *arms, int arm, rng_t *rng) {
  return rng_unif(rng) < arms->mean[arm];
}

static inline double arms_draw(const arms_t *arms, int arm, rng_t *rng) {
  return arms->source[arm].distribution->draw(arms, arm, rng);
}

static inline double arms_draw_sum(const arms_t *arms, int arm, double n, rng_t *rng) {
  return arms->source[arm].distribution->draw_sum(arms, arm, n, rng);
}

#endif
