#include "noise_counter_tree.h"

int tree_levels(double bound) {
  int levels = 1;
  for (double most = 2; most <= bound; most *= 2) levels++;
  return levels;
}

void tree_init(tree_t *tree, int levels, enum noise_kind kind, double scale) {
  tree->n = 0;
  tree->levels = levels;
  tree->kind = kind;
  tree->scale = scale;
  tree->sum = 0;
  for (int j = 0; j < 2 * levels; j++) tree_nodes(tree)[j] = 0;
}

int tree_terms(const tree_t *tree) {
  int terms = 0;
  for (int64_t n = tree->n; n > 0; n >>= 1) terms += (int)(n & 1);
  return terms;
}

int tree_is_sound(const tree_t *tree, int levels) {
  return tree->levels >= 0 && tree->levels <= levels && tree->n >= 0 && tree->n <= tree_bound(tree);
}

double tree_add(tree_t *tree, double item, draws_t *draws) {
  double *exact = tree_nodes(tree), *noisy = exact + tree->levels;
  if (tree->n >= tree_bound(tree)) return tree->sum;
  int64_t n = ++tree->n;
  /* i is the lowest 1 bit of n. Its partial sum absorbs those below it. */
  int i = 0;
  for (; !(n & 1); n >>= 1, i++) {
    item += exact[i];
    exact[i] = noisy[i] = 0;
  }
  exact[i] = item;
  noisy[i] = release_noisy(draws, tree->kind, item, tree->scale);
  double sum = 0;
  for (int j = i; n; n >>= 1, j++)
    if (n & 1) sum += noisy[j];
  return tree->sum = sum;
}
