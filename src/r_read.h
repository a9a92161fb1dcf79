#ifndef DPTS_R_READ_H
#define DPTS_R_READ_H
/* Reading R values into kernels' structs, for the shims. Values were checked in R;
   these stop only on a mistake of ours. */

#include "noise_exact_laplace.h"
#include "r_list.h"
#include "play_session.h"

/* Arms and worlds point into the R value, which must stay protected, and into blocks that become
   an element of a protected list. */
void read_arms(SEXP value, SEXP kept, int at, arms_t *arms);
void read_world(SEXP value, SEXP kept, int at, world_t *world);
void read_policy(SEXP value, int k, int dim, double horizon, spec_t *spec);

/* c(people, visits of each, how far apart, most that count, are they in different batches?), or NULL: none.
   The caller gives memory to the group. */
void read_visits(SEXP x, visits_t *visits);

/* c(mu, epsilon, is it continuous?) of another outcome -> its report before the first release */
report_t read_outcome(SEXP how);

/* A session in memory of R's that lasts as long as the call, before its first round. */
session_t new_session(const spec_t *spec, draws_t draws);

/* Observers by their names, and memory for what they keep -> a named list of matrices, which must
   stay protected */
SEXP read_observers(SEXP names, int n_runs, observation_t *all);

/* c(kind, scale, step, correlation) */
noise_law_t read_noise(SEXP noise);

/* What a list asks of evidence: its kind, and what is fixed before the first release */
const martingale_t *read_rule(SEXP ask);
design_t read_design(SEXP ask, int k);

/* Exact noise, "laplace" or "normal" */
exact_sampler_t exact_sampler(SEXP distribution);

/* What went wrong, for an error message. */
const char *session_message(session_status_t status);

/* A ledger for so many numbers, whose columns are elements of a protected list, from `at` on. */
#define LEDGER_NAMES "exact", "kind", "scale", "noise", "value", "release", "gain", "correlation"
ledger_t keep_ledger(SEXP list, int at, int max, int silent);

/* Threads that may be used: 1 without OpenMP and in forked children. */
int usable_threads(int wanted);
void remember_process(void);

#endif
