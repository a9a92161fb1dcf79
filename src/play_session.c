#include <string.h>
#include "play_session.h"
#include "play_session_view.h"
#include "math_util.h"

/* ---- one round ---------------------------------------------------------------------- */

size_t session_counts_size(const spec_t *spec) {
  const size_t counts = 1 + (size_t)spec_leaves_out(spec) + (size_t)spec_is_viewed(spec);
  return (sizeof(int64_t) * counts + (spec->flip > 0 ? sizeof(tally_t) : 0)) * (size_t)spec->k;
}

static size_t whole_words(size_t bytes) { return (bytes + 7) / 8 * 8; }

/* Chances of the arms, where they are looked at */
static size_t chances_size(const spec_t *spec) {
  const policy_t *policy = spec->policy;
  return policy->from_outside && policy->probability ? sizeof(double) * (size_t)spec->k : 0;
}

/* The state, the guard, counts, chances, arms */
size_t session_size(const spec_t *spec) {
  return whole_words(spec->policy->size(spec)) + sizeof(uint64_t) + whole_words(session_counts_size(spec)) +
         chances_size(spec) + sizeof(int) * (size_t)spec->k;
}

static const uint64_t GUARD = 0x6470747364707473u; /* nothing that a policy would write */

session_t session_on(void *block, const spec_t *spec) {
  char *guard = (char *)block + whole_words(spec->policy->size(spec));
  char *counts = guard + sizeof(uint64_t);
  char *chances = counts + whole_words(session_counts_size(spec));
  int *arms = (int *)(chances + chances_size(spec));
  for (int i = 0; i < spec->k; i++) arms[i] = i;
  memcpy(guard, &GUARD, sizeof GUARD);
  return (session_t){.spec = spec,
                     .state = block,
                     .guard = (uint64_t *)guard,
                     .pulls = (int64_t *)counts,
                     .apart = spec_leaves_out(spec) ? (int64_t *)counts + spec->k : NULL,
                     .chances = chances_size(spec) ? (double *)chances : NULL,
                     .arms = arms};
}

/* What was called has ended: is all that lies behind the state as it was? */
static session_status_t whole(const session_t *session, session_status_t status) {
  if (*session->guard != GUARD) return SESSION_PAST;
  return status == SESSION_OK && session->draws.failed ? SESSION_BAD_NOISE : status;
}

void session_begin(session_t *session) {
  const spec_t *spec = session->spec;
  const size_t k = (size_t)spec->k;
  session->t = session->finished = 0;
  session->charged = 0;
  int64_t *last = session->apart ? session->apart : session->pulls;
  memset(session->pulls, 0, sizeof(int64_t) * k);
  if (session->apart) memset(session->apart, 0, sizeof(int64_t) * k);
  session->own = spec_is_viewed(spec) ? last + k : session->pulls;
  session->shown = spec->flip > 0 ? (tally_t *)(session->own + k) : NULL;
  session_restart(session);
}

/* The policy forgets what it has learned, and outstanding rewards will not reach it. */
void session_restart(session_t *session) {
  const spec_t *spec = session->spec;
  if (session->t > 0) session->charged = session_charged(session);
  session->start = session->t;
  session->end = spec->every > 0 ? session->t + spec->every : INT64_MAX;
  memset(session->own, 0, sizeof(int64_t) * (size_t)spec->k);
  if (session->shown) memset(session->shown, 0, sizeof(tally_t) * (size_t)spec->k);
  spec->policy->init(session->state, spec);
}

/* In these three functions `viewed` is session_is_viewed(), or 0 if the caller knows that it is. */

static ALWAYS_INLINE session_status_t choose(session_t *session, const policy_t *policy, const round_t *round,
                                             int k, int *arm, int viewed) {
  round_t space;
  const round_t *seen = viewed ? view_round(session, round, &space) : round;
  *arm = policy->choose(session->state, seen, &session->draws);
  if (*arm < 0) return SESSION_NO_ARM;
  return on_offer(round, k, *arm) ? SESSION_OK : SESSION_NOT_OFFERED;
}

/* Returns the batch. */
static ALWAYS_INLINE int64_t commit(session_t *session, const policy_t *policy, const round_t *round, int arm,
                                    int viewed) {
  int64_t batch = 0;
  if (policy->commit) {
    round_t space;
    const round_t *seen = viewed ? view_round(session, round, &space) : round;
    batch = policy->commit(session->state, seen, arm, &session->draws);
  }
  session->t++;
  session->pulls[arm]++;
  if (session->apart) session->apart[arm] += batch == 0;
  if (viewed) session->own[arm]++;
  return batch;
}

static ALWAYS_INLINE session_status_t update(session_t *session, const policy_t *policy, feedback_t *feedback,
                                             int viewed) {
  if (feedback->reward != feedback->reward) return SESSION_NO_REWARD;
  if ((!viewed || view_feedback(session, feedback)) && policy->update) {
    policy->update(session->state, feedback, &session->draws);
  }
  return session->draws.failed ? SESSION_BAD_NOISE : SESSION_OK;
}

/* commit() and update() in one. */
static ALWAYS_INLINE session_status_t learn(session_t *session, const policy_t *policy, const round_t *round,
                                            int arm, double reward) {
  if (reward != reward) return SESSION_NO_REWARD;
  session->t++;
  session->pulls[arm]++;
  policy->learn(session->state, round, arm, reward, &session->draws);
  return session->draws.failed ? SESSION_BAD_NOISE : SESSION_OK;
}

session_status_t session_choose(session_t *session, const round_t *round, int *arm) {
  return choose(session, session->spec->policy, round, session->spec->k, arm, session_is_viewed(session));
}

session_status_t session_commit(session_t *session, const round_t *round, int arm, int64_t *batch) {
  if (!on_offer(round, session->spec->k, arm)) return SESSION_NOT_OFFERED;
  *batch = commit(session, session->spec->policy, round, arm, session_is_viewed(session));
  return whole(session, SESSION_OK);
}

session_status_t session_update(session_t *session, const feedback_t *feedback) {
  const int known =
      feedback->arm >= 0 && feedback->arm < session->spec->k && feedback->t >= 1 && feedback->t <= session->t;
  feedback_t seen = *feedback;
  if (!known) return SESSION_NOT_OUT;
  return whole(session, update(session, session->spec->policy, &seen, session_is_viewed(session)));
}

static int is_distribution(const double *p, const round_t *round, int k) {
  double all = 0, on_offer = 0;
  for (int i = 0; i < k; i++) {
    if (!(p[i] >= 0)) return 0;
    all += p[i];
  }
  FOR_EACH_ARM(i, round) on_offer += p[i];
  return fabs(on_offer - 1) < 1e-9 && fabs(all - on_offer) < 1e-9;
}

session_status_t session_probability(const session_t *session, const round_t *round, double *p) {
  const policy_t *policy = session->spec->policy;
  const int k = session->spec->k, says = spec_says_chances(session->spec);
  for (int i = 0; i < k; i++) p[i] = says ? 0 : NAN;
  if (!says) return SESSION_OK;
  round_t space;
  const int viewed = session_is_viewed(session);
  policy->probability(session->state, viewed ? view_round(session, round, &space) : round, p);
  return is_distribution(p, round, k) ? SESSION_OK : SESSION_NO_CHANCES;
}

int session_release_next(session_t *session) {
  const policy_t *policy = session->spec->policy;
  return !session->finished && policy->release_next && policy->release_next(session->state, &session->draws);
}

int session_unpull(session_t *session, int arm, int64_t batch) {
  if (arm < 0 || arm >= session->spec->k) return 0;
  const int there = session->spec->policy->unpull(session->state, arm, batch);
  session->apart[arm] += there > 0;
  return there;
}

session_status_t session_finish(session_t *session) {
  if (session->finished) return SESSION_FINISHED;
  session->finished = 1;
  const policy_t *policy = session->spec->policy;
  if (policy->finish) policy->finish(session->state, &session->draws);
  return whole(session, SESSION_OK);
}

int session_grow(session_t *session, const session_t *old) {
  const policy_t *policy = session->spec->policy;
  const size_t k = (size_t)old->spec->k;
  const spec_t *inner = session->spec->inner;
  if (!policy->grow || (inner && !inner->policy->grow) || session->spec->k < old->spec->k) return 0;
  policy->grow(session->state, old->state, old->spec->k);
  session->t = old->t;
  session->start = old->start;
  session->end = old->end;
  session->finished = old->finished;
  session->charged = old->charged;
  memcpy(session->pulls, old->pulls, sizeof(int64_t) * k);
  if (session->apart) memcpy(session->apart, old->apart, sizeof(int64_t) * k);
  memcpy(session->own, old->own, sizeof(int64_t) * k);
  if (session->shown) memcpy(session->shown, old->shown, sizeof(tally_t) * k);
  return 1;
}

session_status_t session_verdict(const session_t *session, verdict_t *verdict) {
  const policy_t *policy = session->spec->policy;
  *verdict = (verdict_t){.arm = -1, .error = NAN};
  if (policy->verdict) *verdict = policy->verdict(session->state);
  const int known = verdict->arm >= 0 && verdict->arm < session->spec->k;
  return known || (!verdict->stop && verdict->arm == -1) ? SESSION_OK : SESSION_NO_VERDICT;
}

double session_charged(const session_t *session) {
  const policy_t *policy = session->spec->policy;
  const double now = policy->charged ? policy->charged(session->state) : NAN;
  return now < session->charged ? session->charged : now;
}

report_t session_report(const session_t *session, int arm) {
  const policy_t *policy = session->spec->policy;
  const report_t own = policy->report ? policy->report(session->state, arm) : (report_t){0};
  if (!session->shown) return own;
  /* Of bits that are public all are known, but what is released of them has the policy's noise. */
  report_t bits = report_plain(session->shown[arm].n, session->shown[arm].sum);
  if (releases_batches(policy)) bits.kind = own.kind, bits.scale = own.scale;
  return bits;
}

static report_t report_of(const void *session, int arm) { return session_report(session, arm); }

reports_t session_reports(const session_t *session) { return (reports_t){report_of, session}; }

static report_t what_is_released(const session_t *session, int arm) {
  const policy_t *policy = session->spec->policy;
  return releases_batches(policy) ? policy->report(session->state, arm) : session_report(session, arm);
}

static release_mark_t mark_of(const report_t *report) {
  return (release_mark_t){report->rewards, report->sum, report->terms, report->looks, report->squares};
}

release_mark_t session_mark(const session_t *session, int arm) {
  const report_t report = what_is_released(session, arm);
  return mark_of(&report);
}

/* After the end, a release is whole if no pull in a batch of its arm has an outstanding reward. (Rewards in
   skipped rounds, which are not counted here, are never outstanding.) Several blocks of people in one
   release, or several sums with correlated noise, look the same. If the policy does not batch the random bits
   that it sees, they count as released whenever there are a tenth more of them. */
int session_new_release(const session_t *session, int arm, release_mark_t *known, release_row_t *row) {
  const int gathers = releases_batches(session->spec->policy);
  const report_t report = what_is_released(session, arm);
  const release_mark_t now = mark_of(&report), was = *known;
  if (now.rewards == was.rewards && now.terms == was.terms) return 0;
  if (!gathers && !session->finished && now.rewards < 1.1 * was.rewards + 10) return 0;
  *known = now;
  const double terms = report.looks > 0 ? now.looks - was.looks : now.terms - was.terms;
  const int64_t held = session->pulls[arm] - (session->apart ? session->apart[arm] : 0);
  const int all = !session->finished || now.rewards >= (double)held;
  *row = (release_row_t){now.rewards - was.rewards,
                         now.sum - was.sum,
                         report.chance,
                         terms,
                         report.weight > 0 ? now.squares - was.squares : NAN,
                         all && (terms == 1 || !(report.chance > 0 || report.looks > 0))};
  return 1;
}

/* ---- the loop ---------------------------------------------------------------------- */

/* Something may have been released. Blocks are released one at a time, in their order, but for the end, at
   which R does not look. */
static void hear(session_t *session, environment_t *env) {
  answers_t *answers = env->answers;
  release_row_t row;
  int heard = 0;
  observers_released(env, session);
  if (!answers || !answers->looks || session->finished) return;
  for (int i = 0; i < session->spec->k; i++) {
    if (!session_new_release(session, i, &answers->known[i], &row)) continue;
    if (!heard) answers_next(answers, i / answers_each(answers));
    heard = 1;
    answers_release(answers, i, session->t, &row);
  }
  if (heard) env->over = env->asks = 1;
}

void session_pause(session_t *session, environment_t *env, const int *arms, int n) {
  env->answers->n_rows = 0;
  env->over = env->asks = 0;
  if (n == 0) return;
  answers_pause(env->answers, arms, n);
  /* The open blocks are of other offers than those to come. */
  for (int i = arms[0] - 1; i < env->answers->k; i += answers_each(env->answers)) {
    if (session->spec->policy->close) session->spec->policy->close(session->state, i, &session->draws);
    hear(session, env);
  }
}

/* The end of round t. */
static ALWAYS_INLINE session_status_t deliver(session_t *session, const policy_t *policy, environment_t *env,
                                              late_t *late, int64_t t, int viewed, int watched) {
  session_status_t status = SESSION_OK;
  feedback_t feedback;
  while (status == SESSION_OK && late_next(late, t, &feedback)) {
    status = update(session, policy, &feedback, viewed);
    late_drop(late, t);
    if (watched) hear(session, env);
  }
  return status;
}

/* The choice for a person who may come again, and whether the visit counts, as with an agent: beyond the cap
   the person keeps the last arm; and nobody is in a batch twice, nor before the last reward is in. */
static session_status_t choose_again(session_t *session, const policy_t *policy, environment_t *env,
                                     const round_t *round, const visitor_t *who, int *arm, int viewed) {
  const visits_t *visits = env->visits;
  const int k = session->spec->k;
  env->passed = who->counted >= visits->most;
  *arm = who->arm;
  if (env->passed && on_offer(round, k, *arm)) return SESSION_OK;
  const session_status_t status = choose(session, policy, round, k, arm, viewed);
  if (status == SESSION_OK && !env->passed && visits->separate && who->counted > 0) {
    const int64_t held = who->due > env->player.t ? -1 : who->batch;
    env->passed = policy->pass(session->state, round, who->arm, held);
  }
  return status;
}

/* In most simulations the environment has no hooks, no observer follows every choice and the policy sees
   all that happens. Such rounds are `plain`: they are played in stretches during which no observer
   looks, and recorded at the end of a stretch. With `coins` all rewards are Bernoulli. These flags and
   `late` (NULL: rewards come at once) are constants at each call, so that the compiler makes a copy of
   the loop for each case. */
static ALWAYS_INLINE session_status_t play(session_t *session, environment_t *env, late_t *late,
                                           int64_t steps, const int plain, const int coins) {
  const environment_kind_t *kind = env->kind;
  const int viewed = !plain && session_is_viewed(session);
  const policy_t policy = *session->spec->policy; /* a copy, which the compiler knows that no call changes */
  const arms_t *arms = env->arms;
  const int k = session->spec->k;
  int64_t *pulls = env->player.pulls;
  session_status_t status = SESSION_OK;
  round_t round = session_round(session);
  feedback_t feedback = {0};
  while (steps > 0 && !env->over && status == SESSION_OK) {
    const int64_t stretch = plain ? environment_unobserved(env, steps) : 1;
    rng_t rng = env->reward;
    double sum = env->reward_sum, reward = 0;
    int arm = -1;
    for (int64_t n = stretch; n > 0; n--) {
      if (!plain) round = session_round(session);
      visitor_t *who = !plain && env->visits ? visits_next(env->visits, env->player.t) : NULL;
      if (!plain) env->who = who;
      if (!plain && kind->offer) kind->offer(env, &round);
      if (!plain && env->answers) answers_offer(env->answers, &round);
      arm = !plain && kind->force ? kind->force(env, &round) : -1;
      if (who) status = choose_again(session, &policy, env, &round, who, &arm, viewed);
      else if (arm < 0) status = choose(session, &policy, &round, k, &arm, viewed);
      if (!plain && session->chances && status == SESSION_OK)
        status = session_probability(session, &round, session->chances);
      if (status != SESSION_OK) break;
      if (plain) {
        reward = coins ? arms_toss(arms, arm, &rng) : arms_draw(arms, arm, &rng);
        pulls[arm]++;
        sum += reward;
      } else if (!environment_pull(env, &round, arm, &reward)) {
        continue;
      }
      if (!plain && env->answers) reward = env->counted;
      if (!plain && env->followed) {
        status = (session_status_t)observers_chosen(env, session, &round, arm);
        if (status != SESSION_OK) break;
      }
      if (plain && !late && policy.learn) {
        status = learn(session, &policy, &round, arm, reward);
        if (status != SESSION_OK) break;
        round.t++;
        continue;
      }
      const int64_t moment = who ? env->player.t : round.t;
      int64_t due = moment;
      if (!(who && env->passed)) {
        feedback.batch = commit(session, &policy, &round, arm, viewed);
        if (late) due = late_add(late, moment, &round, arm, feedback.batch, reward);
        if (due == 0) status = SESSION_FULL;
        if (!plain && env->answers) answers_add(env->answers, feedback.batch, arm);
        if (who) *who = (visitor_t){who->counted + 1, feedback.batch, due, arm, who->stratum};
      } else if (env->passed == 2) {
        policy.close(session->state, who->arm, &session->draws);
        if (env->watched) hear(session, env);
      }
      if (late && status == SESSION_OK) {
        status = deliver(session, &policy, env, late, moment, viewed, !plain && env->watched);
      } else if (status == SESSION_OK && !(who && env->passed)) {
        feedback.t = round.t;
        feedback.arm = arm;
        feedback.reward = reward;
        if (!plain) feedback.context = round_context(&round, arm);
        status = update(session, &policy, &feedback, viewed);
        if (!plain && env->watched) hear(session, env);
      }
      if (status != SESSION_OK) break;
      if (plain) round.t++; /* nothing else changes */
    }
    if (plain && status == SESSION_OK) {
      environment_record(env, stretch, arm, reward, sum, &rng);
    }
    steps -= stretch;
  }
  return status;
}

/* A function for each case: in one for all the compiler runs out of registers, which costs 7% of a round. */
static NOINLINE session_status_t play_any(session_t *session, environment_t *env, late_t *late,
                                          int64_t steps) {
  return play(session, env, late, steps, 0, 0);
}
static NOINLINE session_status_t play_late(session_t *session, environment_t *env, late_t *late,
                                           int64_t steps) {
  return play(session, env, late, steps, 1, 0);
}
static NOINLINE session_status_t play_coins(session_t *session, environment_t *env, int64_t steps) {
  return play(session, env, NULL, steps, 1, 1);
}
static NOINLINE session_status_t play_drawn(session_t *session, environment_t *env, int64_t steps) {
  return play(session, env, NULL, steps, 1, 0);
}

session_status_t session_play(session_t *session, environment_t *env, late_t *late, int64_t steps) {
  const environment_kind_t *kind = env->kind;
  const int plain = !(kind->offer || kind->force || kind->pull || env->followed || env->watched ||
                      env->visits || env->answers || session->chances || session_is_viewed(session));
  return whole(session, !plain                 ? play_any(session, env, late, steps)
                        : late                 ? play_late(session, env, late, steps)
                        : env->arms->bernoulli ? play_coins(session, env, steps)
                                               : play_drawn(session, env, steps));
}

session_status_t session_follow(session_t *session, environment_t *env, late_t *late) {
  session_status_t status = SESSION_OK;
  for (int64_t i = 1; i <= late->mask + 1 && status == SESSION_OK; i++) {
    status = deliver(session, session->spec->policy, env, late, env->player.t + i, session_is_viewed(session),
                     env->watched);
  }
  return status;
}

session_status_t session_end(session_t *session, environment_t *env) {
  while (session_release_next(session)) hear(session, env);
  const session_status_t status = session_finish(session);
  if (status == SESSION_OK) hear(session, env);
  return status;
}

session_status_t session_skip(session_t *session, player_t *player) {
  if (session->t == session->end) session_restart(session);
  if (spec_is_viewed(session->spec)) view_skip(session, player);
  else session->spec->policy->skip(session->state, player, &session->draws);
  if (player->t == session->t && !player->failed) return SESSION_NO_SKIP;
  session->t = player->t;
  if (player->failed) return player->failed == NO_ARM ? SESSION_NO_ARM : SESSION_BOUND;
  return whole(session, SESSION_OK);
}
