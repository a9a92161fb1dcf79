#ifndef DPTS_POLICY_EVIDENCE_H
#define DPTS_POLICY_EVIDENCE_H
/* Stopping rules. A martingale is, for each ordered pair of arms, a nonnegative process made of releases. It
   starts at 1 and, if the first arm is not better than the second, reaches 1 / alpha at some look with
   probability alpha at most. Looks, live verdicts and plans all use martingale_hear(). To add a rule: a file
   policy_evidence_NAME.c with MARTINGALE() at its end, its name in the list of policy_evidence.c, and an
   entry in EVIDENCE of R/evidence-kinds.R. */

#include <math.h>
#include <stddef.h>
#include "noise_law.h"

/* A row of the release table (R/releases.R): what was released of an arm. */
typedef struct {
  int arm, stratum; /* from 0 */
  double block;     /* arms that were released as one block have the same number, which may be any */
  double size, sum; /* rewards, and the noisy sum of them */
  double terms;     /* independent variables of noise in the sum */
  double chance;    /* of each person of the block to get the arm; 0: not randomised */
  noise_law_t noise;
  double squares, weight; /* noisy sum of (reward - 1/2)^2, with noise that is smaller by this factor; weight
                             0: it was not released */
} release_t;

static inline noise_law_t noise_of_squares(const release_t *row) {
  noise_law_t law = row->noise;
  law.scale /= row->weight;
  return law;
}

/* Evidence from squares rests on the inequality of Fan, Grama and Liu (2015): for x >= -B and 0 <= l B < 1
     e^(l x - psi x^2) <= 1 + l x,  psi = (-ln(1 - l B) - l B) / B^2.
   Where l B is small the two terms cancel, and a series is used. */
static inline double fan_psi(double l, double B) {
  const double u = l * B;
  if (u < 1e-3) return l * l * (0.5 + u * (1. / 3 + u * (0.25 + 0.2 * u)));
  return (-log1p(-u) - u) / (B * B);
}

/* What is fixed before the first release. */
typedef struct {
  int k;                    /* arms */
  double threshold, margin; /* of a verdict; a threshold of Inf: there is to be none */
  double risk;              /* error probability given to correlated noise, for each arm and sign */
  double floor;             /* no chance of an arm, given that it is one of a pair, is ever below it */
  double centre;            /* of residuals: what a right prediction leaves; NAN: these are rewards */
  int strata;               /* how many, 1 at least */
  int permuted;             /* are people assigned in fixed numbers? */
  double rate;              /* that each arm is compared with, in place of the other arms; NAN: none */
} design_t;

typedef struct {
  const char *name;
  size_t (*size)(const design_t *design); /* bytes of its state */
  void (*begin)(void *state, const design_t *design);
  /* Before the sums of a block are known: fix what must be a function of earlier releases alone. May be
     NULL. */
  void (*aim)(void *state, const release_t *rows, int n);
  /* The rows of one block */
  void (*release)(void *state, const release_t *rows, int n);
  /* ln W, against "a is not better than b less the margin", a function of releases of a and b: Inf for a
     margin above 1, and -Inf where it is surely below `enough` and the work can be saved */
  double (*pair)(const void *state, int a, int b, double margin, double enough);
  /* A lower bound of the difference, a less b, at all looks at once: the d at which the evidence against "at
     most d" is at the threshold. `known`: that of an earlier look, where it still holds, or -1: nothing is
     known. NAN: the rule has none */
  double (*lower)(const void *state, int a, int b, double threshold, double known);
  /* ln E, against "a's mean is at most the design's rate" (sign 1) or "at least" (-1). NULL: the rule has no
     such evidence. */
  double (*against)(const void *state, int a, int sign);
  /* An estimate of the difference; NAN: nothing was released of one of them */
  double (*estimate)(const void *state, int a, int b);
} martingale_t;

#define MARTINGALE(NAME, ...) const martingale_t martingale_##NAME = {.name = #NAME, __VA_ARGS__}

const martingale_t *martingale_find(const char *name); /* NULL if there is none */

/* What was released since, block by block: a bet on a block may follow all earlier ones */
void martingale_hear(const martingale_t *rule, void *state, const release_t *rows, int n);

/* After which blocks there is a look. Blocks of different strata end at different times, and a conclusion is
   about all people. So of several strata there is a look once each has released a block since the last one,
   or once 98% of the people so far are in what was released (in some strata there may be hardly anybody).
   With one stratum there is one after each block. */
typedef struct {
  int strata, left; /* of so many nothing was released since the last look */
  double people;    /* in what was released */
  char *heard;      /* since the last look, for each stratum */
} looks_t;

/* heard: memory of as many bytes as there are strata */
void looks_begin(looks_t *looks, int strata, char *heard);

/* A block of so many people was released after round t. Is there a look? `open`: not yet, since others of its
   round are to come */
int looks_hear(looks_t *looks, int stratum, double people, double t, int open);

#endif
