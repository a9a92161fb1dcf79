# The kernels of src/math_kl.c, and R references that know no closed form.

kl_c <- function(what, x, y, a = 1, n = 1) {
  size <- max(length(x), length(y))
  .Call(C_kl, what, rep_len(x, size) + 0, rep_len(y, size) + 0, a + 0, n + 0)
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
