/* DP-TS-UCB: Hu, Huang, Zhang, Lecuyer and Hegde (2025).

   phi = c0 T^((1 - alpha) / 2) ln(T)^((3 - alpha) / 2) is the number of posterior draws that
   an arm may have in an epoch. Epochs of 1, 2, 4, ... rewards; the mean of an arm is the exact
   one of its last full epoch, of n rewards. In each round an arm with draws left
   draws theta ~ N(mean, ln(T)^alpha / n) and keeps the largest draw of the epoch, MAX; an arm
   without uses MAX. Pull the arm of the largest. No other noise is added.

   The draws for a round are made when the one before is observed, so that choosing changes
   nothing: a choice that is discarded costs no draw. They are releases of the mean. */

#include <math.h>
#include "policy.h"

enum { ALPHA, C0 };
static const char *const PARAMS[] = {"alpha", "c0", NULL};

typedef struct {
  double n, mean;           /* of the last full epoch */
  double size, filled, sum; /* of the epoch under way */
  double draws, max, theta; /* left; the largest so far; what this round uses */
} arm_t;

typedef struct {
  double k, phi, variance;
  double waiting; /* arms not pulled yet */
  double drawing; /* arms with draws left */
  double fresh;   /* were there draws for the next round? */
  arm_t arms[];
} state_t;

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + sizeof(arm_t) * (size_t)spec->k;
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  const double alpha = spec->par[ALPHA], log_t = log(spec->horizon);
  *s = (state_t){.k = spec->k, .waiting = spec->k, .variance = pow(log_t, alpha)};
  s->phi = floor(spec->par[C0] * pow(spec->horizon, 0.5 * (1 - alpha)) *
                 pow(log_t, 0.5 * (3 - alpha)));
  for (int i = 0; i < spec->k; i++) s->arms[i] = (arm_t){.size = 1};
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  (void)dice;
  const state_t *s = state;
  if (s->waiting > 0) {
    FOR_EACH_ARM(i, round) if (s->arms[i].n == 0) return i;
  }
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    if (choice < 0 || s->arms[i].theta > s->arms[choice].theta) choice = i;
  }
  return choice;
}

static void draw_thetas(state_t *s, dice_t *dice) {
  for (int i = 0; i < (int)s->k; i++) {
    arm_t *a = &s->arms[i];
    if (a->draws < 1) continue;
    a->theta = release_gaussian(dice, a->mean, sqrt(s->variance / a->n));
    if (a->theta > a->max) a->max = a->theta;
    if (--a->draws < 1) s->drawing -= 1;
  }
}

static void add(state_t *s, int arm, double n, double sum, dice_t *dice) {
  arm_t *a = &s->arms[arm];
  a->filled += n;
  a->sum += sum;
  if (a->filled == a->size) {
    if (a->n == 0) s->waiting -= 1;
    if (a->draws < 1 && s->phi >= 1) s->drawing += 1;
    *a = (arm_t){.n = a->size, .mean = a->sum / a->size, .size = 2 * a->size,
                 .draws = s->phi, .max = -INFINITY, .theta = -INFINITY};
  }
  /* The last draw is used for a round; from the next on MAX is. */
  for (int i = 0; i < (int)s->k; i++) {
    if (s->arms[i].draws < 1) s->arms[i].theta = s->arms[i].max;
  }
  s->fresh = s->waiting == 0 && s->drawing > 0;
  if (s->fresh) draw_thetas(s, dice);
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round;
  add(state, arm, 1, reward, dice);
}

/* Without draws left the same arm is pulled until its epoch is full. */
static void skip(void *state, world_t *world, dice_t *dice) {
  state_t *s = state;
  const round_t round = {.t = world->t + 1, .n_pool = (int)s->k};
  const int arm = choose(s, &round, dice);
  const int settled = s->waiting == 0 && s->drawing == 0 && !s->fresh;
  const double room = settled ? s->arms[arm].size - s->arms[arm].filled : 1;
  const int64_t n = world_stretch(world, (int64_t)room);
  add(s, arm, (double)n, world_pull_many(world, arm, n), dice);
}

const policy_t policy_dp_ts_ucb = {"dp_ts_ucb", PARAMS, size, init, choose, observe, skip};
