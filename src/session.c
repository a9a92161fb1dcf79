#include <string.h>
#include "session.h"
#include "session_view.h"

/* ---- one round ---------------------------------------------------------------------- */

size_t session_counts_size(const spec_t *spec) {
  return (sizeof(int64_t) * (spec_is_viewed(spec) ? 2 : 1) +
          (spec->flip > 0 ? sizeof(tally_t) : 0)) *
         (size_t)spec->k;
}

void session_begin(session_t *session) {
  const spec_t *spec = session->spec;
  const size_t k = (size_t)spec->k;
  session->t = 0;
  memset(session->pulls, 0, sizeof(int64_t) * k);
  session->own = session->pulls + (spec_is_viewed(spec) ? k : 0);
  session->shown = spec->flip > 0 ? (tally_t *)(session->own + k) : NULL;
  session_restart(session);
}

/* What it has learned is forgotten, and rewards that are out will not reach it. */
void session_restart(session_t *session) {
  const spec_t *spec = session->spec;
  session->start = session->t;
  session->end = spec->every > 0 ? session->t + spec->every : INT64_MAX;
  memset(session->own, 0, sizeof(int64_t) * (size_t)spec->k);
  if (session->shown) memset(session->shown, 0, sizeof(tally_t) * (size_t)spec->k);
  spec->policy->init(session->state, spec);
}

/* Arms of an offer differ, so one of k arms is all of them. */
static inline int on_offer(const session_t *session, const round_t *round, int arm) {
  if (round->n_offer == session->spec->k) return arm >= 0 && arm < round->n_offer;
  FOR_EACH_ARM(i, round) if (i == arm) return 1;
  return 0;
}

static inline session_status_t choose(session_t *session, const round_t *round, int *arm) {
  const round_t seen = view_round(session, round);
  *arm = session->spec->policy->choose(session->state, &seen, &session->draws);
  if (*arm < 0) return SESSION_NO_ARM;
  return on_offer(session, round, *arm) ? SESSION_OK : SESSION_NOT_OFFERED;
}

/* Returns the batch. */
static inline int64_t commit(session_t *session, const round_t *round, int arm) {
  const policy_t *policy = session->spec->policy;
  int64_t batch = 0;
  if (policy->commit) {
    const round_t seen = view_round(session, round);
    batch = policy->commit(session->state, &seen, arm, &session->draws);
  }
  session->t++;
  session->pulls[arm]++;
  if (session->own != session->pulls) session->own[arm]++;
  return batch;
}

static inline session_status_t update(session_t *session, const feedback_t *feedback) {
  const policy_t *policy = session->spec->policy;
  feedback_t seen = *feedback;
  if (seen.reward != seen.reward) return SESSION_NO_REWARD;
  if (view_feedback(session, &seen) && policy->update) {
    policy->update(session->state, &seen, &session->draws);
  }
  return session->draws.failed ? SESSION_BAD_NOISE : SESSION_OK;
}

session_status_t session_choose(session_t *session, const round_t *round, int *arm) {
  return choose(session, round, arm);
}

session_status_t session_commit(session_t *session, const round_t *round, int arm,
                                int64_t *batch) {
  if (!on_offer(session, round, arm)) return SESSION_NOT_OFFERED;
  *batch = commit(session, round, arm);
  return session->draws.failed ? SESSION_BAD_NOISE : SESSION_OK;
}

session_status_t session_update(session_t *session, const feedback_t *feedback) {
  const int known = feedback->arm >= 0 && feedback->arm < session->spec->k &&
                    feedback->t >= 1 && feedback->t <= session->t;
  return known ? update(session, feedback) : SESSION_NOT_OUT;
}

report_t session_report(const session_t *session, int arm) {
  const policy_t *policy = session->spec->policy;
  if (session->shown) {
    return report_plain(session->shown[arm].n, session->shown[arm].sum);
  }
  return policy->report ? policy->report(session->state, arm) : (report_t){0};
}

/* ---- the loop ---------------------------------------------------------------------- */

/* The end of round t. */
static inline session_status_t deliver(session_t *session, late_t *late, int64_t t) {
  session_status_t status = SESSION_OK;
  feedback_t feedback;
  while (status == SESSION_OK && late_next(late, t, &feedback)) {
    status = update(session, &feedback);
    late_drop(late, t);
  }
  return status;
}

session_status_t session_play(session_t *session, environment_t *env, late_t *late,
                              int64_t steps) {
  const environment_kind_t *kind = env->kind;
  session_status_t status = SESSION_OK;
  for (; steps > 0 && !env->over && status == SESSION_OK; steps--) {
    round_t round = session_round(session);
    if (kind->offer) kind->offer(env, &round);
    int arm = kind->force ? kind->force(env, &round) : -1;
    if (arm < 0) status = choose(session, &round, &arm);
    if (status != SESSION_OK) break;
    double reward;
    if (!environment_pull(env, &round, arm, &reward)) continue;
    const int64_t batch = commit(session, &round, arm);
    if (late) {
      status = late_add(late, &round, arm, batch, reward) ? deliver(session, late, round.t)
                                                          : SESSION_FULL;
    } else {
      const feedback_t feedback = {round.t, arm, reward, batch, round_context(&round, arm)};
      status = update(session, &feedback);
    }
  }
  return status;
}

session_status_t session_skip(session_t *session, player_t *player) {
  if (session->t == session->end) session_restart(session);
  if (spec_is_viewed(session->spec)) view_skip(session, player);
  else session->spec->policy->skip(session->state, player, &session->draws);
  session->t = player->t;
  if (player->failed) return player->failed == NO_ARM ? SESSION_NO_ARM : SESSION_BOUND;
  return session->draws.failed ? SESSION_BAD_NOISE : SESSION_OK;
}
