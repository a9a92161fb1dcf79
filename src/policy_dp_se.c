/* DP-SE, private successive elimination: Sajed and Sheffet (2019).

   S = all arms. In epoch e = 1, 2, ..., with D = 2^-e and beta = 1 / T by default:
     R = max(32 log(8 |S| e^2 / beta) / D^2, 8 log(4 |S| e^2 / beta) / (epsilon D)) + 1;
     pull every arm of S in turn, r = ceil(R) times each, forgetting all older rewards;
     mean_a + Lap(1 / (epsilon r)), independent noise for each arm;
     h = sqrt(log(8 |S| e^2 / beta) / (2 R)), c = log(4 |S| e^2 / beta) / (R epsilon);
     drop each arm that is more than 2 h + 2 c below the best.
   The last survivor is played for ever. An epoch cut by the horizon releases nothing. */

#include <math.h>
#include "policy.h"

enum { EPSILON, BETA };
static const char *const PARAMS[] = {"epsilon", "beta", NULL};

typedef struct {
  double active;     /* in S? */
  double pulls, sum; /* in this epoch */
  double mean;       /* private mean of the last epoch */
} arm_t;

typedef struct {
  double k, epsilon, beta;
  double epoch, rounds, target; /* e, R and r = ceil(R) */
  double n_active, waiting;     /* |S|, and arms of S with fewer than r pulls */
  arm_t arms[]; /* then room for skip(): k sums, k numbers of scratch, k arms */
} state_t;

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + (sizeof(arm_t) + 3 * sizeof(double)) * (size_t)spec->k;
}

static double log_failure(const state_t *s, double factor) {
  return log(factor * s->n_active * s->epoch * s->epoch / s->beta);
}

static void begin_epoch(state_t *s) {
  s->epoch += 1;
  const double gap = pow(2, -s->epoch);
  s->rounds = fmax(32 * log_failure(s, 8) / (gap * gap),
                   8 * log_failure(s, 4) / (s->epsilon * gap)) + 1;
  s->target = ceil(s->rounds);
  s->waiting = s->n_active;
  for (int i = 0; i < s->k; i++) s->arms[i].pulls = s->arms[i].sum = 0;
}

static void end_epoch(state_t *s, dice_t *dice) {
  const double h = sqrt(log_failure(s, 8) / (2 * s->rounds));
  const double c = log_failure(s, 4) / (s->rounds * s->epsilon);
  double best = -INFINITY;
  for (int i = 0; i < s->k; i++) {
    arm_t *a = &s->arms[i];
    if (!a->active) continue;
    a->mean = release_laplace(dice, a->sum / s->target, 1 / (s->epsilon * s->target));
    best = fmax(best, a->mean);
  }
  for (int i = 0; i < s->k; i++) {
    arm_t *a = &s->arms[i];
    if (a->active && best - a->mean > 2 * h + 2 * c) a->active = 0, s->n_active -= 1;
  }
  begin_epoch(s);
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  const double beta = spec->par[BETA];
  *s = (state_t){.k = spec->k, .epsilon = spec->par[EPSILON], .n_active = spec->k,
                 .beta = isnan(beta) ? 1 / fmax(spec->horizon, 2) : beta};
  for (int i = 0; i < spec->k; i++) s->arms[i] = (arm_t){.active = 1};
  begin_epoch(s);
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  const state_t *s = state;
  const arm_t *arms = s->arms;
  double least = INFINITY;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    if (arms[i].active && arms[i].pulls < least) least = arms[i].pulls, choice = i;
  }
  /* A pool without surviving arms. */
  if (choice < 0) return round->pool[rng_below(&dice->policy, round->n_pool)];
  return choice;
}

/* n rewards of an arm. Those past the epoch's share, of a dropped arm or of the last
   survivor are not used. */
static void add(state_t *s, int arm, double n, double sum, dice_t *dice) {
  arm_t *a = &s->arms[arm];
  if (s->n_active == 1 || !a->active || a->pulls >= s->target) return;
  a->pulls += n;
  a->sum += sum;
  if (a->pulls < s->target) return;
  s->waiting -= 1;
  if (s->waiting == 0) end_epoch(s, dice);
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round;
  add(state, arm, 1, reward, dice);
}

static void skip(void *state, world_t *world, dice_t *dice) {
  state_t *s = state;
  double *sums = (double *)(s->arms + (size_t)s->k), *scratch = sums + (size_t)s->k;
  int *list = (int *)(scratch + (size_t)s->k), n = 0;
  for (int i = 0; i < s->k; i++) if (s->arms[i].active) list[n++] = i;
  if (n == 1) {
    world_pull_many(world, list[0], world_stretch(world, world_left(world)));
    return;
  }
  const double played = s->arms[list[n - 1]].pulls; /* by all: whole turns were played */
  int64_t turns = (int64_t)fmin(s->target - played, (double)(world_left(world) / n));
  if (world->arms->law->draw_sum && turns > 0) {
    world_pull_cycles(world, list, n, turns, sums, scratch);
    for (int i = 0; i < n; i++) add(s, list[i], (double)turns, sums[i], dice);
    return;
  }
  /* Turn by turn, up to some 1e5 pulls; the last turn may be cut by the horizon. */
  turns = (1 << 16) / n + 1;
  while (turns-- > 0) {
    const double epoch = s->epoch;
    for (int i = 0; i < n; i++) {
      if (world_left(world) == 0) return;
      add(s, list[i], 1, world_pull(world, list[i]), dice);
    }
    if (s->epoch != epoch) return;
  }
}

const policy_t policy_dp_se = {"dp_se", PARAMS, size, init, choose, observe, skip};
