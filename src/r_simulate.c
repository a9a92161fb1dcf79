/* Simulation in two calls: begin() makes a handle whose memory belongs to R, advance()
   plays for a slice of time. R sits between the slices: it draws the progress bar and
   answers Ctrl-C, and dropping the handle frees everything. */

#include <string.h>
#include "drive_simulate.h"
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
  ARMS, RECORD, RUNS, STRUCT, SLOTS, WORLDS, DICE, SLOT_PULLS, STATES, CONTEXTS,
  OUT_REGRET, OUT_REWARD, OUT_PULLS, N_KEPT
};

/* A fair share of the runs for each slot, up to a full block of lanes. */
static int runs_at_once(const simulation_t *sim) {
  if (sim->engine != ENGINE_LANES) return 1;
  const int share = (sim->n_runs - 1) / sim->n_slots + 1;
  return share < LANES ? share : LANES;
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

  handle_t *handle = keep_block(kept, STRUCT, sizeof(handle_t));
  simulation_t *sim = &handle->sim;
  read_arms(arms, &handle->arms);
  read_policy(policy, handle->arms.k, Rf_asReal(horizon), &handle->spec);
  handle->spec.dim = handle->arms.dim;
  sim->arms = &handle->arms;
  sim->spec = &handle->spec;
  sim->seed = (uint64_t)Rf_asReal(seed);
  sim->engine = simulation_engine((engine_t)Rf_asInteger(engine), &handle->spec, sim->arms);
  sim->horizon = (int64_t)Rf_asReal(horizon);
  sim->record = REAL(record);
  sim->n_record = (int)Rf_xlength(record);
  sim->runs = REAL(runs);
  sim->n_runs = (int)Rf_xlength(runs);
  sim->regret = keep_matrix(kept, OUT_REGRET, sim->n_record, sim->n_runs);
  sim->reward = keep_matrix(kept, OUT_REWARD, sim->n_record, sim->n_runs);
  sim->pulls = keep_matrix(kept, OUT_PULLS, sim->arms->k, sim->n_runs);

  sim->n_slots = usable_threads(Rf_asInteger(threads));
  if (sim->n_slots > sim->n_runs) sim->n_slots = sim->n_runs;
  sim->slot_runs = runs_at_once(sim);
  sim->slots = keep_block(kept, SLOTS, sizeof(slot_t) * (size_t)sim->n_slots);
  /* What threads write to all the time lies on cache lines of their own. */
  const size_t at_once = (size_t)sim->slot_runs;
  const size_t worlds_size = sizeof(world_t) * at_once + 128;
  const size_t dice_size = sizeof(dice_t) * at_once + 128;
  const size_t pulls_size = sizeof(double) * at_once * (size_t)sim->arms->k + 128;
  char *worlds = keep_block(kept, WORLDS, worlds_size * (size_t)sim->n_slots);
  char *dice = keep_block(kept, DICE, dice_size * (size_t)sim->n_slots);
  char *pulls = keep_block(kept, SLOT_PULLS, pulls_size * (size_t)sim->n_slots);
  /* States start on cache lines of their own. */
  const size_t size = (simulation_state_size(sim) + 127) / 64 * 64;
  char *states = keep_block(kept, STATES, size * (size_t)sim->n_slots + 64);
  states += 64 - (uintptr_t)states % 64;
  /* Contexts too, or else threads would write to each other's lines. */
  const size_t room = ((size_t)arms_context_size(sim->arms) + 15) / 8 * 8;
  double *contexts = keep_block(kept, CONTEXTS, sizeof(double) * room * (size_t)sim->n_slots);
  for (int i = 0; i < sim->n_slots; i++) {
    sim->slots[i].run = -1;
    sim->slots[i].context = contexts + room * (size_t)i;
    sim->slots[i].worlds = (world_t *)(worlds + worlds_size * (size_t)i);
    sim->slots[i].dice = (dice_t *)(dice + dice_size * (size_t)i);
    sim->slots[i].pulls = (double *)(pulls + pulls_size * (size_t)i);
    sim->slots[i].state = states + size * (size_t)i;
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
  if (h->sim.done < h->sim.n_runs) simulation_advance(&h->sim, Rf_asReal(seconds));
  return Rf_ScalarReal(h->sim.done == h->sim.n_runs ? 1 : simulation_progress(&h->sim));
}
