/* Two policies that eliminate: the arms that are left are pulled equally often, in turn, for a stage; at its
   end each of their sums is released once, and some arms are dropped. The last survivor is the verdict, and
   played for ever. A stage that the horizon cuts releases nothing.

   DP-SE, private successive elimination: Sajed and Sheffet (2019). S = all arms. In stage e = 1, 2, ...,
   with D = 2^-e and beta = 1 / T by default:
     R = max(32 log(8 |S| e^2 / beta) / D^2, 8 log(4 |S| e^2 / beta) / (epsilon D)) + 1;
     pull every arm of S in turn, r = ceil(R) times each, forgetting all older rewards;
     mean_a + Lap(1 / (epsilon r)), independent noise for each arm;
     h = sqrt(log(8 |S| e^2 / beta) / (2 R)), c = log(4 |S| e^2 / beta) / (R epsilon);
     drop each arm that is more than 2 h + 2 c below the best.

   Sequential halving for n people: Karnin, Koren and Somekh (2013), with noisy sums. S = all K arms. In each
   of ceil(log2 K) stages:
     pull every arm of S in turn, r = floor(n / (|S| ceil(log2 K))) times each, but once at least;
     mean_a: of the noisy sums of all stages, each weighted by the inverse variance of its mean, which is
     (r / 4 + variance of the noise) / r^2;
     keep the ceil(|S| / 2) arms of the highest means. */

#include "policy.h"
#include "policy_released.h"

enum { EPSILON, BETA };
PARAMETERS(SE_PARAMS, NEEDS("epsilon"), BY_HORIZON("beta"));
enum { MU = BETA, PEOPLE };
PARAMETERS(HALVING_PARAMS, TAKES("epsilon"), TAKES("mu"), BY_HORIZON("people"));

typedef struct {
  int64_t active;          /* in S? */
  double assigned;         /* pulls in this stage */
  double come, sum;        /* rewards of this stage that have come, and their sum */
  double mean;             /* private */
  double weighted, weight; /* halving: sums over stages */
  report_t report;         /* of all stages */
} arm_t;

typedef struct {
  mechanism_t how;           /* sums are released */
  double epsilon, beta;      /* of DP-SE */
  double people;             /* for each stage of halving; 0: DP-SE */
  double rounds, target;     /* R and r */
  int64_t k, stage;          /* stage: e */
  int64_t n_active, waiting; /* |S|, and arms of S with fewer than r rewards */
  arm_t arms[];              /* then room for skip(): k sums, k numbers of scratch, k arms */
} state_t;

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + (sizeof(arm_t) + 3 * sizeof(double)) * (size_t)spec->k;
}

static double log_failure(const state_t *s, double factor) {
  const double e = (double)s->stage;
  return log(factor * (double)s->n_active * e * e / s->beta);
}

static void begin_stage(state_t *s) {
  s->stage += 1;
  if (s->people > 0) {
    s->rounds = fmax(1, floor(s->people / (double)s->n_active));
  } else {
    const double gap = pow(2, -(double)s->stage);
    s->rounds = fmax(32 * log_failure(s, 8) / (gap * gap), 8 * log_failure(s, 4) / (s->epsilon * gap)) + 1;
  }
  s->target = ceil(s->rounds);
  s->waiting = s->n_active;
  for (int i = 0; i < s->k; i++) {
    s->arms[i].assigned = s->arms[i].come = s->arms[i].sum = 0;
  }
}

static void drop(state_t *s, arm_t *a) {
  a->active = 0;
  s->n_active -= 1;
}

/* DP-SE: the arms that are surely worse than the best */
static void drop_worse(state_t *s) {
  const double h = sqrt(log_failure(s, 8) / (2 * s->rounds));
  const double c = log_failure(s, 4) / (s->rounds * s->epsilon);
  double best = -INFINITY;
  for (int i = 0; i < s->k; i++) {
    if (s->arms[i].active) best = fmax(best, s->arms[i].mean);
  }
  for (int i = 0; i < s->k; i++) {
    arm_t *a = &s->arms[i];
    if (a->active && best - a->mean > 2 * h + 2 * c) drop(s, a);
  }
}

/* The lower half; of equal means the later arms */
static void drop_half(state_t *s) {
  for (int64_t n = s->n_active / 2; n > 0; n--) {
    arm_t *worst = NULL;
    for (int i = 0; i < s->k; i++) {
      arm_t *a = &s->arms[i];
      if (a->active && (!worst || a->mean <= worst->mean)) worst = a;
    }
    drop(s, worst);
  }
}

static void end_stage(state_t *s, draws_t *draws) {
  const double noise = noise_variance(s->how.kind, s->how.scale);
  const double weight = s->target / (s->target / 4 + noise);
  for (int i = 0; i < s->k; i++) {
    arm_t *a = &s->arms[i];
    if (!a->active) continue;
    const double noisy = report_release(&a->report, a->come, a->sum, 0, draws);
    a->weighted += weight * noisy;
    a->weight += weight * s->target;
    a->mean = s->people > 0 ? a->weighted / a->weight : noisy / s->target;
  }
  (s->people > 0 ? drop_half : drop_worse)(s);
  begin_stage(s);
}

/* The sums of the stage that is cut, for reports: no arm is dropped by them. */
static void finish(void *state, draws_t *draws) {
  state_t *s = state;
  for (int i = 0; i < s->k; i++) {
    arm_t *a = &s->arms[i];
    if (a->come > 0) report_release(&a->report, a->come, a->sum, 0, draws);
  }
  begin_stage(s);
}

static void begin(state_t *s, int k) {
  s->k = s->n_active = k;
  for (int i = 0; i < k; i++) {
    s->arms[i] = (arm_t){.active = 1, .report = report_of(&s->how)};
  }
  begin_stage(s);
}

static void se_init(void *state, const spec_t *spec) {
  const double epsilon = spec->par[EPSILON], beta = spec->par[BETA];
  *(state_t *)state = (state_t){.how = mechanism_of(0, 1 / epsilon),
                                .epsilon = epsilon,
                                .beta = isnan(beta) ? 1 / fmax(spec->horizon, 2) : beta};
  begin(state, spec->k);
}

static void halving_init(void *state, const spec_t *spec) {
  const double people = isnan(spec->par[PEOPLE]) ? spec->horizon : spec->par[PEOPLE];
  *(state_t *)state = (state_t){.how = mechanism_for(spec->par[MU], spec->par[EPSILON]),
                                .people = people / fmax(1, ceil(log2(spec->k)))};
  begin(state, spec->k);
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  const arm_t *arms = s->arms;
  int choice = -1;
  FOR_EACH_ARM(i, round) {
    if (!arms[i].active) continue;
    if (choice < 0 || arms[i].assigned < arms[choice].assigned ||
        /* Both have their pulls of this stage, and rewards are outstanding: round robin. */
        (arms[i].assigned == s->target && arms[choice].assigned == s->target &&
         round->pulls[i] < round->pulls[choice])) {
      choice = i;
    }
  }
  /* None of the arms on offer has survived. */
  if (choice < 0) return round->offer[rng_below(&draws->policy, round->n_offer)];
  return choice;
}

/* n pulls of an arm. Returns the stage of their rewards; 0: past the stage's share, of a
   dropped arm, or of the last survivor, and not used. */
static int64_t assign(state_t *s, int arm, double n) {
  arm_t *a = &s->arms[arm];
  if (s->n_active == 1 || !a->active || a->assigned >= s->target) return 0;
  a->assigned += n;
  return s->stage;
}

static void add(state_t *s, int arm, int64_t stage, double n, double sum, draws_t *draws) {
  arm_t *a = &s->arms[arm];
  if (stage != s->stage) return;
  a->come += n;
  a->sum += sum;
  if (a->come < s->target) return;
  s->waiting -= 1;
  if (s->waiting == 0) end_stage(s, draws);
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
      const int64_t stage = assign(s, list[i], (double)turns);
      add(s, list[i], stage, (double)turns, sums[i], draws);
    }
    return;
  }
  /* Turn by turn, up to some 1e5 pulls; the last turn may be cut by the horizon. */
  turns = (1 << 16) / n + 1;
  while (turns-- > 0) {
    const int64_t stage = s->stage;
    for (int i = 0; i < n; i++) {
      if (player_left(player) == 0) return;
      assign(s, list[i], 1);
      add(s, list[i], stage, 1, player_pull(player, list[i]), draws);
    }
    if (s->stage != stage) return;
  }
}

static report_t report(const void *state, int arm) { return ((const state_t *)state)->arms[arm].report; }

/* The last survivor; of DP-SE the chance that it is not the best is beta at most. */
static verdict_t verdict(const void *state) {
  const state_t *s = state;
  if (s->n_active > 1) return (verdict_t){.arm = -1, .error = NAN};
  int last = 0;
  while (!s->arms[last].active) last++;
  return (verdict_t){.stop = 1, .arm = last, .error = s->people > 0 ? NAN : s->beta};
}

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  int64_t active = 0;
  for (int64_t i = 0; SAME(k) && i < s->k; i++) active += s->arms[i].active != 0;
  return active > 0 && active == s->n_active;
}

#define ELIMINATION(NAME, OWN_PARAMS, OWN_INIT, VERSION)                                              \
  POLICY_OF(NAME, OWN_PARAMS, OWN_INIT, choose, .state_version = VERSION, .tosses = 1, .releases = 1, \
            .each_once = 1, .commit = commit, .update = update, .skip = skip, .report = report,       \
            .verdict = verdict, .finish = finish, .sound = sound)
ELIMINATION(dp_se, SE_PARAMS, se_init, 3);
ELIMINATION(halving, HALVING_PARAMS, halving_init, 2);
