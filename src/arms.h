#ifndef DPTS_ARMS_H
#define DPTS_ARMS_H
/* Reward laws: K arms whose rewards lie in [0, 1]. */

#include <stdint.h>
#include "rng.h"

typedef struct arms_t arms_t;

typedef struct {
  const char *name;
  /* One reward of an arm. */
  double (*draw)(const arms_t *arms, int arm, rng_t *rng);
  /* Sum of n rewards at once; NULL where there is no short cut. */
  double (*draw_sum)(const arms_t *arms, int arm, double n, rng_t *rng);
} law_t;

struct arms_t {
  const law_t *law;
  int k;               /* number of arms */
  const double *mean;  /* k exact means */
  const double *gap;   /* k gaps to the best mean */
  const double *par;   /* the law's parameters, laid out as its R constructor says */
  int par_rows;        /* parameters of one arm */
};

const law_t *law_find(const char *name); /* NULL if there is none */

static inline double arms_draw(const arms_t *arms, int arm, rng_t *rng) {
  return arms->law->draw(arms, arm, rng);
}

#endif
