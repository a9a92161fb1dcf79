# A live session in C
live_handle <- function(policy, k = 3, horizon = 200, dim = 0) {
  .Call(C_session_new, kernel(policy, horizon), k, horizon, as.integer(dim))
}

# The bytes of a session with the checksum of what they are now (src/play_session_save.c)
sealed <- function(bytes) {
  sum <- .Call(C_checksum, bytes[-(1:48)])
  bytes[25:32] <- rev(as.raw(strtoi(substring(sum, seq(1, 15, 2), seq(2, 16, 2)), 16L)))
  bytes
}
