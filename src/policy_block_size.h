/* How many people a block of a randomised experiment is for */

#ifndef DPTS_POLICY_BLOCK_SIZE_H
#define DPTS_POLICY_BLOCK_SIZE_H

#include <math.h>
#include <stdint.h>

typedef struct {
  double growth;      /* all people by those before the block; NaN: `size` has each block */
  const double *size; /* `named` of them, the last for all that follow; with growth the first */
  int named;
  double most; /* with growth: people for each arm; NaN: growth was asked for, without a limit */
} block_rule_t;

/* Of continuous outcomes: a proof that would take n people without noise takes about n (1 + k noise / (v b))
   + b / 2 with blocks of b people, which is least for this b. n is taken to be 250 for each arm; v is the
   variance of a reward, and `noise` that of the noise in a sum. Every block costs the same capital, however
   small it is, so the first is not small, either. */
static inline double block_for_spread(double k, double noise, double v, double people) {
  return noise > 0 ? fmin(k * sqrt(500 * noise / v), 2 * fmax(people, 500 * k)) : 0;
}

/* `made`: blocks so far; `people`: all so far; `least`: of block_for_spread(), or 0 */
static inline int64_t block_size(const block_rule_t *rule, int64_t made, double people, double k,
                                 double least) {
  if (isnan(rule->growth)) return (int64_t)rule->size[made < rule->named ? made : rule->named - 1];
  double n = (rule->growth - 1) * people;
  if (rule->most >= 0) n = fmax(fmin(n, rule->most * k), least);
  return (int64_t)fmin(fmax(rule->size[0], ceil(n)), 0x1p53);
}

#endif
