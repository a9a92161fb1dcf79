#ifndef DPTS_COUNTER_BLOCK_H
#define DPTS_COUNTER_BLOCK_H
/* Forgetful doubling blocks, the counter of the lazy policies (Hu, Huang and Mehta 2021;
   Hu and Hegde 2022, Algorithm 2): rewards gather in blocks of 1, 2, 4, 8, ... items. When
   a block is full its sum is released with fresh noise and gives the new private mean; older
   rewards are forgotten. Each item is in one noisy sum, so Laplace noise of scale
   1 / epsilon gives epsilon-DP for items of [0, 1], and Gaussian noise of sd 1 / mu gives
   mu-GDP. A block that is not full yet has told nothing. */

#include "noise.h"

typedef struct {
  double n, mean;           /* size and private mean of the last full block; n = 0: none */
  double size, filled, sum; /* the block being filled */
} block_t;

static inline void block_init(block_t *block) {
  *block = (block_t){.size = 1};
}

static inline double block_room(const block_t *block) { return block->size - block->filled; }

/* Take n <= block_room() items of the given sum; returns whether the block is full, and so
   the mean renewed. */
static inline int block_add(block_t *block, double n, double sum, enum noise_law law,
                            double scale, dice_t *dice) {
  block->filled += n;
  block->sum += sum;
  if (block->filled < block->size) return 0;
  const double noisy = law == NOISE_LAPLACE ? release_laplace(dice, block->sum, scale)
                                            : release_gaussian(dice, block->sum, scale);
  *block = (block_t){.n = block->size, .mean = noisy / block->size, .size = 2 * block->size};
  return 1;
}

#endif
