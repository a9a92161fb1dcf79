#include <string.h>
#include "play_replay.h"
#include "math_util.h"

/* ---- sums over kept events -------------------------------------------------------------- */

/* The number of events; sums of w, w^2, w r, w^2 r and w^2 r^2 for weights w and rewards r; and sums of w u,
   w u r and w u r^2, u being the weight of the event in the estimate of the uniform policy's reward. */
enum { EVENTS, W, WW, WR, WWR, WWRR, WU, WUR, WURR, N_SUMS };

static size_t rows_sums(const survey_t *survey) {
  (void)survey;
  return N_SUMS;
}

static void begin_sums(observer_t *observer) {
  memset(observer->out[0], 0, sizeof(double) * N_SUMS);
  observer->next = 1;
}

static void see_event(observer_t *observer, const environment_t *env, int arm, double r) {
  (void)arm;
  const replay_t *replay = (const replay_t *)env;
  const double w = replay->weight, u = replay->uniform;
  double *sums = observer->out[0];
  sums[EVENTS] += 1;
  sums[W] += w;
  sums[WW] += w * w;
  sums[WR] += w * r;
  sums[WWR] += w * w * r;
  sums[WWRR] += w * w * r * r;
  sums[WU] += w * u;
  sums[WUR] += w * u * r;
  sums[WURR] += w * u * r * r;
  observer->next++;
}

OBSERVER(sums, .output = {{"sums", 0, rows_sums}}, .begin = begin_sums, .see = see_event);

/* ---- the log as an environment ------------------------------------------------------- */

/* The context of an arm that has features: all products of a context's and a feature's numbers. */
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
  const double *context = log->dim ? log->context + (size_t)log->dim * (size_t)replay->at : NULL;
  round->context = context;
  if (!replay->own) return;
  const int dim = replay->session.spec->dim;
  FOR_EACH_ARM(i, round) cross(log, context, i, replay->space + (size_t)dim * (size_t)i);
  round->context = replay->space;
  round->context_step = dim;
}

/* Plays one event: it is kept if the log shows the arm that was chosen, else discarded. */
static int pull(environment_t *env, const round_t *round, int arm, double *reward) {
  replay_t *replay = (replay_t *)env;
  const event_log_t *log = replay->log;
  const int64_t i = replay->at++;
  if (replay->chances) {
    double *p = replay->chances + (replay->before + i) * log->k;
    if (session_probability(&replay->session, round, p) != SESSION_OK) p[0] = NAN;
  }
  /* Drawn for every event, so that it is the same for all policies. */
  const double coin = log->keep ? rng_unif(&replay->coin) : 0;
  env->over = replay->at == log->n;
  if (arm != log->arm[i]) return 0;
  if (log->keep && coin >= log->keep[i]) return 0;
  replay->weight = log->weight ? log->weight[i] : 1;
  /* proportional to 1 / (propensity x size of the pool) */
  replay->uniform = (log->keep ? log->keep[i] * log->weight[i] : 1) / round->n_offer;
  *reward = log->reward[i];
  environment_step(env, arm, *reward);
  return 1;
}

static const environment_kind_t LOG = {.name = "log", .offer = offer, .pull = pull};

/* ---- runs --------------------------------------------------------------------------- */

static void begin_run(replay_t *replay) {
  const uint64_t key = (uint64_t)replay->runs[replay->run];
  environment_t *env = &replay->env;
  env->kind = &LOG;
  env->over = 0;
  env->player.t = 0;
  env->player.horizon = replay->horizon;
  env->reward_sum = 0;
  memset(env->player.pulls, 0, sizeof(int64_t) * (size_t)replay->log->k);
  observation_begin(&replay->observation, env, replay->watch, replay->run);
  replay->at = 0;
  replay->session.draws = draws_of(replay->seed, key, NULL);
  rng_seed(&replay->coin, replay->seed, key, RNG_REWARD);
  session_begin(&replay->session);
  if (replay->late.delay > 0) late_begin(&replay->late);
}

void replay_begin(replay_t *replay) {
  replay->run = 0;
  begin_run(replay);
}

void replay_feed(replay_t *replay, int64_t before, int last) {
  replay->before = before;
  replay->last = last;
  replay->at = 0;
  replay->run = 0;
  replay->env.over = environment_is_done(&replay->env);
}

/* Ends a run, or only a block, when the log has no more events. */
static session_status_t finish(replay_t *replay) {
  if (!replay->last && !environment_is_done(&replay->env)) return SESSION_OK;
  session_status_t status = SESSION_OK;
  /* Blocks after a run's horizon find it finished. */
  if (replay->finish && !replay->session.finished) {
    status = session_end(&replay->session, &replay->env);
  }
  const reports_t reports = session_reports(&replay->session);
  observers_finish(&replay->env, &reports);
  return status;
}

int replay_advance(replay_t *replay, double seconds) {
  const double deadline = now() + seconds;
  late_t *late = replay->late.delay > 0 ? &replay->late : NULL;
  while (replay->run < replay->n_runs) {
    const int64_t steps = replay->session.spec->host ? 16 : 512;
    replay->status = session_play(&replay->session, &replay->env, late, steps);
    if (replay->status != SESSION_OK) return 1;
    if (replay->env.over) {
      replay->status = finish(replay);
      if (replay->status != SESSION_OK) return 1;
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
