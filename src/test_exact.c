/* Exact noise for tests: the decision trees of its samplers, and sums on the grid. */

#include <string.h>
#include "noise_exact_normal.h"
#include "noise_exact_release.h"
#include "r_read.h"

/* A source of given bits: those of a path from the root of the decision tree, then zeros */
static int fill_path(void *source, uint8_t *bytes, size_t n) {
  uint64_t *path = source;
  if (path[1]++) return 1; /* once only */
  memset(bytes, 0, n);
  for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(path[0] >> (56 - 8 * i));
  return 0;
}

/* One pass of a sampler, by name. "exp" is Bernoulli(exp(-m / 2^e)), m at most 2^e. */
static int once(const char *name, bits_t *bits, rate_t rate, int64_t *x) {
  if (strcmp(name, "exp") == 0) {
    *x = exact_bernoulli_exp(bits, rate.m, rate.e);
    return 1;
  }
  return (strcmp(name, "normal") == 0 ? exact_normal_once : exact_laplace_once)(bits, rate, x);
}

/* Walk through all decisions of one pass of a sampler that take at most `depth` bits (53 or
   fewer, so that sums of their chances are exact) -> list(k = -most .. most, chance: of the
   paths accepted with k, undecided: of those that need more bits, or end beyond `most`) */
SEXP ffi_exact_tree(SEXP distribution, SEXP rate, SEXP depth, SEXP most) {
  const char *name = text_of(distribution);
  const rate_t r = {(uint32_t)REAL(rate)[0], (int)REAL(rate)[1]};
  const int deepest = Rf_asInteger(depth), range = Rf_asInteger(most);
  SEXP out = PROTECT(NAMED_LIST("k", "chance", "undecided"));
  int *k = keep_integers(out, 0, 2 * range + 1);
  double *chance = keep_numbers(out, 1, 2 * range + 1);
  for (int i = 0; i <= 2 * range; i++) k[i] = i - range, chance[i] = 0;
  double undecided = 0;
  uint64_t leaf = 0; /* the first `deepest` bits of a path */
  while (leaf >> deepest == 0) {
    uint64_t path[2] = {leaf << (64 - deepest), 0};
    bits_t bits = bits_open(fill_path, path);
    int64_t x = 0;
    const int accepted = once(name, &bits, r, &x);
    const int used = bits.failed ? 8 * BITS_BUFFER : path[1] ? 8 * BITS_BUFFER - bits.left : 0;
    const int width = used < deepest ? used : deepest;
    const double mass = 1.0 / (double)((uint64_t)1 << width);
    if (used > deepest || (accepted && (x < -range || x > range))) undecided += mass;
    else if (accepted) chance[x + range] += mass;
    leaf += (uint64_t)1 << (deepest - width);
  }
  SET_VECTOR_ELT(out, 2, Rf_ScalarReal(undecided));
  UNPROTECT(1);
  return out;
}

typedef struct {
  int used, given;
  const int *coins;
  double exponent; /* sum of u / 2^e over the coins that came up 1 */
  uint64_t path[2];
} script_t;

static int fill_script(void *source, uint8_t *bytes, size_t n) {
  return fill_path(((script_t *)source)->path, bytes, n);
}

static int coin_script(void *source, uint64_t u, int e) {
  script_t *script = source;
  if (script->used >= script->given) return 0;
  const int side = script->coins[script->used++];
  if (side) script->exponent += (double)u / (double)((uint64_t)1 << e);
  return side;
}

/* One pass of the discrete Laplace sampler on given bits (an integer: the first `width` bits of
   the source) and given results of exact_bernoulli_exp(), 0 when they run out
   -> c(accepted, k, bits used, coins used, exponent): the pass has the chance 2^-bits
   exp(-exponent) times 1 - exp(-u / 2^e) for each coin that shows 0 */
SEXP ffi_exact_path(SEXP rate, SEXP word, SEXP width, SEXP coins) {
  const rate_t r = {(uint32_t)REAL(rate)[0], (int)REAL(rate)[1]};
  script_t script = {
      0, Rf_length(coins), INTEGER(coins), 0, {(uint64_t)Rf_asReal(word) << (64 - Rf_asInteger(width)), 0}};
  bits_t bits = bits_open(fill_script, &script);
  bits.coin = coin_script;
  int64_t k = 0;
  const int accepted = exact_laplace_once(&bits, r, &k);
  return NUMBERS(accepted, (double)k, script.path[1] ? 8 * BITS_BUFFER - bits.left : 0, script.used,
                 script.exponent);
}

/* The scales of a live release, as the ledger has them: of a sum and its squares with Laplace noise, or, for
   a weight of 0, of a moving average */
SEXP ffi_exact_pair(SEXP scale, SEXP weight) {
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, 2, LEDGER_COLUMNS));
  ledger_t ledger = {.max = 2};
  for (int i = 0; i < LEDGER_COLUMNS; i++) ledger.column[i] = REAL(out) + 2 * i;
  draws_t draws = {.ledger = &ledger, .live = 1};
  double squares;
  const double w = Rf_asReal(weight);
  if (w > 0) release_pair(&draws, NOISE_LAPLACE, 1, 0.25, Rf_asReal(scale), w, &squares);
  else release_average(&draws, 1, Rf_asReal(scale));
  UNPROTECT(1);
  return NUMBERS(REAL(out)[4], w > 0 ? REAL(out)[5] : 0);
}

/* A sum on the grid through exact_release_*() -> the noisy sum, or the status as an integer; NULL if bits
   of the noise are left in memory */
SEXP ffi_exact_release(SEXP distribution, SEXP sum, SEXP scale) {
  double noisy;
  bits_t bits = bits_open(bits_from_system, NULL);
  const enum exact_status status =
      exact_release(&bits, exact_sampler(distribution), Rf_asReal(sum), Rf_asReal(scale), &noisy);
  bits_close(&bits);
  for (size_t i = 0; i < BITS_BUFFER; i++) {
    if (bits.buffer[i]) return R_NilValue;
  }
  return status == EXACT_OK ? Rf_ScalarReal(noisy) : Rf_ScalarInteger((int)status);
}
