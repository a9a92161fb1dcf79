#include "play_simulate.h"
#include "math_util.h"

engine_t engine_find(const char *name) {
  static const char *const NAMES[] = {"auto", "plain", "skip", "lanes", "scan", NULL};
  const int at = name_among(name, NAMES);
  return at < 0 ? ENGINE_AUTO : (engine_t)at;
}

engine_t simulation_engine(engine_t asked, const spec_t *spec, const world_t *world, const delays_t *delays) {
  const policy_t *policy = spec->policy;
  const arms_t *arms = world->arms;
  /* Skipping and lanes need rewards that are drawn here, are stationary, lie in [0, 1] and come at once. */
  if (world->kind != &environment_stationary || !arms->unit || delays->late || asked == ENGINE_SCAN) {
    return ENGINE_PLAIN;
  }
  /* Policies that report the probabilities of each round are played plainly, so that the results do not
     depend on whether they are observed. */
  if (policy->probability) return ENGINE_PLAIN;
  const lanes_t *lanes = lanes_of(policy);
  if (lanes && !lanes->can(spec)) lanes = NULL;
  if (asked == ENGINE_AUTO) {
    if (lanes && lanes->pays(spec, arms)) asked = ENGINE_LANES;
    else if (policy->skip_pays && !policy->skip_pays(spec)) asked = ENGINE_PLAIN;
    else asked = ENGINE_SKIP;
  }
  if (asked == ENGINE_LANES && lanes) return ENGINE_LANES;
  if (asked != ENGINE_PLAIN && policy->skip) return ENGINE_SKIP;
  return ENGINE_PLAIN;
}

static void begin_environment(const simulation_t *sim, slot_t *slot, int i) {
  const int run = slot->run + i;
  const arms_t *arms = sim->world->arms;
  environment_t *env = &slot->envs[i];
  env->kind = sim->world->kind;
  env->world = sim->world;
  env->player.horizon = sim->horizon;
  env->player.k = arms->k;
  env->player.sums = arms->sums;
  env->player.coins = arms->bernoulli;
  env->player.offer = slot->session.arms;
  env->player.pulls = slot->pulls + (size_t)i * (size_t)arms->k;
  env->visits = sim->visits.people > 0 ? &slot->visits : NULL;
  env->answers = sim->answers.k > 0 ? &slot->answers : NULL;
  if (env->answers) answers_begin(env->answers, sim->seed, (uint64_t)sim->runs[run]);
  environment_begin(env, sim->seed, (uint64_t)sim->runs[run]);
  observation_begin(&sim->observation, env, slot->watch + (size_t)i * observation_size(&sim->observation),
                    run);
}

static void begin_late(const simulation_t *sim, slot_t *slot) {
  if (!sim->delays.late) return;
  rng_seed(&slot->late.rng, sim->seed, (uint64_t)sim->runs[slot->run], RNG_DELAY);
  late_begin(&slot->late);
}

static void begin(const simulation_t *sim, slot_t *slot) {
  for (int i = 0; i < slot->n; i++) {
    begin_environment(sim, slot, i);
    slot->draws[i] = draws_of(sim->seed, (uint64_t)sim->runs[slot->run + i], NULL);
  }
  if (sim->engine == ENGINE_LANES) {
    lanes_of(sim->spec->policy)->begin(slot->lanes, sim->spec, slot->envs, slot->draws, slot->n);
  } else {
    slot->session.draws = *slot->draws;
    session_begin(&slot->session);
    begin_late(sim, slot);
  }
}

/* If a policy is restarted, all lanes restart it in the same round. Each segment has random streams of
   its own. */
static void play_lanes(const simulation_t *sim, slot_t *slot, int64_t rounds) {
  const spec_t *spec = sim->spec;
  const lanes_t *lanes = lanes_of(spec->policy);
  const player_t *player = &slot->envs->player;
  while (rounds > 0 && player_left(player) > 0) {
    const int64_t life = spec->every > 0 ? player->t / spec->every : 0;
    const int64_t end = spec->every > 0 ? (life + 1) * spec->every : INT64_MAX;
    const int64_t n = end - player->t < rounds ? end - player->t : rounds;
    lanes->play(slot->lanes, slot->envs, slot->n, n);
    rounds -= n;
    if (player->t < end || player_left(player) == 0) continue;
    lanes->update(slot->lanes, slot->envs, slot->n);
    for (int i = 0; i < slot->n; i++) {
      const uint64_t key = (uint64_t)(life + 1) * RNG_PURPOSES, run = slot->draws[i].run;
      rng_seed(&slot->draws[i].policy, sim->seed, run, key + RNG_POLICY);
      rng_seed(&slot->envs[i].reward, sim->seed, run, key + RNG_REWARD);
    }
    lanes->begin(slot->lanes, spec, slot->envs, slot->draws, slot->n);
  }
}

void simulation_go_on(const simulation_t *sim, slot_t *slot) {
  slot->waits = 0;
  begin(sim, slot);
}

int simulation_waits(const slot_t *slot) {
  if (slot->run < 0) return 0;
  const environment_t *env = slot->envs;
  return slot->waits || (env->over && !environment_is_done(env));
}

static session_status_t play_skip(slot_t *slot, int64_t steps) {
  session_status_t status = SESSION_OK;
  for (; steps > 0 && status == SESSION_OK && player_left(&slot->envs->player) > 0; steps--) {
    status = session_skip(&slot->session, &slot->envs->player);
    if (slot->envs->watched && status == SESSION_OK) {
      observers_released(slot->envs, &slot->session);
      if (slot->envs->ended) break;
    }
  }
  return status;
}

static session_status_t play(const simulation_t *sim, slot_t *slot, int64_t steps) {
  late_t *late = sim->delays.late ? &slot->late : NULL;
  switch (sim->engine) {
  case ENGINE_LANES:
    play_lanes(sim, slot, steps / 8 + 1);
    return SESSION_OK;
  case ENGINE_SKIP:
    return play_skip(slot, steps);
  default:
    return session_play(&slot->session, slot->envs, late, steps);
  }
}

/* One run in lanes. They release nothing but bits that are random already. */
typedef struct {
  const simulation_t *sim;
  const slot_t *slot;
  int lane;
} in_lane_t;

static report_t report_of_lane(const void *policy, int arm) {
  const in_lane_t *in = policy;
  if (in->sim->spec->flip == 0) return (report_t){0};
  const tally_t seen = lanes_of(in->sim->spec->policy)->seen(in->slot->lanes, in->lane, arm);
  return report_plain(seen.n, seen.sum);
}

/* Finishes the runs of a slot. */
static void finish(const simulation_t *sim, slot_t *slot) {
  for (int i = 0; i < slot->n; i++) {
    const in_lane_t lane = {sim, slot, i};
    const reports_t reports =
        sim->engine == ENGINE_LANES ? (reports_t){report_of_lane, &lane} : session_reports(&slot->session);
    observers_finish(&slot->envs[i], &reports);
  }
}

/* Plays this slot's run and the next ones, until the deadline or until it waits for the caller. */
static void advance_slot(simulation_t *sim, slot_t *slot, double deadline) {
  /* Look at the clock about every millisecond. A round costs up to some nanoseconds per arm and number of its
     context, but costs vary; a skip may play dozens of rounds, and the cost of a policy in R is unknown. */
  const int64_t size = (int64_t)sim->world->arms->k * (1 + sim->world->arms->dim);
  const int64_t most = sim->spec->host              ? 16
                       : sim->engine == ENGINE_SKIP ? 8
                       : size < 256                 ? (1 << 14) / size
                                                    : 64;
  int64_t steps = 1;
  double before = now();
  do {
    if (slot->run < 0) {
      int run;
#ifdef _OPENMP
#pragma omp atomic capture
#endif
      {
        run = sim->next;
        sim->next += sim->slot_runs;
      }
      if (run >= sim->n_runs) return;
      slot->run = run;
      slot->n = sim->n_runs - run < sim->slot_runs ? sim->n_runs - run : sim->slot_runs;
      slot->waits = sim->delays.asked;
      if (!slot->waits) begin(sim, slot);
    }
    if (simulation_waits(slot)) return;
    session_status_t status = play(sim, slot, steps);
    /* Policies with open batches have no lanes. */
    if (sim->finish && status == SESSION_OK && environment_is_done(slot->envs) &&
        sim->engine != ENGINE_LANES) {
      if (sim->finish == 2 && sim->delays.late) {
        status = session_follow(&slot->session, slot->envs, &slot->late);
      }
      if (status == SESSION_OK) status = session_end(&slot->session, slot->envs);
    }
    if (status != SESSION_OK) {
#ifdef _OPENMP
#pragma omp critical
#endif
      sim->failure = (failure_t){status, sim->runs[slot->run], session_stopped_at(&slot->session, status)};
      return;
    }
    if (environment_is_done(slot->envs)) {
      finish(sim, slot);
      slot->run = -1;
#ifdef _OPENMP
#pragma omp atomic
#endif
      sim->done += slot->n;
    }
    const double after = now();
    if (after - before < 0.5e-3 && steps < most) steps *= 2;
    else if (after - before > 1e-3 && steps > 1) steps /= 2;
    before = after;
  } while (before < deadline);
}

void simulation_advance(simulation_t *sim, double seconds) {
  const double deadline = now() + seconds;
#ifdef _OPENMP
#pragma omp parallel for num_threads(sim->n_slots) schedule(static, 1) if (sim->n_slots > 1)
#endif
  for (int i = 0; i < sim->n_slots; i++) advance_slot(sim, &sim->slots[i], deadline);
}

double simulation_progress(const simulation_t *sim) {
  double runs = sim->done;
  for (int i = 0; i < sim->n_slots; i++) {
    const slot_t *slot = &sim->slots[i];
    if (slot->run < 0 || slot->waits) continue;
    runs += slot->n * (double)slot->envs->player.t / (double)sim->horizon;
  }
  return runs / sim->n_runs;
}
