#ifndef DPTS_POLICY_TS_GAUSSIAN_H
#define DPTS_POLICY_TS_GAUSSIAN_H
/* What lanes need to know of Gaussian Thompson sampling (play_lanes_ts_gaussian.c): its parameters. */

#include "policy.h"

enum { PREPULLS, VARIANCE_SCALE, FILTER };
extern const policy_t policy_ts_gaussian;

#endif
