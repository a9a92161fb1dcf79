/* A live session as R sees it: one policy on people. Its draws are the operating system's: the
   policy's stream is seeded afresh for each call and wiped after it, and noise is exact. Pulls
   that are out are the caller's to keep. */

#include <string.h>
#include "noise_exact_bits.h"
#include "noise_exact_release.h"
#include "r_custom.h"
#include "r_read.h"

enum { MAX_RELEASES = 256 }; /* by one reward */

typedef struct {
  spec_t spec;
  session_t session;
  ledger_t ledger;
  double columns[LEDGER_COLUMNS][MAX_RELEASES];
  double forced[MAX_RELEASES]; /* of tests */
  release_mark_t *known;       /* of each arm: what ffi_session_news() has said */
  image_t image;               /* as the agent's store has it */
  touched_t touched;           /* since then */
} live_t;

static void check_status(const live_t *live, session_status_t status) {
  if (status == SESSION_OK) return;
  custom_resume(&live->spec);
  Rf_error("policy \"%s\" stopped in round %.0f: %s", live->spec.policy->name,
           (double)session_stopped_at(&live->session, status), session_message(status));
}

/* Fresh streams from the operating system, and none before or after the call */
static void begin_draws(live_t *live) {
  live->ledger.n = 0;
  draws_t *draws = &live->session.draws;
  *draws = (draws_t){.ledger = &live->ledger, .live = 1};
  uint8_t bytes[sizeof(rng_t)];
  if (bits_from_system(NULL, bytes, sizeof bytes)) {
    Rf_error("the operating system gave no random bits");
  }
  memcpy(&draws->policy, bytes, sizeof bytes);
  volatile uint8_t *byte = bytes;
  for (size_t i = 0; i < sizeof bytes; i++) byte[i] = 0;
}

static void end_draws(live_t *live) {
  volatile uint8_t *byte = (volatile uint8_t *)&live->session.draws.policy;
  for (size_t i = 0; i < sizeof(rng_t); i++) byte[i] = 0;
  live->ledger.n_forced = 0;
}

/* How many bytes a session of this kind has */
SEXP ffi_session_bytes(SEXP policy, SEXP k, SEXP horizon, SEXP dim) {
  spec_t spec;
  read_policy(policy, Rf_asInteger(k), Rf_asInteger(dim), Rf_asReal(horizon), &spec);
  return Rf_ScalarReal((double)session_size(&spec));
}

/* A new session -> its handle */
SEXP ffi_session_new(SEXP policy, SEXP k, SEXP horizon, SEXP dim) {
  SEXP blocks = PROTECT(Rf_allocVector(VECSXP, 5));
  SET_VECTOR_ELT(blocks, 2, policy); /* the host of a policy in R */
  live_t *live = keep_block(blocks, 0, sizeof(live_t));
  const int arms = Rf_asInteger(k);
  read_policy(policy, arms, Rf_asInteger(dim), Rf_asReal(horizon), &live->spec);
  live->session = session_on(keep_block(blocks, 1, session_size(&live->spec)), &live->spec);
  live->known = keep_block(blocks, 3, sizeof(release_mark_t) * (size_t)arms);
  live->ledger = (ledger_t){.max = MAX_RELEASES, .forced = live->forced};
  for (int i = 0; i < LEDGER_COLUMNS; i++) live->ledger.column[i] = live->columns[i];
  session_begin(&live->session);
  SEXP handle = R_MakeExternalPtr(live, R_NilValue, blocks);
  UNPROTECT(1);
  return handle;
}

/* A policy with contexts reads as many numbers as it was made for: one context, or one for each arm. */
static void check_context(const live_t *live, SEXP context, int most) {
  const R_xlen_t dim = live->spec.dim, n = Rf_xlength(context);
  if (dim == 0 || (TYPEOF(context) == REALSXP && (n == dim || n == dim * most))) return;
  Rf_error("policy \"%s\" needs contexts of %d numbers", live->spec.policy->name, live->spec.dim);
}

/* The next round. offer: arms from 1, or NULL for all */
static round_t round_of(live_t *live, SEXP offer, SEXP context) {
  round_t round = session_round(&live->session);
  check_context(live, context, live->spec.k);
  if (offer != R_NilValue) {
    const int n = Rf_length(offer);
    int *arms = (int *)R_alloc((size_t)n, sizeof(int));
    for (int i = 0; i < n; i++) arms[i] = INTEGER(offer)[i] - 1;
    round.offer = arms;
    round.n_offer = n;
  }
  if (context != R_NilValue) round.context = REAL(context);
  if (Rf_length(context) > live->spec.dim) round.context_step = live->spec.dim;
  return round;
}

/* Choose an arm and commit to it
   -> c(arm, round, batch: to which its reward will belong, 0: of no batch, the chance that it had or NA) */
SEXP ffi_session_choose(SEXP handle, SEXP offer, SEXP context) {
  live_t *live = handle_of(handle);
  round_t round = round_of(live, offer, context);
  int arm;
  int64_t batch = 0;
  double chance = NA_REAL;
  begin_draws(live);
  session_status_t status = session_choose(&live->session, &round, &arm);
  if (status == SESSION_OK && spec_says_chances(&live->spec)) {
    double *p = (double *)R_alloc((size_t)live->spec.k, sizeof(double));
    status = session_probability(&live->session, &round, p);
    chance = or_na(p[arm]);
  }
  if (status == SESSION_OK) {
    touch(&live->touched, arm);
    status = session_commit(&live->session, &round, arm, &batch);
  }
  end_draws(live);
  check_status(live, status);
  return NUMBERS(arm + 1, (double)round.t, (double)batch, chance);
}

/* A choice that is no round -> arm. held: the batch of the person's last reward, of arm `last`, -1 if that is
   not in yet; then -> 0 if the choice is to be a round, and minus the arm if the batch is to be closed. NA:
   it is none anyway */
SEXP ffi_session_look(SEXP handle, SEXP offer, SEXP context, SEXP last, SEXP held) {
  live_t *live = handle_of(handle);
  const round_t round = round_of(live, offer, context);
  int arm;
  begin_draws(live);
  const session_status_t status = session_choose(&live->session, &round, &arm);
  end_draws(live);
  check_status(live, status);
  const double batch = Rf_asReal(held);
  if (isnan(batch)) return Rf_ScalarInteger(arm + 1);
  live->touched.n = -1;
  static const int SIGNS[] = {0, 1, -1};
  const int own = Rf_asInteger(last) - 1;
  if (own < 0 || own >= live->spec.k) check_status(live, SESSION_NOT_OUT);
  const int passed = live->spec.policy->pass(live->session.state, &round, own, (int64_t)batch);
  return Rf_ScalarInteger(SIGNS[passed] * (arm + 1));
}

/* May one stop, and with which arm -> c(stop, arm or NA, error or NA) */
SEXP ffi_session_verdict(SEXP handle) {
  const live_t *live = handle_of(handle);
  verdict_t verdict;
  check_status(live, session_verdict(&live->session, &verdict));
  custom_resume(&live->spec);
  return NUMBERS(verdict.stop, verdict.arm < 0 ? NA_REAL : verdict.arm + 1, or_na(verdict.error));
}

/* Arms may be new, but what was released so far is not released again. (What this session had released in a
   change that was given up, since another process had written, may have been as many rewards with another
   sum: a difference from that would release rewards twice.) */
static void forget_news(live_t *live) {
  live->touched.n = -1;
  for (int i = 0; i < live->spec.k; i++) live->known[i] = session_mark(&live->session, i);
}

/* A new session of more arms takes over what another one knows */
SEXP ffi_session_grow(SEXP handle, SEXP old) {
  live_t *live = handle_of(handle);
  const live_t *before = handle_of(old);
  if (!session_grow(&live->session, &before->session)) {
    Rf_error("the policy cannot take on arms");
  }
  forget_news(live);
  return R_NilValue;
}

/* What was released in this call: a matrix with columns kind, scale, value, gain, correlation. The exact
   sums stay here. */
static SEXP releases_of(live_t *live) {
  static const int SHOWN[] = {LEDGER_KIND, LEDGER_SCALE, LEDGER_VALUE, LEDGER_GAIN, LEDGER_CORRELATION};
  const int n = live->ledger.n < MAX_RELEASES ? live->ledger.n : MAX_RELEASES;
  SEXP out = Rf_allocMatrix(REALSXP, n, 5);
  for (int j = 0; j < 5 && n > 0; j++) {
    memcpy(REAL(out) + n * j, live->columns[SHOWN[j]], sizeof(double) * (size_t)n);
  }
  memset(live->columns, 0, sizeof live->columns);
  return out;
}

/* Values in place of released ones, for tests, or NULL */
static void force_releases(live_t *live, SEXP forced) {
  const int n = Rf_length(forced);
  if (n == 0 || n > MAX_RELEASES) return;
  memcpy(live->forced, REAL(forced), sizeof(double) * (size_t)n);
  live->ledger.n_forced = n;
}

/* The open batch of an arm takes no more pulls -> c(was anything released, the batch that was or 0) */
SEXP ffi_session_close(SEXP handle, SEXP arm, SEXP forced) {
  live_t *live = handle_of(handle);
  begin_draws(live);
  force_releases(live, forced);
  live->touched.n = -1;
  const int64_t batch =
      live->spec.policy->close(live->session.state, Rf_asInteger(arm) - 1, &live->session.draws);
  end_draws(live);
  SEXP out = NUMBERS(live->ledger.n > 0, (double)batch);
  PROTECT(out);
  releases_of(live);
  UNPROTECT(1);
  return out;
}

/* A pull whose reward never comes is taken out of its batch -> was it there? 2: and the batch is gone */
SEXP ffi_session_unpull(SEXP handle, SEXP arm, SEXP batch) {
  live_t *live = handle_of(handle);
  live->touched.n = -1;
  if (!spec_leaves_out(&live->spec)) return Rf_ScalarInteger(0);
  return Rf_ScalarInteger(session_unpull(&live->session, Rf_asInteger(arm) - 1, (int64_t)Rf_asReal(batch)));
}

/* Before the end -> was there a sum that waited for its turn, and is released now? */
SEXP ffi_session_release_next(SEXP handle) {
  live_t *live = handle_of(handle);
  begin_draws(live);
  live->touched.n = -1;
  const int released = session_release_next(&live->session);
  end_draws(live);
  releases_of(live);
  return Rf_ScalarLogical(released);
}

/* The end is known: what is open is released -> what was released */
SEXP ffi_session_finish(SEXP handle) {
  live_t *live = handle_of(handle);
  begin_draws(live);
  live->touched.n = -1;
  const session_status_t status = session_finish(&live->session);
  end_draws(live);
  check_status(live, status);
  return releases_of(live);
}

/* The reward of a pull, on the grid of exact noise, once -> what was released by it */
SEXP ffi_session_update(SEXP handle, SEXP t, SEXP arm, SEXP batch, SEXP reward, SEXP context, SEXP forced) {
  live_t *live = handle_of(handle);
  check_context(live, context, 1);
  const feedback_t feedback = {(int64_t)Rf_asReal(t), Rf_asInteger(arm) - 1,
                               on_grid(Rf_asReal(reward), EXACT_GRID), (int64_t)Rf_asReal(batch),
                               context == R_NilValue ? NULL : REAL(context)};
  begin_draws(live);
  force_releases(live, forced);
  touch(&live->touched, feedback.arm);
  const session_status_t status = session_update(&live->session, &feedback);
  end_draws(live);
  check_status(live, status);
  return releases_of(live);
}

/* Rewards of pulls without contexts, one after the other, from the from-th on, until one releases
   something -> which one that was, 0: none did */
SEXP ffi_session_update_until(SEXP handle, SEXP t, SEXP arm, SEXP batch, SEXP reward, SEXP from) {
  live_t *live = handle_of(handle);
  const R_xlen_t n = Rf_xlength(reward);
  check_context(live, R_NilValue, 1);
  for (R_xlen_t i = Rf_asInteger(from) - 1; i < n; i++) {
    const feedback_t feedback = {(int64_t)REAL(t)[i], INTEGER(arm)[i] - 1,
                                 on_grid(REAL(reward)[i], EXACT_GRID), (int64_t)REAL(batch)[i], NULL};
    begin_draws(live);
    touch(&live->touched, feedback.arm);
    const session_status_t status = session_update(&live->session, &feedback);
    end_draws(live);
    check_status(live, status);
    if (live->ledger.n == 0) continue;
    memset(live->columns, 0, sizeof live->columns);
    return Rf_ScalarInteger((int)i + 1);
  }
  return Rf_ScalarInteger(0);
}

/* Rows of the release table since the last call, or since it was restored: a matrix with columns arm, t,
   size, sum, chance, terms, whole, squares */
SEXP ffi_session_news(SEXP handle) {
  enum { COLUMNS = 8 };
  live_t *live = handle_of(handle);
  const int k = live->spec.k;
  double *rows = (double *)R_alloc((size_t)k * COLUMNS, sizeof *rows);
  int n = 0;
  /* Bits that no batch gathers are no rows: a restored session knows their sums, not when they came. */
  const int concludes = spec_concludes(&live->spec) && releases_batches(live->spec.policy);
  for (int i = 0; i < k && concludes; i++) {
    release_row_t released;
    if (!session_new_release(&live->session, i, &live->known[i], &released)) continue;
    const double row[COLUMNS] = {i + 1,          (double)live->session.t, released.size,
                                 released.sum,   released.chance,         released.terms,
                                 released.whole, or_na(released.squares)};
    memcpy(rows + COLUMNS * n++, row, sizeof row);
  }
  SEXP out = Rf_allocMatrix(REALSXP, n, COLUMNS);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < COLUMNS; j++) REAL(out)[i + n * j] = rows[COLUMNS * i + j];
  }
  return out;
}

/* What may be published of each arm, as in noise_report.h: a column for each */
SEXP ffi_session_report(SEXP handle) {
  const live_t *live = handle_of(handle);
  SEXP out = PROTECT(Rf_allocMatrix(REALSXP, N_REPORT, live->spec.k));
  for (int i = 0; i < live->spec.k; i++) {
    report_t report = session_report(&live->session, i);
    if (report.kind == NOISE_GAUSSIAN) { /* at most, see release_average() */
      report.scale *= EXACT_AVERAGE_SD;
      report.last_scale *= EXACT_AVERAGE_SD;
    }
    report_write(&report, REAL(out) + N_REPORT * i);
  }
  UNPROTECT(1);
  custom_resume(&live->spec);
  return out;
}

/* Pulls of each arm */
SEXP ffi_session_pulls(SEXP handle) {
  const live_t *live = handle_of(handle);
  SEXP out = Rf_allocVector(REALSXP, live->spec.k);
  for (int i = 0; i < live->spec.k; i++) REAL(out)[i] = (double)live->session.pulls[i];
  return out;
}

SEXP ffi_session_paid(SEXP handle) {
  const live_t *live = handle_of(handle);
  return Rf_ScalarReal(or_na(session_charged(&live->session)));
}

SEXP ffi_session_save(SEXP handle) {
  const live_t *live = handle_of(handle);
  SEXP out = Rf_allocVector(RAWSXP, (R_xlen_t)session_save_size(&live->session));
  session_save(&live->session, RAW(out));
  return out;
}

SEXP ffi_session_restore(SEXP handle, SEXP bytes) {
  live_t *live = handle_of(handle);
  void *scratch = R_alloc(session_scratch(&live->session), 1);
  check_status(live, session_restore(&live->session, RAW(bytes), (size_t)Rf_xlength(bytes), scratch));
  forget_news(live);
  custom_resume(&live->spec); /* which asks for reports */
  return R_NilValue;
}

/* ---- the image of an agent: the session and other parts, in pages (play_image.h) ------- */

/* It begins with how many bytes each part has, the session first. */
enum { MAX_PARTS = 3, DIRECTORY = 1 + MAX_PARTS };

static void make_image(SEXP handle, size_t pages) {
  live_t *live = handle_of(handle);
  uint8_t *bytes = keep_block(R_ExternalPtrProtected(handle), 4, pages * IMAGE_PAGE);
  live->image = (image_t){bytes, pages, 0};
  for (size_t i = 0; i < pages; i++) live->image.sum += image_page_sum(bytes, i);
}

static piece_t piece_of(SEXP x) {
  if (TYPEOF(x) == REALSXP) return (piece_t){REAL(x), sizeof(double) * (size_t)Rf_xlength(x)};
  return (piece_t){RAW(x), (size_t)Rf_xlength(x)};
}

/* parts: a list of bytes or numbers -> list(the pages that are new since the last call, from 0; their bytes,
   one after the other; how many pages there are; the checksum of all) */
SEXP ffi_session_image(SEXP handle, SEXP parts) {
  live_t *live = handle_of(handle);
  char *front = R_alloc(session_front_size(), 1);
  static const char zeros[IMAGE_PAGE];
  piece_t pieces[2 + SESSION_PIECES + MAX_PARTS];
  int64_t sizes[DIRECTORY] = {(int64_t)session_save_size(&live->session)};
  size_t bytes = sizeof sizes + (size_t)sizes[0];
  for (int i = 0; i < Rf_length(parts); i++) bytes += piece_of(VECTOR_ELT(parts, i)).size;
  const size_t pages = image_pages(bytes);
  const int anew = pages != live->image.pages;
  if (anew) {
    make_image(handle, pages);
    live->touched.n = -1;
  }
  int n = 1;
  pieces[0] = (piece_t){sizes, sizeof sizes};
  n += session_pieces(&live->session, &live->touched, front, pieces + n);
  for (int i = 0; i < Rf_length(parts); i++, n++) {
    pieces[n] = piece_of(VECTOR_ELT(parts, i));
    sizes[1 + i] = (int64_t)pieces[n].size;
  }
  pieces[n++] = (piece_t){zeros, pages * IMAGE_PAGE - bytes};
  uint8_t *changed = (uint8_t *)R_alloc(pages, 1);
  image_renew(&live->image, pieces, n, changed);
  live->touched.n = 0;
  int found = 0;
  for (size_t i = 0; i < pages; i++) found += changed[i] |= (uint8_t)anew;
  SEXP out = PROTECT(Rf_allocVector(VECSXP, 4));
  SEXP numbers = SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, found));
  SEXP new_bytes = SET_VECTOR_ELT(out, 1, Rf_allocVector(RAWSXP, (R_xlen_t)found * IMAGE_PAGE));
  for (size_t i = 0, j = 0; i < pages; i++) {
    if (!changed[i]) continue;
    memcpy(RAW(new_bytes) + j * IMAGE_PAGE, live->image.bytes + i * IMAGE_PAGE, IMAGE_PAGE);
    INTEGER(numbers)[j++] = (int)i;
  }
  SET_VECTOR_ELT(out, 2, Rf_ScalarInteger((int)pages));
  SET_VECTOR_ELT(out, 3, hexadecimal(live->image.sum));
  UNPROTECT(1);
  return out;
}

/* The image, none for handle NULL, with new pages in it, of so many in all -> its bytes; NULL if this is
   none */
SEXP ffi_session_pages(SEXP handle, SEXP numbers, SEXP bytes, SEXP pages) {
  const image_t *known = handle == R_NilValue ? NULL : &((const live_t *)handle_of(handle))->image;
  const int n = Rf_length(numbers), all = Rf_asInteger(pages);
  const int anew = !known || known->pages != (size_t)all;
  const int whole = Rf_xlength(bytes) == (R_xlen_t)n * IMAGE_PAGE && (n == all || !anew);
  if (all < 0 || n > all || !whole) return R_NilValue;
  SEXP out = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)all * IMAGE_PAGE));
  if (!anew) memcpy(RAW(out), known->bytes, (size_t)all * IMAGE_PAGE);
  for (int i = 0; i < n; i++) {
    const int page = INTEGER(numbers)[i];
    if (page < i || page >= all) {
      UNPROTECT(1);
      return R_NilValue;
    }
    memcpy(RAW(out) + (size_t)page * IMAGE_PAGE, RAW(bytes) + (size_t)i * IMAGE_PAGE, IMAGE_PAGE);
  }
  UNPROTECT(1);
  return out;
}

/* The pages of an image -> list(checksum, the session as ffi_session_restore() takes it, the other parts
   as bytes); NULL if this is none */
SEXP ffi_image_parts(SEXP bytes) {
  const size_t size = (size_t)Rf_xlength(bytes);
  int64_t sizes[DIRECTORY];
  if (size < sizeof sizes || size % IMAGE_PAGE) return R_NilValue;
  memcpy(sizes, RAW(bytes), sizeof sizes);
  uint64_t sum = 0;
  for (size_t i = 0; i < size / IMAGE_PAGE; i++) sum += image_page_sum(RAW(bytes), i);
  SEXP out = PROTECT(Rf_allocVector(VECSXP, 1 + DIRECTORY));
  SET_VECTOR_ELT(out, 0, hexadecimal(sum));
  size_t at = sizeof sizes;
  for (int i = 0; i < DIRECTORY; i++) {
    if (sizes[i] < 0 || (uint64_t)sizes[i] > size - at) {
      UNPROTECT(1);
      return R_NilValue;
    }
    SEXP part = SET_VECTOR_ELT(out, 1 + i, Rf_allocVector(RAWSXP, (R_xlen_t)sizes[i]));
    if (sizes[i]) memcpy(RAW(part), RAW(bytes) + at, (size_t)sizes[i]);
    at += (size_t)sizes[i];
  }
  session_seal(RAW(VECTOR_ELT(out, 1)), (size_t)sizes[0]);
  UNPROTECT(1);
  return out;
}

/* The store has these pages: what is new is new against them. */
SEXP ffi_session_known(SEXP handle, SEXP bytes) {
  const size_t pages = (size_t)Rf_xlength(bytes) / IMAGE_PAGE;
  make_image(handle, pages);
  live_t *live = handle_of(handle);
  memcpy(live->image.bytes, RAW(bytes), pages * IMAGE_PAGE);
  live->image.sum = 0;
  for (size_t i = 0; i < pages; i++) live->image.sum += image_page_sum(live->image.bytes, i);
  return R_NilValue;
}
