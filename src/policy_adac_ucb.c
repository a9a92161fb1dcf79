/* AdaC-UCB: Azize and Basu (2023). The episodes of AdaP-UCB with Gaussian noise, under
   rho-zCDP, rho = mu^2 / 2: the sum of an episode gets N(0, 1 / (2 rho)), and the index is
   mean + sqrt(beta ln(t) (1 / (2 m) + 1 / (rho m^2))).

   That is sqrt(2 beta ln(t) v), v = 1 / (4 m) + sd^2 being the variance of the mean. With
   `correlation` above 0 (ours) nothing is forgotten: episodes are released as a moving average
   (noise_moving_average.h), and v is the variance of the mean of them all. */

#include "policy_batches.h"
#include "policy_tournament_closing.h"

enum { MU, BETA, CORRELATION };
PARAMETERS(PARAMS, NEEDS("mu"), NEEDS("beta"), NEEDS("correlation"));

static plan_t plan(const spec_t *spec) {
  const double *par = spec->par;
  return (plan_t){.first = 1,
                  .ratio = 2,
                  .how = {.kind = NOISE_GAUSSIAN,
                          .scale = 1 / par[MU],
                          .forget = par[CORRELATION] == 0,
                          .correlation = par[CORRELATION]}};
}

/* The index is mean + slope sqrt(beta ln(t)). */
static double slope(const void *state, int arm) {
  const batches_t *s = state;
  const released_t *a = &s->arms[arm];
  const double sd = a->spread * s->plan.how.scale;
  return sqrt(1 / (2 * a->m) + 2 * sd * sd);
}

static double index_of(const void *state, int arm, double clock) {
  return ((const batches_t *)state)->arms[arm].mean + clock * slope(state, arm);
}

static double closing(const void *state, int a, int b, double clock) {
  (void)clock;
  const released_t *arms = ((const batches_t *)state)->arms;
  return fabs(slope(state, a) - slope(state, b)) + apart(arms[a].mean, arms[b].mean);
}

static const index_t ORDER = {.index = index_of, .closing = closing};

static int best_arm(const batches_t *s, const round_t *round) {
  tournament_t *t = batches_tournament(s, round);
  const double clock = sqrt(s->par[BETA] * log((double)round->t));
  return t ? closing_winner(&ORDER, s, t, clock) : index_scan(&ORDER, s, round, clock);
}

BATCH_POLICY(adac_ucb, NULL, 0)
