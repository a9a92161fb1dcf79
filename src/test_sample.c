/* Samplers and streams, for tests. */

#include <stdlib.h>
#include <string.h>
#include "noise.h"
#include "play_lanes.h"
#include "r_read.h"
#include "sample_beta_tail.h"
#include "sample.h"

static double draw_beta_tail(const double *p, rng_t *rng) {
  const beta_tail_t tail = beta_tail(p[0], p[1], p[2]);
  return beta_tail_draw(&tail, rng);
}

/* n draws of a sampler, by name, from the policy stream of (seed, 0) */
SEXP ffi_sample(SEXP distribution, SEXP n, SEXP par, SEXP seed) {
  const char *name = text_of(distribution);
  const R_xlen_t size = (R_xlen_t)Rf_asReal(n);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, size));
  double *x = REAL(out);
  const double *p = REAL(par);
  double density;
  rng_t rng;
  rng_seed(&rng, (uint64_t)Rf_asReal(seed), 0, RNG_POLICY);
#define DRAW(label, call) else if (strcmp(name, label) == 0) for (R_xlen_t i = 0; i < size; i++) x[i] = call
  if (size == 0)
    ;
  else if (strcmp(name, "normal_lanes") == 0) {
    lanes_draw_normals((uint64_t)Rf_asReal(seed), x, NULL, size);
  } else if (strcmp(name, "normal_lanes_exact") == 0) {
    double *rough = (double *)R_alloc((size_t)size, sizeof(double));
    lanes_draw_normals((uint64_t)Rf_asReal(seed), rough, x, size);
  }
  DRAW("uniform", rng_unif(&rng));
  DRAW("normal", sample_normal(&rng));
  DRAW("normal_above", sample_normal_above(&rng, p[0]));
  DRAW("exponential", sample_exp(&rng));
  DRAW("gamma", sample_gamma(&rng, p[0]));
  DRAW("beta", sample_beta(&rng, p[0], p[1]));
  DRAW("laplace", sample_laplace(&rng, p[0]));
  DRAW("geometric", sample_geometric(&rng, p[0]));
  DRAW("binomial", sample_binomial(&rng, p[0], p[1]));
  DRAW("hypergeometric", sample_hypergeometric(&rng, p[0], p[1], p[2]));
  DRAW("beta_above", sample_beta_above(&rng, p[0], p[1], p[2]));
  DRAW("beta_beyond", sample_beta_beyond(&rng, p[0], p[1], p[2]));
  DRAW("beta_upper", beta_upper(p[0], p[1], p[2], &density)); /* a chance, as the next */
  DRAW("beta_upper_density", (beta_upper(p[0], p[1], p[2], &density), density));
  DRAW("beta_below", beta_below(p[0], p[1], p[2]));
  DRAW("coin", sample_coin(&rng, p[0]));
  DRAW("beta_tail_mass", beta_tail(p[0], p[1], p[2]).mass);
  DRAW("beta_tail", draw_beta_tail(p, &rng));
  else Rf_error("no sampler called '%s'", name);
#undef DRAW
  UNPROTECT(1);
  return out;
}

/* The first n uniforms of every stream of (seed, run), a column for each: those of a policy and of
   its world as they are begun, and those of other purposes */
SEXP ffi_streams(SEXP seed_, SEXP run_, SEXP n_) {
  const uint64_t seed = (uint64_t)Rf_asReal(seed_), run = (uint64_t)Rf_asReal(run_);
  const int n = Rf_asInteger(n_);
  const draws_t draws = draws_of(seed, run, NULL);
  const arms_t none = {0};
  const world_t world = {.kind = &environment_stationary, .arms = &none};
  environment_t env = {.kind = world.kind, .world = &world};
  environment_begin(&env, seed, run);
  rng_t streams[8] = {draws.policy, draws.noise, env.reward, env.bridge, env.contexts};
  rng_seed(&streams[5], seed, run, RNG_WORLD);
  rng_seed(&streams[6], seed, run, RNG_DELAY);
  rng_seed(&streams[7], seed, run, RNG_SUPPLY);
  SEXP out = Rf_allocMatrix(REALSXP, n, 8);
  for (int i = 0; i < 8 * n; i++) REAL(out)[i] = rng_unif(&streams[i / n]);
  return out;
}

/* n words of xoshiro256++ from a given state of four small words, as text */
SEXP ffi_rng_words(SEXP state, SEXP n) {
  rng_t rng;
  for (int i = 0; i < 4; i++) rng.s[i] = (uint64_t)REAL(state)[i];
  const int size = Rf_asInteger(n);
  SEXP out = PROTECT(Rf_allocVector(STRSXP, size));
  for (int i = 0; i < size; i++) {
    char word[24];
    snprintf(word, sizeof word, "%llu", (unsigned long long)rng_next(&rng));
    SET_STRING_ELT(out, i, Rf_mkChar(word));
  }
  UNPROTECT(1);
  return out;
}

/* The uniform of a word that is given as text */
SEXP ffi_rng_unit(SEXP word) { return Rf_ScalarReal(rng_unit(strtoull(text_of(word), NULL, 10))); }

/* Limit lanes to a vector unit (0: any machine's, 1: AVX2, 2: AVX-512), or have them settle
   every round in full precision (-1). -> the old limit */
SEXP ffi_lanes_widest(SEXP unit) {
  const int old = lanes_widest;
  lanes_widest = Rf_asInteger(unit);
  return Rf_ScalarInteger(old);
}
