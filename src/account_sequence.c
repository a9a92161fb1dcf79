/* The sequence accountant by its recursion. With W_tau(n) the largest value of log E_Q[(P/Q)^alpha] over tau
   remaining rounds when the private arm has n rewards, d(n) = 1 / sqrt(c (n + 1)) and W_0 = 0,

       W_(tau+1)(n) = W_tau(n) + H(d(n), W_tau(n) - W_tau(n+1)),

   H as in account_bit.h. Cost: rounds^2 / 2 evaluations of H. */
#include "account.h"
#include "account_bit.h"

#include <math.h>

double sequence_exact_size(double rounds) { return 3 * (rounds + 1); }

void sequence_exact_begin(sequence_exact *run, double alpha, double rounds, double start, double scale,
                          double *work) {
  long n = (long)rounds + 1;
  run->alpha = alpha;
  run->rounds = rounds;
  run->start = start;
  run->scale = scale;
  run->tau = 0;
  run->value = work;
  run->shift = work + n;
  run->search = work + 2 * n;
  for (long i = 0; i < n; i++) {
    run->value[i] = 0;
    run->shift[i] = 1 / sqrt(scale * (start + i + 1));
  }
}

/* A search starts at the maximiser of the last round, moved by as much as the previous one has moved. */
int sequence_exact_step(sequence_exact *run) {
  long n = (long)(run->rounds - run->tau);
  double *w = run->value, drift = 0;
  for (long i = 0; i < n; i++) {
    bit_search search = {run->search[i] + drift, run->tau > 0};
    double gain = w[i] - w[i + 1];
    w[i] += bit_loss(run->alpha, run->shift[i], gain > 0 ? gain : 0, &search);
    if (run->tau > 0) drift = search.x - run->search[i];
    run->search[i] = search.x;
  }
  run->tau++;
  return run->tau < run->rounds;
}
