#include "policy_final_test.h"
#include <math.h>
#include "math_util.h"

/* An arm of which a stratum has few people is taken to have the variance of the stratum's rewards, with the
   weight of so many people. */
static const double LEVEL_PEOPLE = 5;

size_t final_test_size(int k, int strata) {
  return (size_t)k * ((size_t)strata * sizeof(stratum_arm_t) + (size_t)k * sizeof(final_pair_t));
}

void final_test_begin(final_test_t *test, int k, int strata, void *memory) {
  *test = (final_test_t){.k = k, .strata = strata, .pairs = memory};
  test->open = (stratum_arm_t *)(test->pairs + k * k);
  for (int i = 0; i < k * k; i++) test->pairs[i] = (final_pair_t){0};
  for (int i = 0; i < k * strata; i++) test->open[i] = (stratum_arm_t){0};
}

void final_test_copy(final_test_t *to, const final_test_t *from) {
  const int k = from->k;
  for (int i = 0; i < k * k; i++) to->pairs[i] = from->pairs[i];
  for (int i = 0; i < k * from->strata; i++) to->open[i] = from->open[i];
}

/* The mean square of rewards about 1/2: 1/4 for those of 0 and 1, which have the largest */
static double square_of(double squares, double n) { return isnan(squares) ? 0.25 : squares / n; }

/* The variance of an arm's mean but for noise: the mean square less that of the mean is too small by the
   variance of the mean, noise included. `common`: that of all rewards of the stratum. Noisy squares may hide
   a standard deviation of their noise. */
static double variance_of(const stratum_arm_t *arm, double common) {
  const double n = arm->n, x = arm->sum / n - 0.5;
  const double rest = n > 1 ? ((square_of(arm->squares, n) - x * x) * n + arm->noise / n) / (n - 1) : 0.25;
  const double v = (n * fmin(fmax(rest, 0), 0.25) + LEVEL_PEOPLE * common) / (n + LEVEL_PEOPLE);
  return isnan(arm->squares) ? fmax(v, 0.01) / n : fmin(fmax(v + sqrt(arm->doubt) / n, 1e-4), 0.25) / n;
}

/* Where one of the two got nobody there is no difference to see: it is taken to be 0, with the largest
   variance that the mean of one person has. */
static void add_pair(final_pair_t *pair, const stratum_arm_t *a, const stratum_arm_t *b, double people,
                     double common) {
  const stratum_arm_t *arms[] = {a, b};
  const int seen = a->n > 0 && b->n > 0;
  const double n2 = people * people, gap = seen ? a->sum / a->n - b->sum / b->n : 0;
  double variance = 0;
  for (int i = 0; i < 2; i++) {
    const stratum_arm_t *arm = arms[i];
    const double n = fmax(arm->n, 1), per = n2 / (n * n);
    variance += (arm->n > 0 ? variance_of(arm, common) : 0.25) + arm->noise / (n * n);
    pair->heavy += per * arm->heavy;
    pair->fourth += 12 * per * per * arm->laplace;
  }
  pair->people += people;
  pair->difference += people * gap;
  pair->variance += n2 * variance;
  pair->scaled += sqrt(people / variance) * gap;
}

static void close_stratum(final_test_t *test, stratum_arm_t *open) {
  const int k = test->k;
  double people = 0, sum = 0, squares = 0;
  for (int i = 0; i < k; i++) {
    people += open[i].n, sum += open[i].sum;
    if (open[i].chance > 0) squares += open[i].squares;
  }
  const double level = clip01((sum + 1) / (people + 2)) - 0.5;
  const double common = fmin(fmax(square_of(squares, people) - level * level, 0), 0.25);
  for (int i = 0; i < k * k && people > 0; i++) {
    const stratum_arm_t *a = &open[i % k], *b = &open[i / k];
    if (a != b && a->chance > 0 && b->chance > 0) add_pair(&test->pairs[i], a, b, people, common);
  }
  for (int i = 0; i < k; i++) open[i] = (stratum_arm_t){0};
}

void final_test_close(final_test_t *test) {
  for (int s = 0; s < test->strata; s++) close_stratum(test, test->open + s * test->k);
}

static int is_same(const stratum_arm_t *open, int k, const release_t *rows, int n) {
  int arms = 0;
  for (int i = 0; i < k; i++) arms += open[i].chance > 0;
  for (int i = 0; i < n; i++) {
    const double chance = open[rows[i].arm].chance;
    if (!(fabs(rows[i].chance - chance) <= 1e-9 * rows[i].chance)) return 0;
  }
  return arms == n;
}

void final_test_add(final_test_t *test, const release_t *rows, int n) {
  stratum_arm_t *open = test->open + rows[0].stratum * test->k;
  if (!is_same(open, test->k, rows, n)) close_stratum(test, open);
  for (int i = 0; i < n; i++) {
    stratum_arm_t *arm = &open[rows[i].arm];
    const double noise = noise_law_variance(&rows[i].noise) * rows[i].terms, scale = rows[i].noise.scale;
    const int heavy = noise_is_bounded(&rows[i].noise);
    arm->chance = rows[i].chance;
    arm->n += rows[i].size;
    arm->sum += rows[i].sum;
    arm->squares += rows[i].weight > 0 ? rows[i].squares : NAN;
    if (rows[i].weight > 0) arm->doubt += noise / (rows[i].weight * rows[i].weight);
    arm->noise += noise;
    arm->heavy += heavy ? noise : 0;
    arm->laplace += heavy ? rows[i].terms * scale * scale * scale * scale : 0;
  }
}

final_result_t final_test_of(const final_test_t *test, int a, int b) {
  const final_pair_t *pair = &test->pairs[a + test->k * b];
  if (!(pair->people > 0)) return (final_result_t){NAN, NAN, NAN, 0, 0};
  return (final_result_t){.difference = pair->difference / pair->people,
                          .error = sqrt(pair->variance) / pair->people,
                          .z = pair->scaled / sqrt(pair->people),
                          .share = pair->heavy / pair->variance,
                          .terms = pair->heavy > 0 ? 3 * pair->heavy * pair->heavy / pair->fourth : 0};
}
