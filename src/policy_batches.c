#include <string.h>
#include "policy_batches.h"

static gather_t *gathers(const batches_t *s) { return (gather_t *)(s->arms + s->k); }

static char *after_arms(const batches_t *s) {
  return (char *)(batches_likelihood(s, 0) + (s->plan.likelihood ? s->k : 0));
}

static tournament_t *tournament_of(const batches_t *s) { return tournament_at(after_arms(s), s->k); }

/* -Inf before an arm's first release */
static double *means_of(const batches_t *s) { return (double *)(after_arms(s) + tournament_size(s->k)); }

double batches_first(const spec_t *spec, double asked, double wanted) {
  if (asked == asked) return asked;
  const double most = floor(spec->horizon / (8 * (double)spec->k));
  return fmax(1, fmin(fmax(4, ceil(wanted)), fmin(most, 0x1p53)));
}

size_t batches_size(const spec_t *spec, const plan_t *plan) {
  const size_t each = sizeof(released_t) + sizeof(gather_t) + (plan->likelihood ? sizeof(likelihood_t) : 0);
  return sizeof(batches_t) + each * (size_t)spec->k + tournament_size(spec->k) + highest_size(spec->k);
}

void batches_init(batches_t *s, const spec_t *spec, plan_t plan) {
  *s = (batches_t){.plan = plan, .k = spec->k, .open = -1, .waiting = spec->k};
  for (int i = 0; i < spec->k; i++) {
    s->arms[i] = (released_t){0};
    gather_init(&gathers(s)[i]);
    if (plan.likelihood) *batches_likelihood(s, i) = (likelihood_t){0};
  }
  tournament_init(tournament_of(s), s->k);
  highest_init(means_of(s), s->k);
}

/* Before every arm on offer has a released batch: -1 when they have. */
static int choose_first(const batches_t *s, const round_t *round) {
  tournament_t *t = tournament_for(round, tournament_of(s));
  if (t) {
    for (; t->opened < s->k; t->opened++) {
      if (gather_begins(&gathers(s)[t->opened])) return (int)t->opened;
    }
    return least_pulled(round);
  }
  int out = 0;
  FOR_EACH_ARM(i, round) {
    if (s->arms[i].n > 0) continue;
    if (gather_begins(&gathers(s)[i])) return i;
    out = 1;
  }
  return out ? least_pulled(round) : -1;
}

static NOINLINE int choose_anew(const batches_t *s, const round_t *round, best_t best) {
  if (on_offer(round, s->k, s->open)) return (int)s->open;
  if (s->waiting > 0) {
    const int arm = choose_first(s, round);
    if (arm >= 0) return arm;
  }
  return best(s, round);
}

int batches_choose(const batches_t *s, const round_t *round, best_t best) {
  /* Most rounds, in which nothing but this is looked at */
  if (s->open >= 0 && round->n_offer == s->k) return (int)s->open;
  return choose_anew(s, round, best);
}

tournament_t *batches_tournament(const batches_t *s, const round_t *round) {
  return tournament_for(round, tournament_of(s));
}

int batches_best(const batches_t *s, const round_t *round, const index_t *index, double clock) {
  tournament_t *t = batches_tournament(s, round);
  return t ? tournament_best(index, s, t, clock) : index_scan(index, s, round, clock);
}

int batches_alike(const void *state, int arm_a, int arm_b) {
  const batches_t *s = state;
  const released_t *a = &s->arms[arm_a], *b = &s->arms[arm_b];
  return a->mean == b->mean && a->m == b->m && a->n == b->n && a->spread == b->spread && a->v == b->v &&
         !s->plan.likelihood;
}

double batches_rewards(const void *state, int arm) { return ((const batches_t *)state)->arms[arm].n; }

double batches_error(const void *state, int arm, double value) {
  return 1e-9 * (1 + fabs(value)) + 1e-13 * ((const batches_t *)state)->arms[arm].m;
}

double batches_top(const batches_t *s, const round_t *round) {
  if (tournament_for(round, tournament_of(s))) return clip01(highest(means_of(s)));
  double top = 0;
  FOR_EACH_ARM(i, round) top = fmax(top, clip01(s->arms[i].mean));
  return top;
}

double batches_top_of_all(const batches_t *s) {
  if (tournament_of(s)) return clip01(highest(means_of(s)));
  double top = 0;
  for (int64_t i = 0; i < s->k; i++) {
    if (s->arms[i].n > 0) top = fmax(top, clip01(s->arms[i].mean));
  }
  return top;
}

/* Release a batch and renew the private mean. */
static void release(batches_t *s, int arm, const gather_batch_t *batch, draws_t *draws) {
  const mechanism_t *how = &s->plan.how;
  released_t *a = &s->arms[arm];
  if (a->releases == 0) s->waiting -= 1;
  if (s->plan.likelihood) {
    likelihood_t *l = batches_likelihood(s, arm);
    likelihood_add(l, (double)batch->size, release_sum(how, a, batch, draws), how->scale);
    const double guess = a->mean > 0 && a->mean < 1 ? a->mean : 0.5;
    a->mean = likelihood_mean(l, how->scale, guess);
    a->m = likelihood_information(l, how->scale);
  } else if (!release_batch(how, a, batch, draws)) {
    return;
  }
  tournament_changed(tournament_of(s), arm);
  highest_set(means_of(s), s->k, arm, a->mean);
}

report_t batches_report(const void *state, int arm) {
  const batches_t *s = state;
  return released_report(&s->plan.how, &s->arms[arm]);
}

/* The arm's next batch, if none is open. */
static void open_batch(batches_t *s, int arm, growth_t growth) {
  gather_t *g = &gathers(s)[arm];
  if (g->open >= 0) return;
  const double times = growth && s->arms[arm].n > 0 ? growth(s, arm) : s->plan.ratio - 1;
  gather_grow(g, s->plan.first, times);
}

int64_t batches_assign(batches_t *s, int arm, int64_t n, growth_t growth) {
  open_batch(s, arm, growth);
  return gather_commit(&gathers(s)[arm], n, arm, &s->open);
}

void batches_add(batches_t *s, int arm, int64_t number, int64_t n, double sum, double squares,
                 draws_t *draws) {
  gather_batch_t batch;
  if (s->plan.how.weight > 0) gather_square(&gathers(s)[arm], number, squares);
  if (gather_add(&gathers(s)[arm], number, n, sum, &batch)) release(s, arm, &batch, draws);
}

void batches_update(batches_t *s, const feedback_t *feedback, draws_t *draws) {
  batches_add(s, feedback->arm, feedback->batch, 1, feedback->reward, reward_square(draws, feedback->reward),
              draws);
}

void batches_grow(void *state, const void *of_old, int k) {
  batches_t *s = state, *old = (batches_t *)of_old;
  const int64_t now = s->k;
  *s = *old;
  s->k = now;
  s->waiting += now - k;
  memcpy(s->arms, old->arms, sizeof *s->arms * (size_t)k);
  memcpy(gathers(s), gathers(old), sizeof(gather_t) * (size_t)k);
  if (s->plan.likelihood) {
    memcpy(batches_likelihood(s, 0), batches_likelihood(old, 0), sizeof(likelihood_t) * (size_t)k);
  }
  for (int i = 0; i < k; i++) {
    if (s->arms[i].n > 0) highest_set(means_of(s), now, i, s->arms[i].mean);
  }
}

int batches_sound(const void *state, const void *fresh) {
  const batches_t *s = state, *f = fresh;
  if (!SAME(k) || !SAME(plan.likelihood) || !is_in(s->open, -1, s->k)) return 0;
  for (int i = 0; i < (int)s->k && s->plan.likelihood; i++) {
    if (!is_in(batches_likelihood(s, i)->n, 0, LIKELIHOOD_BATCHES + 1)) return 0;
  }
  return gathers_are_sound(gathers(s), s->k) && tournament_is_sound(tournament_of(s), s->k);
}

int batches_own(const void *state, int i, size_t *from, size_t *each) {
  const batches_t *s = state;
  *from = (size_t)((i ? (const char *)gathers(s) : (const char *)s->arms) - (const char *)s);
  *each = i ? sizeof(gather_t) : sizeof(released_t);
  return i < 2;
}

int batches_pass(void *state, const round_t *round, int arm, int64_t held) {
  (void)round;
  return gather_pass(&gathers(state)[arm], held);
}

int64_t batches_close(void *state, int arm, draws_t *draws) {
  batches_t *s = state;
  gather_batch_t batch;
  const int complete = gather_close(&gathers(s)[arm], &batch);
  if (s->open == arm && gathers(s)[arm].open < 0) s->open = -1;
  if (complete) release(s, arm, &batch, draws);
  return complete ? batch.number : 0;
}

void batches_finish(void *state, draws_t *draws) {
  batches_t *s = state;
  gather_batch_t batch;
  s->open = -1;
  for (int i = 0; i < (int)s->k; i++) {
    while (gather_finish(&gathers(s)[i], &batch)) release(s, i, &batch, draws);
  }
}

void batches_learn(batches_t *s, int arm, double reward, growth_t growth, draws_t *draws) {
  gather_t *g = &gathers(s)[arm];
  if (s->open == arm && s->plan.how.weight == 0 && gather_take(g, reward)) return;
  batches_add(s, arm, batches_assign(s, arm, 1, growth), 1, reward, reward_square(draws, reward), draws);
}

void batches_skip(batches_t *s, player_t *player, best_t best, growth_t growth, draws_t *draws) {
  const round_t round = player_round(player);
  const int arm = batches_choose(s, &round, best);
  if (arm < 0) {
    player->failed = NO_ARM;
    return;
  }
  open_batch(s, arm, growth);
  const int64_t n = player_stretch(player, (double)gather_left(&gathers(s)[arm]));
  const int64_t number = batches_assign(s, arm, n, growth);
  double squares = 0;
  const double sum = s->plan.how.weight > 0 ? player_pull_squares(player, arm, n, &squares)
                                            : player_pull_many(player, arm, n);
  batches_add(s, arm, number, n, sum, squares, draws);
}
