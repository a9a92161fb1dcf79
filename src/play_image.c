#include <string.h>
#include "play_image.h"
#include "math_util.h"
#include "sample_rng.h"

uint64_t image_page_sum(const uint8_t *bytes, size_t page) {
  const uint64_t number = page;
  /* FNV alone is nearly a sum: pages of few bytes that changed places would often have the same total. */
  const uint64_t at = hash_on(HASH_START, &number, sizeof number);
  return rng_hash(hash_on(at, bytes + page * IMAGE_PAGE, IMAGE_PAGE));
}

void image_renew(image_t *image, const piece_t *pieces, int n, uint8_t *changed) {
  size_t at = 0;
  memset(changed, 0, image->pages);
  for (int i = 0; i < n; i++) {
    const uint8_t *from = pieces[i].data;
    if (!from) {
      at += pieces[i].size;
      continue;
    }
    for (size_t left = pieces[i].size; left > 0;) {
      const size_t page = at / IMAGE_PAGE, left_on_page = (page + 1) * IMAGE_PAGE - at;
      const size_t size = left < left_on_page ? left : left_on_page;
      if (memcmp(image->bytes + at, from, size) != 0) {
        if (!changed[page]) {
          image->sum -= image_page_sum(image->bytes, page);
          changed[page] = 1;
        }
        memcpy(image->bytes + at, from, size);
      }
      at += size;
      from += size;
      left -= size;
    }
  }
  for (size_t page = 0; page < image->pages; page++) {
    if (changed[page]) image->sum += image_page_sum(image->bytes, page);
  }
}
