#include <string.h>
#include "session.h"
#include "session_view.h"
#include "util.h"

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

/* In these three, `viewed` is session_is_viewed(), or 0 where the caller knows that. */

static ALWAYS_INLINE session_status_t choose(session_t *session, const round_t *round,
                                             int *arm, int viewed) {
  round_t space;
  const round_t *seen = viewed ? view_round(session, round, &space) : round;
  *arm = session->spec->policy->choose(session->state, seen, &session->draws);
  if (*arm < 0) return SESSION_NO_ARM;
  return on_offer(session, round, *arm) ? SESSION_OK : SESSION_NOT_OFFERED;
}

/* Returns the batch. */
static ALWAYS_INLINE int64_t commit(session_t *session, const round_t *round, int arm,
                                    int viewed) {
  const policy_t *policy = session->spec->policy;
  int64_t batch = 0;
  if (policy->commit) {
    round_t space;
    const round_t *seen = viewed ? view_round(session, round, &space) : round;
    batch = policy->commit(session->state, seen, arm, &session->draws);
  }
  session->t++;
  session->pulls[arm]++;
  if (viewed) session->own[arm]++;
  return batch;
}

static ALWAYS_INLINE session_status_t update(session_t *session, feedback_t *feedback,
                                             int viewed) {
  const policy_t *policy = session->spec->policy;
  if (feedback->reward != feedback->reward) return SESSION_NO_REWARD;
  if ((!viewed || view_feedback(session, feedback)) && policy->update) {
    policy->update(session->state, feedback, &session->draws);
  }
  return session->draws.failed ? SESSION_BAD_NOISE : SESSION_OK;
}

session_status_t session_choose(session_t *session, const round_t *round, int *arm) {
  return choose(session, round, arm, session_is_viewed(session));
}

session_status_t session_commit(session_t *session, const round_t *round, int arm,
                                int64_t *batch) {
  if (!on_offer(session, round, arm)) return SESSION_NOT_OFFERED;
  *batch = commit(session, round, arm, session_is_viewed(session));
  return session->draws.failed ? SESSION_BAD_NOISE : SESSION_OK;
}

session_status_t session_update(session_t *session, const feedback_t *feedback) {
  const int known = feedback->arm >= 0 && feedback->arm < session->spec->k &&
                    feedback->t >= 1 && feedback->t <= session->t;
  feedback_t seen = *feedback;
  return known ? update(session, &seen, session_is_viewed(session)) : SESSION_NOT_OUT;
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
static ALWAYS_INLINE session_status_t deliver(session_t *session, late_t *late, int64_t t,
                                              int viewed) {
  session_status_t status = SESSION_OK;
  feedback_t feedback;
  while (status == SESSION_OK && late_next(late, t, &feedback)) {
    status = update(session, &feedback, viewed);
    late_drop(late, t);
  }
  return status;
}

/* `plain` is known when this is compiled: the environment has no hooks, and the policy sees all of
   it. So is a `late` that is NULL: rewards come at once. Most simulations are so, and pay for
   nothing else. */
static ALWAYS_INLINE session_status_t play(session_t *session, environment_t *env,
                                           late_t *late, int64_t steps, const int plain) {
  const environment_kind_t *kind = env->kind;
  const int viewed = !plain && session_is_viewed(session);
  session_status_t status = SESSION_OK;
  round_t round = session_round(session);
  for (; steps > 0 && !env->over && status == SESSION_OK; steps--) {
    if (plain) round.t = session->t + 1; /* all else stands */
    else round = session_round(session);
    if (!plain && kind->offer) kind->offer(env, &round);
    int arm = !plain && kind->force ? kind->force(env, &round) : -1;
    if (arm < 0) status = choose(session, &round, &arm, viewed);
    if (status != SESSION_OK) break;
    double reward;
    if (plain) reward = environment_draw(env, arm);
    else if (!environment_pull(env, &round, arm, &reward)) continue;
    const int64_t batch = commit(session, &round, arm, viewed);
    if (late) {
      status = late_add(late, &round, arm, batch, reward)
                   ? deliver(session, late, round.t, viewed)
                   : SESSION_FULL;
    } else {
      feedback_t feedback = {round.t, arm, reward, batch, round_context(&round, arm)};
      status = update(session, &feedback, viewed);
    }
  }
  return status;
}

session_status_t session_play(session_t *session, environment_t *env, late_t *late,
                              int64_t steps) {
  const environment_kind_t *kind = env->kind;
  const int plain =
      !(kind->offer || kind->force || kind->pull || session_is_viewed(session));
  if (!plain) return play(session, env, late, steps, 0);
  return late ? play(session, env, late, steps, 1) : play(session, env, NULL, steps, 1);
}

session_status_t session_skip(session_t *session, player_t *player) {
  if (session->t == session->end) session_restart(session);
  if (spec_is_viewed(session->spec)) view_skip(session, player);
  else session->spec->policy->skip(session->state, player, &session->draws);
  session->t = player->t;
  if (player->failed) return player->failed == NO_ARM ? SESSION_NO_ARM : SESSION_BOUND;
  return session->draws.failed ? SESSION_BAD_NOISE : SESSION_OK;
}
