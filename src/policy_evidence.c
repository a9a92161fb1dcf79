#include <string.h>
#include "policy_evidence.h"

#define MARTINGALES(_) \
  _(means)             \
  _(tosses)

#define DECLARE(name) extern const martingale_t martingale_##name;
MARTINGALES(DECLARE)

#define ENTRY(name) &martingale_##name,
static const martingale_t *const TABLE[] = {MARTINGALES(ENTRY)};

const martingale_t *martingale_find(const char *name) {
  for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
    if (strcmp(TABLE[i]->name, name) == 0) return TABLE[i];
  }
  return NULL;
}

void martingale_hear(const martingale_t *rule, void *state, const release_t *rows, int n) {
  for (int i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && rows[j].block == rows[i].block;) j++;
    if (rule->aim) rule->aim(state, rows + i, j - i);
    rule->release(state, rows + i, j - i);
  }
}

static const double NEARLY_ALL = 0.98;

void looks_begin(looks_t *looks, int strata, char *heard) {
  *looks = (looks_t){.strata = strata, .left = strata, .heard = heard};
  memset(heard, 0, (size_t)strata);
}

int looks_hear(looks_t *looks, int stratum, double people, double t, int open) {
  looks->people += people;
  if (!looks->heard[stratum]) looks->left--;
  looks->heard[stratum] = 1;
  if (open || (looks->left > 0 && looks->people < NEARLY_ALL * t)) return 0;
  looks->left = looks->strata;
  memset(looks->heard, 0, (size_t)looks->strata);
  return 1;
}
