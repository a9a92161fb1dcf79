#define USE_FC_LEN_T
#include <Rconfig.h>
#include <R_ext/BLAS.h>
#include <R_ext/Lapack.h>
#ifndef FCONE
#define FCONE
#endif
#include <math.h>
#include "math_linalg.h"

/* dsyev needs at least 3 d - 1 numbers of work space, and the eigenvalues take d. */
size_t linalg_scratch(int d) { return (size_t)(8 * d + 8); }

int linalg_inverse_above(int d, double *a, double least, double *inverse, double *scratch) {
  double *values = scratch, *work = scratch + d;
  int n_work = 7 * d + 8, info = 0, raised = 0;
  if (d == 0) return 0;
  F77_CALL(dsyev)("V", "L", &d, a, &d, values, work, &n_work, &info FCONE FCONE);
  if (info != 0) return -1;
  for (int j = 0; j < d; j++) {
    if (values[j] < least) values[j] = least, raised++;
    const double root = 1 / sqrt(values[j]);
    for (int i = 0; i < d; i++) a[i + j * d] *= root;
  }
  const double one = 1, zero = 0;
  F77_CALL(dsyrk)("L", "N", &d, &d, &one, a, &d, &zero, inverse, &d FCONE FCONE);
  for (int j = 0; j < d; j++) {
    for (int i = 0; i < j; i++) inverse[i + j * d] = inverse[j + i * d];
  }
  return raised;
}
