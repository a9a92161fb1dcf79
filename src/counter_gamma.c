#include "counter_gamma.h"

static double *exact_node(gamma_tree_t *tree, int level) {
  return (double *)(tree + 1) + (size_t)level * (size_t)tree->p;
}

static double *noisy_node(gamma_tree_t *tree, int level) {
  return exact_node(tree, tree->levels + level);
}

void gamma_tree_init(gamma_tree_t *tree, int levels, int p, double scale) {
  *tree = (gamma_tree_t){.levels = levels, .p = p, .scale = scale};
  double *nodes = exact_node(tree, 0);
  for (size_t i = 0; i < 2 * (size_t)levels * (size_t)p; i++) nodes[i] = 0;
}

void gamma_tree_add(gamma_tree_t *tree, double *item, double *sum, dice_t *dice) {
  const int p = tree->p;
  int64_t n = ++tree->n;
  int i = 0;
  /* The node of the lowest bit of n that is 1 takes over those below it. */
  for (; !(n & 1); n >>= 1, i++) {
    double *below = exact_node(tree, i), *released = noisy_node(tree, i);
    for (int j = 0; j < p; j++) {
      item[j] += below[j];
      below[j] = released[j] = 0;
    }
  }
  double *node = exact_node(tree, i);
  for (int j = 0; j < p; j++) node[j] = item[j];
  release_gamma(dice, p, node, tree->scale, noisy_node(tree, i));
  for (int j = 0; j < p; j++) sum[j] = 0;
  for (int level = i; n; n >>= 1, level++) {
    if (!(n & 1)) continue;
    const double *released = noisy_node(tree, level);
    for (int j = 0; j < p; j++) sum[j] += released[j];
  }
}
