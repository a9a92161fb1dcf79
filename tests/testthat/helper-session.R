# A live session in C
live_handle <- function(policy, k = 3, horizon = 200, dim = 0) {
  .Call(C_session_new, kernel(policy, horizon), k, horizon, as.integer(dim))
}
