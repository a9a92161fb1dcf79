#ifndef DPTS_PLAY_SIMULATE_H
#define DPTS_PLAY_SIMULATE_H
/* Simulates many runs of one policy in one world, in slices of time. */

#include "play_lanes.h"
#include "play_session.h"
#include "play_supply.h"

/* How rounds are played: one by one by choose, commit and update; by the policy's skip; or by its lanes.
   SCAN is the plain loop in which each choice looks at every arm, the reference for policy_tournament.h.
   The engine depends on the policy, the arms, the horizon and the user's options, never on what else is
   asked for, since each engine draws differently. */
typedef enum { ENGINE_AUTO, ENGINE_PLAIN, ENGINE_SKIP, ENGINE_LANES, ENGINE_SCAN } engine_t;

/* The runs that one thread is playing: one, or as many as a block has lanes. So memory grows with the
   number of threads, not with runs or rounds. */
typedef struct {
  int run, n; /* index of the first run, -1 when idle; how many runs */
  int waits;  /* does it wait for the delays of its run? */
  environment_t *envs;
  draws_t *draws;
  int64_t *pulls; /* of each run and arm */
  char *watch;    /* observers, observation_size() bytes per run */
  session_t session;
  visits_t visits;
  answers_t answers;
  late_t late;
  void *lanes; /* the block of lanes */
} slot_t;

/* Delays of rewards. Those that depend on the round are asked for, run by run. */
typedef struct {
  int late;    /* is there a delay? */
  int asked;   /* must the caller supply each run's? */
  late_t rule; /* has no memory of its own */
} delays_t;

/* What went wrong, and where. */
typedef struct {
  session_status_t status;
  double run;
  int64_t t;
} failure_t;

typedef struct {
  const world_t *world;
  const spec_t *spec;
  delays_t delays;
  visits_t visits;   /* has no memory of its own; of 0 people: everybody comes once */
  answers_t answers; /* likewise; of 0 arms: none */
  uint64_t seed;
  engine_t engine; /* PLAIN, SKIP or LANES */
  int scans;       /* was SCAN asked for? */
  int64_t horizon;
  int finish;         /* release open batches after the last round? 2: after the outstanding rewards */
  const double *runs; /* run numbers */
  int n_runs;
  observation_t observation;
  slot_t *slots;
  int n_slots;    /* threads */
  int slot_runs;  /* runs that a slot takes at once */
  int next, done; /* runs started, runs finished */
  failure_t failure;
} simulation_t;

/* The engine by its name ("auto", "plain", "skip", "lanes", "scan"); AUTO for any other. */
engine_t engine_find(const char *name);

/* The engine to use: the one asked for if the policy has it, else the plain loop. */
engine_t simulation_engine(engine_t asked, const spec_t *spec, const world_t *world, const delays_t *delays);

/* Plays every slot for about this time in seconds. */
void simulation_advance(simulation_t *sim, double seconds);

/* Does this slot wait for delays or rewards, or are recorded rewards used up? */
int simulation_waits(const slot_t *slot);

/* Continues a run that waited for its delays, which are in slot->late now. */
void simulation_go_on(const simulation_t *sim, slot_t *slot);

/* The fraction of all rounds that is done. */
double simulation_progress(const simulation_t *sim);

#endif
