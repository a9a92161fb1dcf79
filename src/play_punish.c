/* arms_adversary("punish") is the example of an adversary in C. */
#include "../inst/examples/punish.c"
