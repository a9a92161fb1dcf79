#if defined(_WIN32)
#define _CRT_RAND_S
#elif !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE
#endif
#include <stdlib.h>
#include <string.h>
#if defined(__APPLE__)
#include <sys/random.h>
#elif !defined(_WIN32)
#include <unistd.h>
#endif
#include "noise_exact_bits.h"

int bits_from_system(void *source, uint8_t *bytes, size_t n) {
  (void)source;
#if defined(_WIN32)
  for (size_t i = 0; i < n; i++) {
    unsigned int word;
    if (rand_s(&word) != 0) return 1;
    bytes[i] = (uint8_t)word;
  }
  return 0;
#else
  return getentropy(bytes, n) != 0;
#endif
}

bits_t bits_open(bits_fill_t fill, void *source) { return (bits_t){.fill = fill, .source = source}; }

void bits_close(bits_t *bits) {
  /* Through a volatile pointer, which a compiler may not leave out. */
  volatile uint8_t *byte = bits->buffer;
  for (size_t i = 0; i < BITS_BUFFER; i++) byte[i] = 0;
  bits->left = 0;
}

int bits_next(bits_t *bits) {
  if (bits->failed) return 1;
  if (bits->left == 0) {
    if (bits->fill(bits->source, bits->buffer, BITS_BUFFER) != 0) {
      bits->failed = 1;
      return 1;
    }
    bits->left = 8 * BITS_BUFFER;
  }
  const int at = 8 * BITS_BUFFER - bits->left--;
  return (bits->buffer[at / 8] >> (7 - at % 8)) & 1;
}

uint64_t bits_word(bits_t *bits, int width) {
  uint64_t word = 0;
  for (int i = 0; i < width; i++) word = 2 * word + (uint64_t)bits_next(bits);
  return word;
}

uint64_t bits_below(bits_t *bits, uint64_t n) {
  int width = 0;
  while (width < 64 && (n - 1) >> width) width++;
  uint64_t word;
  do {
    word = bits_word(bits, width);
    if (bits->failed) return 0;
  } while (word >= n);
  return word;
}

int bits_less(bits_t *bits, uint64_t u, int width) {
  if (width < 64 && u >> width) return 1;
  for (int i = width - 1; i >= 0; i--) {
    const int of_u = (int)((u >> i) & 1);
    const int bit = bits_next(bits);
    if (bits->failed) return 0;
    if (bit != of_u) return bit < of_u;
  }
  return 0;
}
