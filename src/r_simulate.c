/* Simulation in two calls: begin() makes a handle whose memory belongs to R, advance()
   plays for a slice of time. R sits between the slices: it draws the progress bar and
   answers Ctrl-C, and dropping the handle frees everything. */

#include <float.h>
#include <math.h>
#include <string.h>
#include "play_simulate.h"
#include "r_custom.h"
#include "r_read.h"

typedef struct {
  simulation_t sim;
  world_t world;
  spec_t spec;
} handle_t;

enum {
  WORLD,
  READ_WORLD,
  POLICY,
  RECORD,
  RUNS,
  STRUCT,
  SLOTS,
  SLOT_BLOCKS,
  SEEN,
  DELAYS,
  LATE,  /* of each slot: the memory of a late_t */
  ASKED, /* of each slot: the delays of its run */
  ANSWERS,
  LAWS,
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
static size_t lay_out(const simulation_t *sim, slot_t *slot, char *block) {
  cutter_t cutter = {block, 0};
  const size_t runs = (size_t)sim->slot_runs, k = (size_t)sim->world->arms->k;
  const policy_t *policy = sim->spec->policy;
  const int lanes = sim->engine == ENGINE_LANES;
  slot_t laid = {.run = -1};
  laid.envs = cut(&cutter, sizeof(environment_t) * runs);
  laid.draws = cut(&cutter, sizeof(draws_t) * runs);
  laid.pulls = cut(&cutter, sizeof(int64_t) * runs * k);
  laid.lanes = cut(&cutter, lanes ? lanes_of(policy)->size(sim->spec) : 0);
  void *session = cut(&cutter, session_size(sim->spec));
  /* Worlds that need room are played one run at a time. */
  const environment_kind_t *kind = sim->world->kind;
  void *space = cut(&cutter, kind->size ? kind->size(sim->world) : 0);
  laid.visits = sim->visits;
  laid.visits.group = cut(&cutter, sizeof(visitor_t) * (size_t)sim->visits.apart);
  laid.answers = sim->answers;
  const size_t n = (size_t)sim->answers.n, cells = ANSWER_BLOCKS * n * k;
  const size_t most = sim->answers.looks ? ANSWER_BLOCKS * (n + 1) * k : 0;
  laid.answers.released = cut(&cutter, sizeof(int64_t) * (size_t)sim->answers.strata);
  laid.answers.known = cut(&cutter, sizeof(release_mark_t) * k);
  laid.answers.value = cut(&cutter, sizeof(double) * n);
  laid.answers.sums = cut(&cutter, sizeof(double) * cells);
  laid.answers.squares = cut(&cutter, sizeof(double) * cells);
  laid.answers.offer = cut(&cutter, sizeof(int) * k);
  laid.answers.rows = cut(&cutter, sizeof(double) * ANSWER_COLUMNS * most);
  laid.answers.most_rows = (int64_t)most;
  laid.watch = cut(&cutter, runs * observation_size(&sim->observation));
  if (block) {
    *slot = laid;
    slot->session = session_on(session, sim->spec);
    slot->session.scans = sim->scans;
    for (size_t i = 0; i < runs; i++) slot->envs[i].space = space;
  }
  return cutter.used;
}

/* Room for rewards that come late, by at most so many rounds. */
static void make_late_capacity(const simulation_t *sim, slot_t *slot, SEXP kept, int64_t longest) {
  const int dim = sim->spec->dim;
  SEXP blocks = VECTOR_ELT(kept, LATE);
  void *block = keep_block(blocks, (int)(slot - sim->slots), late_size(longest, dim));
  late_on(&slot->late, block, longest, dim);
}

/* how: list(delay, ask_delays, group, ...); several delays are drawn from */
static void read_delays(SEXP how, SEXP kept, delays_t *delays) {
  SEXP delay = list_get(how, "delay");
  delays->asked = list_number(how, "ask_delays") != 0;
  late_t *rule = &delays->rule;
  rule->group = (int64_t)list_number(how, "group");
  if (delays->asked) {
    delays->late = 1;
    return;
  }
  SET_VECTOR_ELT(kept, DELAYS, delay);
  rule->n_delays = Rf_xlength(delay);
  rule->sampled = rule->n_delays > 1;
  if (rule->sampled) rule->delays = INTEGER(delay);
  else rule->delay = INTEGER(delay)[0];
  delays->late = rule->sampled || rule->delay > 0 || rule->group > 1;
}

/* list(strata, looks, silent, missing, rate, slope, mean, none, how), or NULL; how: c(mu, epsilon,
   continuous?) of each outcome */
static void read_answers(SEXP x, SEXP kept, int k, answers_t *answers) {
  if (x == R_NilValue) return;
  SET_VECTOR_ELT(kept, ANSWERS, x);
  SEXP how = list_get(x, "how");
  const int n = (int)Rf_xlength(how);
  report_t *laws = keep_block(kept, LAWS, sizeof(report_t) * (size_t)n);
  for (int h = 0; h < n; h++) laws[h] = read_outcome(VECTOR_ELT(how, h));
  *answers = (answers_t){.k = k,
                         .n = n,
                         .strata = (int)list_number(x, "strata"),
                         .looks = list_number(x, "looks") != 0,
                         .silent = REAL(list_get(x, "silent")),
                         .missing = list_number(x, "missing"),
                         .rate = REAL(list_get(x, "rate")),
                         .slope = REAL(list_get(x, "slope")),
                         .mean = REAL(list_get(x, "mean")),
                         .none = REAL(list_get(x, "none")),
                         .how = laws};
}

/* What is to be simulated: how many runs of which policy in which world, by which engine */
static void read_problem(SEXP world, SEXP policy, SEXP how, SEXP kept, handle_t *handle) {
  simulation_t *sim = &handle->sim;
  SEXP runs = list_get(how, "runs");
  SET_VECTOR_ELT(kept, WORLD, world);
  SET_VECTOR_ELT(kept, POLICY, policy);
  SET_VECTOR_ELT(kept, RUNS, runs);
  read_world(world, kept, READ_WORLD, &handle->world);
  const arms_t *arms = handle->world.arms;
  const double horizon = list_number(how, "horizon");
  read_policy(policy, arms->k, arms->dim, list_number(how, "known"), &handle->spec);
  read_delays(how, kept, &sim->delays);
  read_visits(list_get(how, "visits"), &sim->visits);
  read_answers(list_get(how, "answers"), kept, arms->k, &sim->answers);
  sim->world = &handle->world;
  sim->spec = &handle->spec;
  sim->horizon = (int64_t)horizon;
  sim->seed = (uint64_t)list_number(how, "seed");
  sim->runs = REAL(runs);
  sim->n_runs = (int)Rf_xlength(runs);
  sim->finish = (int)list_number(how, "finish");
  const engine_t asked = engine_find(text_of(list_get(how, "engine")));
  sim->engine = simulation_engine(asked, sim->spec, sim->world, &sim->delays);
  sim->scans = asked == ENGINE_SCAN;
}

/* What is measured -> the matrices that fill up */
static SEXP read_observation(SEXP how, SEXP kept, simulation_t *sim) {
  SEXP record = list_get(how, "record"), ask = list_get(how, "ask");
  SET_VECTOR_ELT(kept, RECORD, record);
  const policy_t *policy = sim->spec->policy;
  survey_t *survey = &sim->observation.survey;
  *survey =
      (survey_t){.k = sim->spec->k,
                 .horizon = sim->horizon,
                 .rounds = REAL(record),
                 .n_rounds = (int)Rf_xlength(record),
                 .tosses = policy->probability != NULL,
                 .blind = policy->probability && !policy->update && !policy->learn && sim->spec->flip == 0,
                 .concludes = spec_concludes(sim->spec)};
  if (ask != R_NilValue) {
    survey->rule = read_rule(ask);
    survey->parts = (int)fmax(1, list_number(ask, "parts"));
    survey->design = read_design(ask, sim->spec->k);
    survey->design.k /= survey->design.strata * survey->parts;
    survey->interval = list_number(ask, "interval");
    survey->correlation = list_number(ask, "correlation");
    const double control = list_number(ask, "control");
    survey->control = control > 0 ? (int)control : 0;
  }
  SEXP seen = read_observers(list_get(how, "observers"), sim->n_runs, &sim->observation);
  SET_VECTOR_ELT(kept, SEEN, seen);
  return seen;
}

/* A slot for each thread, with memory for the runs that it plays at once */
static void make_slots(SEXP how, SEXP kept, simulation_t *sim) {
  sim->n_slots = sim->spec->host ? 1 : usable_threads((int)list_number(how, "threads"));
  if (sim->n_slots > sim->n_runs) sim->n_slots = sim->n_runs;
  sim->slot_runs = runs_at_once(sim);
  sim->slots = keep_block(kept, SLOTS, sizeof(slot_t) * (size_t)sim->n_slots);
  const size_t size = lay_out(sim, NULL, NULL);
  char *blocks = keep_block(kept, SLOT_BLOCKS, size * (size_t)sim->n_slots + 64);
  blocks += 64 - (uintptr_t)blocks % 64;
  SET_VECTOR_ELT(kept, LATE, Rf_allocVector(VECSXP, sim->n_slots));
  SET_VECTOR_ELT(kept, ASKED, Rf_allocVector(VECSXP, sim->n_slots));
  const late_t *rule = &sim->delays.rule;
  const int64_t longest = rule->sampled ? late_longest_of(rule->delays, rule->n_delays) : rule->delay;
  for (int i = 0; i < sim->n_slots; i++) {
    slot_t *slot = &sim->slots[i];
    lay_out(sim, slot, blocks + size * (size_t)i);
    slot->late = *rule;
    if (!sim->delays.late || sim->delays.asked) continue;
    make_late_capacity(sim, slot, kept, late_longest(longest, rule->group));
  }
}

/* how: list(horizon, known: the horizon that the policy knows, record, runs, seed, threads, engine, delay,
   ask_delays, group, visits, answers, observers, ask, finish)
   -> list(seen, handle); seen: what the observers keep, matrices that fill up as the handle
   advances */
SEXP ffi_simulate_begin(SEXP world, SEXP policy, SEXP how) {
  SEXP result = PROTECT(NAMED_LIST("seen", "handle"));
  SEXP kept = PROTECT(Rf_allocVector(VECSXP, N_KEPT));
  handle_t *handle = keep_block(kept, STRUCT, sizeof(handle_t));
  read_problem(world, policy, how, kept, handle);
  SET_VECTOR_ELT(result, 0, read_observation(how, kept, &handle->sim));
  make_slots(how, kept, &handle->sim);
  SET_VECTOR_ELT(result, 1, R_MakeExternalPtr(handle, R_NilValue, kept));
  UNPROTECT(2);
  return result;
}

/* -> the share of the work that is done; 1 when it is finished */
SEXP ffi_simulate_advance(SEXP handle, SEXP seconds) {
  handle_t *h = handle_of(handle);
  /* R's own loop looks for Ctrl-C only every thousand evaluations. All memory is R's, so
     nothing leaks if this does not return. */
  R_CheckUserInterrupt();
  simulation_t *sim = &h->sim;
  if (sim->done < sim->n_runs) simulation_advance(sim, Rf_asReal(seconds));
  const failure_t *failure = &sim->failure;
  if (failure->status != SESSION_OK) {
    custom_resume(sim->spec);
    Rf_error("policy \"%s\" failed in round %.0f of run %.0f: %s", sim->spec->policy->name,
             (double)failure->t, failure->run,
             failure->status == SESSION_NO_REWARD && sim->world->adversary
                 ? "the adversary gave no number in [0, 1]"
                 : session_message(failure->status));
  }
  custom_resume(sim->spec); /* reports have no status */
  return Rf_ScalarReal(sim->done == sim->n_runs ? 1 : simulation_progress(sim));
}

/* ---- what only R can supply ------------------------------------------------------------- */

/* The arms that begin the blocks that are wanted, from 1, and the number and size of each block. */
static SEXP wanted_blocks(const environment_t *env) {
  want_t want;
  int m = 0;
  for (int i = 0; i < env->arms->k; i++) m += env->kind->wants(env, i, &want);
  SEXP out = PROTECT(NAMED_LIST("arm", "block", "first", "n", "played"));
  for (int i = 0; i < 4; i++) SET_VECTOR_ELT(out, i, Rf_allocVector(REALSXP, m));
  if (env->kind->played) {
    int n;
    const int *played = env->kind->played(env, &n);
    SET_VECTOR_ELT(out, 4, Rf_allocVector(INTSXP, n));
    if (n > 0) memcpy(INTEGER(VECTOR_ELT(out, 4)), played, sizeof(int) * (size_t)n);
  }
  for (int i = 0, at = 0; i < env->arms->k; i++) {
    if (!env->kind->wants(env, i, &want)) continue;
    const double row[] = {i + 1, (double)want.block, (double)want.first, want.n};
    for (int j = 0; j < 4; j++) REAL(VECTOR_ELT(out, j))[at] = row[j];
    at++;
  }
  UNPROTECT(1);
  return out;
}

/* The first slot that waits -> NULL: none does; or list(slot, run, t, what, blocks), `what` being
   "delays", "look" (`blocks` is then a matrix with a column for each row that was released: play_answers.h),
   "dry" (the arm that has no recorded rewards left) or "rewards" */
SEXP ffi_simulate_wants(SEXP handle) {
  const simulation_t *sim = &((handle_t *)handle_of(handle))->sim;
  for (int i = 0; i < sim->n_slots; i++) {
    const slot_t *slot = &sim->slots[i];
    if (!simulation_waits(slot)) continue;
    const environment_t *env = slot->envs;
    SEXP out = PROTECT(NAMED_LIST("slot", "run", "t", "what", "blocks"));
    SET_VECTOR_ELT(out, 0, Rf_ScalarInteger(i));
    SET_VECTOR_ELT(out, 1, Rf_ScalarReal(sim->runs[slot->run]));
    SET_VECTOR_ELT(out, 2, Rf_ScalarReal((double)env->player.t + 1));
    const answers_t *answers = env->asks ? env->answers : NULL;
    const char *what = slot->waits ? "delays" : answers ? "look" : env->exhausted ? "dry" : "rewards";
    SET_VECTOR_ELT(out, 3, Rf_mkString(what));
    if (answers) {
      SEXP rows = Rf_allocMatrix(REALSXP, ANSWER_COLUMNS, (int)answers->n_rows);
      SET_VECTOR_ELT(out, 4, rows);
      const size_t bytes = sizeof(double) * ANSWER_COLUMNS * (size_t)answers->n_rows;
      if (bytes > 0) memcpy(REAL(rows), answers->rows, bytes);
    } else if (!slot->waits) {
      SET_VECTOR_ELT(out, 4, env->exhausted ? Rf_ScalarInteger(env->exhausted) : wanted_blocks(env));
    }
    UNPROTECT(1);
    return out;
  }
  return R_NilValue;
}

/* Rewards that R drew: checked, and scaled from a finite range to [0, 1]. -> Are they n numbers in
   the range? One pass over what may be any of R's types for numbers: no copy is made before. */
static int read_rewards(SEXP x, int n, const double *range, double *to) {
  if (Rf_xlength(x) != n || Rf_isObject(x)) return 0;
  const int bounded = isfinite(range[0]) && isfinite(range[1]);
  const double low = bounded ? range[0] : -DBL_MAX, high = bounded ? range[1] : DBL_MAX;
  int bad = 0;
  if (TYPEOF(x) == REALSXP) {
    const double *from = REAL_RO(x);
    for (int i = 0; i < n; i++) {
      bad |= !(from[i] >= low && from[i] <= high); /* NaN is bad */
      to[i] = from[i];
    }
  } else if (TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP) {
    const int *from = TYPEOF(x) == INTSXP ? INTEGER_RO(x) : LOGICAL_RO(x);
    for (int i = 0; i < n; i++) {
      bad |= from[i] == NA_INTEGER || !(from[i] >= low && from[i] <= high);
      to[i] = from[i];
    }
  } else {
    return 0;
  }
  if (bounded && (low != 0 || high != 1)) {
    for (int i = 0; i < n; i++) to[i] = (to[i] - low) / (high - low);
  }
  return !bad;
}

/* What a slot waits for. delays: integers, one for each round, else NULL; rewards: a list of
   numbers for each arm of each block that was wanted, of which the first that are not in the range
   are said by their place from 1, else 0; means: of blocks of all arms, else NULL */
SEXP ffi_simulate_supply(SEXP handle, SEXP slot_, SEXP delays, SEXP rewards, SEXP means, SEXP range) {
  simulation_t *sim = &((handle_t *)handle_of(handle))->sim;
  slot_t *slot = &sim->slots[Rf_asInteger(slot_)];
  environment_t *env = slot->envs;
  if (slot->waits) {
    SEXP kept = R_ExternalPtrProtected(handle);
    const R_xlen_t n = Rf_xlength(delays);
    const int64_t longest = late_longest(late_longest_of(INTEGER(delays), n), sim->delays.rule.group);
    if (slot->late.capacity < (int)late_capacity(longest)) {
      make_late_capacity(sim, slot, kept, longest);
    }
    SET_VECTOR_ELT(VECTOR_ELT(kept, ASKED), slot - sim->slots, delays);
    slot->late.delays = INTEGER(delays);
    slot->late.n_delays = n;
    simulation_go_on(sim, slot);
    return Rf_ScalarInteger(0);
  }
  const environment_kind_t *kind = env->kind;
  want_t want;
  for (int i = 0, at = 0; i < env->arms->k; i++) {
    if (!kind->wants(env, i, &want)) continue;
    for (int arm = i; arm < i + want.arms; arm++) {
      SEXP reward = VECTOR_ELT(rewards, at++);
      if (!read_rewards(reward, want.n, REAL(range), kind->destination(env, arm, 0))) {
        return Rf_ScalarInteger(at);
      }
      if (want.arms == 1 || means == R_NilValue) continue;
      memcpy(kind->destination(env, arm, 1), REAL(means) + (size_t)arm * (size_t)want.n,
             sizeof(double) * (size_t)want.n);
    }
    kind->arrived(env, i, want.n);
  }
  supply_resume(env);
  return Rf_ScalarInteger(0);
}

/* R has looked at what was released: these arms, from 1, are paused from now on. */
SEXP ffi_simulate_pause(SEXP handle, SEXP slot_, SEXP arms) {
  simulation_t *sim = &((handle_t *)handle_of(handle))->sim;
  slot_t *slot = &sim->slots[Rf_asInteger(slot_)];
  if (slot->envs->answers->draws.failed) Rf_error("an outcome could not be released");
  session_pause(&slot->session, slot->envs, INTEGER(arms), Rf_length(arms));
  return R_NilValue;
}

/* The state in which R's generator draws for (seed, run), a purpose and a number: the Mersenne
   twister, all words of whose state are drawn. */
SEXP ffi_stream_seed(SEXP seed, SEXP run, SEXP purpose, SEXP number) {
  enum { WORDS = 624 };
  rng_t rng;
  rng_seed(&rng, (uint64_t)Rf_asReal(seed), (uint64_t)Rf_asReal(run), RNG_SUPPLY);
  rng_seed(&rng, rng_next(&rng), (uint64_t)Rf_asReal(purpose), (uint64_t)Rf_asReal(number));
  SEXP out = Rf_allocVector(INTSXP, 2 + WORDS);
  int *state = INTEGER(out);
  state[0] = 10403; /* the twister, inversion and rejection */
  state[1] = WORDS; /* all words are to be mixed before the first draw */
  for (int i = 2; i < 2 + WORDS; i++) state[i] = (int)(rng_next(&rng) >> 33);
  return out;
}
