#include "noise_counter_log.h"

void log_counter_init(log_counter_t *c, int hu_hegde, double scale) {
  *c = (log_counter_t){.boundary = 1, .hu_hegde = hu_hegde, .scale = scale};
}

int log_counter_add(log_counter_t *c, double item, draws_t *draws) {
  c->n++;
  c->block += item;
  if (c->n < c->boundary) return 0;
  c->total += release_laplace(draws, c->block, c->scale);
  c->block = 0;
  c->releases++;
  c->boundary = 2 * c->boundary + (c->hu_hegde ? 1 : 0);
  return 1;
}

void hybrid_init(hybrid_t *h, int levels, int hu_hegde, double epsilon) {
  h->max_levels = levels;
  h->epsilon = epsilon;
  h->sum = 0;
  log_counter_init(&h->log, hu_hegde, 1 / (0.5 * epsilon));
  tree_init(&h->tree, 0, NOISE_LAPLACE, 0);
}

double hybrid_add(hybrid_t *h, double item, draws_t *draws) {
  if (log_counter_add(&h->log, item, draws)) {
    /* The tree covers the block up to the next boundary. Its levels are the number of partial sums that
       an item can be in. */
    const double items = (double)(h->log.boundary - h->log.n - 1);
    int levels = items < 1 ? 0 : tree_levels(items);
    if (levels > h->max_levels) levels = (int)h->max_levels;
    tree_init(&h->tree, levels, NOISE_LAPLACE, levels / (0.5 * h->epsilon));
  } else {
    tree_add(&h->tree, item, draws);
  }
  return h->sum = h->log.total + h->tree.sum;
}

/* The noise of the blocks stays in the total; the noise of the tree is discarded with the tree. */
report_t hybrid_report(const hybrid_t *h) {
  return (report_t){.rewards = (double)h->log.n,
                    .sum = h->sum,
                    .kind = NOISE_LAPLACE,
                    .terms = h->log.releases,
                    .scale = h->log.scale,
                    .last_terms = tree_terms(&h->tree),
                    .last_scale = h->tree.scale,
                    .looks = (double)h->log.n};
}
