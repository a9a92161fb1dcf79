#ifndef DPTS_PLAY_ARMS_H
#define DPTS_PLAY_ARMS_H
/* The arms' reward distributions: K arms, whose rewards lie in [0, 1] but for Gaussian ones.
   Each arm has a distribution of its own. */

#include <stdint.h>
#include "sample_rng.h"

typedef struct arms_t arms_t;

typedef struct {
  const char *name;
  int n_par; /* so many parameters has an arm; SOME: one or more */
  /* One reward of an arm. NULL: the caller supplies rewards (play_supply.h). */
  double (*draw)(const arms_t *arms, int arm, rng_t *rng);
  /* Sum of n rewards at once; NULL where there is no short cut. */
  double (*draw_sum)(const arms_t *arms, int arm, double n, rng_t *rng);
  /* May n finite numbers be an arm's parameters? NULL: any may. */
  int (*sound)(const double *par, int n, double mean);
} distribution_t;

enum { SOME = -1 };

/* Where the rewards of one arm come from. */
typedef struct {
  const distribution_t *distribution;
  const double *par; /* its parameters, as the R constructor lays them out */
  int n_par;
} source_t;

struct arms_t {
  int k;              /* number of arms */
  const double *mean; /* k exact means */
  const double *gap;  /* k gaps to the best mean */
  const source_t *source;
  int bernoulli; /* are all rewards 0 or 1, by the distribution of that name? */
  int sums;      /* has every arm a short cut for sums? */
  int unit;      /* do all rewards lie in [0, 1]? */
  /* With contexts (play_arms_linear.c): numbers in one, and how they come about. */
  int dim;          /* 0 without contexts */
  int own;          /* has each arm a context of its own? */
  int context_kind; /* enum context_kind */
  int n_contexts;
  const double *contexts; /* dim x n_contexts, of which one is drawn */
  double noise;           /* variance of a reward, as a share of mean (1 - mean) */
  int logit; /* is the mean 1 / (1 + exp(-theta . z)), in place of theta . z? */
};

const distribution_t *distribution_find(const char *name); /* NULL if there is none */
/* Arms may have been edited by hand: are these parameters of such a distribution? */
int distribution_is_sound(const distribution_t *distribution, const double *par, int n,
                          double mean);

/* Contextual arms, and the numbers that all contexts of a round take. */
enum context_kind { CONTEXT_GIVEN, CONTEXT_UNIFORM, CONTEXT_SIMPLEX };
int context_kind_find(
    const char *name); /* "given", "uniform", "simplex"; -1 for any other */
static inline int arms_context_size(const arms_t *arms) {
  return arms->dim * (arms->own ? arms->k : 1);
}

/* A reward of an arm whose rewards are 0 or 1. */
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
