#ifndef DPTS_MATH_LINALG_H
#define DPTS_MATH_LINALG_H
/* Dense linear algebra, by R's BLAS and LAPACK. math_linalg.c is the one file below the shims that
   includes headers of R (R_ext/BLAS.h and R_ext/Lapack.h): they declare Fortran routines, and nothing of
   R's memory or errors. */

#include <stddef.h>

/* The number of doubles of scratch memory that linalg_inverse_above() needs in dimension d. */
size_t linalg_scratch(int d);

/* Inverts a symmetric d x d matrix after raising its eigenvalues below `least` > 0 to `least`. Of a only the
   lower triangle is read. Sets `inverse` (both triangles) and overwrites a with a factor F such that F F' =
   inverse. Returns how many eigenvalues were raised, or -1 if LAPACK's iteration did not converge. */
int linalg_inverse_above(int d, double *a, double least, double *inverse, double *scratch);

#endif
