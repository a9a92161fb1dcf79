/* Sizes of the certified grid. Finer is sharper and slower; any is valid. */
#ifndef DPTS_ACCOUNT_SEQUENCE_GRID_H
#define DPTS_ACCOUNT_SEQUENCE_GRID_H

#ifndef GRID_CELL_RATIO
#define GRID_CELL_RATIO 0.04 /* nodes are spaced by this share of n + 1 */
#endif
#ifndef GRID_STEP_RATIO
#define GRID_STEP_RATIO 0.005 /* steps by this share of the rounds done */
#endif
#ifndef GRID_PARTS
#define GRID_PARTS 16 /* parts of a cell that are bounded one by one */
#endif
#ifndef GRID_CHARGES
#define GRID_CHARGES 320 /* most entries of a column, in gamma */
#endif
#ifndef GRID_SHIFT_STEP
#define GRID_SHIFT_STEP 0.2 /* between columns, in log d */
#endif
/* On log H, on top of the interpolation's own estimate of its error. */
#define GRID_MARGIN 1e-4

#endif
