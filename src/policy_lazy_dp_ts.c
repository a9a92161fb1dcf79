/* Lazy-DP-TS: Hu and Hegde (2022), Algorithm 2.

   2-4.   Pull each arm once; private mean = reward + Lap(1 / epsilon), O = 1.
   7-11.  shifted = clip(mean + 3 log(t) / (epsilon O)) to [0, 1];
          theta ~ Beta(shifted O + 1, (1 - shifted) O + 1); pull the arm of the largest.
   12-16. Rewards gather in a batch; at 2^(r + 1) of them they give the new private mean, with
          one draw of Lap(1 / epsilon), and O = 2^(r + 1) (see policy_doubling.h).

   And lazy Gaussian Thompson sampling, the same with N(0, 1 / mu^2) on the sum of a batch, for
   mu-GDP; with sqrt(6 ln(t)) / mu in place of 3 log(t) / epsilon, for in both cases the noise
   exceeds that with a chance of at most t^-3; and with rewards of [0, 1] as they are. With
   `correlation` above 0 (ours) nothing is forgotten: the batches are released as a moving average
   (noise_moving_average.h), O is what the mean of them all is worth in rewards, and the shift
   sqrt(6 ln(t)) times the sd of its noise. */

#include "skip_beta_groups.h"
#include "skip_beta_largest.h"
#include "math_beta_tail.h"
#include "policy_doubling.h"
#include "noise_moving_average.h"
#include "policy.h"
#include "sample.h"
#include "math_util.h"

enum { EPSILON, LOG_BASE };
static const param_t PARAMS[] = {{"epsilon", REQUIRED}, {"log_base", REQUIRED}, {NULL}};

typedef struct {
  double budget;       /* epsilon, or mu */
  double log_scale;    /* 1 / ln(log_base) */
  int32_t k, gaussian; /* gaussian: is it mu? */
  double correlation;  /* 0: every batch by itself, and older ones forgotten */
  int64_t waiting;     /* arms without a mean */
  int64_t grouped;     /* rounds to be played by groups before the next look for a leader */
  doubling_t arms[];   /* k of them, then k gather_t, then k numbers for skip(), then k
                          moving_average_t if they are correlated, then, from ARM_GROUPS_FROM
                          arms on, their groups */
} state_t;

static gather_t *gather_of(state_t *s, int arm) {
  return (gather_t *)(s->arms + s->k) + arm;
}

static double *bounds(state_t *s) { return (double *)gather_of(s, s->k); }

static moving_average_t *average_of(state_t *s, int arm) {
  return (moving_average_t *)(bounds(s) + s->k) + arm;
}

static beta_groups_t *groups_of(state_t *s) {
  return (beta_groups_t *)average_of(s, s->correlation > 0 ? s->k : 0);
}

static size_t size_for(const spec_t *spec, double correlation) {
  const size_t k = (size_t)spec->k, average = sizeof(moving_average_t);
  return sizeof(state_t) + (sizeof(doubling_t) + sizeof(gather_t) + sizeof(double)) * k +
         (correlation > 0 ? average * k : 0) +
         (spec->k < ARM_GROUPS_FROM ? 0 : beta_groups_size(spec->k));
}

static size_t size(const spec_t *spec) { return size_for(spec, 0); }

static void init_arms(state_t *s) {
  for (int i = 0; i < s->k; i++) {
    s->arms[i] = (doubling_t){0};
    gather_init(gather_of(s, i));
    if (s->correlation > 0) *average_of(s, i) = (moving_average_t){0};
  }
  if (s->k >= ARM_GROUPS_FROM) beta_groups_init(groups_of(s), s->k);
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  *s = (state_t){.k = spec->k,
                 .budget = spec->par[EPSILON],
                 .log_scale = 1 / log(spec->par[LOG_BASE]),
                 .waiting = spec->k};
  init_arms(s);
}

/* What round t adds to an arm's mean, for each unit of noise in it. */
static double shift_at(const state_t *s, double t) {
  if (s->gaussian) return sqrt(6 * log(t)) / s->budget;
  return 3 * log(t) * s->log_scale / s->budget;
}

static inline beta_t posterior(const doubling_t *arm, double shift) {
  const double n = arm->n, shifted = clip01(arm->mean + shift * arm->noise_share);
  return (beta_t){shifted * n + 1, (1 - shifted) * n + 1};
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  const doubling_t *arms = s->arms;
  if (s->waiting > 0) {
    const int arm = opening_choice(round, &arms->n, sizeof *arms, 1);
    if (arm >= 0) return arm;
  }
  const double shift = shift_at(s, (double)round->t);
  argmax_t best = ARGMAX;
  FOR_EACH_ARM(i, round) {
    const beta_t beta = posterior(&arms[i], shift);
    argmax_add(&best, i, sample_beta(&draws->policy, beta.a, beta.b));
  }
  return argmax_arm(&best);
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  (void)round, (void)draws;
  return doubling_assign(gather_of(state, arm), 1);
}

static int add_correlated(state_t *s, int arm, int64_t number, int64_t n, double sum,
                          draws_t *draws) {
  gather_batch_t *batch = gather_add(gather_of(s, arm), number, n, sum);
  if (!batch) return 0;
  doubling_t *a = &s->arms[arm];
  moving_average_t *average = average_of(s, arm);
  moving_average_release(average, draws, (double)batch->size, batch->sum, s->correlation,
                         1 / s->budget);
  a->rewards += (double)batch->size;
  a->releases += 1;
  a->n = moving_average_rewards(average);
  a->mean = moving_average_mean(average);
  a->noise_share = s->budget < INFINITY ? moving_average_noise(average) * s->budget : 0;
  gather_release(batch);
  return 1;
}

/* Returns whether the arm's posterior is renewed. */
static int add(state_t *s, int arm, int64_t batch, int64_t n, double sum, draws_t *draws) {
  doubling_t *a = &s->arms[arm];
  const int first = a->n == 0;
  const enum noise_kind kind = s->gaussian ? NOISE_GAUSSIAN : NOISE_LAPLACE;
  const int renewed = s->correlation > 0 ? add_correlated(s, arm, batch, n, sum, draws)
                                         : doubling_add(a, gather_of(s, arm), batch, n, sum,
                                                        kind, 1 / s->budget, draws);
  if (renewed && first) s->waiting -= 1;
  return renewed;
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  const state_t *s = state;
  const double item =
      s->gaussian ? feedback->reward : sample_coin(&draws->policy, feedback->reward);
  add(state, feedback->arm, feedback->batch, 1, item, draws);
}

static report_t report(const void *state, int arm) {
  const state_t *s = state;
  const doubling_t *a = &s->arms[arm];
  if (s->correlation > 0)
    return moving_average_report(average_of((state_t *)state, arm), a->rewards, a->releases,
                                 1 / s->budget);
  return doubling_report(a, s->gaussian ? NOISE_GAUSSIAN : NOISE_LAPLACE, 1 / s->budget);
}

/* ---- skipping -------------------------------------------------------------------------

   Between two renewals the posteriors only drift upwards, with log t. Take a leader, a
   stretch of rounds and a point c below the bulk of the leader's posterior and above that
   of the others. A round in which the leader's theta is at least c and the others' are at most c
   pulls the leader. The other rounds are found by thinning: arm i's theta falls on the wrong
   side of c with a chance of at most bound_i in every round of the stretch (the mass of an
   envelope, see math_beta_tail.h, at the end of the stretch; for the leader at its start).
   So independent events of these chances, one for each arm, hold every wrong side: the
   rounds to the next round with an event are geometric, and the leader is pulled in all of
   them. In that round each arm with an event is on the wrong side with chance
   (its true probability now) / bound_i, which beta_tail_draw() decides by giving the theta or
   not; all others are on the right side, where they follow the posterior cut at c. */

typedef struct {
  int leader;
  int64_t rounds; /* of the stretch, from the next on */
  double c;
  double log_none, any; /* log chance of a round without an event, chance of one with */
} stretch_t;

static beta_tail_t upper(beta_t beta, double c) { return beta_tail(beta.a, beta.b, c); }
static beta_tail_t lower(beta_t beta, double c) { return beta_tail(beta.b, beta.a, 1 - c); }

/* Choose leader, stretch and c; returns whether skipping pays. */
static int make_plan(state_t *s, const player_t *player, stretch_t *plan) {
  const double t = (double)(player->t + 1), now = shift_at(s, t);
  const int k = s->k;
  plan->leader = 0;
  double highest = -1;
  for (int i = 0; i < k; i++) {
    const beta_t beta = posterior(&s->arms[i], now);
    if (beta.a / (beta.a + beta.b) > highest) {
      highest = beta.a / (beta.a + beta.b);
      plan->leader = i;
    }
  }
  const doubling_t *leader = &s->arms[plan->leader];
  const double rounds =
      fmin((double)doubling_left(gather_of(s, plan->leader)), ceil(t / 32));
  plan->rounds = player_stretch(player, (int64_t)rounds);
  const double then = shift_at(s, t + (double)plan->rounds - 1);

  /* c: the best of a few, judged by normal tails. Any c would do. */
  const beta_t lead = posterior(leader, now);
  const double sd = sqrt(highest * (1 - highest) / (lead.a + lead.b + 1));
  double least = 1;
  plan->c = highest;
  for (double z = 1; z <= 6; z += 0.5) {
    const double c = highest - z * sd;
    double any = exp(-0.5 * z * z) / 2;
    for (int i = 0; i < k && any < least; i++) {
      if (i == plan->leader) continue;
      const beta_t beta = posterior(&s->arms[i], then);
      const double n = beta.a + beta.b, mean = beta.a / n, gap = c - mean;
      any += gap <= 0 ? 1 : exp(-0.5 * gap * gap * (n + 1) / (mean * (1 - mean))) / 2;
    }
    if (any < least) least = any, plan->c = c;
  }
  if (least > arm_groups_dense(0.25, k)) return 0;

  plan->log_none = 0;
  for (int i = 0; i < k; i++) {
    const double mass = i == plan->leader
                            ? lower(lead, plan->c).mass
                            : upper(posterior(&s->arms[i], then), plan->c).mass;
    if (!(mass < 0.5)) return 0;
    bounds(s)[i] = mass;
    plan->log_none += log1p(-mass);
  }
  plan->any = -expm1(plan->log_none);
  return plan->any < 0.4;
}

static double right_side(beta_t beta, double c, int above, rng_t *rng) {
  for (;;) {
    const double theta = sample_beta(rng, beta.a, beta.b);
    if ((theta > c) == above) return theta;
  }
}

/* Chances and bounds of them are the same number where a stretch ends. */
#define ROUNDING 1e-9

/* The choice in round t, given that it has an event; -1: a chance is above its bound. */
static int choose_among(state_t *s, const stretch_t *plan, double t, rng_t *rng) {
  const int k = s->k, leader = plan->leader;
  const double *bound = bounds(s), c = plan->c, shift = shift_at(s, t);
  /* The first arm with an event; those after it have theirs independently. */
  int first = 0;
  for (double u = rng_unif(rng) * plan->any, none = 1; first < k - 1; first++) {
    u -= none * bound[first];
    if (u < 0) break;
    none *= 1 - bound[first];
  }
  double best = -1, low = -1; /* largest theta above c; the leader's if below c */
  int choice = -1;
  for (int i = first; i < k; i++) {
    if (i != first && rng_unif(rng) >= bound[i]) continue;
    const beta_t beta = posterior(&s->arms[i], shift);
    const beta_tail_t tail = i == leader ? lower(beta, c) : upper(beta, c);
    if (tail.mass > bound[i] * (1 + ROUNDING)) return -1;
    if (rng_unif(rng) * bound[i] >= tail.mass) continue;
    const double x = beta_tail_draw(&tail, rng);
    if (x < 0) continue;
    if (i == leader) low = 1 - x;
    else if (x > best) best = x, choice = i;
  }
  if (low < 0) {
    if (choice < 0) return leader;
    const double theta = right_side(posterior(&s->arms[leader], shift), c, 1, rng);
    return theta > best ? leader : choice;
  }
  if (choice >= 0) return choice;
  /* All are below c. */
  best = low, choice = leader;
  for (int i = 0; i < k; i++) {
    if (i == leader) continue;
    const double theta = right_side(posterior(&s->arms[i], shift), c, 0, rng);
    if (theta > best) best = theta, choice = i;
  }
  return choice;
}

/* n pulls of an arm; returns whether its posterior is renewed. */
static int pull(state_t *s, player_t *player, int arm, int64_t n, draws_t *draws) {
  const int64_t batch = doubling_assign(gather_of(s, arm), n);
  const double sum = s->gaussian ? player_pull_many(player, arm, n)
                                 : player_pull_coins(player, arm, n, &draws->policy);
  return add(s, arm, batch, n, sum, draws);
}

/* ---- rounds by groups of arms --------------------------------------------------------- */

/* A stretch is this share of the rounds so far: in a longer one bounds are further from chances, and
   with each the groups are filled anew. */
#define GROUP_STRETCH (1.0 / 32)

static beta_t posterior_of(const void *state, int arm, double shift) {
  return posterior(&((const state_t *)state)->arms[arm], shift);
}

static void play_groups(state_t *s, player_t *player, draws_t *draws) {
  beta_groups_t *groups = groups_of(s);
  const posteriors_t posteriors = {s, posterior_of};
  for (int n = 0; n < ARM_GROUPS_ROUNDS && s->grouped > 0 && player_left(player) > 0; n++) {
    const double t = (double)(player->t + 1), now = shift_at(s, t);
    if (!groups->open || now > groups->drift) {
      beta_groups_open(groups, &posteriors, shift_at(s, t + floor(t * GROUP_STRETCH)));
    }
    s->grouped--;
    const int arm = beta_groups_choose(groups, &posteriors, now, &draws->policy);
    if (arm < 0) {
      player->failed = arm == BETA_GROUPS_BROKEN ? BROKEN_BOUND : NO_ARM;
      return;
    }
    if (pull(s, player, arm, 1, draws)) beta_groups_renew(groups, &posteriors, arm);
  }
}

/* Among many arms without a leader; returns whether rounds were played. */
static int skip_by_groups(state_t *s, player_t *player, stretch_t *plan, draws_t *draws) {
  if (s->grouped == 0) {
    if (make_plan(s, player, plan)) {
      groups_of(s)->open = 0;
      return 0;
    }
    s->grouped = s->k + player->t / 256;
  }
  play_groups(s, player, draws);
  return 1;
}

/* ---- skipping without a leader ----------------------------------------------------------

   Where several arms may be chosen, the thetas need not be drawn: only which arm is chosen is
   ever seen, and the chance of each is an integral (skip_beta_largest.h) that drifts with log t, slowly
   and smoothly. Between two renewals and over a stretch in which no posterior moves by more than
   a few hundredths of its sd it is a polynomial in the shift, to about 1e-12. Most of a choice is
   settled by the least chance of each arm over the stretch; in what is left the polynomials are
   looked at. */

enum { MIXTURE_NODES = 5 };
#define MIXTURE_DRIFT 0.04
#define MIXTURE_ERROR 1e-9

typedef struct {
  int64_t rounds; /* of the stretch, from the next on */
  int k;          /* arms that can be chosen, and which */
  int who[LARGEST_MAX];
  double shift[MIXTURE_NODES], chance[MIXTURE_NODES][LARGEST_MAX];
  double least[LARGEST_MAX], settled; /* least chance of each, and their sum */
} mixture_t;

/* The sds by which the posterior that moves fastest does, for each unit of the shift. */
static double fastest(const state_t *s, double shift) {
  double most = 0;
  for (int i = 0; i < s->k; i++) {
    const double shifted = s->arms[i].mean + shift * s->arms[i].noise_share;
    if (shifted <= 0 || shifted >= 1) continue;
    const beta_t beta = posterior(&s->arms[i], shift);
    const double n = beta.a + beta.b;
    most = fmax(most, s->arms[i].noise_share * n * sqrt(n / (beta.a * beta.b)));
  }
  return most;
}

/* Returns whether there is a stretch that is long enough to pay. */
static int make_mixture(const state_t *s, const player_t *player, mixture_t *mix) {
  const int k = s->k;
  if (k > LARGEST_MAX) return 0;
  const double t = (double)(player->t + 1), now = shift_at(s, t);
  const double slope = (shift_at(s, 1.01 * t) - now) / (0.01 * t) * fastest(s, now);
  const double rounds = slope > 0 ? fmin(MIXTURE_DRIFT / slope, t) : t;
  if (rounds < 128 + 2048.0 / k) return 0;
  mix->rounds = player_stretch(player, (int64_t)rounds);
  const double then = shift_at(s, t + (double)mix->rounds - 1);
  beta_t low[LARGEST_MAX], high[LARGEST_MAX];
  for (int i = 0; i < k; i++) {
    const doubling_t *arm = &s->arms[i];
    /* A posterior that reaches an end of [0, 1] stops there at once. */
    const double from = arm->mean + now * arm->noise_share,
                 to = arm->mean + then * arm->noise_share;
    if ((from < 0 && to > 0) || (from < 1 && to > 1)) return 0;
    low[i] = posterior(arm, now);
    high[i] = posterior(arm, then);
  }
  largest_t grid;
  if (!largest_begin(&grid, low, high, k)) return 0;
  for (int node = 0; node < MIXTURE_NODES; node++) {
    const double x = 0.5 - 0.5 * cos(M_PI * node / (MIXTURE_NODES - 1));
    mix->shift[node] = now + x * (then - now);
    for (int i = 0; i < k; i++) low[i] = posterior(&s->arms[i], mix->shift[node]);
    if (!(largest_chances(&grid, low, mix->chance[node]) < MIXTURE_ERROR)) return 0;
  }
  mix->k = grid.k;
  mix->settled = 0;
  for (int m = 0; m < grid.k; m++) {
    mix->who[m] = grid.who[m];
    double least = 1, most = 0;
    for (int node = 0; node < MIXTURE_NODES; node++) {
      least = fmin(least, mix->chance[node][m]);
      most = fmax(most, mix->chance[node][m]);
    }
    /* It may turn between two nodes. */
    mix->least[m] = fmax(0, least - 0.25 * (most - least) - MIXTURE_ERROR);
    mix->settled += mix->least[m];
  }
  return 1;
}

/* The arm in whose share of the line u lies. */
static int pick(const mixture_t *mix, const double *share, double u) {
  for (int m = 0; m < mix->k - 1; m++) {
    u -= share[m];
    if (u < 0) return mix->who[m];
  }
  return mix->who[mix->k - 1];
}

/* An arm in a round that the least chances do not settle: each with what its chance now is above
   them; -1: it is below. */
static int choose_unsettled(const mixture_t *mix, double shift, rng_t *rng) {
  double weight[MIXTURE_NODES];
  for (int node = 0; node < MIXTURE_NODES; node++) {
    weight[node] = 1;
    for (int other = 0; other < MIXTURE_NODES; other++) {
      if (other == node) continue;
      weight[node] *= (shift - mix->shift[other]) / (mix->shift[node] - mix->shift[other]);
    }
  }
  double more[LARGEST_MAX], sum = 0;
  for (int m = 0; m < mix->k; m++) {
    more[m] = -mix->least[m];
    for (int node = 0; node < MIXTURE_NODES; node++) {
      more[m] += weight[node] * mix->chance[node][m];
    }
    if (more[m] < 0) return -1;
    sum += more[m];
  }
  return pick(mix, more, rng_unif(rng) * sum);
}

static int choose_mixed(const state_t *s, const mixture_t *mix, double t, rng_t *rng) {
  const double u = rng_unif(rng);
  if (u >= mix->settled) return choose_unsettled(mix, shift_at(s, t), rng);
  return pick(mix, mix->least, u);
}

static void play_mixture(state_t *s, player_t *player, mixture_t *mix, draws_t *draws) {
  for (; mix->rounds > 0; mix->rounds--) {
    const int arm = choose_mixed(s, mix, (double)(player->t + 1), &draws->policy);
    if (arm < 0) {
      player->failed = BROKEN_BOUND;
      return;
    }
    if (pull(s, player, arm, 1, draws)) return;
  }
}

static void skip(void *state, player_t *player, draws_t *draws) {
  state_t *s = state;
  const int k = s->k;
  rng_t *rng = &draws->policy;
  for (int i = 0; s->waiting > 0 && i < k && player_left(player) > 0; i++) {
    if (s->arms[i].n == 0) pull(s, player, i, 1, draws);
  }
  if (player_left(player) == 0) return;

  stretch_t plan;
  if (k >= ARM_GROUPS_FROM) {
    if (skip_by_groups(s, player, &plan, draws)) return;
  } else if (!make_plan(s, player, &plan)) {
    mixture_t mix;
    if (make_mixture(s, player, &mix)) {
      play_mixture(s, player, &mix, draws);
      return;
    }
    const double most = fmin(16 + (double)player->t / 256, 16 + 4096.0 / k);
    for (double i = 0; i < most && player_left(player) > 0; i++) {
      const int arm = player_choose(player, choose, s, draws);
      if (arm < 0 || pull(s, player, arm, 1, draws)) return;
    }
    return;
  }
  for (int events = 0; plan.rounds > 0 && events < 16 + 16384 / k; events++) {
    const double gap = floor(sample_exp(rng) / -plan.log_none);
    const int64_t n = gap < (double)plan.rounds ? (int64_t)gap : plan.rounds;
    plan.rounds -= n;
    if (n > 0 && pull(s, player, plan.leader, n, draws)) return;
    if (plan.rounds == 0) return;
    const int arm = choose_among(s, &plan, (double)(player->t + 1), rng);
    if (arm < 0) {
      player->failed = BROKEN_BOUND;
      return;
    }
    plan.rounds -= 1;
    if (pull(s, player, arm, 1, draws)) return;
  }
}

const policy_t policy_lazy_dp_ts = {.name = "lazy_dp_ts",
                                    .params = PARAMS,
                                    .state_version = 2,
                                    .size = size,
                                    .init = init,
                                    .choose = choose,
                                    .commit = commit,
                                    .update = update,
                                    .skip = skip,
                                    .report = report};

/* ---- lazy Gaussian Thompson sampling --------------------------------------------------- */

enum { MU, CORRELATION };
static const param_t GAUSSIAN_PARAMS[] = {
    {"mu", REQUIRED}, {"correlation", REQUIRED}, {NULL}};

static size_t size_gaussian(const spec_t *spec) {
  return size_for(spec, spec->par[CORRELATION]);
}

static void init_gaussian(void *state, const spec_t *spec) {
  state_t *s = state;
  *s = (state_t){.k = spec->k,
                 .budget = spec->par[MU],
                 .gaussian = 1,
                 .correlation = spec->par[CORRELATION],
                 .waiting = spec->k};
  init_arms(s);
}

const policy_t policy_lazy_gaussian_ts = {.name = "lazy_gaussian_ts",
                                          .params = GAUSSIAN_PARAMS,
                                          .state_version = 3,
                                          .size = size_gaussian,
                                          .init = init_gaussian,
                                          .choose = choose,
                                          .commit = commit,
                                          .update = update,
                                          .skip = skip,
                                          .report = report};
