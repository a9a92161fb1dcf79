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
   lost. Releases of correlated noise must all have the same law. */

#include <stdint.h>
#include "policy_evidence.h"

enum { EVIDENCE_TILTS = 14, EVIDENCE_ROOM = 24, EVIDENCE_SHARES = 4 };

/* Batches that had the same tilts */
typedef struct {
  double size, sum;    /* rewards, and the noisy sum of them */
  double terms, noise; /* variables of noise in it, and their mean variance */
  double tilt[EVIDENCE_TILTS];
  double rise[EVIDENCE_TILTS], fall[EVIDENCE_TILTS]; /* e^l - 1 and e^-l - 1 */
} evidence_piece_t;

/* A share of the capital that was valued at a release, of each sign */
typedef struct {
  double share[2];
  double score[EVIDENCE_TILTS], cost[EVIDENCE_TILTS], size[EVIDENCE_ROOM];
} evidence_share_t;

/* One arm. Zeros and evidence_begin() make one without releases. */
typedef struct {
  double n;                       /* rewards released */
  double mean, variance;          /* of the mean, noise included */
  double reward_variance;         /* v, for the next tilts */
  double gap;                     /* committed for the next batch */
  double score[EVIDENCE_TILTS];   /* sum l y */
  double charged[EVIDENCE_TILTS]; /* sum c(l) */
  int64_t pieces;
  evidence_piece_t piece[EVIDENCE_ROOM];
  /* Of correlated releases only */
  double risk;                   /* for each sign, over all releases; 0: noise is independent */
  double releases, announced[2]; /* shares for the next release, E^+ and E^- */
  int64_t ahead;                 /* the piece of the next batch, from 1 */
  double later[EVIDENCE_TILTS], fresh[EVIDENCE_TILTS]; /* what V and E take off beside sum d */
  int64_t valued;
  evidence_share_t share[EVIDENCE_SHARES];
} evidence_t;

/* `risk`: where noise is correlated, the chance that is given to it, for each sign. */
void evidence_begin(evidence_t *e, double risk);

/* Before the next batch: the gap between its mean and the theta that it is to rule out, as the
   releases so far have it. */
void evidence_commit(evidence_t *e, double gap);

/* `size` rewards have published `sum`, with so many variables of noise: 1, or more where several batches
   were released at once. */
void evidence_release(evidence_t *e, const noise_law_t *noise, double size, double sum, double terms);

/* ln E^sign(theta) */
double evidence_at(const evidence_t *e, int sign, double theta);

/* W_ab, or a number below it by less than 1e-6: from tangents, so never above it. */
double evidence_pair(const evidence_t *a, const evidence_t *b, double margin);

/* The largest d for which the evidence against "a's mean is at most d above b's" reaches the threshold; -1:
   none. With ln(2 / alpha) from both sides an interval of the difference at every look at once. */
double evidence_lower(const evidence_t *a, const evidence_t *b, double threshold);

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
