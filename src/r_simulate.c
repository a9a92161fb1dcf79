/* Simulation in two calls: begin() makes a handle whose memory belongs to R, advance()
   plays for a slice of time. R sits between the slices: it draws the progress bar and
   answers Ctrl-C, and dropping the handle frees everything. */

#include "drive_simulate.h"
#include "r_custom.h"
#include "r_read.h"

typedef struct {
  simulation_t sim;
  arms_t arms;
  spec_t spec;
} handle_t;

static double *keep_matrix(SEXP list, int at, int rows, int columns) {
  SEXP matrix = Rf_allocMatrix(REALSXP, rows, columns);
  SET_VECTOR_ELT(list, at, matrix);
  return REAL(matrix);
}

enum { REGRET, REWARD, PULLS, HANDLE, N_RESULT };
enum {
  ARMS,
  POLICY,
  RECORD,
  RUNS,
  STRUCT,
  SLOTS,
  SLOT_BLOCKS,
  ALL_ARMS,
  OUT_REGRET,
  OUT_REWARD,
  OUT_PULLS,
  N_KEPT
};

/* A fair share of the runs for each slot, up to a full block of lanes. */
static int runs_at_once(const simulation_t *sim) {
  if (sim->engine != ENGINE_LANES) return 1;
  const int share = (sim->n_runs - 1) / sim->n_slots + 1;
  return share < LANES ? share : LANES;
}

/* What a slot's thread writes to all the time lies on cache lines of its own: one block for
   each slot, cut into pieces that begin on a cache line. */
typedef struct {
  char *block; /* NULL: only count */
  size_t used;
} cutter_t;

static void *cut(cutter_t *cutter, size_t bytes) {
  void *piece = cutter->block ? cutter->block + cutter->used : NULL;
  cutter->used += (bytes + 127) / 64 * 64;
  return piece;
}

/* Lay out a slot's memory; with block == NULL, only count it. */
static size_t lay_out(const simulation_t *sim, slot_t *slot, char *block, const int *arms) {
  cutter_t cutter = {block, 0};
  const size_t runs = (size_t)sim->slot_runs, k = (size_t)sim->arms->k;
  const policy_t *policy = sim->spec->policy;
  const int lanes = sim->engine == ENGINE_LANES;
  slot_t laid = {.run = -1};
  laid.envs = cut(&cutter, sizeof(environment_t) * runs);
  laid.draws = cut(&cutter, sizeof(draws_t) * runs);
  laid.pulls = cut(&cutter, sizeof(int64_t) * runs * k);
  laid.lanes = cut(&cutter, lanes ? policy->lanes->size(sim->spec) : 0);
  laid.session = (session_t){.spec = sim->spec, .arms = arms, .free = -1};
  laid.session.state = cut(&cutter, lanes ? 0 : policy->size(sim->spec));
  laid.session.pulls = cut(&cutter, sizeof(int64_t) * k);
  double *context = cut(&cutter, sizeof(double) * (size_t)arms_context_size(sim->arms));
  if (block) {
    *slot = laid;
    for (size_t i = 0; i < runs; i++) slot->envs[i].context_space = context;
  }
  return cutter.used;
}

/* -> list(regret, reward, pulls, handle); the matrices fill up as the handle advances */
SEXP ffi_simulate_begin(SEXP arms, SEXP policy, SEXP horizon, SEXP record, SEXP runs,
                        SEXP seed, SEXP threads, SEXP engine) {
  const char *names[] = {"regret", "reward", "pulls", "handle", ""};
  SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
  SEXP kept = PROTECT(Rf_allocVector(VECSXP, N_KEPT));
  SET_VECTOR_ELT(kept, ARMS, arms);
  SET_VECTOR_ELT(kept, RECORD, record);
  SET_VECTOR_ELT(kept, RUNS, runs);
  SET_VECTOR_ELT(kept, POLICY, policy);

  handle_t *handle = keep_block(kept, STRUCT, sizeof(handle_t));
  simulation_t *sim = &handle->sim;
  read_arms(arms, &handle->arms);
  read_policy(policy, handle->arms.k, handle->arms.dim, Rf_asReal(horizon), &handle->spec);
  sim->arms = &handle->arms;
  sim->spec = &handle->spec;
  sim->seed = (uint64_t)Rf_asReal(seed);
  sim->engine =
      simulation_engine(engine_find(CHAR(STRING_ELT(engine, 0))), &handle->spec, sim->arms);
  sim->horizon = (int64_t)Rf_asReal(horizon);
  sim->record = REAL(record);
  sim->n_record = (int)Rf_xlength(record);
  sim->runs = REAL(runs);
  sim->n_runs = (int)Rf_xlength(runs);
  sim->regret = keep_matrix(kept, OUT_REGRET, sim->n_record, sim->n_runs);
  sim->reward = keep_matrix(kept, OUT_REWARD, sim->n_record, sim->n_runs);
  sim->pulls = keep_matrix(kept, OUT_PULLS, sim->arms->k, sim->n_runs);

  sim->n_slots = sim->spec->host ? 1 : usable_threads(Rf_asInteger(threads));
  if (sim->n_slots > sim->n_runs) sim->n_slots = sim->n_runs;
  sim->slot_runs = runs_at_once(sim);
  sim->slots = keep_block(kept, SLOTS, sizeof(slot_t) * (size_t)sim->n_slots);
  const int *all = keep_all_arms(kept, ALL_ARMS, sim->arms->k);
  const size_t size = lay_out(sim, NULL, NULL, all);
  char *blocks = keep_block(kept, SLOT_BLOCKS, size * (size_t)sim->n_slots + 64);
  blocks += 64 - (uintptr_t)blocks % 64;
  for (int i = 0; i < sim->n_slots; i++) {
    lay_out(sim, &sim->slots[i], blocks + size * (size_t)i, all);
  }

  SET_VECTOR_ELT(result, REGRET, VECTOR_ELT(kept, OUT_REGRET));
  SET_VECTOR_ELT(result, REWARD, VECTOR_ELT(kept, OUT_REWARD));
  SET_VECTOR_ELT(result, PULLS, VECTOR_ELT(kept, OUT_PULLS));
  SET_VECTOR_ELT(result, HANDLE, R_MakeExternalPtr(handle, R_NilValue, kept));
  UNPROTECT(2);
  return result;
}

/* -> the share of the work that is done; 1 when it is finished */
SEXP ffi_simulate_advance(SEXP handle, SEXP seconds) {
  handle_t *h = R_ExternalPtrAddr(handle);
  if (!h) Rf_error("the simulation's handle is from another session");
  /* R's own loop looks for Ctrl-C only every thousand evaluations. All memory is R's, so
     nothing leaks if this does not return. */
  R_CheckUserInterrupt();
  simulation_t *sim = &h->sim;
  if (sim->done < sim->n_runs) simulation_advance(sim, Rf_asReal(seconds));
  const failure_t *failure = &sim->failure;
  if (failure->status != SESSION_OK) {
    custom_resume(sim->spec);
    Rf_error("policy \"%s\" failed in round %.0f of run %.0f: %s", sim->spec->policy->name,
             (double)failure->t, failure->run, session_message(failure->status));
  }
  return Rf_ScalarReal(sim->done == sim->n_runs ? 1 : simulation_progress(sim));
}
