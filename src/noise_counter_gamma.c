#include "noise_counter_gamma.h"

static double *exact_node(gamma_tree_t *tree, int level) {
  return (double *)(tree + 1) + (size_t)level * (size_t)tree->p;
}

static double *noisy_node(gamma_tree_t *tree, int level) { return exact_node(tree, tree->levels + level); }

void gamma_tree_init(gamma_tree_t *tree, int levels, int p, double scale) {
  *tree = (gamma_tree_t){.levels = levels, .p = p, .scale = scale};
  double *nodes = exact_node(tree, 0);
  for (size_t i = 0; i < 2 * (size_t)levels * (size_t)p; i++) nodes[i] = 0;
}

/* The released sum of the first n vectors. */
static void read_sum(gamma_tree_t *tree, int64_t n, double *sum) {
  for (int j = 0; j < tree->p; j++) sum[j] = 0;
  for (int level = 0; n; n >>= 1, level++) {
    if (!(n & 1)) continue;
    const double *released = noisy_node(tree, level);
    for (int j = 0; j < tree->p; j++) sum[j] += released[j];
  }
}

void gamma_tree_add(gamma_tree_t *tree, double *item, double *sum, draws_t *draws) {
  const int p = tree->p;
  /* A full tree ignores further vectors: the privacy budget and the nodes are used up. */
  if (tree->n >= ((int64_t)1 << tree->levels) - 1) {
    read_sum(tree, tree->n, sum);
    return;
  }
  int64_t n = ++tree->n;
  int i = 0;
  /* The node of the lowest 1 bit of n absorbs the nodes below it. */
  for (; !(n & 1); n >>= 1, i++) {
    double *below = exact_node(tree, i), *released = noisy_node(tree, i);
    for (int j = 0; j < p; j++) {
      item[j] += below[j];
      below[j] = released[j] = 0;
    }
  }
  double *node = exact_node(tree, i);
  for (int j = 0; j < p; j++) node[j] = item[j];
  release_gamma(draws, p, node, tree->scale, noisy_node(tree, i));
  read_sum(tree, tree->n, sum);
}
