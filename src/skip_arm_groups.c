#include "skip_arm_groups.h"

static int32_t *row(const arm_groups_t *s) { return (int32_t *)(s->chance + s->k); }
static int32_t *position(const arm_groups_t *s) { return row(s) + s->k; }

size_t arm_groups_size(int k) {
  return sizeof(arm_groups_t) + (sizeof(double) + 2 * sizeof(int32_t)) * (size_t)k;
}

/* The group g with p < 2^-g; 0 for p = 1 and for NaN. */
static int group_of(double p) {
  int exponent;
  if (!(p < 0.5)) return 0;
  if (p < 0x1p-39) return ARM_GROUPS - 1;
  frexp(p, &exponent); /* p in [1/2, 1) 2^exponent */
  return -exponent;
}

void arm_groups_fill(arm_groups_t *s, int k) {
  int32_t next[ARM_GROUPS] = {0};
  s->k = k;
  s->expected = 0;
  for (int i = 0; i < k; i++) {
    next[group_of(s->chance[i])]++;
    s->expected += s->chance[i];
  }
  s->begin[0] = 0;
  double bound = 1;
  for (int g = 0; g < ARM_GROUPS; g++, bound *= 0.5) {
    s->rate[g] = -log1p(-bound);
    s->begin[g + 1] = s->begin[g] + next[g];
    next[g] = s->begin[g];
  }
  for (int i = 0; i < k; i++) {
    const int at = next[group_of(s->chance[i])]++;
    row(s)[at] = i;
    position(s)[i] = at;
  }
}

static void put(arm_groups_t *s, int arm, int to) {
  const int from = position(s)[arm], other = row(s)[to];
  row(s)[from] = other;
  position(s)[other] = from;
  row(s)[to] = arm;
  position(s)[arm] = to;
}

/* Group by group: the arm is swapped to the border of its group, and then the border moves past it. */
void arm_groups_set(arm_groups_t *s, int arm, double p) {
  int g = group_of(s->chance[arm]);
  const int to = group_of(p);
  s->expected += p - s->chance[arm];
  s->chance[arm] = p;
  for (; g < to; g++) put(s, arm, --s->begin[g + 1]);
  for (; g > to; g--) put(s, arm, s->begin[g]++);
}

int arm_groups_where(const arm_groups_t *s, int arm) {
  const int at = position(s)[arm];
  if (at < 0 || at >= s->k || row(s)[at] != arm) return -1;
  int g = 0;
  while (s->begin[g + 1] <= at) g++;
  return g;
}

int arm_groups_next(const arm_groups_t *s, arm_walk_t *walk, rng_t *rng) {
  for (; walk->group < ARM_GROUPS; walk->group++, walk->bound *= 0.5) {
    const int end = s->begin[walk->group + 1];
    const double rate = s->rate[walk->group];
    while (walk->at < end) {
      if (walk->group > 0) { /* in group 0 every arm is a candidate */
        const int left = end - walk->at;
        if (walk->wait >= left * rate) {
          walk->wait -= left * rate;
          walk->at = end;
          break;
        }
        walk->at += (int)fmin(walk->wait / rate, left - 1);
        walk->wait = sample_exp(rng);
      }
      const int arm = row(s)[walk->at++];
      if (rng_unif(rng) * walk->bound < s->chance[arm]) return arm;
    }
  }
  return -1;
}
