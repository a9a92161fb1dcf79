#ifndef DPTS_PLAY_SESSION_VIEW_H
#define DPTS_PLAY_SESSION_VIEW_H
/* What a policy sees where that is less than what happens. A policy that is restarted every so many
   rounds sees rounds, counts and rewards since its last restart, so each reward is used in one segment.
   A policy that is not trusted with rewards sees each as a random bit, by randomised response. The
   policy itself needs no change. */

#include "play_session.h"

static inline int spec_is_viewed(const spec_t *spec) { return spec->every > 0 || spec->flip > 0; }

static inline int session_is_viewed(const session_t *session) { return session->own != session->pulls; }

/* The round as the policy sees it; `space` is memory for it. */
static inline const round_t *view_round(const session_t *session, const round_t *round, round_t *space) {
  *space = *round;
  space->t -= session->start;
  space->pulls = session->own;
  return space;
}

/* Replaces a reward by what the policy sees of it; returns 0 if it belongs to an earlier segment. */
static inline int view_feedback(session_t *session, feedback_t *feedback) {
  if (feedback->t <= session->start) return 0;
  feedback->t -= session->start;
  if (!session->shown) return 1;
  feedback->reward = release_bit(&session->draws, feedback->reward, session->spec->flip);
  tally_t *shown = &session->shown[feedback->arm];
  shown->n += 1;
  shown->sum += feedback->reward;
  return 1;
}

/* The policy's skip in this view. */
void view_skip(session_t *session, player_t *player);

#endif
