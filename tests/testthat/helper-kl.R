# The kernels of src/math_kl.c, and R references that know no closed form.

kl_c <- function(what, x, y, a = 1, n = 1, count = 1, tail = FALSE) {
  size <- max(length(x), length(y))
  .Call(C_kl, what, rep_len(x, size) + 0, rep_len(y, size) + 0, a + 0, n + 0, count + 0, tail)
}

ref_kl <- function(x, y) {
  y[y < 1e-12] <- 1e-12
  y[y > 1 - 1e-12] <- 1 - 1e-12
  term <- function(p, q) {
    out <- p * log(p / q)
    out[p == 0] <- 0
    out
  }
  term(x, y) + term(1 - x, 1 - y)
}

# Infimum of f over [low, high], f convex: a fine search around the best of a grid, which may be coarse. f
# takes a vector, or one number at a time if not `vector`.
ref_infimum <- function(f, low, high, vector = TRUE) {
  if (high <= low) return(f(low))
  points <- if (vector) 201 else 21
  grid <- seq(low, high, length.out = points)
  at <- which.min(if (vector) f(grid) else vapply(grid, f, 0))
  inside <- stats::optimize(f, grid[c(max(at - 1, 1), min(at + 1, points))], tol = 1e-12)$objective
  min(inside, f(low), f(high))
}

ref_d_epsilon <- function(x, y, epsilon) {
  if (epsilon == Inf) return(ref_kl(x, y))
  ref_infimum(function(z) epsilon * abs(z - x) + ref_kl(z, y), min(x, y), max(x, y))
}

# Cramer rate of a sum of `count` Laplace variables, by maximising theta d - log mgf
ref_laplace_rate <- function(d, scale, count) {
  if (d <= 0) return(0)
  f <- function(u) u / scale * d + count * log1p(-u^2)
  max(0, stats::optimize(f, c(0, 1), maximum = TRUE, tol = 1e-14)$objective)
}

# P(sum of `count` Laplace variables of scale 1 >= d) by numerical convolution: the sum is a
# difference of two gamma variables
ref_laplace_tail <- function(d, count) {
  stats::integrate(function(g) stats::dgamma(g, count) *
                     stats::pgamma(g + d, count, lower.tail = FALSE), 0, Inf,
                   rel.tol = 1e-10)$value
}
