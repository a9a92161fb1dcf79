/* DP-SE, private successive elimination: Sajed and Sheffet (2019).

   S = all arms. In epoch e = 1, 2, ..., with D = 2^-e and beta = 1 / T by default:
     R = max(32 log(8 |S| e^2 / beta) / D^2, 8 log(4 |S| e^2 / beta) / (epsilon D)) + 1;
     pull every arm of S in turn, r = ceil(R) times each, forgetting all older rewards;
     mean_a + Lap(1 / (epsilon r)), independent noise for each arm;
     h = sqrt(log(8 |S| e^2 / beta) / (2 R)), c = log(4 |S| e^2 / beta) / (R epsilon);
     drop each arm that is more than 2 h + 2 c below the best.
   The last survivor is played for ever. An epoch cut by the horizon releases nothing. */

#include "policy.h"

enum { EPSILON, BETA };
static const param_t PARAMS[] = {
    {"epsilon", REQUIRED, NULL}, {"beta", FROM_HORIZON, NULL}, {.name = NULL}};

typedef struct {
  int64_t active;                  /* in S? */
  double assigned;                 /* pulls in this epoch */
  double come, sum;                /* rewards of this epoch that have come, and their sum */
  double mean;                     /* private mean of the last epoch */
  double rewards, total, releases; /* of all epochs */
} arm_t;

typedef struct {
  double epsilon, beta;
  double rounds, target;     /* R and r = ceil(R) */
  int64_t k, epoch;          /* epoch: e */
  int64_t n_active, waiting; /* |S|, and arms of S with fewer than r rewards */
  arm_t arms[]; /* then room for skip(): k sums, k numbers of scratch, k arms */
} state_t;

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + (sizeof(arm_t) + 3 * sizeof(double)) * (size_t)spec->k;
}

static double log_failure(const state_t *s, double factor) {
  const double e = (double)s->epoch;
  return log(factor * (double)s->n_active * e * e / s->beta);
}

static void begin_epoch(state_t *s) {
  s->epoch += 1;
  const double gap = pow(2, -(double)s->epoch);
  s->rounds = fmax(32 * log_failure(s, 8) / (gap * gap),
                   8 * log_failure(s, 4) / (s->epsilon * gap)) +
              1;
  s->target = ceil(s->rounds);
  s->waiting = s->n_active;
  for (int i = 0; i < s->k; i++) {
    s->arms[i].assigned = s->arms[i].come = s->arms[i].sum = 0;
  }
}

static void end_epoch(state_t *s, draws_t *draws) {
  const double h = sqrt(log_failure(s, 8) / (2 * s->rounds));
  const double c = log_failure(s, 4) / (s->rounds * s->epsilon);
  double best = -INFINITY;
  for (int i = 0; i < s->k; i++) {
    arm_t *a = &s->arms[i];
    if (!a->active) continue;
    const double noisy = release_laplace(draws, a->sum, 1 / s->epsilon);
    a->mean = noisy / s->target;
    a->rewards += s->target;
    a->total += noisy;
    a->releases += 1;
    best = fmax(best, a->mean);
  }
  for (int i = 0; i < s->k; i++) {
    arm_t *a = &s->arms[i];
    if (a->active && best - a->mean > 2 * h + 2 * c) a->active = 0, s->n_active -= 1;
  }
  begin_epoch(s);
}

/* The sums of the epoch that is cut, for reports: no arm is dropped by them. */
static void finish(void *state, draws_t *draws) {
  state_t *s = state;
  for (int i = 0; i < s->k; i++) {
    arm_t *a = &s->arms[i];
    if (a->come == 0) continue;
    a->total += release_laplace(draws, a->sum, 1 / s->epsilon);
    a->rewards += a->come;
    a->releases += 1;
  }
  begin_epoch(s);
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  const double beta = spec->par[BETA];
  *s = (state_t){.k = spec->k,
                 .epsilon = spec->par[EPSILON],
                 .n_active = spec->k,
                 .beta = isnan(beta) ? 1 / fmax(spec->horizon, 2) : beta};
  for (int i = 0; i < spec->k; i++) s->arms[i] = (arm_t){.active = 1};
  begin_epoch(s);
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  const arm_t *arms = s->arms;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    if (!arms[i].active) continue;
    if (choice < 0 || arms[i].assigned < arms[choice].assigned ||
        /* Both have their share, and the epoch waits for late rewards: in turn. */
        (arms[i].assigned == s->target && arms[choice].assigned == s->target &&
         round->pulls[i] < round->pulls[choice])) {
      choice = i;
    }
  }
  /* None of the arms on offer has survived. */
  if (choice < 0) return round->offer[rng_below(&draws->policy, round->n_offer)];
  return choice;
}

/* n pulls of an arm. Returns the epoch of their rewards; 0: past the epoch's share, of a
   dropped arm, or of the last survivor, and not used. */
static int64_t assign(state_t *s, int arm, double n) {
  arm_t *a = &s->arms[arm];
  if (s->n_active == 1 || !a->active || a->assigned >= s->target) return 0;
  a->assigned += n;
  return s->epoch;
}

static void add(state_t *s, int arm, int64_t epoch, double n, double sum, draws_t *draws) {
  arm_t *a = &s->arms[arm];
  if (epoch != s->epoch) return;
  a->come += n;
  a->sum += sum;
  if (a->come < s->target) return;
  s->waiting -= 1;
  if (s->waiting == 0) end_epoch(s, draws);
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  (void)round, (void)draws;
  return assign(state, arm, 1);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  add(state, feedback->arm, feedback->batch, 1, feedback->reward, draws);
}

static void skip(void *state, player_t *player, draws_t *draws) {
  state_t *s = state;
  double *sums = (double *)(s->arms + (size_t)s->k), *scratch = sums + (size_t)s->k;
  int *list = (int *)(scratch + (size_t)s->k), n = 0;
  for (int i = 0; i < s->k; i++)
    if (s->arms[i].active) list[n++] = i;
  if (n == 1) {
    player_pull_many(player, list[0], player_stretch(player, INFINITY));
    return;
  }
  const double played = s->arms[list[n - 1]].assigned; /* by all: whole turns were played */
  int64_t turns = (int64_t)fmin(s->target - played, (double)(player_left(player) / n));
  if (player->sums && turns > 0) {
    player_pull_cycles(player, list, n, turns, sums, scratch);
    for (int i = 0; i < n; i++) {
      const int64_t epoch = assign(s, list[i], (double)turns);
      add(s, list[i], epoch, (double)turns, sums[i], draws);
    }
    return;
  }
  /* Turn by turn, up to some 1e5 pulls; the last turn may be cut by the horizon. */
  turns = (1 << 16) / n + 1;
  while (turns-- > 0) {
    const int64_t epoch = s->epoch;
    for (int i = 0; i < n; i++) {
      if (player_left(player) == 0) return;
      assign(s, list[i], 1);
      add(s, list[i], epoch, 1, player_pull(player, list[i]), draws);
    }
    if (s->epoch != epoch) return;
  }
}

static report_t report(const void *state, int arm) {
  const state_t *s = state;
  const arm_t *a = &s->arms[arm];
  return (report_t){.rewards = a->rewards,
                    .sum = a->total,
                    .kind = NOISE_LAPLACE,
                    .terms = a->releases,
                    .scale = 1 / s->epsilon};
}

/* The last survivor; the chance that it is not the best is beta at most. */
static verdict_t verdict(const void *state) {
  const state_t *s = state;
  if (s->n_active > 1) return (verdict_t){.arm = -1, .error = NAN};
  int last = 0;
  while (!s->arms[last].active) last++;
  return (verdict_t){.stop = 1, .arm = last, .error = s->beta};
}

POLICY(dp_se, .state_version = 1, .tosses = 1, .releases = 1, .each_once = 1,
       .commit = commit, .update = update, .skip = skip, .report = report,
       .verdict = verdict, .finish = finish);
