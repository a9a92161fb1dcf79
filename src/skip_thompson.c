#include "skip_thompson.h"

#include <string.h>

/* Rounds per call of skip() that are played one by one */
#define ROUNDS 32

/* Stretches per call */
#define STRETCHES 16

/* A probability may equal its bound at the end of a stretch, up to rounding. */
#define ROUNDING 1e-9

/* The groups hold for this share of the rounds so far; in longer stretches the bounds would be looser. */
#define STRETCH (1.0 / 32)

static arm_groups_t *groups_of(thompson_t *s) { return (arm_groups_t *)(s->tree + 2 * s->leaves); }

const arm_groups_t *thompson_groups(const thompson_t *s) { return groups_of((thompson_t *)s); }

static int leaves(int k) {
  int n = 1;
  while (n < k) n *= 2;
  return n;
}

size_t thompson_size(int k, int grouped) {
  return sizeof(thompson_t) + sizeof(double) * 2 * (size_t)leaves(k) + (grouped ? arm_groups_size(k) : 0);
}

void thompson_init(thompson_t *s, int k, int grouped) {
  memset(s, 0, thompson_size(k, grouped));
  s->k = k;
  s->leaves = leaves(k);
  s->leader = -1;
  s->grouped = grouped;
  s->arm_level.c = 1;
}

/* ---- a binary tree of sums over the bounds of the arms ------------------------------ */

double thompson_fill(const thompson_kind_t *kind, const void *policy, thompson_t *s) {
  for (int j = 0; j < s->k; j++) {
    s->tree[s->leaves + j] = j == s->leader ? 0 : kind->bound(policy, s, j);
  }
  for (int i = s->leaves - 1; i > 0; i--) s->tree[i] = s->tree[2 * i] + s->tree[2 * i + 1];
  return s->own + s->tree[1];
}

static void tree_set(thompson_t *s, int arm, double value) {
  int i = s->leaves + arm;
  s->tree[i] = value;
  for (; i > 1; i /= 2) s->tree[i / 2] = s->tree[i] + s->tree[i ^ 1];
}

/* The event that the number u in [0, own + total) selects, in proportion to the bounds; u becomes its
   remainder. */
static int find_event(const thompson_t *s, double *u) {
  if (*u < s->own) return s->leader;
  *u -= s->own;
  int i = 1;
  while (i < s->leaves) {
    i *= 2;
    if (*u >= s->tree[i] && s->tree[i + 1] > 0) *u -= s->tree[i++];
  }
  return i - s->leaves;
}

/* ---- a candidate round: the arm to pull; -1: a probability is above its bound -------- */

static int candidate(const thompson_kind_t *kind, const void *policy, const thompson_t *s, rng_t *rng) {
  const int l = s->leader;
  double u = rng_unif(rng) * (s->own + s->tree[1]);
  candidate_t c = {.event = find_event(s, &u), .level = s->level};
  c.u = u;
  const int met = kind->meet(policy, s, &c, rng);
  if (met <= 0) return met < 0 ? -1 : l;
  double best = -INFINITY;
  int choice = l, happened = 0;
  for (int i = 0; i < s->k; i++) {
    const double theta = kind->draw(policy, s, i, &c, rng);
    happened += i == c.event || (i == l ? theta < c.level : theta > c.level);
    if (theta > best) best = theta, choice = i;
  }
  return happened == 1 || rng_below(rng, happened) == 0 ? choice : l;
}

/* More events than these in a round have probability below 1e-35. */
enum { EVENTS = 32 };

/* The same for independent events: the points of a Poisson process during the round, which has length 1.
   The first point is at `at`. */
static int candidate_of_points(const thompson_kind_t *kind, const void *policy, const thompson_t *s, double t,
                               double at, rng_t *rng) {
  const int l = s->leader;
  const double drift = kind->drift ? kind->drift(policy, t) : 0;
  const double total = s->own + s->tree[1];
  int met[EVENTS], n = 0, choice = -1;
  double best = -INFINITY,
         low = INFINITY; /* the largest theta above the level; the leader's if it is below */
  for (; at < 1; at += sample_exp(rng) / total) {
    double u = rng_unif(rng) * total;
    const int i = find_event(s, &u);
    int again = 0;
    for (int j = 0; j < n; j++) again |= met[j] == i;
    if (again) continue;
    if (n == EVENTS) return -1;
    met[n++] = i;
    const double theta = kind->draw_wrong(policy, s, i, drift, rng);
    if (theta != theta) return -1;
    if (theta == -INFINITY) continue;
    if (i == l) low = theta;
    else if (theta > best) best = theta, choice = i;
  }
  if (low == INFINITY) {
    return choice < 0 || kind->draw_right(policy, s, l, drift, rng) > best ? l : choice;
  }
  if (choice >= 0) return choice;
  best = low, choice = l;
  for (int i = 0; i < s->k; i++) {
    const double theta = i == l ? low : kind->draw_right(policy, s, i, drift, rng);
    if (theta > best) best = theta, choice = i;
  }
  return choice;
}

/* ---- rounds without a leader --------------------------------------------------------- */

typedef struct {
  const thompson_kind_t *kind;
  const void *policy;
  double drift;
} at_drift_t;

static arm_above_t above(const void *at_, int arm, double level) {
  const at_drift_t *at = at_;
  const family_t *family = at->kind->family;
  return family->above(at->kind->of(at->policy, arm, at->drift), family->level(level));
}

static void find_arm_level(const thompson_kind_t *kind, const void *policy, thompson_t *s) {
  const at_drift_t at = {kind, policy, s->arm_drift};
  arm_level_find(&s->arm_level, groups_of(s), s->k, above, &at);
}

static void renew(const thompson_kind_t *kind, const void *policy, thompson_t *s, int arm) {
  const at_drift_t at = {kind, policy, s->arm_drift};
  arm_groups_set(groups_of(s), arm, above(&at, arm, s->arm_level.c).chance);
  if (!arm_level_holds(&s->arm_level, groups_of(s))) find_arm_level(kind, policy, s);
}

/* An arm was above the level according to its probability at the end of the stretch: accept it with the
   probability that it has now, divided by that one. -1: the probability now is larger. */
static int accepted(const thompson_kind_t *kind, const void *policy, const thompson_t *s, int arm,
                    posterior_t now, double level, rng_t *rng) {
  const posterior_t end = kind->of(policy, arm, s->arm_drift);
  if (now.x == end.x && now.y == end.y) return 1;
  const double p = kind->family->above(now, level).chance;
  const double bound = thompson_groups(s)->chance[arm];
  if (p > bound * (1 + ROUNDING)) return -1;
  return rng_unif(rng) * bound < p;
}

static int choose_by_groups(const thompson_kind_t *kind, const void *policy, thompson_t *s, player_t *player,
                            rng_t *rng) {
  const family_t *family = kind->family;
  const double t = (double)(player->t + 1), drift = kind->drift ? kind->drift(policy, t) : 0;
  if (!s->filled || drift > s->arm_drift) {
    s->arm_drift = kind->drift ? kind->drift(policy, t + floor(t * STRETCH)) : 0;
    s->filled = 1;
    arm_level_drop(&s->arm_level);
    find_arm_level(kind, policy, s);
  }
  const arm_groups_t *groups = groups_of(s);
  const double level = family->level(s->arm_level.c);
  argmax_t best = ARGMAX;
  arm_walk_t walk = arm_groups_begin(rng);
  for (int i; (i = arm_groups_next(groups, &walk, rng)) >= 0;) {
    const posterior_t p = kind->of(policy, i, drift);
    const int on = kind->drift ? accepted(kind, policy, s, i, p, level, rng) : 1;
    if (on < 0) player->failed = BROKEN_BOUND;
    if (on) argmax_add(&best, i, family->draw_above(p, level, rng));
  }
  if (best.arm < 0) {
    for (int i = 0; i < s->k; i++) {
      argmax_add(&best, i, family->draw_below(kind->of(policy, i, drift), level, rng));
    }
  }
  const int arm = groups->expected == groups->expected ? argmax_arm(&best) : -1;
  if (arm < 0) player->failed = NO_ARM;
  return arm;
}

static void play_rest(const thompson_kind_t *kind, void *policy, thompson_t *s, player_t *player,
                      draws_t *draws) {
  const int rounds = s->grouped ? ARM_GROUPS_ROUNDS : ROUNDS;
  for (int n = 0; n < rounds && s->rest > 0 && player_left(player) > 0; n++, s->rest--) {
    const int arm = s->grouped ? choose_by_groups(kind, policy, s, player, &draws->policy)
                               : player_choose(player, kind->choose, policy, draws);
    if (player->failed) return;
    if (kind->pull(policy, player, arm, 1, draws) && s->grouped) renew(kind, policy, s, arm);
  }
}

/* ---- blocks -------------------------------------------------------------------------- */

/* Opening a block looks at every arm, which costs as much as k / 2 rounds played by groups. */
static void leave_block(thompson_t *s, double rest) {
  s->leader = -1;
  s->rest = rest + (s->grouped ? s->k / 2 : 0);
}

/* Plays pulls of the leader up to a candidate round, and that round; returns whether the block holds. */
static int play_block(const thompson_kind_t *kind, void *policy, thompson_t *s, double safe, player_t *player,
                      draws_t *draws) {
  const int leader = s->leader;
  const int64_t most = player_stretch(player, fmin(floor(safe), 0x1p53));
  const double total = s->own + s->tree[1];
  const double wait = !(total > 0)       ? INFINITY
                      : kind->draw_wrong ? sample_exp(&draws->policy) / total
                                         : sample_geometric(&draws->policy, total);
  const double gap = floor(wait);
  if (gap >= (double)most) {
    /* There is no candidate in these rounds. The waiting time is memoryless, so it is drawn again for
       the next ones. */
    kind->pull(policy, player, leader, most, draws);
    return 1;
  }
  if (gap > 0) kind->pull(policy, player, leader, (int64_t)gap, draws);
  const int arm = kind->draw_wrong ? candidate_of_points(kind, policy, s, (double)(player->t + 1), wait - gap,
                                                         &draws->policy)
                                   : candidate(kind, policy, s, &draws->policy);
  if (arm < 0) {
    player->failed = BROKEN_BOUND;
    return 0;
  }
  if (kind->pull(policy, player, arm, 1, draws) && arm != leader) {
    tree_set(s, arm, kind->bound(policy, s, arm));
    if (s->own + s->tree[1] > thompson_dense(kind, s)) s->leader = -1;
  }
  return 1;
}

void thompson_skip(const thompson_kind_t *kind, void *policy, thompson_t *s, player_t *player,
                   draws_t *draws) {
  if (s->rest > 0) {
    play_rest(kind, policy, s, player, draws);
    return;
  }
  /* Whether a round is thinned may not depend on its draws, so this is decided before them. */
  double safe = s->leader >= 0 ? kind->safe(policy, s, player) : -1;
  if (safe < 0) {
    if (kind->open(kind, policy, s, player) > thompson_dense(kind, s)) {
      leave_block(s, fmax(kind->rest, kind->share * (double)player->t));
      play_rest(kind, policy, s, player, draws);
      return;
    }
    s->filled = 0;
    safe = kind->safe(policy, s, player);
  }
  if (safe < 1) {
    leave_block(s, kind->pause);
    play_rest(kind, policy, s, player, draws);
    return;
  }
  for (int n = 0; n < STRETCHES && safe >= 1 && play_block(kind, policy, s, safe, player, draws); n++) {
    if (s->leader < 0 || player_left(player) == 0) return;
    safe = kind->safe(policy, s, player);
  }
}
