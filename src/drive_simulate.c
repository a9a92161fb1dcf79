#include <time.h>
#include "drive_simulate.h"

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Everything random about a run comes from (seed, run, purpose). */
static void begin_run(simulation_t *sim, slot_t *slot, int run) {
  const uint64_t key = (uint64_t)sim->runs[run];
  slot->run = run;
  slot->world = (world_t){
      .arms = sim->arms,
      .horizon = sim->horizon,
      .pulls = sim->pulls + (size_t)run * (size_t)sim->arms->k,
      .record = sim->record,
      .n_record = sim->n_record,
      .out_regret = sim->regret + (size_t)run * (size_t)sim->n_record,
      .out_reward = sim->reward + (size_t)run * (size_t)sim->n_record,
  };
  rng_seed(&slot->world.reward, sim->seed, key, RNG_REWARD);
  rng_seed(&slot->world.bridge, sim->seed, key, RNG_BRIDGE);
  slot->world.context_space = slot->context_space;
  rng_seed(&slot->world.contexts, sim->seed, key, RNG_CONTEXT);
  slot->dice = (dice_t){.ledger = NULL};
  rng_seed(&slot->dice.policy, sim->seed, key, RNG_POLICY);
  rng_seed(&slot->dice.noise, sim->seed, key, RNG_NOISE);
  world_begin(&slot->world);
  sim->spec->policy->init(slot->state, sim->spec);
}

/* The contextual bandit's loop: a policy looks at the contexts before it chooses. */
static void play_contexts(slot_t *slot, int64_t steps, const policy_t *policy) {
  world_t *world = &slot->world;
  const arms_t *arms = world->arms;
  round_t round = {.n_pool = arms->k, .context_step = arms->own ? arms->dim : 0};
  for (; steps > 0; steps--) {
    round.t = world->t + 1;
    round.context = world_look(world);
    const int arm = policy->choose(slot->state, &round, &slot->dice);
    const double reward = world_pull_in(world, round.context, arm);
    policy->observe(slot->state, &round, arm, reward, &slot->dice);
  }
}

/* The bandit's loop, at most so many steps of it. */
static void play(const simulation_t *sim, slot_t *slot, int64_t steps) {
  const policy_t *policy = sim->spec->policy;
  world_t *world = &slot->world;
  dice_t *dice = &slot->dice;
  if (world->arms->dim > 0) {
    play_contexts(slot, steps < world_left(world) ? steps : world_left(world), policy);
    return;
  }
  if (sim->skip && policy->skip) {
    for (; steps > 0 && world->t < world->horizon; steps--) {
      policy->skip(slot->state, world, dice);
    }
    return;
  }
  if (steps > world_left(world)) steps = world_left(world);
  round_t round = {.n_pool = sim->arms->k};
  for (; steps > 0; steps--) {
    round.t = world->t + 1;
    const int arm = policy->choose(slot->state, &round, dice);
    const double reward = world_pull(world, arm);
    policy->observe(slot->state, &round, arm, reward, dice);
  }
}

/* Play this slot's run, and the next ones, until the deadline. */
static void advance_slot(simulation_t *sim, slot_t *slot, double deadline) {
  /* A step costs up to some tens of nanoseconds an arm: look at the clock about every
     millisecond. */
  const int64_t steps = 1 + (1 << 14) / sim->arms->k / (1 + sim->arms->dim);
  do {
    if (slot->run < 0) {
      int run;
#ifdef _OPENMP
#pragma omp atomic capture
#endif
      run = sim->next++;
      if (run >= sim->n_runs) return;
      begin_run(sim, slot, run);
    }
    play(sim, slot, steps);
    if (slot->world.t == slot->world.horizon) {
      slot->run = -1;
#ifdef _OPENMP
#pragma omp atomic
#endif
      sim->done++;
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
    if (slot->run >= 0) runs += (double)slot->world.t / (double)sim->horizon;
  }
  return runs / sim->n_runs;
}
