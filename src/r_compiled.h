#ifndef DPTS_R_COMPILED_H
#define DPTS_R_COMPILED_H
/* Policies and adversaries from outside. */

#include "policy.h"
#include "r_api.h"

/* By library and name; NULL if there is none */
const policy_t *compiled_find(const char *library, const char *name);
const dpts_adversary *compiled_adversary(const char *library, const char *name);

/* The policies of a library; called by that of a package, too -> NULL, or what is wrong */
const char *compiled_register(const char *library, dpts_entry_t entry);

const dpts_module *dpts_adversaries_of(const dpts_host *host); /* play_punish.c */
SEXP policy_properties_of(const policy_t *policy);             /* r_policy.c */

#endif
