# What policies in R use besides their arguments and packages, so that they can be sent to a worker.

# The global variables that the policies in R among these use. A worker needs them; what functions
# have in environments of their own comes with them.
globals_of <- function(policies) {
  if (!plays_r(policies)) return(list())
  uses_of(unlist(lapply(policies, function(policy) unclass(unwrapped(policy))[host_calls])))$global
}

plays_r <- function(policies) any(vapply(policies, is_custom, NA))
