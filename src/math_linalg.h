#ifndef DPTS_MATH_LINALG_H
#define DPTS_MATH_LINALG_H
/* Dense linear algebra, by R's BLAS and LAPACK. math_linalg.c is the one file below the shims that
   includes headers of R (R_ext/BLAS.h and R_ext/Lapack.h): they declare Fortran routines, and nothing of
   R's memory or errors. */

#include <stddef.h>

/* The number of doubles of scratch memory that linalg_inverse_raised() needs in dimension d. */
size_t linalg_scratch(int d);

/* Inverts a symmetric d x d matrix after raising each eigenvalue v to least + sqrt(max(v - least, 0)^2 +
   raise^2), for `least` > 0 and `raise` >= 0. Of a only the lower triangle is read. Sets `inverse` (both
   triangles) and overwrites a with a factor F such that F F' = inverse. Returns -1 if LAPACK's iteration did
   not converge, else 0. */
int linalg_inverse_raised(int d, double *a, double least, double raise, double *inverse, double *scratch);

#endif
