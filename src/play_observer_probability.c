/* The probability with which the policy chose the arm that it pulled, in every round, if the policy
   reports it. */

#include "play_session.h"

static size_t rows(const survey_t *survey) { return survey->tosses ? (size_t)survey->horizon : 0; }

static size_t size(const survey_t *survey) { return sizeof(double) * (size_t)survey->k; }

static int chosen(observer_t *observer, const session_t *session, const round_t *round, int arm) {
  double *p = observer->space;
  const session_status_t status = session_probability(session, round, p);
  ((double *)observer->out[0])[observer->kept++] = p[arm];
  return (int)status;
}

OBSERVER(probability, .output = {{"probability", 0, rows}}, .size = size, .chosen = chosen);
