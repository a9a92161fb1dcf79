#include "noise_exact_release.h"

/* Below EXACT_MAX by more than any sum, so that the clamping of a draw cannot be seen in a release. */
#define RELEASED_MAX ((int64_t)1 << 61)

enum exact_status exact_release(bits_t *bits, exact_sampler_t sampler, double sum, double scale,
                                double *noisy) {
  const double whole = sum * EXACT_GRID;
  if (!(fabs(whole) < 0x1p52) || whole != rint(whole)) return EXACT_OFF_GRID;
  rate_t rate; /* at most 1 / (scale grid): at least as private as `scale` */
  if (!(scale > 0) || rate_below(1, scale * EXACT_GRID, &rate)) return EXACT_BAD_SCALE;
  const int64_t noise = sampler(bits, rate);
  if (bits->failed) return EXACT_NO_BITS;
  int64_t released = (int64_t)whole + noise;
  if (released > RELEASED_MAX) released = RELEASED_MAX;
  if (released < -RELEASED_MAX) released = -RELEASED_MAX;
  *noisy = (double)released / EXACT_GRID;
  return EXACT_OK;
}

/* Both probabilities are multiples of powers of two, and therefore exact. */
enum exact_status exact_release_bit(bits_t *bits, double reward, double flip, double *bit) {
  const double whole = reward * EXACT_GRID, share = flip * 0x1p53;
  if (!(whole >= 0 && whole <= EXACT_GRID) || whole != rint(whole)) return EXACT_OFF_GRID;
  if (!(share >= 0 && share <= 0x1p52) || share != rint(share)) return EXACT_BAD_SCALE;
  const int coin = bits_less(bits, (uint64_t)whole, 20);
  const int turned = bits_less(bits, (uint64_t)share, 53);
  if (bits->failed) return EXACT_NO_BITS;
  *bit = coin != turned;
  return EXACT_OK;
}

enum exact_status exact_average(double average, double *on_grid) {
  if (!(fabs(average) < 0x1p26)) return EXACT_OFF_GRID;
  *on_grid = floor(average * EXACT_GRID) / EXACT_GRID;
  return EXACT_OK;
}
