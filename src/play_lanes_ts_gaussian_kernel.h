/* The kernel of play_lanes_ts_gaussian.c, a template like play_lanes_math.h: each step is one line of
   the plain policy, for as many lanes as a vector holds. Choices are masks, so that lanes do not branch. */

#include "play_lanes_math.h"

#define PER_VECTOR (BYTES / 4)

INLINE void UNIT(load_rng)(const uint64_t *at, int width, vu even[4], vu odd[4]) {
  for (int i = 0; i < 4; i++, at += width) {
    even[i] = LOAD(vu, at), odd[i] = LOAD(vu, at + width / 2);
  }
}

INLINE void UNIT(store_rng)(uint64_t *at, int width, vu even[4], vu odd[4]) {
  for (int i = 0; i < 4; i++, at += width) {
    STORE(at, even[i]), STORE(at + width / 2, odd[i]);
  }
}

/* Draws the normals of two rounds, so that both numbers of each pair are used. */
TARGET static void UNIT(draw_normals)(block_t *b) {
  const uint64_t *from = words(b, POLICY_RNG + b->drawn * RNG_ROWS);
  uint64_t *to = words(b, POLICY_RNG + !b->drawn * RNG_ROWS);
  for (int lane = 0; lane < b->width; lane += PER_VECTOR) {
    float *z = row(b, NORMALS(b->k)) + lane;
    vu even[4], odd[4];
    UNIT(load_rng)(from + lane / 2, b->width, even, odd);
    vi rough = {0};
    for (int pair = 0; pair < b->k; pair++) {
      const vu p = UNIT(next)(even), q = UNIT(next)(odd);
      const vw upper = UNIT(upper)(p, q);
      rough |= (vi)(upper + ROUGH < 2 * ROUGH);
      STORE(z + 2 * pair * b->width, UNIT(radius2)(upper));
      STORE(z + (2 * pair + 1) * b->width, UNIT(lower)(p, q));
    }
    for (int pair = 0; pair < b->k; pair++, z += 2 * b->width) {
      vf x, y;
      UNIT(normals)(LOAD(vf, z), LOAD(vw, z + b->width), &x, &y);
      STORE(z, x);
      STORE(z + b->width, y);
    }
    UNIT(store_rng)(to + lane / 2, b->width, even, odd);
    if (ANY(rough)) refine(b, lane, PER_VECTOR);
  }
  b->drawn = !b->drawn;
}

/* The arms that the lanes choose, and their state. */
typedef struct {
  vw choice, n, sum, limit;
} UNIT(pick);

/* The result of a round's first half. */
typedef struct {
  vf mean[LANES / PER_VECTOR];
  vw choice[LANES / PER_VECTOR], sum[LANES / PER_VECTOR], n[LANES / PER_VECTOR];
} UNIT(chosen);

/* Rare cases are separate functions, so that the others stay in registers. */
TARGET RARE static void UNIT(settle)(block_t *b, int lane, vi doubt, UNIT(pick) * pick) {
  for (int w = 0; w < PER_VECTOR; w++) {
    if (!doubt[w]) continue;
    const int i = settle(b, lane + w);
    pick->choice[w] = (uint32_t)i;
    pick->n[w] = integers(b, N, i)[lane + w];
    pick->sum[w] = integers(b, SUM, i)[lane + w];
    pick->limit[w] = integers(b, LIMIT, i)[lane + w];
  }
}

TARGET RARE static void UNIT(reward)(const block_t *b, vi unclear, const vw *choice, vu even, vu odd,
                                     vi *reward) {
  for (int w = 0; w < PER_VECTOR; w++) {
    const uint64_t word = w % 2 ? odd[w / 2] : even[w / 2];
    if (unclear[w]) (*reward)[w] = -rewarded(b, (int)(*choice)[w], word);
  }
}

/* Draws rewards that are not Bernoulli, or their bits, adds them to the sums, and returns the new means. */
TARGET RARE static vf UNIT(draw_rewards)(block_t *b, int lane, const UNIT(pick) * pick, environment_t *envs) {
  vf mean = {0};
  for (int w = 0; w < PER_VECTOR && lane + w < b->n; w++) {
    const int arm = (int)pick->choice[w];
    double *sum = sums(b, arm) + lane + w;
    rng_t *rng = &envs[lane + w].reward;
    double reward = arms_draw(b->arms, arm, rng);
    if (b->flip > 0) {
      rewards(b)[lane + w] += reward;
      reward = sample_response(rng, reward, b->flip);
    }
    *sum += reward;
    mean[w] = (float)(*sum / ((double)pick->n[w] + 1));
  }
  return mean;
}

/* The first half of a round, for vector v of the lanes, with the normals z: choose, and
   observe the reward. */
INLINE void UNIT(choose)(block_t *b, int v, const float *z, environment_t *envs, UNIT(chosen) * chosen) {
  const int k = b->k, width = b->width, lane = v * PER_VECTOR;
  const float *mean = row(b, STATE) + lane, *sd = mean + k * width;
  const float *n = sd + k * width, *sum = n + k * width, *limit = sum + k * width;
  z += lane;

  /* The largest theta_i = mean + sd z, its upper error bound, and that of the others. */
  vf best = LOAD(vf, mean) + LOAD(vf, sd) * LOAD(vf, z);
  vf error = LOAD(vf, sd) * NEAR, most = best + error, rival = ALL(vf, -INFINITY);
  UNIT(pick) pick = {{0}, LOAD(vw, n), LOAD(vw, sum), LOAD(vw, limit)};
  vw arm = {0};
  for (int i = 1, at = width; i < k; i++, at += width) {
    const vf theta = LOAD(vf, mean + at) + LOAD(vf, sd + at) * LOAD(vf, z + at);
    const vf off = LOAD(vf, sd + at) * NEAR, top = theta + off;
    const vi more = (vi)(best < theta);
    const vf loser = SELECT(more, most, top);
    arm += 1;
    rival = SELECT((vi)(rival < loser), loser, rival);
    most = SELECT(more, top, most);
    best = SELECT(more, theta, best);
    error = SELECT(more, off, error);
    pick.choice = SELECT(more, arm, pick.choice);
    pick.n = SELECT(more, LOAD(vw, n + at), pick.n);
    pick.sum = SELECT(more, LOAD(vw, sum + at), pick.sum);
    pick.limit = SELECT(more, LOAD(vw, limit + at), pick.limit);
  }
  /* Written so that a NaN is in doubt, too. */
  const vi doubt = ~(vi)(best - error > rival + FAR) | b->exact;
  if (ANY(doubt)) {
    UNIT(pick) exact = pick;
    UNIT(settle)(b, lane, doubt, &exact);
    pick = exact;
  }

  pick.n += 1;
  if (b->bernoulli) {
    uint64_t *rng = words(b, REWARD_RNG) + lane / 2;
    vu even[4], odd[4];
    UNIT(load_rng)(rng, width, even, odd);
    const vu p = UNIT(next)(even), q = UNIT(next)(odd);
    UNIT(store_rng)(rng, width, even, odd);
    /* The upper half of a word decides unless it equals the limit's. */
    const vw upper = UNIT(upper)(p, q);
    vi reward = (vi)(upper < pick.limit);
    const vi unclear = (vi)(upper == pick.limit);
    if (ANY(unclear)) {
      vi exact = reward;
      const vw choice = pick.choice;
      UNIT(reward)(b, unclear, &choice, p, q, &exact);
      reward = exact;
    }
    pick.sum -= (vw)reward;
    chosen->mean[v] = FLOATS(pick.sum) / (FLOATS(pick.n) + 1);
  } else {
    const UNIT(pick) now = pick;
    chosen->mean[v] = UNIT(draw_rewards)(b, lane, &now, envs);
  }
  chosen->choice[v] = pick.choice;
  chosen->sum[v] = pick.sum;
  chosen->n[v] = pick.n;
}

/* The second half: the chosen arm's posterior. */
INLINE void UNIT(update)(block_t *b, int v, const UNIT(chosen) * chosen) {
  const int k = b->k, width = b->width;
  float *mean = row(b, STATE) + v * PER_VECTOR, *sd = mean + k * width;
  float *n_row = sd + k * width, *sum_row = n_row + k * width;
  const vw choice = chosen->choice[v], n = chosen->n[v], sum = chosen->sum[v];
  const vf new_mean = chosen->mean[v], new_sd = ROOT((float)b->c / (FLOATS(n) + 1));
  vw arm = {0};
  for (int i = 0, at = 0; i < k; i++, at += width, arm += 1) {
    const vi same = (vi)(choice == arm);
    STORE(mean + at, SELECT(same, new_mean, LOAD(vf, mean + at)));
    STORE(sd + at, SELECT(same, new_sd, LOAD(vf, sd + at)));
    STORE(n_row + at, SELECT(same, n, LOAD(vw, n_row + at)));
    STORE(sum_row + at, SELECT(same, sum, LOAD(vw, sum_row + at)));
  }
}

TARGET static void UNIT(play)(block_t *b, environment_t *envs, int64_t rounds) {
  const int vectors = b->width / PER_VECTOR;
  UNIT(chosen) chosen;
  for (; rounds > 0; rounds--) {
    if (b->used == 2) UNIT(draw_normals)(b), b->used = 0;
    const float *z = row(b, NORMALS(b->k) + b->used * b->k);
    /* In two loops, so that the unit works on other lanes while it waits for a square root. */
    for (int v = 0; v < vectors; v++) UNIT(choose)(b, v, z, envs, &chosen);
    for (int v = 0; v < vectors; v++) UNIT(update)(b, v, &chosen);
    b->used++;
  }
}

#undef vf
#undef vi
#undef vw
#undef vu
#undef INLINE
#undef LOAD
#undef STORE
#undef FLOATS
#undef ALL
#undef PER_VECTOR
#undef ROOT
#undef SELECT
#undef ANY
#undef BYTES
#undef TARGET
#undef UNIT
