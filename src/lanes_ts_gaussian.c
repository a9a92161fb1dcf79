/* Gaussian Thompson sampling in lanes. */

/* a * b + c is to round twice everywhere; no flag in Makevars could say so portably. */
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("O3", "fp-contract=off")
#endif

#include <string.h>
#include "lanes.h"
#include "policy_ts_gaussian.h"
#include "sample.h"

#define MOST_ARMS 64

/* A block: this header, then rows of one number a lane. */
typedef struct {
  int k, width, n; /* arms, lanes, lanes with a run */
  int bernoulli;
  int used; /* rounds used of the two whose normals are drawn ahead */
  double c;
  const arms_t *arms;
} block_t;

#define HEADER 64
enum { POLICY_RNG = 0, REWARD_RNG = 4, STATE = 8 };
#define NORMALS(k) (STATE + 4 * (k))
#define N_ROWS(k) ((size_t)NORMALS(k) + 2 * (size_t)(k))

static inline double *row(block_t *b, int i) {
  return (double *)((char *)b + HEADER) + (size_t)i * (size_t)b->width;
}

static size_t size(const void *spec) {
  return HEADER + N_ROWS(((const spec_t *)spec)->k) * LANES * sizeof(double);
}

/* ---- the kernel, for each vector unit that this machine may have ---------------------- */

/* Windows is left out: its stack is not aligned as AVX needs it. */
#if defined(__x86_64__) && !defined(_WIN32)
#define SEVERAL_UNITS 1
#include <immintrin.h>

#define UNIT(name) name##_avx512
#define BYTES 64
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#define ROOT(x) ((vd)_mm512_sqrt_pd((__m512d)(x)))
#define DOUBLE(x) ((vd)_mm512_cvtepu64_pd((__m512i)(x)))
#define BIT62(x) _mm512_test_epi64_mask((__m512i)(x), _mm512_set1_epi64(1ll << 62))
#define MASK __mmask8
#define LESS(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_LT_OQ)
#define SAME(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_EQ_OQ)
#define SELECT(mask, a, b) ((vd)_mm512_mask_blend_pd(mask, (__m512d)(b), (__m512d)(a)))
#include "lanes_ts_gaussian_kernel.h"

#define UNIT(name) name##_avx2
#define BYTES 32
#define TARGET __attribute__((target("avx2")))
#define ROOT(x) ((vd)_mm256_sqrt_pd((__m256d)(x)))
#define DOUBLE(x) double_avx2(x)
#define BIT62(x) ((__m256d)((x) << 1)) /* a blend looks at the top bit */
#define MASK __m256d
#define LESS(a, b) _mm256_cmp_pd((__m256d)(a), (__m256d)(b), _CMP_LT_OQ)
#define SAME(a, b) _mm256_cmp_pd((__m256d)(a), (__m256d)(b), _CMP_EQ_OQ)
#define SELECT(mask, a, b) ((vd)_mm256_blendv_pd((__m256d)(b), (__m256d)(a), mask))
#include "lanes_ts_gaussian_kernel.h"
#endif

#define UNIT(name) name##_anywhere
#define BYTES 16
#define TARGET
#define ROOT(x) ((vd){sqrt((x)[0]), sqrt((x)[1])})
#define DOUBLE(x) double_anywhere(x)
#define BIT62(x) ((vu)(((x) & (1ull << 62)) != 0))
#define MASK vu
#define LESS(a, b) ((vu)((a) < (b)))
#define SAME(a, b) ((vu)((a) == (b)))
#define SELECT(mask, a, b) ((vd)(((mask) & (vu)(a)) | (~(mask) & (vu)(b))))
#include "lanes_ts_gaussian_kernel.h"

/* The widest unit to use, 0 to 2: all give the same numbers, which a test checks. */
int lanes_widest = 2;

static int unit(void) {
#ifdef SEVERAL_UNITS
  if (lanes_widest >= 2 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) return 2;
  if (lanes_widest >= 1 && __builtin_cpu_supports("avx2")) return 1;
#endif
  return 0;
}

static void play_rounds(block_t *b, world_t *worlds, int64_t rounds) {
  switch (unit()) {
#ifdef SEVERAL_UNITS
  case 2: play_avx512(b, worlds, rounds); break;
  case 1: play_avx2(b, worlds, rounds); break;
#endif
  default: play_anywhere(b, worlds, rounds);
  }
}

static void draw_normals(block_t *b) {
  switch (unit()) {
#ifdef SEVERAL_UNITS
  case 2: draw_normals_avx512(b); break;
  case 1: draw_normals_avx2(b); break;
#endif
  default: draw_normals_anywhere(b);
  }
}

/* ---- what stands around it ---------------------------------------------------------- */

static void copy_rng(block_t *b, int at, int lane, const rng_t *rng) {
  for (int i = 0; i < 4; i++) ((uint64_t *)row(b, at + i))[lane] = rng->s[i];
}

/* Pre-pulls are drawn in blocks, and leave the world where play() takes over. */
static void begin(void *block, const void *spec_, world_t *worlds, dice_t *dice, int n) {
  const spec_t *spec = spec_;
  block_t *b = block;
  memset(block, 0, size(spec));
  *b = (block_t){.k = spec->k, .width = lanes_width(n), .n = n,
                 .arms = worlds->arms,
                 .bernoulli = strcmp(worlds->arms->law->name, "bernoulli") == 0,
                 .used = 2, .c = spec->par[VARIANCE_SCALE]};
  for (int w = 0; w < b->width; w++) {
    world_t *world = &worlds[w < n ? w : 0];
    for (int i = 0; i < b->k; i++) {
      double sum = 0, count = 0;
      const double prepulls = fmin(spec->par[PREPULLS], (double)world_left(world));
      if (w < n && prepulls > 0) {
        sum = world_pull_many(world, i, (int64_t)prepulls);
        count = prepulls;
      }
      row(b, STATE + i)[w] = sum / (count + 1);
      row(b, STATE + b->k + i)[w] = sqrt(b->c / (count + 1));
      row(b, STATE + 2 * b->k + i)[w] = sum;
      row(b, STATE + 3 * b->k + i)[w] = count;
    }
    copy_rng(b, POLICY_RNG, w, &dice[w < n ? w : 0].policy);
    copy_rng(b, REWARD_RNG, w, &world->reward);
  }
}

/* What lane w has done, told to its world. */
static void report(block_t *b, world_t *world, int w) {
  world->reward_sum = 0;
  for (int i = 0; i < b->k; i++) {
    world->pulls[i] = row(b, STATE + 3 * b->k + i)[w];
    world->reward_sum += row(b, STATE + 2 * b->k + i)[w];
  }
}

static void play_lanes(void *block, world_t *worlds, int n, int64_t rounds) {
  block_t *b = block;
  if (rounds > world_left(worlds)) rounds = world_left(worlds);
  while (rounds > 0) {
    /* All lanes keep the same rounds. */
    int64_t m = worlds->next_record - worlds->t;
    if (m > rounds) m = rounds;
    play_rounds(b, worlds, m);
    rounds -= m;
    for (int w = 0; w < n; w++) {
      world_t *world = &worlds[w];
      world->t += m;
      if (world->t < world->next_record && world->t < world->horizon) continue;
      report(b, world, w);
      if (world->t == world->next_record) world_record(world);
    }
  }
}

/* Skipping costs some COST_PULL a round that does not pull the best arm; lanes cost
   COST_LANE an arm and round, and some more a round, where enough runs fill them. In
   nanoseconds, but only ratios count, and they stand whatever the machine; a few runs
   leave lanes idle, so lanes must be ahead by some margin. The Thompson sampler pulls a
   worse arm about 2 c log(T gap^2 / c) / gap^2 times; of equal arms each its share. */
#define COST_PULL 120
#define COST_LANE 1.2
#define COST_ROUND 2.5

static int pays(const void *spec_, const arms_t *arms) {
  const spec_t *spec = spec_;
  const double c = spec->par[VARIANCE_SCALE], b = spec->par[PREPULLS];
  const double rounds = spec->horizon - b * spec->k;
  if (spec->k > MOST_ARMS || spec->k < 2 || rounds < 1) return 0;
  /* Pre-pulls are played in begin(), in one go. */
  if (!arms->law->draw_sum && b * spec->k > 1e4) return 0;
  double others = 0;
  int equals = -1;
  for (int i = 0; i < spec->k; i++) {
    const double gap2 = arms->gap[i] * arms->gap[i];
    if (gap2 <= 0) equals++;
    else {
      const double pulls = 2 * c * log1p(spec->horizon * gap2 / c) / gap2;
      others += fmax(0, fmin(rounds / spec->k, pulls - b));
    }
  }
  if (equals > 0) others += rounds * equals / (equals + 1);
  return others * COST_PULL > rounds * (COST_LANE * spec->k + COST_ROUND);
}

const lanes_t lanes_ts_gaussian = {pays, size, begin, play_lanes};

/* Normals as lanes draw them, for tests and benchmarks: 16 lanes' worth of two rounds at a time. */
void lanes_draw_normals(uint64_t seed, double *x, int64_t n) {
  _Alignas(64) char memory[HEADER + (NORMALS(8) + 16) * 16 * sizeof(double)];
  block_t *b = (block_t *)memory;
  memset(memory, 0, sizeof memory);
  *b = (block_t){.k = 8, .width = 16};
  for (int w = 0; w < 16; w++) {
    rng_t rng;
    rng_seed(&rng, seed, (uint64_t)w, RNG_POLICY);
    copy_rng(b, POLICY_RNG, w, &rng);
  }
  for (int64_t i = 0; i < n; i++) {
    if (i % 256 == 0) draw_normals(b);
    x[i] = row(b, NORMALS(8))[i % 256];
  }
}
