#include "batches.h"

size_t batches_size(const spec_t *spec) {
  return sizeof(batches_t) + sizeof(batch_arm_t) * (size_t)spec->k;
}

void batches_init(batches_t *s, const spec_t *spec, plan_t plan) {
  *s = (batches_t){.plan = plan, .k = spec->k, .open = -1, .waiting = spec->k};
  for (int i = 0; i < spec->k; i++) s->arms[i] = (batch_arm_t){.size = plan.first};
}

static int on_offer(const round_t *round, int64_t arm) {
  if (!round->pool) return arm < round->n_pool;
  FOR_EACH_ARM(i, round) if (i == arm) return 1;
  return 0;
}

int batches_choose(const batches_t *s, const round_t *round, best_t best) {
  if (s->open >= 0 && on_offer(round, s->open)) return (int)s->open;
  if (s->waiting > 0) {
    FOR_EACH_ARM(i, round) if (s->arms[i].n == 0) return i;
  }
  return best(s, round);
}

static int leads(const batches_t *s, const batch_arm_t *a) {
  for (int64_t i = 0; i < s->k; i++) {
    if (s->arms[i].n > 0 && s->arms[i].mean > a->mean) return 0;
  }
  return 1;
}

/* With sizes L_j, noisy means y_j, weights w_j and W = sum w_j: mean = sum w_j y_j / W. Its
   rewards have the variance of W^2 / sum(w_j^2 / L_j) rewards; its noise is sum q_j Z_j with
   q_j = w_j / (L_j W), which is matched in its mean square and its number of terms,
   (sum q)^2 / sum q^2. */
static void weigh(const plan_t *plan, batch_arm_t *a, double noisy) {
  const double size = a->size;
  double w = size;
  if (plan->by_variance) {
    /* A reward has a variance of at most 1/4, the noise its own. */
    const double noise = plan->scale * plan->scale * (plan->law == NOISE_LAPLACE ? 2 : 1);
    w = size * size / (size + 4 * noise);
  }
  if (plan->forget) a->weight = a->weighted = a->load = a->noise_1 = a->noise_2 = 0;
  const double q = w / size;
  a->weight += w;
  a->weighted += q * noisy;
  a->load += w * q;
  a->noise_1 += q;
  a->noise_2 += q * q;
  a->mean = a->weighted / a->weight;
  a->m = a->weight * a->weight / a->load;
  a->terms = a->noise_1 * a->noise_1 / a->noise_2;
  a->spread = a->noise_2 / (a->noise_1 * a->weight);
}

/* Release the batch and renew the private mean. */
static void release(batches_t *s, batch_arm_t *a, dice_t *dice) {
  const plan_t *plan = &s->plan;
  if (plan->law == NOISE_LAPLACE) {
    weigh(plan, a, release_laplace(dice, a->sum, plan->scale));
  } else if (!plan->by_variance) {
    weigh(plan, a, release_gaussian(dice, a->sum, plan->scale));
  } else {
    moving_average_t *average = &a->average;
    moving_average_release(average, dice, a->size, a->sum, plan->correlation, plan->scale);
    a->mean = moving_average_mean(average);
    a->m = moving_average_rewards(average);
    a->terms = 1;
    a->spread = plan->scale > 0 ? moving_average_noise(average) / plan->scale : 0;
  }
  if (a->n == 0) s->waiting -= 1;
  a->n += a->size;
  const double ratio = plan->leader > 0 && leads(s, a) ? plan->leader : plan->ratio;
  /* Less a trifle, for (1.1 - 1) * 10 is 1 and not above it. */
  a->size = fmin(fmax(1, ceil((ratio - 1) * a->n * (1 - 1e-12))), 0x1p53);
  a->filled = a->sum = 0;
}

static void add(batches_t *s, int arm, double n, double sum, dice_t *dice) {
  batch_arm_t *a = &s->arms[arm];
  a->filled += n;
  a->sum += sum;
  if (a->filled < a->size) return;
  release(s, a, dice);
  if (s->open == arm) s->open = -1;
}

void batches_observe(batches_t *s, const round_t *round, int arm, double reward, best_t best,
                     dice_t *dice) {
  const batch_arm_t *a = &s->arms[arm];
  if (s->open < 0 && a->filled + 1 < a->size && batches_choose(s, round, best) == arm) {
    s->open = arm;
  }
  add(s, arm, 1, reward, dice);
}

void batches_skip(batches_t *s, world_t *world, best_t best, dice_t *dice) {
  const round_t round = {.t = world->t + 1, .n_pool = (int)s->k};
  const int arm = batches_choose(s, &round, best);
  const batch_arm_t *a = &s->arms[arm];
  const int64_t n = world_stretch(world, (int64_t)(a->size - a->filled));
  s->open = arm;
  add(s, arm, (double)n, world_pull_many(world, arm, n), dice);
}
