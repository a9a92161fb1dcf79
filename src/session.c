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
  session->out = 0;
  session->free = session->room > 0 ? 0 : -1;
  for (int i = 0; i < session->room; i++) {
    session->pending[i] = (pending_t){.next = i + 1 < session->room ? i + 1 : -1};
  }
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
  if ((!viewed || view_feedback(session, feedback)) && policy->update) {
    policy->update(session->state, feedback, &session->draws);
  }
  return session->draws.failed ? SESSION_BAD_NOISE : SESSION_OK;
}

session_status_t session_choose(session_t *session, const round_t *round, int *arm) {
  return choose(session, round, arm, session_is_viewed(session));
}

/* ---- pulls whose rewards are out ---------------------------------------------------- */

static double *context_at(const session_t *session, int at) {
  const size_t dim = (size_t)session->spec->dim;
  return dim ? session->context + dim * (size_t)at : NULL;
}

/* Returns the place. The caller has seen that there is room. */
static int hold(session_t *session, const round_t *round, int arm, int64_t batch) {
  const int at = session->free;
  pending_t *pending = &session->pending[at];
  session->free = pending->next;
  session->out++;
  *pending = (pending_t){.t = round->t, .batch = batch, .arm = arm, .next = -1};
  if (session->spec->dim) {
    memcpy(context_at(session, at), round_context(round, arm),
           sizeof(double) * (size_t)session->spec->dim);
  }
  return at;
}

static session_status_t resolve(session_t *session, int at, double reward) {
  pending_t *pending = &session->pending[at];
  feedback_t feedback = {pending->t, pending->arm, reward, pending->batch,
                         context_at(session, at)};
  pending->t = 0;
  pending->next = session->free;
  session->free = at;
  session->out--;
  return update(session, &feedback, session_is_viewed(session));
}

session_status_t session_commit(session_t *session, const round_t *round, int arm) {
  if (!on_offer(session, round, arm)) return SESSION_NOT_OFFERED;
  if (session->free < 0) return SESSION_FULL;
  const int64_t batch = commit(session, round, arm, session_is_viewed(session));
  hold(session, round, arm, batch);
  return session->draws.failed ? SESSION_BAD_NOISE : SESSION_OK;
}

session_status_t session_assign(session_t *session, const round_t *round, int arm,
                                int64_t *batch) {
  if (!on_offer(session, round, arm)) return SESSION_NOT_OFFERED;
  *batch = commit(session, round, arm, session_is_viewed(session));
  return session->draws.failed ? SESSION_BAD_NOISE : SESSION_OK;
}

session_status_t session_feed(session_t *session, const feedback_t *feedback) {
  feedback_t copy = *feedback;
  return update(session, &copy, session_is_viewed(session));
}

/* By a look at all places: whoever has millions of them out keeps an index of their own. */
session_status_t session_update(session_t *session, int64_t t, double reward) {
  for (int i = 0; i < session->room; i++) {
    if (session->pending[i].t == t) return resolve(session, i, reward);
  }
  return SESSION_NOT_OUT;
}

report_t session_report(const session_t *session, int arm) {
  const policy_t *policy = session->spec->policy;
  if (session->shown) {
    return report_plain(session->shown[arm].n, session->shown[arm].sum);
  }
  return policy->report ? policy->report(session->state, arm) : (report_t){0};
}

/* ---- the loop ---------------------------------------------------------------------- */

void late_begin(late_t *late) {
  for (int64_t i = 0; i <= late->mask; i++) late->first[i] = late->last[i] = -1;
}

/* The round after which the reward of round t is learned. */
static inline int64_t learned(late_t *late, int64_t t) {
  if (late->sampled) t += late->delays[rng_below(&late->rng, (int)late->n_delays)];
  else t += late->delays ? late->delays[(t - 1) % late->n_delays] : late->delay;
  if (late->batch <= 1) return t;
  return (t + late->batch - 1) / late->batch * late->batch;
}

/* The pull of this round joins those that are learned after the same one. */
static inline session_status_t wait(session_t *session, late_t *late, const round_t *round,
                                    int arm, int64_t batch, double reward) {
  if (session->free < 0) return SESSION_FULL;
  const int at = hold(session, round, arm, batch);
  late->reward[at] = reward;
  const int64_t due = learned(late, round->t) & late->mask;
  if (late->last[due] < 0) late->first[due] = at;
  else session->pending[late->last[due]].next = at;
  late->last[due] = at;
  return SESSION_OK;
}

/* The end of round t: first in, first out. */
static inline session_status_t deliver(session_t *session, late_t *late, int64_t t) {
  const int64_t due = t & late->mask;
  session_status_t status = SESSION_OK;
  for (int at = late->first[due]; at >= 0 && status == SESSION_OK;) {
    const int next = session->pending[at].next;
    status = resolve(session, at, late->reward[at]);
    at = next;
  }
  late->first[due] = late->last[due] = -1;
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
    if (!plain && session->t == session->end) session_restart(session);
    round.t = session->t + 1;
    if (!plain && kind->offer) kind->offer(env, &round);
    int arm = !plain && kind->force ? kind->force(env, &round) : -1;
    if (arm < 0) status = choose(session, &round, &arm, viewed);
    if (status != SESSION_OK) break;
    double reward;
    if (plain) reward = environment_draw(env, arm);
    else if (!environment_pull(env, &round, arm, &reward)) continue;
    const int64_t batch = commit(session, &round, arm, viewed);
    if (late) {
      status = wait(session, late, &round, arm, batch, reward);
      if (status == SESSION_OK) status = deliver(session, late, round.t);
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
  if (player->failed) return SESSION_NO_ARM;
  return session->draws.failed ? SESSION_BAD_NOISE : SESSION_OK;
}
