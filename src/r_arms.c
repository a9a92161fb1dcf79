/* Arms and worlds from R. */

#include <math.h>
#include <string.h>
#include "r_compiled.h"
#include "r_read.h"

static int is_finite(SEXP x, R_xlen_t n) {
  if (!Rf_isReal(x) || Rf_xlength(x) != n) return 0;
  for (R_xlen_t i = 0; i < n; i++) {
    if (!isfinite(REAL(x)[i])) return 0;
  }
  return 1;
}

static const char *name_of(SEXP names, R_xlen_t i) {
  return CHAR(STRING_ELT(names, Rf_xlength(names) == 1 ? 0 : i));
}

/* Arms are lists, which may have been edited: may this be read? */
static int are_sound(SEXP arms) {
  SEXP mean = list_get(arms, "mean"), gap = list_get(arms, "gap");
  SEXP par = list_get(arms, "par"), names = list_get(arms, "distribution");
  const R_xlen_t k = Rf_xlength(mean);
  if (k == 0 || !is_finite(mean, k) || !is_finite(gap, k) || !Rf_isNewList(par) || Rf_xlength(par) != k ||
      !Rf_isString(names) || (Rf_xlength(names) != k && Rf_xlength(names) != 1)) {
    return 0;
  }
  const distribution_t *distribution = NULL;
  for (R_xlen_t i = 0; i < k; i++) {
    SEXP numbers = VECTOR_ELT(par, i);
    if (i == 0 || Rf_xlength(names) > 1) distribution = distribution_find(name_of(names, i));
    if (!distribution || !Rf_isReal(numbers) || REAL(gap)[i] < 0 ||
        !distribution_is_sound(distribution, REAL(numbers), (int)Rf_xlength(numbers), REAL(mean)[i])) {
      return 0;
    }
  }
  return 1;
}

SEXP ffi_arms_sound(SEXP arms) { return Rf_ScalarLogical(are_sound(arms)); }

static void read_contexts(SEXP contexts, arms_t *arms) {
  if (contexts == R_NilValue) return;
  arms->dim = arms->source[0].n_par;
  arms->own = (int)list_number(contexts, "own");
  arms->context_kind = context_kind_find(text_of(list_get(contexts, "kind")));
  arms->noise = list_number(contexts, "noise");
  arms->logit = list_number(contexts, "logit") == 1;
  arms->contexts = REAL(list_get(contexts, "values"));
  arms->n_contexts = (int)(Rf_xlength(list_get(contexts, "values")) / arms->dim);
}

void read_arms(SEXP value, SEXP kept, int at, arms_t *arms) {
  if (!are_sound(value)) Rf_error("the arms are damaged: make them anew");
  SEXP par = list_get(value, "par"), names = list_get(value, "distribution");
  const R_xlen_t k = Rf_xlength(par);
  source_t *sources = keep_block(kept, at, sizeof(source_t) * (size_t)k);
  *arms = (arms_t){.k = (int)k,
                   .mean = REAL(list_get(value, "mean")),
                   .gap = REAL(list_get(value, "gap")),
                   .source = sources,
                   .bernoulli = 1,
                   .sums = 1,
                   .unit = list_number(value, "unit") != 0,
                   .noise = 1};
  for (R_xlen_t i = 0; i < k; i++) {
    const char *name = name_of(names, i);
    const distribution_t *distribution = distribution_find(name);
    SEXP numbers = VECTOR_ELT(par, i);
    sources[i] = (source_t){distribution, REAL(numbers), (int)Rf_xlength(numbers)};
    if (strcmp(name, "bernoulli") != 0) arms->bernoulli = 0;
    if (!distribution->draw_sum) arms->sums = 0;
  }
  read_contexts(list_get(value, "contexts"), arms);
}

void read_world(SEXP value, SEXP kept, int at, world_t *world) {
  enum { ARMS, SOURCES };
  SEXP list = list_get(value, "arms"), how = list_get(value, "how");
  const int n = (int)Rf_xlength(list);
  const char *kind = text_of(list_get(value, "kind"));
  SEXP own = Rf_allocVector(VECSXP, SOURCES + n);
  SET_VECTOR_ELT(kept, at, own);
  arms_t *arms = keep_block(own, ARMS, sizeof(arms_t) * (size_t)n);
  for (int i = 0; i < n; i++) {
    read_arms(VECTOR_ELT(list, i), own, SOURCES + i, &arms[i]);
    if (arms[i].k != arms->k) Rf_error("the arms of a world are not as many everywhere");
  }
  *world = (world_t){.kind = world_kind_find(kind), .arms = arms, .n = n};
  if (!world->kind) Rf_error("no world called '%s'", kind);
  if (world->kind->dim) arms->dim = world->kind->dim;
  SEXP library = list_get(value, "library");
  if (library != R_NilValue) {
    world->adversary = compiled_adversary(text_of(library), text_of(list_get(value, "name")));
    if (!world->adversary) Rf_error("no such adversary");
  }
  for (int i = 0; i < WORLD_MAX_PAR && world->kind->params[i]; i++) {
    SEXP numbers = list_get(how, world->kind->params[i]);
    if (!Rf_isReal(numbers) || Rf_xlength(numbers) == 0) {
      Rf_error("a world \"%s\" has no numbers '%s'", kind, world->kind->params[i]);
    }
    world->par[i] = REAL(numbers);
  }
}

/* n rewards of one arm (from 1) */
SEXP ffi_draw_rewards(SEXP arms, SEXP arm, SEXP n, SEXP seed) {
  arms_t a;
  SEXP kept = PROTECT(Rf_allocVector(VECSXP, 1));
  read_arms(arms, kept, 0, &a);
  if (!a.source[Rf_asInteger(arm) - 1].distribution->draw) Rf_error("R draws these rewards");
  rng_t rng;
  rng_seed(&rng, (uint64_t)Rf_asReal(seed), 0, RNG_REWARD);
  const R_xlen_t size = (R_xlen_t)Rf_asReal(n);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, size));
  for (R_xlen_t i = 0; i < size; i++) {
    look_for_interrupt(i);
    REAL(out)[i] = arms_draw(&a, Rf_asInteger(arm) - 1, &rng);
  }
  UNPROTECT(2);
  return out;
}

/* The means of a changing world's arms in the rounds 1 .. n of a run: a column for each arm */
SEXP ffi_world_means(SEXP value, SEXP n, SEXP seed, SEXP run) {
  world_t world;
  SEXP kept = PROTECT(Rf_allocVector(VECSXP, 1));
  read_world(value, kept, 0, &world);
  const int rounds = Rf_asInteger(n), k = world.arms->k;
  double *mean = (double *)R_alloc((size_t)k, sizeof(double));
  environment_t env = {.kind = world.kind, .world = &world, .player = {.horizon = rounds, .k = k}};
  env.player.pulls = (int64_t *)R_alloc((size_t)k, sizeof(int64_t));
  env.space = R_alloc(world.kind->size ? world.kind->size(&world) : 1, 1);
  environment_begin(&env, (uint64_t)Rf_asReal(seed), (uint64_t)Rf_asReal(run));
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, rounds, k));
  for (int t = 1; t <= rounds; t++) {
    const round_t round = {.t = t};
    double reward;
    look_for_interrupt(t);
    world.kind->means(&env, t, mean);
    for (int i = 0; i < k; i++) REAL(out)[t - 1 + (R_xlen_t)rounds * i] = mean[i];
    environment_pull(&env, &round, 0, &reward);
  }
  UNPROTECT(2);
  return out;
}
