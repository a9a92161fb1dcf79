#ifndef DPTS_PLAY_IMAGE_H
#define DPTS_PLAY_IMAGE_H
/* The stored state of an agent, as pages of bytes, so that a change writes only the pages that changed.
   It is assembled from pieces anywhere in memory, and compared with a copy of what was stored last. */

#include <stddef.h>
#include <stdint.h>

#define IMAGE_PAGE 256

typedef struct {
  const void *data; /* NULL: unchanged since the last time */
  size_t size;
} piece_t;

typedef struct {
  uint8_t *bytes; /* whole pages, as they were stored last */
  size_t pages;
  uint64_t sum; /* a checksum of all pages: it detects damage, but is no signature */
} image_t;

static inline size_t image_pages(size_t bytes) { return (bytes + IMAGE_PAGE - 1) / IMAGE_PAGE; }

/* The checksum of an image is the sum of these over its pages. */
uint64_t image_page_sum(const uint8_t *bytes, size_t page);

/* Updates the image from n pieces, which fill its pages; sets changed[page] for those that changed. */
void image_renew(image_t *image, const piece_t *pieces, int n, uint8_t *changed);

#endif
