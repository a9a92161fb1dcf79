/* The kernel of lanes_ts_gaussian.c, a template as lanes_math.h is: each step is one line
   of the plain policy, for as many lanes as a vector holds. Choices are masks, so that no
   lane waits for another. */

#include "lanes_math.h"

/* Normals for two rounds, so that both of every pair are used. */
TARGET static void UNIT(draw_normals)(block_t *b) {
  const int width = b->width;
  for (int lane = 0; lane < width; lane += BYTES / 8) {
    double *z = row(b, NORMALS(b->k)) + lane;
    double *rng = row(b, POLICY_RNG) + lane;
    vu s[4];
    for (int i = 0; i < 4; i++) s[i] = LOAD_WORDS(rng + i * width);
    for (int pair = 0; pair < b->k; pair++) {
      const vu p = UNIT(next)(s), q = UNIT(next)(s);
      STORE(z + 2 * pair * width, UNIT(radius2)(p));
      STORE_WORDS(z + (2 * pair + 1) * width, q);
    }
    for (int i = 0; i < 4; i++) STORE_WORDS(rng + i * width, s[i]);
    for (int pair = 0; pair < b->k; pair++, z += 2 * width) {
      vd x, y;
      UNIT(normals)(ROOT(LOAD(z)), LOAD_WORDS(z + width), &x, &y);
      STORE(z, x);
      STORE(z + width, y);
    }
  }
}

/* Bernoulli rewards of the chosen arms, as arms_draw() draws them. */
INLINE vd UNIT(bernoulli)(block_t *b, int lane, vd chance) {
  double *rng = row(b, REWARD_RNG) + lane;
  vu s[4];
  for (int i = 0; i < 4; i++) s[i] = LOAD_WORDS(rng + i * b->width);
  const vd u = UNIT(unif)(UNIT(next)(s));
  for (int i = 0; i < 4; i++) STORE_WORDS(rng + i * b->width, s[i]);
  return SELECT(LESS(u, chance), ALL(1), ALL(0));
}

/* What a round leaves for its second half. */
typedef struct {
  vd choice[LANES * 8 / BYTES], sum[LANES * 8 / BYTES], n[LANES * 8 / BYTES];
} UNIT(chosen);

/* The first half of a round, for vector v of the lanes, with the normals z: choose, and
   observe the reward. */
INLINE void UNIT(choose)(block_t *b, int v, const double *z, world_t *worlds,
                         UNIT(chosen) *chosen) {
  const int k = b->k, width = b->width, lane = v * (BYTES / 8);
  const double *means = b->arms->mean;
  const double *mean = row(b, STATE) + lane, *sd = mean + k * width;
  const double *sum = sd + k * width, *count = sum + k * width;

  /* theta_i = mean + sd z, and the largest */
  vd best = LOAD(mean) + LOAD(sd) * LOAD(z + lane), choice = ALL(0);
  vd chance = ALL(means[0]), s = LOAD(sum), n = LOAD(count);
  double arm = 1;
  for (int i = 1, at = width; i < k; i++, at += width, arm++) {
    const vd theta = LOAD(mean + at) + LOAD(sd + at) * LOAD(z + lane + at);
    const MASK more = LESS(best, theta);
    best = SELECT(more, theta, best);
    choice = SELECT(more, ALL(arm), choice);
    chance = SELECT(more, ALL(means[i]), chance);
    s = SELECT(more, LOAD(sum + at), s);
    n = SELECT(more, LOAD(count + at), n);
  }

  vd reward;
  if (b->bernoulli) {
    reward = UNIT(bernoulli)(b, lane, chance);
  } else {
    for (int w = 0; w < BYTES / 8; w++) {
      reward[w] = lane + w < b->n
                      ? arms_draw(b->arms, (int)choice[w], &worlds[lane + w].reward) : 0;
    }
  }
  chosen->choice[v] = choice;
  chosen->sum[v] = s + reward;
  chosen->n[v] = n + 1;
}

/* The second half: the chosen arm's posterior. */
INLINE void UNIT(update)(block_t *b, int v, const UNIT(chosen) *chosen) {
  const int k = b->k, width = b->width;
  double *mean = row(b, STATE) + v * (BYTES / 8), *sd = mean + k * width;
  double *sum = sd + k * width, *count = sum + k * width;
  const vd choice = chosen->choice[v], s = chosen->sum[v], n = chosen->n[v];
  const vd share = 1 / (n + 1), new_mean = s * share, new_sd = ROOT(b->c * share);
  double arm = 0;
  for (int i = 0, at = 0; i < k; i++, at += width, arm++) {
    const MASK same = SAME(choice, ALL(arm));
    STORE(mean + at, SELECT(same, new_mean, LOAD(mean + at)));
    STORE(sd + at, SELECT(same, new_sd, LOAD(sd + at)));
    STORE(sum + at, SELECT(same, s, LOAD(sum + at)));
    STORE(count + at, SELECT(same, n, LOAD(count + at)));
  }
}

TARGET static void UNIT(play)(block_t *b, world_t *worlds, int64_t rounds) {
  const int vectors = b->width / (BYTES / 8);
  UNIT(chosen) chosen;
  for (; rounds > 0; rounds--) {
    if (b->used == 2) UNIT(draw_normals)(b), b->used = 0;
    const double *z = row(b, NORMALS(b->k) + b->used++ * b->k);
    /* Halves apart, so that the unit works on other lanes while it waits for a root. */
    for (int v = 0; v < vectors; v++) UNIT(choose)(b, v, z, worlds, &chosen);
    for (int v = 0; v < vectors; v++) UNIT(update)(b, v, &chosen);
  }
}

#undef vd
#undef vu
#undef INLINE
#undef LOAD
#undef STORE
#undef LOAD_WORDS
#undef STORE_WORDS
#undef ALL
#undef DOUBLE
#undef BIT62
#undef MASK
#undef LESS
#undef SAME
#undef SELECT
#undef BYTES
#undef TARGET
#undef ROOT
#undef UNIT
