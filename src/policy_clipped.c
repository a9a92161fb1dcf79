/* Rewards without a range for a policy of [0, 1]: they are clipped to a range, and scaled. Where that is to
   be found, the first `pilot` rewards, of arms in turn, are used for it and for nothing else: the upper end
   is the least level of a fixed grid above which at most the share `tail` of them lies, as noisy counts have
   it. The search halves the grid with each count, so that there are LOOKS of them. What comes late of
   earlier pulls is not used. */

#include "policy_inner.h"
#include "math_util.h"
#include "noise_exact_release.h"

enum { LOWER, UPPER, PILOT, TAIL, SCALE };
enum { LOOKS = 7, LEVELS = 1 << LOOKS };
/* No `upper`: it is searched; and no `lower` either: the range is from -upper to upper. */
PARAMETERS(PARAMS, TAKES("lower"), TAKES("upper"), NEEDS("pilot"), NEEDS("tail"), NEEDS("scale"));

typedef struct {
  const spec_t *inner; /* not saved: a spec's `inner` */
  int64_t played;      /* rounds */
  int64_t start;       /* rounds before the policy began; -1: it has not */
  int64_t come;        /* rewards of the pilot */
  double pilot, tail, scale;
  double lower, upper;
  int64_t above[LEVELS]; /* of the pilot: how many are above a level and not above the next one */
} state_t;               /* then the policy */

static inner_t inner(const state_t *s) { return inner_at(s->inner, s + 1); }

static size_t size(const spec_t *spec) { return sizeof(state_t) + inner_size(spec->inner); }

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  const double *par = spec->par;
  *s = (state_t){.inner = spec->inner,
                 .start = par[UPPER] == par[UPPER] ? 0 : -1,
                 .pilot = par[PILOT],
                 .tail = par[TAIL],
                 .scale = par[SCALE],
                 .lower = par[LOWER],
                 .upper = par[UPPER]};
  inner_begin(inner(s));
}

/* Two levels an octave, from 2^-24 */
static double level(int i) { return pow(2, 0.5 * i - 24); }

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  if (s->start < 0) return least_pulled(round);
  return inner_choose(inner(s), round, round->t - s->start, draws);
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  state_t *s = state;
  s->played = round->t;
  if (s->start < 0) return 0;
  return inner_commit(inner(s), round, round->t - s->start, arm, draws);
}

static void search(state_t *s, draws_t *draws) {
  int low = 0, high = LEVELS - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    double n = 0;
    for (int i = middle; i < LEVELS; i++) n += (double)s->above[i];
    if (release_laplace(draws, n, s->scale) <= s->tail * s->pilot) high = middle;
    else low = middle + 1;
  }
  if (s->lower == s->lower) {
    s->upper = s->lower + level(low);
  } else {
    s->upper = level(low);
    s->lower = -s->upper;
  }
  s->start = s->played;
}

/* A reward of the pilot */
static void see(state_t *s, double reward, draws_t *draws) {
  const double size = s->lower == s->lower ? reward - s->lower : fabs(reward);
  int i = LEVELS - 1;
  while (i >= 0 && size <= level(i)) i--;
  if (i >= 0) s->above[i]++;
  if ((double)++s->come == s->pilot) search(s, draws);
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  state_t *s = state;
  if (s->start < 0) {
    see(s, feedback->reward, draws);
    return;
  }
  feedback_t own = *feedback;
  own.t -= s->start;
  const double scaled = clip01((own.reward - s->lower) / (s->upper - s->lower));
  own.reward = draws->live ? on_grid(scaled, EXACT_GRID) : scaled;
  if (own.t > 0) inner_update(inner(s), &own, draws);
}

/* In the rewards' own units; squares have none. */
static report_t report(const void *state, int arm) {
  const state_t *s = state;
  if (s->start < 0) return (report_t){0};
  report_t report = inner_report(inner(s), arm);
  const double width = s->upper - s->lower;
  report.sum = s->lower * report.rewards + width * report.sum;
  report.scale *= width;
  report.last_scale *= width;
  report.squares = report.weight = 0;
  return report;
}

static void finish(void *state, draws_t *draws) {
  state_t *s = state;
  if (s->start >= 0) inner_finish(inner(s), draws);
  else s->pilot = INFINITY; /* what comes later is not used */
}

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  return inner_is_sound(inner_at(f->inner, s + 1), inner(f));
}

POLICY(clipped, .state_version = 2, .tosses = 1, .releases = 1, .commit = commit, .update = update,
       .report = report, .finish = finish, .sound = sound);
