#include "play_session_view.h"

/* The player that a segment of the policy sees, in front of the world's. */
typedef struct {
  player_t player;
  player_t *world;
  session_t *session;
} view_t;

static view_t *view_of(player_t *player) { return (view_t *)player; }

/* Records n pulls of an arm whose rewards add up to `sum`. Returns the sum that the policy sees. For
   rewards of 0 and 1, the numbers of ones and of zeros that are flipped are binomial. */
static double show(view_t *view, int arm, int64_t n, double sum) {
  session_t *session = view->session;
  view->player.t += n;
  view->player.pulls[arm] += n;
  if (!session->shown) return sum;
  const double flip = session->spec->flip;
  const double seen =
      n == 1 ? release_bit(&session->draws, sum, flip) : release_bits(&session->draws, sum, (double)n, flip);
  session->shown[arm].n += (double)n;
  session->shown[arm].sum += seen;
  return seen;
}

static double pull(player_t *player, int arm) {
  view_t *view = view_of(player);
  return show(view, arm, 1, player_pull(view->world, arm));
}

static double pull_many(player_t *player, int arm, int64_t n) {
  view_t *view = view_of(player);
  if (player->sums || !view->session->shown) {
    return show(view, arm, n, player_pull_many(view->world, arm, n));
  }
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += pull(player, arm);
  return sum;
}

static void pull_cycles(player_t *player, const int *arms, int n, int64_t cycles, double *sums,
                        void *scratch) {
  view_t *view = view_of(player);
  player_pull_cycles(view->world, arms, n, cycles, sums, scratch);
  for (int i = 0; i < n; i++) sums[i] = show(view, arms[i], cycles, sums[i]);
}

static const player_kind_t VIEW = {pull, pull_many, pull_cycles};

void view_skip(session_t *session, player_t *player) {
  const int64_t end = session->end < player->horizon ? session->end : player->horizon;
  view_t view = {.player = {.kind = &VIEW,
                            .t = player->t - session->start,
                            .horizon = end - session->start,
                            .k = player->k,
                            .sums = player->sums,
                            .coins = player->coins,
                            .offer = player->offer,
                            .pulls = session->own},
                 .world = player,
                 .session = session};
  session->spec->policy->skip(session->state, &view.player, &session->draws);
  if (view.player.failed) player->failed = view.player.failed;
}
