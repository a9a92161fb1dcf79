/* The chance with which the policy chose the arm that it pulled, in every round, where it says that. */

#include "play_session.h"

static size_t rows(const survey_t *survey) {
  return survey->tosses ? (size_t)survey->horizon : 0;
}

static size_t room(const survey_t *survey) { return sizeof(double) * (size_t)survey->k; }

static int chosen(observer_t *observer, const session_t *session, const round_t *round,
                  int arm) {
  double *p = observer->space;
  const session_status_t status = session_probability(session, round, p);
  ((double *)observer->out[0])[observer->kept++] = p[arm];
  return (int)status;
}

OBSERVER(probability, .output = {{"probability", 0, rows}}, .room = room, .chosen = chosen);
