/* Included before every file (Makevars), so that no file can omit it: a * b + c is rounded twice on
   every machine, even where there is an instruction that rounds it once. Rewards and indices are then
   the same to the bit on x86-64 and arm64, as long as log(), exp() and cos() of the C library are. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__) && defined(__FP_FAST_FMA)
#pragma GCC optimize("fp-contract=off")
#endif
