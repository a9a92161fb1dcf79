#ifndef DPTS_PLAY_SESSION_VIEW_H
#define DPTS_PLAY_SESSION_VIEW_H
/* What a policy is shown where that is less than what happens. A policy that is started anew every
   so many rounds lives in rounds, counts and rewards of its own life: nothing from before
   reaches it, so each reward is used in one life. And one that is not trusted with rewards sees
   each as a random bit, by randomised response. The policy need not know of either. */

#include "play_session.h"

static inline int spec_is_viewed(const spec_t *spec) {
  return spec->every > 0 || spec->flip > 0;
}

static inline int session_is_viewed(const session_t *session) {
  return session->own != session->pulls;
}

/* The round as the policy sees it, in `space`. */
static inline const round_t *view_round(const session_t *session, const round_t *round,
                                        round_t *space) {
  *space = *round;
  space->t -= session->start;
  space->pulls = session->own;
  return space;
}

/* Turns a reward into what the policy sees of it; 0: it does not, for it is of an earlier
   life. */
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

/* The policy's skip in such a world. */
void view_skip(session_t *session, player_t *player);

#endif
