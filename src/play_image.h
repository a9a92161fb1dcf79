#ifndef DPTS_PLAY_IMAGE_H
#define DPTS_PLAY_IMAGE_H
/* What is to be kept of an agent, as pages of bytes, so that a change writes the pages that it changed and
   not the whole. It is made of pieces that lie anywhere in memory; a copy of what was kept last shows what
   is new. */

#include <stddef.h>
#include <stdint.h>

#define IMAGE_PAGE 256

typedef struct {
  const void *data; /* NULL: as they were kept last */
  size_t size;
} piece_t;

typedef struct {
  uint8_t *bytes; /* whole pages, as they were kept last */
  size_t pages;
  uint64_t sum; /* a checksum of all pages: it finds damage, and is no signature */
} image_t;

static inline size_t image_pages(size_t bytes) {
  return (bytes + IMAGE_PAGE - 1) / IMAGE_PAGE;
}

/* The sum of an image is the sum of these over its pages. */
uint64_t image_page_sum(const uint8_t *bytes, size_t page);

/* Renews the image by n pieces, which fill its pages; says in changed[page] which are new. */
void image_renew(image_t *image, const piece_t *pieces, int n, uint8_t *changed);

#endif
