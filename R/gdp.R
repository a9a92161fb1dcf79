gdp_delta <- function(mu, epsilon, log = FALSE) {
  mu <- check_numbers(mu, 0, inf = TRUE)
  epsilon <- check_numbers(epsilon, 0, inf = TRUE)
  log <- check_flag(log)
  args <- recycle_common(mu = mu, epsilon = epsilon)
  .Call(C_gdp_delta, args$mu, args$epsilon, log)
}
gdp_epsilon <- function(mu, delta) {
  mu <- check_numbers(mu, 0, inf = TRUE)
  delta <- check_numbers(delta, 0, 1)
  args <- recycle_common(mu = mu, delta = delta)
  .Call(C_gdp_epsilon, args$mu, args$delta)
}
gdp_mu <- function(epsilon, delta) {
  epsilon <- check_numbers(epsilon, 0, inf = TRUE)
  delta <- check_numbers(delta, 0, 1)
  args <- recycle_common(epsilon = epsilon, delta = delta)
  .Call(C_gdp_mu, args$epsilon, args$delta)
}
