#ifndef DPTS_R_PAST_H
#define DPTS_R_PAST_H
/* Vectors that grow at their end without being copied, for R. */

#include <R_ext/Rdynload.h>

void past_init(DllInfo *dll);

#endif
