#ifndef DPTS_MATH_LINALG_H
#define DPTS_MATH_LINALG_H
/* Dense linear algebra, by R's BLAS and LAPACK. math_linalg.c is the one file below the shims
   that includes headers of R (R_ext/BLAS.h and R_ext/Lapack.h): they hold prototypes of
   Fortran routines and nothing of R's memory or errors. */

#include <stddef.h>

/* Doubles of scratch that linalg_inverse_above() needs for dimension d. */
size_t linalg_scratch(int d);

/* a: symmetric, d x d, only its lower triangle is read; it is overwritten. Raises its
   eigenvalues that lie below `least` > 0 to `least`, and writes the inverse of what results
   (d x d, both triangles) and a factor F with F F' = inverse, which takes the place of a.
   Returns how many eigenvalues were raised, or -1 if the iteration failed. */
int linalg_inverse_above(int d, double *a, double least, double *inverse, double *scratch);

#endif
