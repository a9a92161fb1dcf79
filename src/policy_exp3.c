/* Policies against an adversary, by follow the regularised leader over importance-weighted losses 1 -
   reward, of which an arm that was pulled with chance p gets (1 - reward) / p. In round t the learning rate
   is rate / sqrt(t).

   entropy: EXP3, chances in proportion to exp(-rate L) (Bubeck and Cesa-Bianchi 2012, Theorem 3.1).
   tsallis: Tsallis-INF, chances 4 / (rate (L - x))^2, x such that they add up to 1 (Zimmert and Seldin 2021,
   Algorithms 1 and 2). */

#include "policy.h"

enum { RULE, RATE };
enum { ENTROPY, TSALLIS };
static const char *const RULES[] = {"entropy", "tsallis", NULL};
PARAMETERS(PARAMS, ONE_OF("rule", RULES), TAKES("rate"));

typedef struct {
  double loss;   /* importance-weighted, of all rewards that have come */
  double n, sum; /* of the rewards */
} arm_t;

typedef struct {
  double rule, rate;
  arm_t arms[];
} state_t;

static size_t size(const spec_t *spec) { return sizeof(state_t) + sizeof(arm_t) * (size_t)spec->k; }

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  const double k = spec->k, rule = spec->par[RULE], rate = spec->par[RATE];
  *s = (state_t){rule, !isnan(rate) ? rate : rule == ENTROPY ? sqrt(log(fmax(k, 2)) / k) : 2};
  for (int i = 0; i < spec->k; i++) s->arms[i] = (arm_t){0};
}

/* The chances of the arms on offer are weight() / *total. Only losses above the least count. */
typedef struct {
  double least, rate, x, total;
  int tsallis;
} chances_t;

static double weight(const chances_t *c, double loss) {
  const double scaled = c->rate * (loss - c->least);
  if (!c->tsallis) return exp(-scaled);
  const double root = 2 / (scaled - c->x);
  return root * root;
}

static chances_t chances(const state_t *s, const round_t *round) {
  chances_t c = {
      .least = INFINITY, .rate = s->rate / sqrt((double)round->t), .x = -2, .tsallis = s->rule == TSALLIS};
  FOR_EACH_ARM(i, round) c.least = fmin(c.least, s->arms[i].loss);
  /* Newton's method from where the best arm alone has weight 1: down, and never past the solution. */
  for (int i = 0; i < 100; i++) {
    double slope = 0;
    c.total = 0;
    FOR_EACH_ARM(j, round) {
      const double w = weight(&c, s->arms[j].loss);
      c.total += w;
      slope += w * sqrt(w);
    }
    if (!c.tsallis || c.total - 1 < 1e-13) break;
    c.x -= (c.total - 1) / slope;
  }
  return c;
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  const chances_t c = chances(s, round);
  double left = rng_unif(&draws->policy) * c.total;
  int last = -1;
  FOR_EACH_ARM(i, round) {
    const double w = weight(&c, s->arms[i].loss);
    if (w > 0) last = i;
    left -= w;
    if (left < 0) return i;
  }
  return last; /* by rounding; -1 if weights are NaN */
}

static void probability(const void *state, const round_t *round, double *p) {
  const state_t *s = state;
  const chances_t c = chances(s, round);
  FOR_EACH_ARM(i, round) p[i] = weight(&c, s->arms[i].loss) / c.total;
}

/* The reward comes back with the chance of its choice, as a multiple of 2^-52. */
static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  (void)draws;
  const state_t *s = state;
  const chances_t c = chances(s, round);
  return (int64_t)fmax(1, weight(&c, s->arms[arm].loss) / c.total * 0x1p52);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  (void)draws;
  arm_t *a = &((state_t *)state)->arms[feedback->arm];
  a->n += 1;
  a->sum += feedback->reward;
  a->loss += (1 - feedback->reward) / ((double)feedback->batch * 0x1p-52);
}

static report_t report(const void *state, int arm) {
  const arm_t *a = &((const state_t *)state)->arms[arm];
  return report_plain(a->n, a->sum);
}

POLICY(exp3, .state_version = 1, .tosses = 1, .commit = commit, .update = update, .report = report,
       .probability = probability);
