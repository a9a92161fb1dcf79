#include "sample.h"

void sample_init(void) {
  sample_normal_init();
  sample_count_init();
}
