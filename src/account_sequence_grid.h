/* Sizes of the certified grid. Finer is sharper and slower; any is valid. */
#ifndef DPTS_ACCOUNT_SEQUENCE_GRID_H
#define DPTS_ACCOUNT_SEQUENCE_GRID_H

#ifndef GRID_CELL_RATIO
#define GRID_CELL_RATIO 0.016 /* nodes are spaced by this share of n + 1 */
#endif
#ifndef GRID_STEP_RATIO
#define GRID_STEP_RATIO 0.025 /* steps by this share of the rounds done */
#endif
#ifndef GRID_PARTS
#define GRID_PARTS 16 /* parts of a cell that are bounded one by one */
#endif
#ifndef GRID_CHARGES
#define GRID_CHARGES 320 /* most entries of a column, in gamma */
#endif
#ifndef GRID_SHIFT_STEP
#define GRID_SHIFT_STEP 0.04 /* between columns, in log d */
#endif
/* Shifts below this have no column: a whole draw's loss stands for the bit's. */
#define GRID_MIN_SHIFT 3e-7

/* What rounding may take from a loss, as a share of it. The largest part is H itself: log F is a sum of terms
   of size (alpha - 1) d that cancel down to alpha (alpha - 1) d^2, so that 1e-16 becomes some 1e-14 / d.
   Against 33 digits, at 30,000 points with d from 3e-7 to 1e8 and alpha - 1 from 1e-7 to 1e7, the error was
   at most 3e-7 for d < 1e-6 and 1e-7 above, Newton's early stop included. The rest is smaller still: gains
   and slopes are sums over at most 2000 steps, off by 1e-12 of the largest term, and the loss moves with the
   slope by no more than q, where q times the slope per reward is at most the loss. */
#define GRID_MARGIN 1e-6

#endif
