#include <string.h>
#include <time.h>
#include "drive_simulate.h"

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

engine_t simulation_engine(engine_t asked, const spec_t *spec, const arms_t *arms) {
  const policy_t *policy = spec->policy;
  if (arms->dim > 0) return ENGINE_CONTEXTS;
  const lanes_t *lanes = policy->lanes && policy->lanes->can(spec) ? policy->lanes : NULL;
  if (asked == ENGINE_AUTO) {
    asked = lanes && lanes->pays(spec, arms) ? ENGINE_LANES : ENGINE_SKIP;
  }
  if (asked == ENGINE_LANES && lanes) return ENGINE_LANES;
  if (asked != ENGINE_PLAIN && policy->skip) return ENGINE_SKIP;
  return ENGINE_PLAIN;
}

size_t simulation_state_size(const simulation_t *sim) {
  return sim->engine == ENGINE_LANES ? sim->spec->policy->lanes->size(sim->spec)
                                     : sim->spec->policy->size(sim->spec);
}

/* Everything random about a run comes from (seed, run, purpose). */
static void begin_run(const simulation_t *sim, int run, double *pulls, world_t *world,
                      dice_t *dice) {
  const uint64_t key = (uint64_t)sim->runs[run];
  *world = (world_t){
      .arms = sim->arms,
      .horizon = sim->horizon,
      .pulls = pulls,
      .record = sim->record,
      .n_record = sim->n_record,
      .out_regret = sim->regret + (size_t)run * (size_t)sim->n_record,
      .out_reward = sim->reward + (size_t)run * (size_t)sim->n_record,
  };
  rng_seed(&world->reward, sim->seed, key, RNG_REWARD);
  rng_seed(&world->bridge, sim->seed, key, RNG_BRIDGE);
  rng_seed(&world->contexts, sim->seed, key, RNG_CONTEXT);
  *dice = dice_of(sim->seed, key, NULL);
  world_begin(world);
}

/* The bandit's loop, at most so many steps of it. */
static void play_plain(const simulation_t *sim, slot_t *slot, int64_t steps) {
  const policy_t *policy = sim->spec->policy;
  world_t *world = slot->worlds;
  dice_t *dice = slot->dice;
  if (steps > world_left(world)) steps = world_left(world);
  round_t round = {.n_pool = sim->arms->k};
  for (; steps > 0; steps--) {
    round.t = world->t + 1;
    const int arm = policy->choose(slot->state, &round, dice);
    const double reward = world_pull(world, arm);
    policy->observe(slot->state, &round, arm, reward, dice);
  }
}

/* The same where arms have contexts: the policy looks at them before it chooses. */
static void play_contexts(const simulation_t *sim, slot_t *slot, int64_t steps) {
  const policy_t *policy = sim->spec->policy;
  const arms_t *arms = sim->arms;
  world_t *world = slot->worlds;
  dice_t *dice = slot->dice;
  if (steps > world_left(world)) steps = world_left(world);
  round_t round = {.n_pool = arms->k, .context_step = arms->own ? arms->dim : 0};
  for (; steps > 0; steps--) {
    round.t = world->t + 1;
    round.context = world_look(world);
    const int arm = policy->choose(slot->state, &round, dice);
    const double reward = world_pull_in(world, round.context, arm);
    policy->observe(slot->state, &round, arm, reward, dice);
  }
}

static void play_skip(const simulation_t *sim, slot_t *slot, int64_t steps) {
  for (; steps > 0 && world_left(slot->worlds) > 0; steps--) {
    sim->spec->policy->skip(slot->state, slot->worlds, slot->dice);
  }
}

static void begin(const simulation_t *sim, slot_t *slot) {
  const policy_t *policy = sim->spec->policy;
  for (int i = 0; i < slot->n; i++) {
    double *pulls = slot->pulls + (size_t)i * (size_t)sim->arms->k;
    begin_run(sim, slot->run + i, pulls, &slot->worlds[i], &slot->dice[i]);
  }
  slot->worlds->context_space = slot->context;
  if (sim->engine == ENGINE_LANES) {
    policy->lanes->begin(slot->state, sim->spec, slot->worlds, slot->dice, slot->n);
  } else {
    policy->init(slot->state, sim->spec);
  }
}

static void play(const simulation_t *sim, slot_t *slot, int64_t steps) {
  switch (sim->engine) {
  case ENGINE_LANES:
    sim->spec->policy->lanes->play(slot->state, slot->worlds, slot->n, steps / 8 + 1);
    break;
  case ENGINE_SKIP:
    play_skip(sim, slot, steps);
    break;
  case ENGINE_CONTEXTS:
    play_contexts(sim, slot, steps);
    break;
  default:
    play_plain(sim, slot, steps);
  }
}

/* Play this slot's run, and the next ones, until the deadline. */
static void advance_slot(simulation_t *sim, slot_t *slot, double deadline) {
  /* A round costs up to some tens of nanoseconds an arm and number of its context: look at
     the clock about every millisecond. A skip may be dozens of rounds. */
  const int64_t steps = sim->engine == ENGINE_SKIP
                            ? 1 + 8 * 32 / (32 + sim->arms->k)
                            : 1 + (1 << 14) / sim->arms->k / (1 + sim->arms->dim);
  do {
    if (slot->run < 0) {
      int run;
#ifdef _OPENMP
#pragma omp atomic capture
#endif
      { run = sim->next; sim->next += sim->slot_runs; }
      if (run >= sim->n_runs) return;
      slot->run = run;
      slot->n = sim->n_runs - run < sim->slot_runs ? sim->n_runs - run : sim->slot_runs;
      begin(sim, slot);
    }
    play(sim, slot, steps);
    if (world_left(slot->worlds) == 0) {
      const size_t k = (size_t)sim->arms->k;
      memcpy(sim->pulls + (size_t)slot->run * k, slot->pulls,
             sizeof(double) * k * (size_t)slot->n);
      slot->run = -1;
#ifdef _OPENMP
#pragma omp atomic
#endif
      sim->done += slot->n;
    }
  } while (now() < deadline);
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
    if (slot->run < 0) continue;
    runs += slot->n * (double)slot->worlds->t / (double)sim->horizon;
  }
  return runs / sim->n_runs;
}
