#include <string.h>
#include "play_replay.h"
#include "math_util.h"

static double *sums_of(const replay_t *replay) {
  return replay->sums + (size_t)replay->run * N_SUMS;
}

/* ---- the log as an environment ------------------------------------------------------- */

/* The context of an arm that has features: all products of one with the other. */
static void cross(const event_log_t *log, const double *context, int arm, double *out) {
  const double *feature = log->features + (size_t)log->arm_dim * (size_t)arm;
  if (log->dim == 0) {
    memcpy(out, feature, sizeof(double) * (size_t)log->arm_dim);
    return;
  }
  for (int i = 0; i < log->arm_dim; i++) {
    for (int j = 0; j < log->dim; j++) *out++ = feature[i] * context[j];
  }
}

static void offer(environment_t *env, round_t *round) {
  const replay_t *replay = (const replay_t *)env;
  const event_log_t *log = replay->log;
  if (log->pool) {
    const int pool = log->pool[replay->at], start = log->pool_start[pool];
    round->offer = log->pool_arms + start;
    round->n_offer = log->pool_start[pool + 1] - start;
  }
  const double *context =
      log->dim ? log->context + (size_t)log->dim * (size_t)replay->at : NULL;
  round->context = context;
  if (!replay->own) return;
  const int dim = replay->session.spec->dim;
  FOR_EACH_ARM(i, round) cross(log, context, i, replay->space + (size_t)dim * (size_t)i);
  round->context = replay->space;
  round->context_step = dim;
}

/* One event: if the log shows the arm that was chosen, the event is kept, else it never
   was. */
static int pull(environment_t *env, const round_t *round, int arm, double *reward) {
  (void)round;
  replay_t *replay = (replay_t *)env;
  const event_log_t *log = replay->log;
  const int64_t i = replay->at++;
  double *sums = sums_of(replay);
  /* The coin is tossed for every event, so that it is the same for all policies. */
  const double coin = log->keep ? rng_unif(&replay->coin) : 0;
  env->over = replay->at == log->n;
  if (arm != log->arm[i]) return 0;
  if (log->keep && coin >= log->keep[i]) return 0;
  const double r = log->reward[i], w = log->weight ? log->weight[i] : 1;
  sums[SUM_EVENTS] += 1;
  sums[SUM_W] += w;
  sums[SUM_WW] += w * w;
  sums[SUM_WR] += w * r;
  sums[SUM_WWR] += w * w * r;
  sums[SUM_WWRR] += w * w * r * r;
  if (sums[SUM_EVENTS] >= (double)replay->horizon) env->over = 1;
  *reward = r;
  return 1;
}

static const environment_kind_t LOG = {.name = "log", .offer = offer, .pull = pull};

/* ---- runs --------------------------------------------------------------------------- */

static void begin_run(replay_t *replay) {
  const uint64_t key = (uint64_t)replay->runs[replay->run];
  replay->env.kind = &LOG;
  replay->env.over = 0;
  replay->at = 0;
  memset(sums_of(replay), 0, sizeof(double) * N_SUMS);
  replay->session.draws = draws_of(replay->seed, key, NULL);
  rng_seed(&replay->coin, replay->seed, key, RNG_REWARD);
  session_begin(&replay->session);
  if (replay->late.delay > 0) late_begin(&replay->late);
}

void replay_begin(replay_t *replay) {
  replay->run = 0;
  begin_run(replay);
}

void replay_feed(replay_t *replay, int64_t before) {
  replay->before = before;
  replay->at = 0;
  replay->run = 0;
  replay->env.over = sums_of(replay)[SUM_EVENTS] >= (double)replay->horizon;
}

int replay_advance(replay_t *replay, double seconds) {
  const double deadline = now() + seconds;
  late_t *late = replay->late.delay > 0 ? &replay->late : NULL;
  while (replay->run < replay->n_runs) {
    const int64_t steps = replay->session.spec->host ? 16 : 512;
    replay->status = session_play(&replay->session, &replay->env, late, steps);
    if (replay->status != SESSION_OK) return 1;
    if (replay->env.over) {
      if (++replay->run == replay->n_runs) return 1;
      begin_run(replay);
    }
    if (now() >= deadline) return 0;
  }
  return 1;
}

double replay_progress(const replay_t *replay) {
  return (replay->run + (double)replay->at / (double)replay->log->n) / replay->n_runs;
}
