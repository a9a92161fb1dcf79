/* Policies without R, for compilers and machines where R does not run: tools/known.R gives games on standard input
   and knows the answers. A game is a line: name of the policy, arms, horizon, every, flip, seed, number of
   parameters, each by its name and value (or the name of its choice), number of rounds, and the reward of each.
   Its answer is a line: the arms, from 1, and all noise. Numbers are written as their bits, so that the library
   that reads them decides nothing. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../src/play_session.h"
#include "../src/sample.h"

/* math_linalg.c calls R's BLAS and LAPACK. Games have no contexts, so that nothing of them is called. */
void dlauum_(void) { abort(); }
void dpotrf_(void) { abort(); }
void dsyev_(void) { abort(); }
void dsyrk_(void) { abort(); }
void dtrtri_(void) { abort(); }

static char word[1000];

static const char *next(void) { return scanf("%999s", word) == 1 ? word : NULL; }

static double of_bits(const char *text) {
  const uint64_t bits = strtoull(text, NULL, 16);
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static double number(void) {
  const char *text = next();
  return text ? of_bits(text) : NAN;
}

static double value_of(const param_t *param, const char *text) {
  if (!param->choices) return of_bits(text);
  for (int i = 0; param->choices[i]; i++)
    if (!strcmp(param->choices[i], text)) return i;
  return NAN;
}

static void *room(size_t bytes) { return calloc(bytes / sizeof(double) + 1, sizeof(double)); }

enum { MOST = 100000 }; /* releases of a game */

static void play(spec_t *spec, uint64_t seed, int64_t rounds) {
  ledger_t ledger = {.max = MOST};
  for (int i = 0; i < LEDGER_COLUMNS; i++) ledger.column[i] = room(MOST * sizeof(double));
  session_t session = session_on(room(session_size(spec)), spec);
  session.draws = draws_of(seed, 1, &ledger);
  session_begin(&session);
  for (int64_t t = 1; t <= rounds; t++) {
    const round_t round = session_round(&session);
    feedback_t feedback = {.t = t, .reward = number()};
    session_status_t status = session_choose(&session, &round, &feedback.arm);
    if (!status) status = session_commit(&session, &round, feedback.arm, &feedback.batch);
    if (!status) status = session_update(&session, &feedback);
    if (status) {
      printf("%s: status %d in round %d", spec->policy->name, (int)status, (int)t);
      exit(1);
    }
    printf("%d,", feedback.arm + 1);
  }
  for (int i = 0; i < ledger.n; i++) {
    uint64_t bits;
    memcpy(&bits, &ledger.column[LEDGER_NOISE][i], sizeof bits);
    printf(" %08x%08x", (unsigned)(bits >> 32), (unsigned)bits);
  }
  printf("\n");
  for (int i = 0; i < LEDGER_COLUMNS; i++) free(ledger.column[i]);
  free(session.state);
}

int main(void) {
  sample_init();
  while (next()) {
    spec_t spec = {.policy = policy_find(word)};
    if (!spec.policy) return printf("no policy %s\n", word), 1;
    spec.k = (int)number();
    spec.horizon = number();
    spec.every = (int64_t)number();
    if (spec.every > 0) spec.horizon = fmin(spec.horizon, (double)spec.every);
    spec.flip = number();
    const uint64_t seed = (uint64_t)number();
    const int n = (int)number();
    for (int i = 0; i < POLICY_MAX_PAR; i++) spec.par[i] = NAN;
    for (int i = 0; i < n; i++) {
      char name[100];
      snprintf(name, sizeof name, "%s", next());
      const char *text = next();
      for (int j = 0; spec.policy->params[j].name; j++)
        if (!strcmp(spec.policy->params[j].name, name)) spec.par[j] = value_of(&spec.policy->params[j], text);
    }
    play(&spec, seed, (int64_t)number());
  }
  return 0;
}
