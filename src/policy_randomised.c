/* A randomised experiment: people are tossed to arms with chances that follow what was released.

   Time is cut into blocks of people. In a block the chances are fixed. When all rewards of its people
   are in, its sums are released, one for each arm, in the order of the blocks. From all releases
   so far an arm has a mean x of n rewards and its variance V, and the chances of the next block are
   f + (1 - sum f) raw, f being the floors and raw
     equal     1 / k
     thompson  the chance that the arm is the best, if the means are independent and normal
     top_two   V_a / (V_a + V_c) for the leader a, the rest for the challenger c, which has the least
               (x_a - x_c)^2 / (2 (V_a + V_c)) + 2 ln(n_c)
     neyman    in proportion to sqrt(x (1 - x))
   The first `burn_in` blocks, and those before anything is released, are equal.

   With predictions a person's context is one number, m in [low, high], that was fixed before the toss. In
   place of the reward x the block sums the residual x - m, scaled to [0, 1]: u = (x - m + high) / (1 + high -
   low). If reward and prediction are protected, u may be replaced by any number, as a reward may. If the
   prediction is public, u moves by e <= 1 / (1 + high - low) at most, so the noise is smaller: sensitivity().

   A block is of people to whom the same arms were on offer. Others are tossed with the same chances
   among the arms that they can have, and their rewards are not used; when they are more than a whole
   block, the open one ends as it is and the next begins with what is on offer then. So it is with people
   who come again while the open block holds them. */

#include <string.h>
#include "math_special.h"
#include "math_util.h"
#include "noise_exact_release.h"
#include "policy.h"
#include "policy_block_size.h"
#include "policy_released.h"

enum {
  MU,
  EPSILON,
  RULE,
  GROWTH,
  FLOOR,
  CONTROL,
  CONTROL_FLOOR,
  BURN_IN,
  PERMUTED,
  OUTCOME,
  SIZE,
  SIZES = 6, /* of blocks that may be named; the last one is for all that follow */
  LOW = SIZE + SIZES,
  HIGH,
  PROTECT,
  ALL
};
enum { PERSON, REWARD };
static const char *const PROTECTED[] = {"person", "reward", NULL};
enum { EQUAL, THOMPSON, TOP_TWO, NEYMAN };
static const char *const RULES[] = {"equal", "thompson", "top_two", "neyman", NULL};
PARAMETERS(PARAMS, TAKES("mu"), TAKES("epsilon"), ONE_OF("rule", RULES), TAKES("growth"), NEEDS("floor"),
           TAKES("control"), TAKES("control_floor"), NEEDS("burn_in"), NEEDS("permuted"),
           ONE_OF("outcome", OUTCOMES), TAKES("size_1"), TAKES("size_2"), TAKES("size_3"), TAKES("size_4"),
           TAKES("size_5"), TAKES("size_6"), TAKES("predicted_low"), TAKES("predicted_high"),
           ONE_OF("protect", PROTECTED));

enum { SLOTS = 16 }; /* blocks that wait for rewards; people of more are in none */
enum { NOT_OFFERED = -1 };

/* An arm in a block */
typedef struct {
  double chance;       /* NOT_OFFERED: the block is of other arms */
  double n, come, sum; /* people tossed to it, and their rewards that are in */
  double squares;      /* of these rewards about 1/2, where the outcome is continuous */
  double left;         /* permuted: people that are still to come */
} cell_t;

typedef struct {
  int64_t number; /* from 1; 0: a free slot */
  int64_t size, n, come;
  int64_t offered; /* arms */
  int64_t missed;  /* people in the meantime to whom other arms were on offer, or who are not counted again */
} block_t;

typedef struct {
  double floor, next; /* chance in the next block */
  double mean, variance;
  report_t report;
} arm_t;

typedef struct {
  double par[ALL];
  int64_t k, made, open; /* open: the slot of the block that takes people, or -1 */
  int64_t people;        /* in all blocks */
  block_t blocks[SLOTS];
  arm_t arms[]; /* k, then SLOTS times k cells, then k numbers for the work */
} state_t;

static cell_t *cells(const state_t *s, int64_t slot) { return (cell_t *)(s->arms + s->k) + slot * s->k; }

static double *scratch(state_t *s) { return (double *)cells(s, SLOTS); }

static size_t size(const spec_t *spec) {
  return sizeof(state_t) + (size_t)spec->k * (sizeof(arm_t) + SLOTS * sizeof(cell_t) + sizeof(double));
}

/* Equal chances, or as equal as a large share of the control leaves them */
static void equal_chances(state_t *s) {
  const double each = 1 / (double)s->k;
  const int64_t control = s->par[CONTROL] > 0 ? (int64_t)s->par[CONTROL] - 1 : 0;
  const double own = fmax(s->arms[control].floor, each);
  for (int64_t i = 0; i < s->k; i++) {
    s->arms[i].next = i == control ? own : own > each ? (1 - own) / (double)(s->k - 1) : each;
  }
}

static int predicts(const state_t *s) { return !isnan(s->par[HIGH]); }

/* By how much, at most, one neighbour moves a released pair, in units of what a reward moves it. A residual
   that moves by e in [0, 1] moves its square about 1/2 by e (1 - e) at most, so the pair by e sqrt(1 + w^2 (1
   - e)^2), or in all by e (1 + w (1 - e)): both grow with e for w <= 2 and w <= 1, and are 1 for e = 1. Where
   live, residuals and squares are on the grid, g = 2^-20, which adds less than 5 g, and the least of these is
   1/2. */
static double sensitivity(const state_t *s, const mechanism_t *how) {
  if (!predicts(s) || s->par[PROTECT] == PERSON) return 1;
  const double e = 1 / (1 + s->par[HIGH] - s->par[LOW]), square = how->weight * (1 - e);
  const double most = how->kind == NOISE_LAPLACE ? e * (1 + square) : e * sqrt(1 + square * square);
  return most * (1 + 10 / EXACT_GRID);
}

static void init(void *state, const spec_t *spec) {
  state_t *s = state;
  memset(s, 0, size(spec));
  for (int i = 0; i < ALL; i++) s->par[i] = spec->par[i];
  mechanism_t how = with_squares(mechanism_for(s->par[MU], s->par[EPSILON]), s->par[OUTCOME]);
  if (predicts(s) && s->par[PROTECT] == REWARD) how.weight = 1; /* the sum has less noise then */
  how.scale *= sensitivity(s, &how);
  s->k = spec->k;
  s->open = -1;
  for (int64_t i = 0; i < s->k; i++) {
    const double each = 1 / (double)s->k, own = s->par[CONTROL_FLOOR];
    s->arms[i].floor = fmin(s->par[FLOOR], each);
    if ((double)i + 1 == s->par[CONTROL]) s->arms[i].floor = own >= 0 ? own : each;
    s->arms[i].report = report_of(&how);
  }
  equal_chances(s);
}

/* The variance of a reward, as far as it is known: of coins by the mean, drawn to 1/2 by `more` rewards */
static double spread_of(const state_t *s, const arm_t *arm, double more) {
  if (s->par[OUTCOME] == CONTINUOUS) return reward_variance(&arm->report);
  const double n = fmax(1, arm->report.rewards);
  const double x = clip01((arm->report.sum + more / 2) / (n + more));
  return fmax(x * (1 - x), 0.01);
}

static double noise_of(const arm_t *arm) {
  return noise_variance((enum noise_kind)arm->report.kind, arm->report.scale);
}

/* The variance of a reward is what is seen of it, but not less than its noise. Before a release the centre of
   the bets is 1/2 wherever the means are, so that it is taken to be 0.04; and 0.005 of residuals, of which
   predictions tell the centre. */
static double best_size(const state_t *s) {
  const double noise = noise_of(s->arms);
  double n = 0, terms = 0, seen = 0;
  for (int64_t i = 0; i < s->k; i++) {
    const report_t *r = &s->arms[i].report;
    const double x = r->sum / fmax(1, r->rewards) - 0.5;
    n += r->rewards, terms += r->terms, seen += r->squares - r->rewards * x * x;
  }
  const double v = n > 0 ? fmax(seen, sqrt(terms * noise)) / n : predicts(s) ? 0.005 : 0.04;
  return block_for_spread((double)s->k, noise, v, (double)s->people);
}

/* How many people the next block is for */
static int64_t next_size(const state_t *s) {
  block_rule_t rule = {.growth = s->par[GROWTH], .size = s->par + SIZE, .named = 1, .most = s->par[SIZE + 1]};
  while (rule.named < SIZES && rule.size[rule.named] >= 1) rule.named++;
  const int by_spread = s->par[OUTCOME] == CONTINUOUS && !isnan(rule.growth) && rule.most >= 0;
  return block_size(&rule, s->made, (double)s->people, (double)s->k, by_spread ? best_size(s) : 0);
}

/* ---- the chances of the next block ------------------------------------------------- */

static double raw_thompson(const state_t *s, int64_t arm) {
  enum { POINTS = 96 };
  const arm_t *a = &s->arms[arm];
  double total = 0;
  for (int i = 0; i < POINTS; i++) {
    const double z = 12.0 * (i + 0.5) / POINTS - 6, x = a->mean + z * sqrt(a->variance);
    double below = normal_density(z);
    for (int64_t b = 0; b < s->k && below > 1e-12; b++) {
      if (b != arm) below *= normal_cdf((x - s->arms[b].mean) / sqrt(s->arms[b].variance));
    }
    total += below * 12 / POINTS;
  }
  return total;
}

static void raw_top_two(const state_t *s, double *raw) {
  int64_t a = 0, c = -1;
  double least = INFINITY;
  for (int64_t i = 1; i < s->k; i++) {
    if (s->arms[i].mean > s->arms[a].mean) a = i;
  }
  for (int64_t i = 0; i < s->k; i++) {
    if (i == a) continue;
    const double gap = s->arms[a].mean - s->arms[i].mean;
    const double index = gap * gap / (2 * (s->arms[a].variance + s->arms[i].variance)) +
                         2 * log(fmax(1, s->arms[i].report.rewards));
    if (index < least || c < 0) least = index, c = i;
  }
  if (c < 0) c = a;
  const double share = s->arms[a].variance / (s->arms[a].variance + s->arms[c].variance);
  raw[c] = 1 - share;
  raw[a] += share;
}

static void renew_chances(state_t *s) {
  double *raw = scratch(s), floors = 0, total = 0;
  for (int64_t i = 0; i < s->k; i++) {
    raw[i] = 0;
    floors += s->arms[i].floor;
    if (!(s->arms[i].report.rewards > 0)) return; /* as before */
  }
  if (s->par[RULE] == TOP_TWO) raw_top_two(s, raw);
  for (int64_t i = 0; i < s->k; i++) {
    if (s->par[RULE] == THOMPSON) raw[i] = raw_thompson(s, i);
    if (s->par[RULE] == NEYMAN) raw[i] = sqrt(spread_of(s, &s->arms[i], 0));
    total += raw[i];
  }
  if (!(total > 0)) return;
  for (int64_t i = 0; i < s->k; i++) {
    s->arms[i].next = s->arms[i].floor + fmax(0, 1 - floors) * raw[i] / total;
  }
}

/* ---- tosses ------------------------------------------------------------------------ */

/* Are the arms on offer those of the block? */
static int belongs(const state_t *s, int64_t slot, const round_t *round) {
  const cell_t *cell = cells(s, slot);
  if (s->blocks[slot].offered != round->n_offer) return 0;
  if (round->n_offer == s->k) return 1;
  FOR_EACH_ARM(i, round) if (cell[i].chance == NOT_OFFERED) return 0;
  return 1;
}

static int64_t free_slot(const state_t *s) {
  int64_t slot = 0;
  while (slot < SLOTS && s->blocks[slot].number != 0) slot++;
  return slot;
}

static double next_total(const state_t *s, const round_t *round) {
  double total = 0;
  FOR_EACH_ARM(i, round) total += s->arms[i].next;
  return total;
}

/* Of a permuted block that the round opens, the people of an arm: as many as its chance says, the rest by the
   largest remainders */
static double fixed_number(const state_t *s, const round_t *round, int arm) {
  const double n = (double)next_size(s), total = next_total(s, round);
  const double own = s->arms[arm].next / total * n, rest = own - floor(own);
  double left = n;
  FOR_EACH_ARM(i, round) {
    const double other = s->arms[i].next / total * n, gone = floor(other);
    left -= gone + (other - gone > rest || (other - gone == rest && i < arm));
  }
  return floor(own) + (own > 0 && left > 0);
}

/* How the people of a round are tossed: by the places that are left in a permuted block, also in the one that
   the round opens, since the order is random only if all are tossed so; or by the chances. */
enum { BY_PLACES, BY_CHANCES };

/* What an arm on offer has of the toss, in proportion */
static double share_of(const state_t *s, const round_t *round, int how, int arm) {
  if (how == BY_PLACES) return s->open < 0 ? fixed_number(s, round, arm) : cells(s, s->open)[arm].left;
  if (s->open < 0) return s->arms[arm].next;
  const double chance = cells(s, s->open)[arm].chance;
  return chance == NOT_OFFERED ? s->arms[arm].next : chance;
}

static double sum_of_shares(const state_t *s, const round_t *round, int how) {
  double total = 0;
  FOR_EACH_ARM(i, round) total += share_of(s, round, how, i);
  return total;
}

static int has_places(const state_t *s, const round_t *round) {
  if (s->par[PERMUTED] == 0) return 0;
  return s->open < 0 ? free_slot(s) < SLOTS : belongs(s, s->open, round);
}

/* The sum of the shares; NaN if one is. Nobody may be left in a permuted block, for arms were forced. */
static double shares(const state_t *s, const round_t *round, int *how) {
  *how = BY_PLACES;
  const double places = has_places(s, round) ? sum_of_shares(s, round, BY_PLACES) : 0;
  if (places != 0) return places;
  *how = BY_CHANCES;
  return sum_of_shares(s, round, BY_CHANCES);
}

static int choose(const void *state, const round_t *round, draws_t *draws) {
  const state_t *s = state;
  int how, last = -1;
  double u = shares(s, round, &how) * rng_unif(&draws->policy);
  if (isnan(u)) return -1;
  FOR_EACH_ARM(i, round) {
    const double share = share_of(s, round, how, i);
    if (!(share > 0)) continue;
    last = i;
    u -= share;
    if (u < 0) return i;
  }
  return last;
}

static void probability(const void *state, const round_t *round, double *p) {
  const state_t *s = state;
  int how;
  const double total = shares(s, round, &how);
  FOR_EACH_ARM(i, round) p[i] = share_of(s, round, how, i) / total;
}

static void open_block(state_t *s, const round_t *round) {
  const int64_t slot = free_slot(s);
  const double total = next_total(s, round);
  if (slot == SLOTS) return;
  cell_t *cell = cells(s, slot);
  for (int64_t i = 0; i < s->k; i++) cell[i] = (cell_t){.chance = NOT_OFFERED};
  FOR_EACH_ARM(i, round) {
    cell[i].chance = s->arms[i].next / total;
    if (s->par[PERMUTED] != 0) cell[i].left = fixed_number(s, round, i);
  }
  const int64_t n = next_size(s);
  s->blocks[slot] = (block_t){.number = ++s->made, .size = n, .offered = round->n_offer};
  s->open = slot;
}

/* ---- releases ---------------------------------------------------------------------- */

/* One sum for each arm, of the rewards that are in */
static void release(state_t *s, int64_t slot, draws_t *draws) {
  const cell_t *cell = cells(s, slot);
  for (int64_t i = 0; i < s->k; i++) {
    if (!(cell[i].chance > 0)) continue;
    arm_t *a = &s->arms[i];
    report_release(&a->report, cell[i].come, cell[i].sum, cell[i].squares, draws);
    a->report.chance = cell[i].chance;
    const double n = fmax(1, a->report.rewards);
    a->mean = a->report.sum / n;
    a->variance = (spread_of(s, a, 2) + noise_of(a) * a->report.terms / n) / n;
  }
  s->blocks[slot].number = 0;
  if (s->open == slot) s->open = -1;
  if (s->par[RULE] != EQUAL && (double)s->made >= s->par[BURN_IN]) renew_chances(s);
}

/* The slot of the oldest block, or -1 */
static int64_t oldest(const state_t *s) {
  int64_t first = -1;
  for (int64_t i = 0; i < SLOTS; i++) {
    if (s->blocks[i].number == 0) continue;
    if (first < 0 || s->blocks[i].number < s->blocks[first].number) first = i;
  }
  return first;
}

/* The oldest block, if it has ended and has all its rewards: blocks are released in the order of their
   tosses, and one at a time, so that what was released of each can be read from the reports. */
static int release_oldest(void *state, draws_t *draws) {
  state_t *s = state;
  const int64_t first = oldest(s);
  if (first < 0 || first == s->open || s->blocks[first].come < s->blocks[first].n) return 0;
  release(s, first, draws);
  return 1;
}

/* All blocks, as far as their rewards have come; those without one are dropped. */
static void finish(void *state, draws_t *draws) {
  state_t *s = state;
  for (int64_t first; (first = oldest(s)) >= 0;) {
    if (s->blocks[first].come > 0) release(s, first, draws);
    s->blocks[first].number = 0;
    if (s->open == first) s->open = -1;
  }
}

static int64_t commit(void *state, const round_t *round, int arm, draws_t *draws) {
  (void)draws;
  state_t *s = state;
  if (s->open < 0) open_block(s, round);
  if (s->open < 0) return 0;
  block_t *block = &s->blocks[s->open];
  if (!belongs(s, s->open, round)) {
    if (++block->missed > block->size) s->open = -1;
    return 0;
  }
  cell_t *cell = cells(s, s->open) + arm;
  const int64_t number = block->number;
  cell->n += 1;
  cell->left = fmax(0, cell->left - 1);
  s->people += 1;
  if (++block->n == block->size) s->open = -1;
  return number;
}

static int pass(void *state, const round_t *round, int arm, int64_t held) {
  (void)round, (void)arm;
  state_t *s = state;
  block_t *block = s->open < 0 ? NULL : &s->blocks[s->open];
  if (held >= 0 && !(block && block->number == held)) return 0;
  return block && ++block->missed > block->size ? 2 : 1;
}

/* The others of the block keep the probabilities with which they were tossed. Of an open block that nobody is
   left in nothing stays: it may be of other offers than those to come. */
static int unpull(void *state, int arm, int64_t batch) {
  state_t *s = state;
  for (int64_t i = 0; i < SLOTS && batch > 0; i++) {
    block_t *block = &s->blocks[i];
    cell_t *cell = cells(s, i) + arm;
    if (block->number != batch) continue;
    if (!(cell->n > cell->come)) return 0;
    cell->n -= 1;
    cell->left += s->par[PERMUTED] > 0;
    s->people -= 1;
    if (--block->n > 0) return 1;
    if (s->open == i) s->made -= 1, s->open = -1; /* the next block has its number and size */
    block->number = 0;
    return 2;
  }
  return 0;
}

static int64_t close(void *state, int arm, draws_t *draws) {
  (void)arm;
  state_t *s = state;
  if (s->open < 0) return 0;
  s->open = -1;
  release_oldest(s, draws);
  return 0;
}

/* The reward, or what of it was not predicted. Without a prediction the middle counts. */
static double outcome(const state_t *s, const feedback_t *feedback, const draws_t *draws) {
  if (!predicts(s)) return feedback->reward;
  const double low = s->par[LOW], high = s->par[HIGH];
  const double said = feedback->context ? feedback->context[0] : NAN;
  const double m = isnan(said) ? (low + high) / 2 : fmin(fmax(said, low), high);
  const double residual = clip01((feedback->reward - m + high) / (1 + high - low));
  return draws->live ? on_grid(residual, EXACT_GRID) : residual;
}

static void update(void *state, const feedback_t *feedback, draws_t *draws) {
  state_t *s = state;
  for (int64_t i = 0; i < SLOTS && feedback->batch > 0; i++) {
    if (s->blocks[i].number != feedback->batch) continue;
    cell_t *cell = cells(s, i) + feedback->arm;
    const double x = outcome(s, feedback, draws);
    cell->come += 1;
    cell->sum += x;
    cell->squares += reward_square(draws, x);
    s->blocks[i].come += 1;
    break;
  }
  release_oldest(s, draws);
}

/* Until all arms have releases, a new one has the share 1 / k of what is above the floors, and the others
   keep their proportions. An open block is of other offers than those to come, and ends. */
static void grow(void *state, const void *of_old, int k) {
  state_t *s = state;
  const state_t *old = of_old;
  s->made = old->made;
  s->people = old->people;
  memcpy(s->blocks, old->blocks, sizeof s->blocks);
  for (int64_t i = 0; i < SLOTS; i++) {
    memcpy(cells(s, i), cells(old, i), sizeof(cell_t) * (size_t)k);
  }
  double floors = 0;
  for (int64_t i = 0; i < s->k; i++) floors += s->arms[i].floor;
  for (int64_t i = 0; i < s->k; i++) {
    const double floor = s->arms[i].floor, equal = s->arms[i].next;
    const double share = i < k ? old->arms[i].next * k / (double)s->k : 1 / (double)s->k;
    if (i < k) s->arms[i] = old->arms[i];
    s->arms[i].floor = floor;
    s->arms[i].next = s->par[RULE] == EQUAL ? equal : floor + fmax(0, 1 - floors) * share;
  }
}

static report_t report(const void *state, int arm) { return ((const state_t *)state)->arms[arm].report; }

static int sound(const void *state, const void *fresh) {
  const state_t *s = state, *f = fresh;
  return SAME(k) && is_in(s->open, -1, SLOTS) && s->made >= 0;
}

POLICY(randomised, .state_version = 6, .tosses = 1, .releases = 1, .each_once = 1, .by_tosses = 1,
       .commit = commit, .pass = pass, .close = close, .unpull = unpull, .update = update, .report = report,
       .probability = probability, .release_next = release_oldest, .finish = finish, .grow = grow,
       .sound = sound);
