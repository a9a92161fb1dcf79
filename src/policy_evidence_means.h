#ifndef DPTS_POLICY_EVIDENCE_MEANS_H
#define DPTS_POLICY_EVIDENCE_MEANS_H
/* Evidence from noisy sums: what releases prove about the means of arms, at any look.

   Batch i of an arm has L_i rewards of [0, 1] and publishes y_i, their sum with fresh noise. For
   a sign s = +1 or -1, a tilt l > 0 that is fixed before the batch, and c(l) = ln E e^(l noise),

     ln M^s(theta) = sum_i [s l_i y_i - L_i ln(1 - theta + theta e^(s l_i)) - c(l_i)]

   is, for a mean of at most theta (s = +1) or at least theta (s = -1), the logarithm of a nonnegative
   supermartingale that starts at 1: e^(lx) is below its chord on [0, 1]. So is the mixture E^s over several
   tilts with fixed weights. If arm a's mean is not above arm b's, the chance that

     W_ab = min over theta of ln E_a^+(theta) + ln E_b^-(theta + margin)

   (with a margin of (-1, 1): if it is not above b's less the margin) ever reaches ln(1 / alpha) is at most
   alpha: take theta = the mean of a. Both terms are convex in theta.

   E_a^+(theta) alone is evidence against "a's mean is at most a known rate theta", E_a^-(theta) against "at
   least": theta is known, so no minimum is taken. For k arms, each against the rate on both sides, at most
   2 k statements can be false: their threshold is ln(2 k / alpha).

   The mixture has a gap of 0, ten fixed gaps between mean and theta and three around a gap that the caller
   commits, each with the tilt that makes its evidence grow fastest. Tilts depend on earlier releases, and on
   L_i and the law of the noise, which are public before the batch. Batches may have different laws: each is
   charged its own c(l). Where a law has no E e^(l noise) for a tilt, the share of the capital on that tilt is
   lost. Releases of correlated noise must all have the same law.

   Where squares about 1/2 are released, too (Q_i, with its own noise), half of the capital is on bets that
   know the spread of the rewards. With a centre c_i that is fixed before the batch, B = c_i for s = +1 and
   1 - c_i for s = -1, and psi by fan_psi(l_i, B), a reward has e^(s l (X - c) - psi (X - c)^2) <=
   1 + s l (X - c), of mean 1 + s l (theta - c) at most. So

     ln M^s(theta) = sum_i [s l_i (y_i - c_i L_i) - psi_i (Q_i + (1 - 2 c_i) y_i + L_i (c_i^2 - 1/4))
                            - L_i ln(1 + s l_i (theta - c_i))] - ln E e^(the same of the noise)

   is such a logarithm, too, and convex in theta. In a pair it is the product of two arms that is halved,
   (E_a E_b with squares + E_a E_b without) / 2, which loses ln 2 where halves of each arm would lose 2 ln 2.

   Of correlated noise (theory: policy_gaussian_imed.c releases y_i as a moving average, and Q_i beside it),
   t_i = s l_i - psi_i (1 - 2 c_i) takes the place of s l_i wherever a tilt meets the noise of sums. It is
   fixed as early as l_i, and the noise of Q_i is independent of all else, so that the proof is the same;
   what is bounded is s times the last noise, so s t_i must not be negative, and tilts are that small. */

#include <stdint.h>
#include "noise_report.h"
#include "policy_evidence.h"

enum { EVIDENCE_TILTS = 14, EVIDENCE_PIECES = 24, EVIDENCE_SHARES = 4 };

/* Bets without squares, and with them */
enum { LINEAR, SQUARES, EVIDENCE_KINDS };

/* A number for each kind of bet, for E^+ and E^-, and for each tilt */
typedef double evidence_numbers_t[EVIDENCE_KINDS][2][EVIDENCE_TILTS];

/* Batches that had the same tilts and, of bets with squares, the same centre */
typedef struct {
  int64_t kind;
  double size, sum;    /* rewards, and the noisy sum of them */
  double terms, noise; /* variables of noise in it, and their mean variance */
  double centre;
  double tilt[2][EVIDENCE_TILTS];
  double move[2][EVIDENCE_TILTS]; /* (1 + theta move)^-size is what depends on theta: e^(s l) - 1, or with
                                     squares s l / (1 - s l c) */
} evidence_piece_t;

/* A share of the capital that was valued at a release, of each sign */
typedef struct {
  double share[2];
  evidence_numbers_t score, cost;
  double size[EVIDENCE_PIECES];
} evidence_share_t;

/* One arm. Zeros and evidence_begin() make one without releases. */
typedef struct {
  double n;                   /* rewards released */
  double mean, variance;      /* of the mean, noise included */
  double coin;                /* v, for the next tilts: of rewards of 0 or 1 with this mean */
  double spread;              /* with squares, v as far as they tell it; else the same */
  double gap;                 /* committed for the next batch */
  int64_t kinds;              /* of bets: 1, or 2 with squares, from the first release on */
  report_t total;             /* of the releases, for v */
  evidence_numbers_t score;   /* what does not depend on theta */
  evidence_numbers_t charged; /* sum c(l) */
  int64_t pieces;
  evidence_piece_t piece[EVIDENCE_PIECES];
  /* Of correlated releases only */
  double risk;                   /* for each sign, over all releases; 0: noise is independent */
  double releases, announced[2]; /* shares for the next release, E^+ and E^- */
  int64_t ahead[EVIDENCE_KINDS]; /* the piece of the next batch, from 1 */
  evidence_numbers_t cost_announced, cost_valued; /* of the pending noise, under V and under E */
  int64_t valued;
  evidence_share_t share[EVIDENCE_SHARES];
} evidence_t;

/* `risk`: where noise is correlated, the chance that is given to it, for each sign. */
void evidence_begin(evidence_t *e, double risk);

/* May it be used, if it was read from somewhere? */
int evidence_is_sound(const evidence_t *e);

/* Before the next batch: the gap between its mean and the theta that it is to rule out, as the
   releases so far have it. */
void evidence_commit(evidence_t *e, double gap);

/* Rewards have been published. All arms have squares, or none. */
void evidence_release(evidence_t *e, const release_t *row);

/* ln E^sign(theta) */
double evidence_at(const evidence_t *e, int sign, double theta);

/* W_ab, or a number below it by less than 1e-6: from tangents, so never above it. */
double evidence_pair(const evidence_t *a, const evidence_t *b, double margin);

/* The largest d for which the evidence against "a's mean is at most d above b's" reaches the threshold, to
   1e-9, if it is above `known`; else that. With ln(2 / alpha) from both sides an interval of the difference
   at every look at once. */
double evidence_lower(const evidence_t *a, const evidence_t *b, double threshold, double known);

/* The theta with E^+ < 2 / alpha and E^- < 2 / alpha: an interval of means at every look at once.
   lower > upper: empty, and then the mean has changed. */
void evidence_interval(const evidence_t *e, double alpha, double *lower, double *upper);

/* The gap of arm a's mean to the theta between it and b that is closest to both */
double evidence_gap(const evidence_t *a, const evidence_t *b, double margin);

/* Before a release of `size` rewards, and before all that are released with them: commit the arm's gap to the
   highest mean of the other arms that have one; and of correlated noise, is a share of its capital to be
   valued at this release, since the evidence will soon reach the threshold? There are k arms, the first of
   them at `first`, `stride` bytes from one to the next. */
void evidence_aim(evidence_t *e, const evidence_t *first, size_t stride, int k, double size, double threshold,
                  double margin);

#endif
