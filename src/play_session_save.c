/* A session as bytes: a head that identifies it, then its clock, streams, counts and state. A session of
   another policy, problem, version or machine is refused, and so is a damaged one: a checksum covers all
   of it. */

#include <string.h>
#include "play_session_view.h"
#include "math_util.h"

#define SAVE_FORMAT     5
#define BYTE_ORDER_MARK 0x0102030405060708u

typedef struct {
  char magic[8];
  uint64_t byte_order;
  uint64_t size, checksum; /* bytes in total; checksum of everything after the head */
  uint32_t format, state_version;
  uint64_t problem; /* hash of the policy's name and parameters, k, dim and horizon */
} head_t;

typedef struct {
  int64_t t, start, end, finished;
  double charged;
  rng_t policy, noise;
} saved_clock_t;

static const char MAGIC[8] = {'d', 'p', 't', 's', 's', 'e', 's', 's'};

static uint64_t problem_hash(const spec_t *spec) {
  uint64_t h = spec->inner ? problem_hash(spec->inner) : HASH_START;
  h = hash_on(h, spec->policy->name, strlen(spec->policy->name));
  for (int i = 0; spec->policy->params[i].name; i++) {
    const double par = spec->par[i];
    h = par == par ? hash_on(h, &par, sizeof par) : hash_on(h, "NaN", 3); /* all NaN count as the same */
  }
  h = hash_on(h, &spec->every, sizeof spec->every);
  h = hash_on(h, &spec->flip, sizeof spec->flip);
  h = hash_on(h, &spec->k, sizeof spec->k);
  h = hash_on(h, &spec->dim, sizeof spec->dim);
  return hash_on(h, &spec->horizon, sizeof spec->horizon);
}

size_t session_save_size(const session_t *session) {
  const spec_t *spec = session->spec;
  return sizeof(head_t) + sizeof(saved_clock_t) + session_counts_size(spec) + spec->policy->size(spec);
}

static char *put(char *to, const void *from, size_t n) {
  if (n) memcpy(to, from, n);
  return to + n;
}

static const char *get(void *to, const char *from, size_t n) {
  if (n) memcpy(to, from, n);
  return from + n;
}

size_t session_front_size(void) { return sizeof(head_t) + sizeof(saved_clock_t); }

void touch(touched_t *touched, int arm) {
  int at = 0;
  while (at < touched->n && touched->arms[at] < arm) at++;
  if (at < touched->n && touched->arms[at] == arm) return;
  if (touched->n < 0 || touched->n == MAX_TOUCHED) {
    touched->n = -1;
    return;
  }
  for (int i = touched->n++; i > at; i--) touched->arms[i] = touched->arms[i - 1];
  touched->arms[at] = arm;
}

/* The state from byte `at` to `size` */
static int state_pieces(const session_t *session, const touched_t *touched, size_t at, size_t size,
                        piece_t *pieces) {
  const policy_t *policy = session->spec->policy;
  const char *state = session->state;
  int n = 0;
  size_t from, each;
  const int known = touched->n >= 0 && policy->own && !session_is_viewed(session);
  for (int i = 0; known && i < MAX_OWN && policy->own(state, i, &from, &each); i++) {
    pieces[n++] = (piece_t){state + at, from - at};
    at = from;
    for (int j = 0; j < touched->n; j++) {
      const size_t own = from + each * (size_t)touched->arms[j];
      pieces[n++] = (piece_t){NULL, own - at};
      pieces[n++] = (piece_t){state + own, each};
      at = own + each;
    }
    const size_t end = from + each * (size_t)session->spec->k;
    pieces[n++] = (piece_t){NULL, end - at};
    at = end;
  }
  pieces[n++] = (piece_t){state + at, size - at};
  return n;
}

int session_pieces(const session_t *session, const touched_t *touched, void *front, piece_t *pieces) {
  static const char no_pointer[sizeof(void *)];
  const spec_t *spec = session->spec;
  const size_t size = spec->policy->size(spec), hidden = spec->host || spec->inner ? sizeof(void *) : 0;
  const saved_clock_t clock = {session->t,          session->start,   session->end,
                               session->finished,   session->charged, session->draws.policy,
                               session->draws.noise};
  head_t head = {.byte_order = BYTE_ORDER_MARK,
                 .size = session_save_size(session),
                 .format = SAVE_FORMAT,
                 .state_version = spec->policy->state_version,
                 .problem = problem_hash(spec)};
  memcpy(head.magic, MAGIC, sizeof MAGIC);
  put(put(front, &head, sizeof head), &clock, sizeof clock);
  pieces[0] = (piece_t){front, session_front_size()};
  pieces[1] = (piece_t){session->pulls, session_counts_size(spec)};
  pieces[2] = (piece_t){no_pointer, hidden};
  return 3 + state_pieces(session, touched, hidden, size, pieces + 3);
}

void session_seal(void *bytes, size_t size) {
  head_t head;
  if (size < sizeof head) return;
  memcpy(&head, bytes, sizeof head);
  head.checksum = hash_on(HASH_START, (const char *)bytes + sizeof head, size - sizeof head);
  memcpy(bytes, &head, sizeof head);
}

void session_save(const session_t *session, void *to) {
  char front[sizeof(head_t) + sizeof(saved_clock_t)], *at = to;
  piece_t pieces[SESSION_PIECES];
  const touched_t all = {.n = -1};
  const int n = session_pieces(session, &all, front, pieces);
  for (int i = 0; i < n; i++) at = put(at, pieces[i].data, pieces[i].size);
  session_seal(to, (size_t)(at - (char *)to));
}

/* Are the size and the checksum right? */
static int read_head(const void *from, size_t size, head_t *head) {
  if (size < sizeof *head + sizeof(saved_clock_t)) return 0;
  memcpy(head, from, sizeof *head);
  return memcmp(head->magic, MAGIC, sizeof MAGIC) == 0 && head->byte_order == BYTE_ORDER_MARK &&
         head->size == size &&
         head->checksum == hash_on(HASH_START, (const char *)from + sizeof *head, size - sizeof *head);
}

size_t session_scratch(const session_t *session) {
  const size_t size = session->spec->policy->size(session->spec);
  return 2 * (size + sizeof(double));
}

/* May clock, counts and state be used? They may be nonsense under a right checksum. The counts begin with the
   pulls of all arms and, of a policy that leaves some out, how many these are. */
static int is_sound(const spec_t *spec, const saved_clock_t *clock, const char *counts, const void *state,
                    void *fresh) {
  int sound = clock->start >= 0 && clock->t >= clock->start;
  for (int i = 0; i < spec->k; i++) {
    int64_t pulls, apart = 0;
    get(&pulls, counts + sizeof pulls * (size_t)i, sizeof pulls);
    if (spec_leaves_out(spec)) get(&apart, counts + sizeof apart * (size_t)(spec->k + i), sizeof apart);
    sound &= pulls >= apart && apart >= 0;
  }
  if (!sound || !spec->policy->sound) return sound;
  memset(fresh, 0, spec->policy->size(spec));
  spec->policy->init(fresh, spec);
  return spec->policy->sound(state, fresh);
}

session_status_t session_restore(session_t *session, const void *from, size_t size, void *scratch) {
  const spec_t *spec = session->spec;
  head_t head;
  saved_clock_t clock;
  if (!read_head(from, size, &head)) return SESSION_DAMAGED;
  if (head.format != SAVE_FORMAT || head.state_version != spec->policy->state_version ||
      head.problem != problem_hash(spec)) {
    return SESSION_OTHER;
  }
  if (size != session_save_size(session)) return SESSION_DAMAGED;
  const char *at = get(&clock, (const char *)from + sizeof head, sizeof clock);
  const size_t counts = session_counts_size(spec), state = spec->policy->size(spec);
  void *fresh = (char *)scratch + session_scratch(session) / 2 / sizeof(double) * sizeof(double);
  get(scratch, at + counts, state);
  if (!is_sound(spec, &clock, at, scratch, fresh)) return SESSION_DAMAGED;
  session_begin(session);
  session->t = clock.t;
  session->start = clock.start;
  session->end = clock.end;
  session->finished = clock.finished;
  session->charged = clock.charged;
  session->draws.policy = clock.policy;
  session->draws.noise = clock.noise;
  get(session->pulls, at, counts);
  memcpy(session->state, scratch, state);
  if (spec->host) memcpy(session->state, &spec->host, sizeof(void *));
  if (spec->inner) memcpy(session->state, &spec->inner, sizeof(void *));
  return SESSION_OK;
}
