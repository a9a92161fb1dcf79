#include <string.h>
#include <time.h>
#include "drive_replay.h"

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double *sums_of(replay_t *replay) {
  return replay->sums + (size_t)replay->run * N_SUMS;
}

static void begin_run(replay_t *replay) {
  const uint64_t key = (uint64_t)replay->runs[replay->run];
  replay->at = replay->waiting = replay->head = 0;
  memset(sums_of(replay), 0, sizeof(double) * N_SUMS);
  replay->dice = dice_of(replay->seed, key, NULL);
  rng_seed(&replay->coin, replay->seed, key, RNG_REWARD);
  replay->spec->policy->init(replay->state, replay->spec);
}

void replay_begin(replay_t *replay) {
  replay->run = 0;
  begin_run(replay);
}

/* The context of an arm that has features: all products of one with the other. */
static void cross(const log_t *log, const double *context, int arm, double *out) {
  const double *feature = log->features + (size_t)log->arm_dim * (size_t)arm;
  if (log->dim == 0) {
    memcpy(out, feature, sizeof(double) * (size_t)log->arm_dim);
    return;
  }
  for (int i = 0; i < log->arm_dim; i++) {
    for (int j = 0; j < log->dim; j++) *out++ = feature[i] * context[j];
  }
}

static void look(const replay_t *replay, round_t *round) {
  const log_t *log = replay->log;
  if (log->pool) {
    const int pool = log->pool[replay->at], start = log->pool_start[pool];
    round->pool = log->pool_arms + start;
    round->n_pool = log->pool_start[pool + 1] - start;
  } else {
    round->pool = NULL;
    round->n_pool = log->k;
  }
  const double *context = log->dim ? log->context + (size_t)log->dim * (size_t)replay->at : NULL;
  round->context = context;
  round->context_step = 0;
  if (!replay->own) return;
  const int dim = replay->spec->dim;
  FOR_EACH_ARM(i, round) cross(log, context, i, replay->space + (size_t)dim * (size_t)i);
  round->context = replay->space;
  round->context_step = dim;
}

static int offers(const round_t *round, int arm) {
  FOR_EACH_ARM(i, round) if (i == arm) return 1;
  return 0;
}

/* A reward comes `delay` kept events late, first in, first out: what was waiting longest is
   observed when the queue is full. */
static void deliver(replay_t *replay, const round_t *round, int arm, double reward) {
  const policy_t *policy = replay->spec->policy;
  if (replay->delay == 0) {
    policy->observe(replay->state, round, arm, reward, &replay->dice);
    return;
  }
  const size_t dim = (size_t)replay->spec->dim;
  late_t *late = &replay->queue[replay->head];
  double *context = dim ? replay->queue_context + dim * (size_t)replay->head : NULL;
  if (replay->waiting == replay->delay) {
    const round_t past = {.t = late->t, .n_pool = round->n_pool, .pool = round->pool,
                          .context = context};
    policy->observe(replay->state, &past, late->arm, late->reward, &replay->dice);
  } else {
    replay->waiting++;
  }
  *late = (late_t){round->t, arm, reward};
  if (dim) memcpy(context, round_context(round, arm), sizeof(double) * dim);
  if (++replay->head == replay->delay) replay->head = 0;
}

/* One event: the policy chooses; if the log shows the same arm, the event is kept, else it
   never was. */
static void play_event(replay_t *replay) {
  const log_t *log = replay->log;
  const int64_t i = replay->at;
  double *sums = sums_of(replay);
  round_t round = {.t = (int64_t)sums[SUM_EVENTS] + 1};
  /* The coin is tossed for every event, so that it is the same for all policies. */
  const double coin = log->keep ? rng_unif(&replay->coin) : 0;
  look(replay, &round);
  const int arm = replay->spec->policy->choose(replay->state, &round, &replay->dice);
  replay->at++;
  if (arm != log->arm[i]) {
    if (!offers(&round, arm)) sums[SUM_OUTSIDE]++;
    return;
  }
  if (log->keep && coin >= log->keep[i]) return;
  const double reward = log->reward[i], w = log->weight ? log->weight[i] : 1;
  sums[SUM_EVENTS] += 1;
  sums[SUM_W] += w;
  sums[SUM_WW] += w * w;
  sums[SUM_WR] += w * reward;
  sums[SUM_WWR] += w * w * reward;
  sums[SUM_WWRR] += w * w * reward * reward;
  deliver(replay, &round, arm, reward);
}

int replay_advance(replay_t *replay, double seconds) {
  const double deadline = now() + seconds;
  while (replay->run < replay->n_runs) {
    for (int events = 0; events < 512; events++) {
      if (replay->at == replay->log->n || sums_of(replay)[SUM_EVENTS] >= (double)replay->horizon) {
        if (++replay->run == replay->n_runs) return 1;
        begin_run(replay);
      }
      play_event(replay);
    }
    if (now() >= deadline) return 0;
  }
  return 1;
}

double replay_progress(const replay_t *replay) {
  return (replay->run + (double)replay->at / (double)replay->log->n) / replay->n_runs;
}
