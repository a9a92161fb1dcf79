/* Sizes of the near-GDP accountant. Smaller steps are tighter and slower; the result is an upper bound
   for any. */
#ifndef DPTS_ACCOUNT_NEAR_GDP_H
#define DPTS_ACCOUNT_NEAR_GDP_H

#ifndef NEAR_CELL_RATIO
#define NEAR_CELL_RATIO 0.04 /* distance of nodes, relative to n + 1 */
#endif
#ifndef NEAR_STEP_RATIO
#define NEAR_STEP_RATIO 0.05 /* length of steps, relative to the rounds so far */
#endif
#define NEAR_ORDERS 10 /* orders at which a round is bounded */

#endif
