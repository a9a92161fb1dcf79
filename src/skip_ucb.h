#ifndef DPTS_SKIP_UCB_H
#define DPTS_SKIP_UCB_H
/* For how many rounds an arm is certain to lead by an index mean + width / sqrt(n), width = sqrt(2 ln
   t), in UCB1, and in DP-UCB-Int between its releases. */

#include <math.h>

static inline double ucb_width(double t) { return sqrt(2 * log(fmax(1, t))); }

/* The other arms, whose means and counts do not change */
typedef struct {
  double index, steepest; /* the largest index; the largest 1 / sqrt(n) */
} ucb_rivals_t;

#define UCB_RIVALS ((ucb_rivals_t){.index = -INFINITY})

static inline void ucb_rivals_add(ucb_rivals_t *rivals, double index, double slope) {
  rivals->index = fmax(rivals->index, index);
  rivals->steepest = fmax(rivals->steepest, slope);
}

/* A number of rounds from round t on, at most `most`, in all of which the arm just chosen is chosen
   again: its index falls as it is pulled, and the indices of the others grow with the width. Either its
   mean is `fixed` until then, or each reward, which may be 0, enters it at once. */
static inline double ucb_sure(double mean, int fixed, double n, ucb_rivals_t rivals, double t, double most) {
  const double w = ucb_width(t), index = mean + w / sqrt(n), gap = index - rivals.index;
  const double margin = 1e-13 * (fabs(index) + fabs(rivals.index)); /* for rounding errors */
  /* To first order in r the gap closes at this rate; the loop then verifies the number of rounds. */
  const double rate =
      ((fixed ? 0 : mean) + 0.5 * w / sqrt(n)) / n + (w > 0 ? rivals.steepest / (w * t) : rivals.steepest);
  for (double r = fmin(most, floor(gap / rate)); r >= 2; r = floor(0.9 * r)) {
    const double least = (fixed ? mean : mean * n / (n + r)) + w / sqrt(n + r);
    if (least > rivals.index + (ucb_width(t + r) - w) * rivals.steepest + margin) return r;
  }
  return 0;
}

#endif
