/* Sizes of the near-GDP accountant. Finer is sharper and slower; any is valid. */
#ifndef DPTS_ACCOUNT_NEAR_GDP_H
#define DPTS_ACCOUNT_NEAR_GDP_H

#ifndef NEAR_CELL_RATIO
#define NEAR_CELL_RATIO 0.04 /* nodes are spaced by this share of n + 1 */
#endif
#ifndef NEAR_STEP_RATIO
#define NEAR_STEP_RATIO 0.05 /* steps by this share of the rounds done */
#endif
#define NEAR_ORDERS 10 /* orders at which a round is bounded */

#endif
