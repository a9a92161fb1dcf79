/* Anytime-Lazy-UCB: Hu, Huang and Mehta (2021).

   Pull each arm once; then the arm of the largest
   mean + sqrt(3 log(t) / n) + 3 log(t) / (epsilon n), where n and mean are the size and the
   private mean of the arm's last full block of rewards (see counter_block.h). */

#include <math.h>
#include "counter_block.h"
#include "policy.h"

enum { EPSILON, LOG_BASE };
static const char *const PARAMS[] = {"epsilon", "log_base", NULL};

/* The index is mean + wide sqrt(log t) + far log t, with log of the base asked for. */
typedef struct {
  block_t block;
  double wide, far;
} arm_t;

typedef struct {
  double k, epsilon;
  double log_scale; /* 1 / ln(log_base) */
  double waiting;   /* arms not pulled yet */
  arm_t arms[];
} state_t;

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + sizeof(arm_t) * (size_t)spec->k;
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  *s = (state_t){.k = spec->k, .epsilon = spec->par[EPSILON],
                 .log_scale = 1 / log(spec->par[LOG_BASE]), .waiting = spec->k};
  for (int i = 0; i < spec->k; i++) {
    block_init(&s->arms[i].block);
    s->arms[i].wide = s->arms[i].far = 0;
  }
}

static int choose(void *state, const round_t *round, dice_t *dice) {
  (void)dice;
  const state_t *s = state;
  const arm_t *arms = s->arms;
  if (s->waiting > 0) {
    FOR_EACH_ARM(i, round) if (arms[i].block.n == 0) return i;
  }
  const double log_t = log((double)round->t) * s->log_scale, root = sqrt(log_t);
  double best = -INFINITY;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    const double index = arms[i].block.mean + arms[i].wide * root + arms[i].far * log_t;
    if (index > best || choice < 0) best = index, choice = i;
  }
  return choice;
}

static void add(state_t *s, int arm, double n, double sum, dice_t *dice) {
  arm_t *a = &s->arms[arm];
  const int first = a->block.n == 0;
  if (!block_add(&a->block, n, sum, NOISE_LAPLACE, 1 / s->epsilon, dice)) return;
  if (first) s->waiting -= 1;
  a->wide = sqrt(3 / a->block.n);
  a->far = 3 / (s->epsilon * a->block.n);
}

static void observe(void *state, const round_t *round, int arm, double reward,
                    dice_t *dice) {
  (void)round;
  add(state, arm, 1, reward, dice);
}

/* Rounds from t on in which `arm`, chosen in round t, is surely chosen if nothing else
   changes: the lead over arm j is lead + wide x + far x^2 in x = sqrt(log t), and can only
   shrink if j's block is the smaller one (wide, far < 0). */
static double rounds_in_front(const state_t *s, int arm, double t) {
  const arm_t *a = &s->arms[arm];
  double least = INFINITY; /* of the roots x */
  for (int j = 0; j < s->k; j++) {
    const arm_t *b = &s->arms[j];
    const double wide = a->wide - b->wide, far = a->far - b->far;
    if (!(wide < 0)) continue;
    const double lead = fmax(0, a->block.mean - b->block.mean);
    const double root = 2 * lead / (sqrt(wide * wide - 4 * far * lead) - wide);
    if (root < least) least = root;
  }
  /* Stop short of the crossing by more than its rounding error: choose() decides there. */
  const double crossing = exp(least * least / s->log_scale);
  return floor(crossing * (1 - 1e-9) - t);
}

static void skip(void *state, world_t *world, dice_t *dice) {
  state_t *s = state;
  for (int i = 0; s->waiting > 0 && i < s->k && world_left(world) > 0; i++) {
    if (s->arms[i].block.n == 0) add(s, i, 1, world_pull(world, i), dice);
  }
  if (world_left(world) == 0) return;
  const round_t round = {.t = world->t + 1, .n_pool = (int)s->k};
  const int arm = choose(s, &round, dice);
  const double sure = rounds_in_front(s, arm, (double)round.t);
  const double most = fmin(block_room(&s->arms[arm].block), fmax(1, sure));
  const int64_t n = world_stretch(world, (int64_t)most);
  add(s, arm, (double)n, world_pull_many(world, arm, n), dice);
}

const policy_t policy_lazy_ucb = {"lazy_ucb", PARAMS, size, init, choose, observe, skip};
