/* AdaP-UCB: Azize and Basu (2022), Algorithm 1.

   Play each arm once. At the start t of an episode pull the arm of the largest
   mean + sqrt(alpha ln(2 t) / (2 m)) + alpha ln(t) / (epsilon m) until its pulls have doubled. The mean is
   that of the m rewards of the arm's last episode, half of all its pulls, and has the noise of one
   Lap(1 / epsilon) on their sum. */

#include "policy_batches.h"
#include "policy_tournament_closing.h"

enum { EPSILON, ALPHA };
PARAMETERS(PARAMS, NEEDS("epsilon"), NEEDS("alpha"));

static plan_t plan(const spec_t *spec) {
  const double *par = spec->par;
  return (plan_t){
      .first = 1, .ratio = 2, .how = {.kind = NOISE_LAPLACE, .scale = 1 / par[EPSILON], .forget = 1}};
}

static double index_of(const void *state, int arm, double ln_t) {
  const batches_t *s = state;
  const released_t *a = &s->arms[arm];
  const double alpha = s->par[ALPHA];
  const double ln_2t = 0.69314718055994531 + ln_t;
  return a->mean + sqrt(alpha * ln_2t / (2 * a->m)) + alpha * ln_t / (s->par[EPSILON] * a->m);
}

/* |sqrt(1 / m_a) - sqrt(1 / m_b)| is at most |1 / m_a - 1 / m_b| / sqrt(1 / m_a + 1 / m_b). */
static double closing(const void *state, int a, int b, double ln_t) {
  const batches_t *s = state;
  const released_t *arms = s->arms;
  const double m_a = arms[a].m, m_b = arms[b].m, alpha = s->par[ALPHA];
  const double both = m_a * m_b, differ = fabs(m_a - m_b);
  const double ln_2t = 0.69314718055994531 + ln_t;
  return differ * (sqrt(alpha / (8 * ln_2t * both * (m_a + m_b))) + alpha / (s->par[EPSILON] * both)) +
         apart(arms[a].mean, arms[b].mean);
}

static const index_t ORDER = {.index = index_of, .closing = closing};

static int best_arm(const batches_t *s, const round_t *round) {
  tournament_t *t = batches_tournament(s, round);
  const double clock = log((double)round->t);
  return t ? closing_winner(&ORDER, s, t, clock) : index_scan(&ORDER, s, round, clock);
}

BATCH_POLICY(adap_ucb, NULL, 0)
