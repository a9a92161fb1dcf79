/* Gaussian Thompson sampling in lanes.

   A few digits nearly always show which draw is the largest. So lanes draw, choose and update with 24 bits,
   sixteen runs to a vector of 512 bits, and track an error bound: if the largest draw is not certain to be
   the largest, settle() computes that lane's round again in full precision. Pulls and sums of Bernoulli
   rewards are integers; other sums are doubles. Every choice is therefore the one of full precision, on every
   vector unit; machines could differ only by the last of the 16 digits of their log() and sin(). */

/* Otherwise GCC keeps the four words of a stream in memory. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#include <string.h>
#include "play_lanes.h"
#include "policy_ts_gaussian.h"
#include "sample.h"
#include "skip_arm_groups.h"

#define RARE         __attribute__((noinline, cold)) /* slow paths that must not burden the fast one */
#define FIRST_IS_LOW (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* Error bounds of a theta of 24 bits: NEAR times its standard deviation, plus FAR. A normal has an error
   below 2e-5 (a test measures it), 1/6 of NEAR; means, which are at most 1, and roundings have one below
   4e-7. Normals whose word has an upper half within ROUGH of 0 or 2^32 would have larger errors:
   refine() draws them in full precision. */
#define NEAR  0x1p-13f
#define FAR   0x1p-19f
#define ROUGH (1u << 14)

/* A block: this header, then rows with one number of 4 bytes per lane. */
typedef struct {
  int k, width, n; /* arms, lanes, lanes with a run */
  int bernoulli;
  int exact; /* -1: compute all rounds in full precision; else 0 */
  int used;  /* of the two rounds whose normals are drawn ahead, rounds played */
  int drawn; /* the copy of the streams that has drawn them */
  double c, flip;
  const arms_t *arms;
} block_t;

#define HEADER 64
/* A stream takes two rows per word. There are two copies of it: the present state, and the state before
   the current normals were drawn. */
enum { RNG_ROWS = 8, POLICY_RNG = 0, REWARD_RNG = 16, STATE = 24 };
/* State: mean, sd, n, sum and limit of each arm. */
enum { MEAN, SD, N, SUM, LIMIT, N_STATE };
#define NORMALS(k) (STATE + N_STATE * (k))
#define SUMS(k)    (NORMALS(k) + 2 * (k)) /* of rewards other than 0 and 1: two rows an arm */
/* From before the policy was last restarted: pulls, two rows per arm, and the sum of rewards. For a
   policy that sees random bits this is the sum of all rewards so far, since its own sums are of bits. */
#define PULLED(k)  (SUMS(k) + 2 * (k))
#define REWARDS(k) (PULLED(k) + 2 * (k))
#define N_ROWS(k)  (REWARDS(k) + 2)

static inline float *row(block_t *b, int i) {
  return (float *)((char *)b + HEADER) + (size_t)i * (size_t)b->width;
}
static inline uint64_t *words(block_t *b, int i) { return (uint64_t *)row(b, i); }
static inline double *sums(block_t *b, int arm) { return (double *)row(b, SUMS(b->k) + 2 * arm); }
static inline double *pulled(block_t *b, int arm) { return (double *)row(b, PULLED(b->k) + 2 * arm); }
static inline double *rewards(block_t *b) { return (double *)row(b, REWARDS(b->k)); }
static inline float *state(block_t *b, int what, int arm) { return row(b, STATE + what * b->k + arm); }

static inline uint32_t *integers(block_t *b, int what, int arm) { return (uint32_t *)state(b, what, arm); }
static double pulls_of(block_t *b, int arm, int lane) { return integers(b, N, arm)[lane]; }
static double sum_of(block_t *b, int arm, int lane) {
  return b->bernoulli ? integers(b, SUM, arm)[lane] : sums(b, arm)[lane];
}

static size_t size(const spec_t *spec) { return HEADER + (size_t)N_ROWS(spec->k) * LANES * sizeof(float); }

/* The column of a lane's 64-bit word: even lanes come first. */
static inline int column(const block_t *b, int lane) { return lane / 2 + lane % 2 * (b->width / 2); }

static rng_t rng_of(block_t *b, int at, int lane) {
  rng_t rng;
  for (int i = 0; i < 4; i++) rng.s[i] = words(b, at)[i * b->width + column(b, lane)];
  return rng;
}

/* ---- full precision ----------------------------------------------------------------- */

/* The two normals of a word (Box and Muller 1958). Its upper half is the uniform of the radius, its
   lower half the direction: bits 31 and 30 choose a half axis, the other 30 the position within the
   eighths of the circle at its sides; v in [-1/2, 1/2) stands for an angle of v pi / 2. Each number is
   extended by 32 bits from a hash of the word, which matter in a near tie and for normals beyond 6. */
static void lanes_normals(uint64_t word, double z[2]) {
  const uint64_t more = rng_hash(word);
  const uint32_t lower = (uint32_t)word;
  const double u = ((double)(word >> 32) + ((double)(more >> 32) + 0.5) * 0x1p-32) * 0x1p-32;
  const double v = ((double)(int32_t)(lower << 2) + ((double)(uint32_t)more + 0.5) * 0x1p-30) * 0x1p-32;
  const double r = sqrt(-2 * log(u)), across = r * sin(v * M_PI_2);
  const double along = lower >> 31 ? -r * cos(v * M_PI_2) : r * cos(v * M_PI_2);
  const int swap = lower >> 30 & 1;
  z[swap] = along;
  z[!swap] = across;
}

/* Recomputes in full precision the normals whose words have too few digits for the radius, in some lanes. */
RARE static void refine(block_t *b, int from, int n) {
  for (int lane = from; lane < from + n; lane++) {
    rng_t rng = rng_of(b, POLICY_RNG + b->drawn * RNG_ROWS, lane);
    for (int pair = 0; pair < b->k; pair++) {
      const uint64_t word = rng_next(&rng);
      if ((uint32_t)(word >> 32) + ROUGH >= 2 * ROUGH) continue;
      double z[2];
      lanes_normals(word, z);
      row(b, NORMALS(b->k) + 2 * pair)[lane] = (float)z[0];
      row(b, NORMALS(b->k) + 2 * pair + 1)[lane] = (float)z[1];
    }
  }
}

/* The arm that a lane chooses in this round. */
RARE static int settle(block_t *b, int lane) {
  rng_t rng = rng_of(b, POLICY_RNG + !b->drawn * RNG_ROWS, lane);
  const int first = b->used * b->k;
  double best = -INFINITY;
  int choice = 0;
  for (int pair = 0; pair < b->k; pair++) {
    double z[2];
    lanes_normals(rng_next(&rng), z);
    for (int half = 0; half < 2; half++) {
      const int i = 2 * pair + half - first;
      if (i < 0 || i >= b->k) continue;
      const double n = pulls_of(b, i, lane);
      const double theta = sum_of(b, i, lane) / (n + 1) + sqrt(b->c / (n + 1)) * z[half];
      if (theta > best) best = theta, choice = i;
    }
  }
  return choice;
}

/* Is an arm's reward 1? The same rule as in arms_draw(). */
static int rewarded(const block_t *b, int arm, uint64_t word) { return rng_unit(word) < b->arms->mean[arm]; }

/* The one upper half of a word that does not decide the reward: below it the reward is 1, above it 0. */
static uint32_t limit(double mean) {
  const double share = floor(mean * 0x1p32);
  return share < 0x1p32 ? (uint32_t)share : UINT32_MAX;
}

/* ---- the kernel, for each vector unit ------------------------------------------------- */

#define EITHER(mask, a, b) ((__typeof__(a))(((vi)(mask) & (vi)(a)) | (~(vi)(mask) & (vi)(b))))

/* Not on Windows, whose stack is not aligned for AVX. */
#if defined(__x86_64__) && !defined(_WIN32)
#define SEVERAL_UNITS 1
#include <immintrin.h>

#define UNIT(name)         name##_avx512
#define BYTES              64
#define TARGET             __attribute__((target("avx512f,avx512dq,avx512vl")))
#define ROOT(x)            ((vf)_mm512_sqrt_ps((__m512)(x)))
#define SELECT(mask, a, b) EITHER(mask, a, b)
#define ANY(mask)          (_mm512_test_epi32_mask((__m512i)(mask), (__m512i)(mask)) != 0)
#include "play_lanes_ts_gaussian_kernel.h"

#define UNIT(name)         name##_avx2
#define BYTES              32
#define TARGET             __attribute__((target("avx2,fma")))
#define ROOT(x)            ((vf)_mm256_sqrt_ps((__m256)(x)))
#define SELECT(mask, a, b) ((__typeof__(a))_mm256_blendv_ps((__m256)(b), (__m256)(a), (__m256)(mask)))
#define ANY(mask)          (_mm256_movemask_ps((__m256)(mask)) != 0)
#include "play_lanes_ts_gaussian_kernel.h"
#endif

#define UNIT(name) name##_anywhere
#define BYTES      16
#define TARGET
#define ROOT(x)            ((vf){sqrtf((x)[0]), sqrtf((x)[1]), sqrtf((x)[2]), sqrtf((x)[3])})
#define SELECT(mask, a, b) EITHER(mask, a, b)
#define ANY(mask)          ((((vu)(mask))[0] | ((vu)(mask))[1]) != 0)
#include "play_lanes_ts_gaussian_kernel.h"

/* The widest unit to use, 0 to 2; -1 computes every round in full precision. The results are the same,
   which a test checks. */
int lanes_widest = 2;

#ifdef SEVERAL_UNITS
static int unit(void) {
  if (lanes_widest >= 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return 2;
  if (lanes_widest >= 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 1;
  return 0;
}
#define ON_UNIT(name, ...)                    \
  (unit() == 2   ? name##_avx512(__VA_ARGS__) \
   : unit() == 1 ? name##_avx2(__VA_ARGS__)   \
                 : name##_anywhere(__VA_ARGS__))
#else
#define ON_UNIT(name, ...) name##_anywhere(__VA_ARGS__)
#endif

/* ---- the engine ----------------------------------------------------------------- */

static void put_rng(block_t *b, int at, int lane, const rng_t *rng) {
  for (int i = 0; i < 4; i++) words(b, at)[i * b->width + column(b, lane)] = rng->s[i];
}

/* The n pre-pulls of an arm; returns the sum that the policy sees. */
static double prepull(const spec_t *spec, environment_t *env, draws_t *draws, int arm, int64_t n) {
  player_t *player = &env->player;
  if (spec->flip == 0) return player_pull_many(player, arm, n);
  if (player->sums) {
    return release_bits(draws, player_pull_many(player, arm, n), (double)n, spec->flip);
  }
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    sum += release_bit(draws, player_pull(player, arm), spec->flip);
  }
  return sum;
}

/* Pre-pulls are played here, in stretches; play() continues after them. */
static void begin(void *block, const spec_t *spec, environment_t *envs, draws_t *draws, int n) {
  block_t *b = block;
  memset(block, 0, size(spec));
  *b = (block_t){.k = spec->k,
                 .width = lanes_width(n),
                 .n = n,
                 .arms = envs->arms,
                 .bernoulli = spec->flip == 0 && envs->arms->bernoulli,
                 .exact = lanes_widest < 0 ? -1 : 0,
                 .used = 2,
                 .c = spec->par[VARIANCE_SCALE],
                 .flip = spec->flip};
  for (int w = 0; w < b->width; w++) {
    environment_t *env = &envs[w < n ? w : 0];
    rewards(b)[w] = env->reward_sum;
    for (int i = 0; i < b->k; i++) {
      pulled(b, i)[w] = (double)env->player.pulls[i];
      double sum = 0, pulls = 0;
      const double prepulls = fmin(spec->par[PREPULLS], (double)player_left(&env->player));
      if (w < n && prepulls > 0) {
        sum = prepull(spec, env, &draws[w], i, (int64_t)prepulls);
        pulls = prepulls;
      }
      state(b, MEAN, i)[w] = (float)(sum / (pulls + 1));
      state(b, SD, i)[w] = (float)sqrt(b->c / (pulls + 1));
      integers(b, N, i)[w] = (uint32_t)pulls;
      if (b->bernoulli) integers(b, SUM, i)[w] = (uint32_t)sum;
      integers(b, LIMIT, i)[w] = limit(b->arms->mean[i]);
      sums(b, i)[w] = sum;
    }
    if (b->flip > 0) rewards(b)[w] = env->reward_sum;
    put_rng(b, POLICY_RNG, w, &draws[w < n ? w : 0].policy);
    put_rng(b, REWARD_RNG, w, &env->reward);
  }
}

/* Updates the environment of lane w. */
static void update_environment(block_t *b, environment_t *env, int w) {
  env->reward_sum = rewards(b)[w];
  for (int i = 0; i < b->k; i++) {
    env->player.pulls[i] = (int64_t)(pulled(b, i)[w] + pulls_of(b, i, w));
    if (b->flip == 0) env->reward_sum += sum_of(b, i, w);
  }
}

static void update_environments(void *block, environment_t *envs, int n) {
  for (int w = 0; w < n; w++) update_environment(block, &envs[w], w);
}

static tally_t seen(void *block, int lane, int arm) {
  block_t *b = block;
  return (tally_t){pulls_of(b, arm, lane), sum_of(b, arm, lane)};
}

static void play_lanes(void *block, environment_t *envs, int n, int64_t rounds) {
  block_t *b = block;
  if (rounds > player_left(&envs->player)) rounds = player_left(&envs->player);
  while (rounds > 0) {
    /* All lanes have the same observers. */
    int64_t m = envs->next - envs->player.t;
    if (m > rounds) m = rounds;
    ON_UNIT(play, b, envs, m);
    rounds -= m;
    for (int w = 0; w < n; w++) {
      environment_t *env = &envs[w];
      player_t *player = &env->player;
      player->t += m;
      if (player->t < env->next && player->t < player->horizon) continue;
      update_environment(b, env, w);
      if (player->t == env->next) observers_see(env, -1, 0);
    }
  }
}

/* Costs of a round that does not pull the best arm, with skipping, and of any round in lanes: a
   constant, and a cost per arm. They were measured in nanoseconds, but only their ratios matter, and
   they are fixed, so that the choice does not depend on the machine. Thompson sampling pulls a worse arm
   about 2 c log(T gap^2 / c) / gap^2 times, and divides rounds evenly among equal arms. By groups of
   arms, a pull costs COST_GROUPS times log k. */
#define COST_PULL     200
#define COST_PULL_ARM 8
#define COST_GROUPS   130
#define COST_LANE     1.5
#define COST_LANE_ARM 0.75

static int pays(const spec_t *spec, const arms_t *arms) {
  const double c = spec->par[VARIANCE_SCALE], b = spec->par[PREPULLS];
  const double rounds = spec->horizon - b * spec->k;
  if (spec->k < 2 || rounds < 1) return 0;
  /* begin() plays all pre-pulls in one call, which must stay short. */
  if (!arms->sums && b * spec->k > 1e4) return 0;
  double others = 0;
  int equals = -1;
  for (int i = 0; i < spec->k; i++) {
    const double gap = arms->gap[i] * (1 - 2 * spec->flip), gap2 = gap * gap;
    if (gap2 <= 0) equals++;
    else {
      const double pulls = 2 * c * log1p(spec->horizon * gap2 / c) / gap2;
      others += fmax(0, fmin(rounds / spec->k, pulls - b));
    }
  }
  if (equals > 0) others += rounds * equals / (equals + 1);
  const double pull =
      spec->k < ARM_GROUPS_FROM ? COST_PULL + COST_PULL_ARM * spec->k : COST_GROUPS * log(spec->k);
  return others * pull > rounds * (COST_LANE + COST_LANE_ARM * spec->k);
}

/* Pulls are counted in 31 bits, and there is no privacy filter. */
static int can(const spec_t *spec) { return spec->horizon < 0x1p31 && !(spec->par[FILTER] < INFINITY); }

const lanes_t lanes_ts_gaussian = {&policy_ts_gaussian, can, pays, size, begin, play_lanes,
                                   update_environments, seen};

/* For tests and benchmarks: normals as lanes draw them, and in full precision, in 16 lanes. */
void lanes_draw_normals(uint64_t seed, double *x, double *exact, int64_t n) {
  _Alignas(64) char memory[HEADER + N_ROWS(8) * 16 * sizeof(float)];
  block_t *b = (block_t *)memory;
  memset(memory, 0, sizeof memory);
  *b = (block_t){.k = 8, .width = 16};
  rng_t rng[16];
  for (int w = 0; w < 16; w++) {
    rng_seed(&rng[w], seed, (uint64_t)w, RNG_POLICY);
    put_rng(b, POLICY_RNG, w, &rng[w]);
  }
  for (int64_t i = 0; i < n; i++) {
    if (i % 256 == 0) ON_UNIT(draw_normals, b);
    x[i] = row(b, NORMALS(8))[i % 256];
  }
  for (int64_t i = 0; exact && i + 256 <= n; i += 256) {
    for (int w = 0; w < 16; w++) {
      for (int pair = 0; pair < 8; pair++) {
        double z[2];
        lanes_normals(rng_next(&rng[w]), z);
        exact[i + 32 * pair + w] = z[0], exact[i + 32 * pair + 16 + w] = z[1];
      }
    }
  }
}
