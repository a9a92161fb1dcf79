#include <string.h>
#include "policy.h"

/* The table of all policies. To add one: write src/policy_NAME.c, name it here. */
#define POLICIES(_)   \
  _(uniform)          \
  _(ucb1)             \
  _(ts_beta)          \
  _(ts_gaussian)      \
  _(mt_ucb)           \
  _(mt_ts)            \
  _(dp_ts)            \
  _(lazy_dp_ts)       \
  _(dp_se)            \
  _(halving)          \
  _(lazy_ucb)         \
  _(adap_ucb)         \
  _(adap_klucb)       \
  _(adac_ucb)         \
  _(dp_klucb)         \
  _(dp_imed)          \
  _(gaussian_imed)    \
  _(dp_ucb_bound)     \
  _(dp_ucb_int)       \
  _(lazy_gaussian_ts) \
  _(dp_ts_ucb)        \
  _(imed)             \
  _(klucb)            \
  _(fixed)            \
  _(exp3)             \
  _(private)          \
  _(forget)           \
  _(detect)           \
  _(clipped)          \
  _(top_two)          \
  _(adap_tt)          \
  _(dp_tt)            \
  _(randomised)       \
  _(linucb)           \
  _(logistic_ucb)     \
  _(lin_ts)

#define DECLARE(name) extern const policy_t policy_##name;
POLICIES(DECLARE)

#define ENTRY(name) &policy_##name,
static const policy_t *const TABLE[] = {POLICIES(ENTRY)};

const policy_t *policy_at(size_t i) { return i < sizeof TABLE / sizeof *TABLE ? TABLE[i] : NULL; }

const policy_t *policy_find(const char *name) {
  const policy_t *policy;
  for (size_t i = 0; (policy = policy_at(i)); i++) {
    if (strcmp(policy->name, name) == 0) return policy;
  }
  return NULL;
}
