#ifndef DPTS_PLAY_SIMULATE_H
#define DPTS_PLAY_SIMULATE_H
/* The simulation of one policy in one world, many runs, in slices of time. */

#include "skip_lanes.h"
#include "play_session.h"
#include "play_supply.h"

/* How rounds are played: by choose, commit and update one by one, by the policy's skip, or by
   its lanes. SCAN is the plain loop with a look at every arm in each choice, the reference for
   policy_tournament.h. Decided by the policy, the arms, the horizon and the user's options, never by
   what else is asked for, since each engine draws differently. */
typedef enum { ENGINE_AUTO, ENGINE_PLAIN, ENGINE_SKIP, ENGINE_LANES, ENGINE_SCAN } engine_t;

/* The runs being played by one thread: one, or as many as a block has lanes. So memory
   grows with threads and not with runs or rounds. */
typedef struct {
  int run, n; /* index of the first run, -1 when idle; how many runs */
  int waits;  /* for the delays of its run */
  environment_t *envs;
  draws_t *draws;
  int64_t *pulls; /* of their arms */
  char *watch;    /* their observers, observation_size() bytes for each */
  session_t session;
  late_t late;
  void *lanes; /* the block of lanes */
} slot_t;

/* When rewards are learned. Delays that depend on the round are asked for, run by run. */
typedef struct {
  int late;    /* 0: at once */
  int asked;   /* for */
  late_t rule; /* without memory */
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
  uint64_t seed;
  engine_t engine; /* PLAIN, SKIP or LANES */
  int scans;       /* was SCAN asked for? */
  int64_t horizon;
  int finish; /* release what is open after the last round? 2: once all rewards have come */
  const double *runs; /* run numbers */
  int n_runs;
  observation_t observation;
  slot_t *slots;
  int n_slots;    /* threads */
  int slot_runs;  /* runs that a slot takes at once */
  int next, done; /* runs started, runs finished */
  failure_t failure;
} simulation_t;

/* The engine of a name ("auto", "plain", "skip", "lanes", "scan"); AUTO for any other. */
engine_t engine_find(const char *name);

/* The engine to use: the one asked for where the policy has it, else the plain loop. */
engine_t simulation_engine(engine_t asked, const spec_t *spec, const world_t *world,
                           const delays_t *delays);

/* Advance every slot for about so many seconds. */
void simulation_advance(simulation_t *sim, double seconds);

/* Does this slot wait for delays or rewards, or was a recorded reward asked for in vain? */
int simulation_waits(const slot_t *slot);

/* The run that waits for delays has them: one for each round, in slot->late. */
void simulation_go_on(const simulation_t *sim, slot_t *slot);

/* The share of the work that is done, in rounds. */
double simulation_progress(const simulation_t *sim);

#endif
