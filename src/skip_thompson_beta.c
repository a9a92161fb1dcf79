#include "skip_thompson_beta.h"
#include "sample_beta_tail.h"

static arm_above_t above(posterior_t p, double c) {
  arm_above_t result;
  double density;
  result.chance = beta_upper(p.x, p.y, c, &density);
  result.slope = density * (1 - c);
  return result;
}

static double draw_above(posterior_t p, double level, rng_t *rng) {
  return sample_beta_beyond(rng, p.x, p.y, level);
}

static double draw_below(posterior_t p, double level, rng_t *rng) {
  return 1 - sample_beta_beyond(rng, p.y, p.x, 1 - level);
}

const family_t BETA = {beta_theta, above, draw_above, draw_below};

static double variance(posterior_t p) {
  const double n = p.x + p.y;
  return p.x * p.y / (n * n * (n + 1));
}

/* The worst case of the posteriors during a block: the leader's at its lowest, the others' at their
   highest. Either they drift, or the leader gets rewards of 0. */
typedef struct {
  const thompson_kind_t *kind;
  const void *policy;
  int k, leader;
  double begin, end, rounds; /* drift at the beginning and at the end of `rounds` rounds */
} worst_t;

static posterior_t worst(const worst_t *w, int arm) {
  if (arm != w->leader) return w->kind->of(w->policy, arm, w->end);
  posterior_t p = w->kind->of(w->policy, arm, w->begin);
  if (!w->kind->drift) p.y += w->rounds;
  return p;
}

/* The level whose distance below the leader's mean is `farther` times its distance above the nearest
   other mean, in standard deviations of either. */
static double find_level(const worst_t *w) {
  const posterior_t leader = worst(w, w->leader);
  const double mean = beta_mean(leader), sd = w->kind->farther * sqrt(variance(leader));
  double level = 0;
  for (int j = 0; j < w->k; j++) {
    if (j == w->leader) continue;
    const posterior_t p = worst(w, j);
    const double sd_j = sqrt(variance(p));
    level = fmax(level, (mean * sd_j + beta_mean(p) * sd) / (sd + sd_j));
  }
  return level;
}

/* Bounds on the probability of a candidate, and on the leader's part in it. */
static double chance_at(const worst_t *w, double level, double *own) {
  double above = 0;
  for (int j = 0; j < w->k; j++) {
    if (j == w->leader) continue;
    const posterior_t p = worst(w, j);
    if (beta_mean(p) >= level) return 1;
    above += exp(beta_log_bound(p.y, p.x, 1 - level));
  }
  const posterior_t p = worst(w, w->leader);
  *own = beta_mean(p) > level ? exp(beta_log_bound(p.x, p.y, level)) : 1;
  return above + *own;
}

double thompson_open_beta(const thompson_kind_t *kind, void *policy, thompson_t *block,
                          const player_t *player) {
  const double dense = thompson_dense(kind, block), t = (double)player->t;
  const int drifts = kind->drift != NULL;
  worst_t w = {.kind = kind, .policy = policy, .k = block->k};
  if (drifts) w.begin = kind->drift(policy, t + 1);
  posterior_t leader = kind->of(policy, 0, w.begin);
  for (int i = 1; i < w.k; i++) {
    const posterior_t p = kind->of(policy, i, w.begin);
    if (beta_mean(p) > beta_mean(leader)) leader = p, w.leader = i;
  }
  double about = 0;
  for (int i = 0; i < w.k; i++) {
    const posterior_t p = kind->of(policy, i, w.begin);
    if (p.x < 1 || p.y < 1) return 1;
    if (i == w.leader) continue;
    const double gap = beta_mean(leader) - beta_mean(p);
    about += exp(-0.5 * gap * gap / (variance(leader) + variance(p)));
  }
  /* A quick check by normal approximation, before the search for a level. */
  if (about > 5 * dense) return 1;
  const double n = leader.x + leader.y, scale = drifts ? t : n;
  /* Longer stretches need a lower level, which gives more candidates: minimise the sum of both costs. */
  double least = INFINITY, own = 0, rounds = 0;
  for (double share = drifts ? 0.1 : 0.3; share * scale > 2 && share > 1e-3; share *= 0.25) {
    w.rounds = share * scale;
    if (drifts) w.end = kind->drift(policy, t + floor(w.rounds));
    const double level = find_level(&w);
    double below = 1;
    const double cost = chance_at(&w, level, &below) + 1 / w.rounds;
    if (cost < least) least = cost, block->level = level, own = below, rounds = w.rounds;
  }
  if (least > 3 * dense) return 1;
  block->leader = w.leader;
  block->n = n;
  block->end = t + floor(rounds);
  block->begin = w.begin;
  if (drifts) block->drift = kind->drift(policy, block->end);
  thompson_fill(kind, policy, block);
  block->own = drifts ? kind->bound(policy, block, w.leader) : fmax(fmax(0.3 * block->tree[1], own), 1e-300);
  return block->own + block->tree[1];
}
