/* Comes before every file (Makevars), so that none can forget it: a * b + c is rounded twice on every
   machine, as it is where there is no instruction for it. Rewards and indices are then the same to the bit on
   x86-64 and arm64, as long as the C library's log(), exp() and cos() are. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__) && defined(__FP_FAST_FMA)
#pragma GCC optimize("fp-contract=off")
#endif
