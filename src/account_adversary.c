/* Stage strategies: explicit adversaries of the sequence accountant, by simulation.

   The private arm has n rewards and tau rounds are left. The adversary holds the largest draw of the
   other arms at a position such that the private arm is pulled with probability q = Phi(x) under Q and
   p = Phi(x + s) under P. A strategy is a table of x by (tau, n): the maximisers of the Renyi recursion
   of one order, solved approximately (any table is a valid strategy). In a cell of n it uses the shift of
   the cell's last n, the smallest: opponents whose draws have some variance achieve it.

   The likelihood ratio of a transcript is exact. Transcripts are sampled under R, which pulls with
   probability r, the weight of the recursion, under which E_Q (P/Q)^alpha has almost no variance. So the
   weight P/R is known and close to e^(W - (alpha-1) L), small wherever the loss L = log P/Q is large. */
#include "account.h"
#include "account_bit.h"
#include "sample_rng.h"
#include "math_special.h"

#include <math.h>

#define CELL_RATIO 0.02 /* width of cells of n, relative to n + 1 */
#define STEP_RATIO 0.04 /* width of cells of tau, relative to tau */
#define MAX_PULLS  2e4  /* of the private arm; then the adversary stops */

static double next_time(double tau) { return tau + fmax(1, floor(STEP_RATIO * tau)); }

static long count_nodes(double rounds, double start) {
  double last;
  return account_nodes(start, fmin(rounds, MAX_PULLS), CELL_RATIO, &last);
}

static long count_times(double rounds) {
  long count = 1;
  for (double tau = 0; tau < rounds; tau = next_time(tau)) count++;
  return count;
}

/* An entry of the table: log(1 - r), the losses of a round with and without a pull, and log P/R of both. */
typedef struct {
  double log_miss, pull, pass, weight_pull, weight_pass;
} act;
#define ACT_DOUBLES ((long)(sizeof(act) / sizeof(double)))

double adversary_size(double rounds, double start) {
  double nodes = count_nodes(rounds, start), times = count_times(rounds);
  return 3 * nodes + times + nodes * times * ACT_DOUBLES;
}

void adversary_begin(adversary *run, double rounds, double start, double scale, double alpha, int bounded,
                     double *work) {
  run->rounds = rounds;
  run->scale = scale;
  run->alpha = alpha;
  run->bounded = bounded;
  run->nodes = count_nodes(rounds, start);
  run->times = count_times(rounds);
  run->solved = 0;
  run->count = work;
  run->value = work + run->nodes;
  run->position = work + 2 * run->nodes;
  run->time = work + 3 * run->nodes;
  run->acts = run->time + run->times;
  double n = start, tau = 0;
  for (long k = 0; k < run->nodes; k++, n = account_next_node(n, CELL_RATIO)) {
    run->count[k] = n;
    run->value[k] = run->position[k] = 0;
  }
  for (long j = 0; j < run->times; j++, tau = next_time(tau)) run->time[j] = fmin(tau, rounds);
}

static act *act_at(const adversary *run, long j, long k) {
  return (act *)(run->acts + (j * run->nodes + k) * ACT_DOUBLES);
}

static double log_cdf(double x) {
  if (x > -5) return log(normal_cdf(x));
  return -0.5 * x * x - DPTS_LOG_SQRT_2PI + log(mills(-x));
}

/* The best position for the slope g at node k: x, the signed shift s, the loss log F
   there, and log r, r the chance of a pull under R. The sign is the same in all rounds,
   since a changed reward moves the private arm's mean the same way in each: without
   limits s = -d, which is never worse (theorem 3 of account_bit.c). With `bounded`, whose
   sign is then that of s, rewards in [0, 1] hold the private arm's mean to [0, n / (n + 1)]
   and its opponent's to [0, 1], so that x and x + s lie between -sqrt((n + 1) / c) and
   n / (n + 1) times as much. */
typedef struct {
  double x, s, loss, log_r;
} stand;

static stand best_stand(adversary *run, long k, double d, double g) {
  double n = run->count[k], s = run->bounded > 0 ? d : -d, *x = &run->position[k];
  stand best = {.s = s};
  bit_climb(run->alpha, s, g, x);
  best.x = *x;
  if (run->bounded) {
    double widest = sqrt((n + 1) / run->scale), above = widest * n / (n + 1);
    best.x = fmax(fmin(best.x, above - fmax(s, 0)), -widest - fmin(s, 0));
  }
  best.loss = bit_at(run->alpha, s, g, best.x).value;
  double pull = bit_log_ratio(best.x, s);
  best.log_r = (run->alpha - 1) * pull - g + log_cdf(best.x + s) - best.loss;
  return best;
}

static act act_of(double alpha, const stand *at) {
  double pull = bit_log_ratio(at->x, at->s), pass = bit_log_ratio(-at->x, -at->s);
  double log_p = log_cdf(at->x + at->s), log_rest = log_cdf(-at->x - at->s);
  double log_r = at->log_r, log_miss;
  if (log_r < -1) { /* accurate for small r and for small 1 - r */
    log_miss = log1p(-exp(log_r));
  } else {
    log_miss = (alpha - 1) * pass + log_rest - at->loss;
    log_r = log1p(-exp(log_miss));
  }
  return (act){log_miss, pull, pass, log_p - log_r, log_rest - log_miss};
}

/* W after `dt` more rounds at node k: x = W + dt H(d, g), g = (x - above) / width. The
   left side less the right is concave in x, so Newton comes from the left; dH/dg is
   minus r. It starts from the `gain` of the next node, which is less. */
static double advance(adversary *run, long k, double d, double dt, double width, double above, double gain) {
  double w = run->value[k], x = w + gain;
  for (int i = 0; i < 20; i++) {
    stand at = best_stand(run, k, d, fmax(0, (x - above) / width));
    double step = (w + dt * fmax(at.loss, 0) - x) / (1 + dt * exp(at.log_r) / width);
    x += step;
    if (!(fabs(step) > 1e-3 * (x - w))) break;
  }
  return x;
}

/* Solves the next cell of time and writes its entries; returns 0 after the last one. It is implicit in
   the slope, so steps may be long. */
int adversary_solve(adversary *run) {
  long j = run->solved, top = run->nodes - 1;
  double dt = run->time[j + 1] - run->time[j], gain = 0;
  for (long k = top - 1; k >= 0; k--) { /* the last node has no loss */
    double width = run->count[k + 1] - run->count[k], above = run->value[k + 1];
    double d = 1 / sqrt(run->scale * (run->count[k] + width)); /* at the cell's last n */
    double next = advance(run, k, d, dt, width, above, gain);
    gain = next - run->value[k];
    run->value[k] = next;
    stand at = best_stand(run, k, d, fmax(0, (run->value[k] - above) / width));
    *act_at(run, j, k) = act_of(run->alpha, &at);
  }
  run->solved++;
  return run->solved + 1 < run->times;
}

/* Samples a transcript: its loss and the logarithm of its weight. */
void adversary_play(const adversary *run, uint64_t seed, uint64_t number, double *loss, double *weight) {
  rng_t rng;
  rng_seed(&rng, seed, number, RNG_ADVERSARY);
  double left = run->rounds, n = run->count[0], l = 0, w = 0;
  long j = run->times - 2, k = 0;
  while (left > 0) {
    const act *a = act_at(run, j, k);
    double here = left - run->time[j]; /* rounds left in this cell of time */
    double wait = floor(log(rng_unif(&rng)) / a->log_miss);
    if (!(wait < here)) { /* no pull in them */
      l += here * a->pass;
      w += here * a->weight_pass;
      left = run->time[j--];
      continue;
    }
    l += wait * a->pass + a->pull;
    w += wait * a->weight_pass + a->weight_pull;
    left -= wait + 1;
    if (++n >= run->count[k + 1] && ++k == run->nodes - 1) break;
    if (left <= run->time[j] && left > 0) j--;
  }
  *loss = l;
  *weight = w;
}
