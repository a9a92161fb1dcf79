#' Report the noisy maximum
#'
#' @description
#' `report_noisy_max()` adds independent noise to every value and reports which is the
#' largest, and nothing else. A round of Gaussian Thompson sampling is this with the posterior
#' means as values and the posterior standard deviations as scales.
#'
#' `noisy_max_privacy()` gives the privacy of the report.
#'
#' @details
#' With Laplace noise this is Report Noisy Max of Dwork and Roth (2014), Algorithm 3 of Ou et al.
#' (2024); with Gaussian noise and a scale for each value their heterogeneous Algorithm 4.
#'
#' Let the values move by at most `sensitivity` between neighbouring inputs. If only one of them moves
#' (`changed = "one"`, the case of a bandit), condition on the noise of the others: the report is then a
#' function of that one noisy value. It is therefore exactly mu-GDP with mu = max(`sensitivity` / `scale`) for
#' Gaussian noise, and epsilon-DP with epsilon = max(`sensitivity` / `scale`) for Laplace noise, however many
#' values there are. If all may move (`changed = "all"`), mu is at most the root of the sum of squares, and
#' the Laplace epsilon at most the largest of (sensitivity i + largest other sensitivity) / scale i: twice the
#' usual ratio for equal values, as in Dwork and Roth's proof.
#'
#' Theorem 6 of Ou et al. states (epsilon, (k - 1) d)-DP for k values with Gaussian noise and epsilon >= 5
#' sqrt(2 log(2 / d)) max(`sensitivity` / `scale`). It is given as a second row, after the exact statement.
#' Its lemma is stated for epsilon < 1, the factor k - 1 is not needed, and we could not follow how its proof
#' splits epsilon and d into halves; we use the theorem as stated. Where the noise is so small that the exact
#' epsilon is larger (roughly `sensitivity` / `scale` above 8 sqrt(2 log(2 / d))), the theorem is false, and
#' epsilon is `NA`.
#'
#' Noise comes from R's generator, as 53-bit uniforms: two draws each, as one draw of R's
#' default generator has 32 bits. The generator is not cryptographic, and floating-point noise
#' has gaps: for publishing from real people's data use a vetted sampler.
#'
#' @param values Numbers, not empty.
#' @param scale Scale of the Laplace noise (its mean absolute value), or standard deviation
#'   of the Gaussian noise: positive numbers, one for all values or one per value.
#' @param noise `"laplace"` or `"gaussian"`.
#' @param sensitivity How far the values can move: non-negative numbers, one for all or one per value.
#' @param delta A number in \[0, 1\].
#' @param changed How many of the values can move at once: `"one"` or `"all"`.
#' @param k How many values there are; by default the length of `scale` or `sensitivity`.
#' @template dots
#' @returns `report_noisy_max()`: the position of the largest noisy value, an integer.
#'   `noisy_max_privacy()`: a tibble with one row per statement,
#'   * `statement`: `"exact"`, or `"theorem 6"` (Gaussian noise, one value changed, k >= 2);
#'   * `epsilon`: the report is (epsilon, `delta`)-DP; `NA` where Theorem 6 is out of its range;
#'   * `delta`: as given, the whole of it;
#'   * `mu`: the Gaussian DP parameter, `NA` for Laplace noise and for Theorem 6.
#' @template dwork
#' @template ou
#' @template see_privacy
#' @examples
#' report_noisy_max(c(3, 5, 4), scale = 1)
#' report_noisy_max(c(3, 5, 4), scale = c(0.1, 2, 0.5), noise = "gaussian")
#' noisy_max_privacy(scale = rep(sqrt(1 / 2), 5), sensitivity = 1 / 2, delta = 1e-5,
#'                   noise = "gaussian")
#' @export
report_noisy_max <- function(values, scale, noise = c("laplace", "gaussian"), ...) {
  check_dots_empty(...)
  values <- check_numbers(values)
  noise <- check_choice(noise, c("laplace", "gaussian"))
  scale <- check_each(check_numbers(scale, 0, open = TRUE), length(values), "values", "scale")
  which.max(values + scale * noise_53(noise, length(values)))
}

# Standard noise of uniforms of 53 bits
noise_53 <- function(noise, n) {
  switch(noise,
    # the difference of two exponential variables
    laplace = log(runif_53(n)) - log(runif_53(n)),
    gaussian = stats::qnorm(runif_53(n))
  )
}

# Uniform on the 2^53 midpoints of (0, 1), from two draws of R's generator each
runif_53 <- function(n) {
  high <- floor(stats::runif(n) * 2^27)
  low <- floor(stats::runif(n) * 2^26)
  # 52 bits and a half keep the largest below 1
  pmin((high * 2^26 + low + 0.5) / 2^53, 1 - 2^-53)
}

#' @rdname report_noisy_max
#' @export
noisy_max_privacy <- function(scale, sensitivity, delta, noise = c("laplace", "gaussian"),
                              changed = c("one", "all"),
                              k = max(length(scale), length(sensitivity)), ...) {
  check_dots_empty(...)
  scale <- check_numbers(scale, 0, open = TRUE)
  sensitivity <- check_numbers(sensitivity, 0)
  delta <- check_number(delta, 0, 1)
  noise <- check_choice(noise, c("laplace", "gaussian"))
  changed <- check_choice(changed, c("one", "all"))
  k <- check_count(k)
  args <- recycle_common(scale = scale, sensitivity = sensitivity)
  if (!length(args$scale) %in% c(1, k)) {
    abort_arg("k", sprintf("%d, the number of scales or sensitivities", length(args$scale)), k)
  }
  move <- args$sensitivity
  ratio <- move / args$scale
  copies <- k / length(move) # values that are alike, of which one is written
  if (noise == "laplace") {
    epsilon <- if (changed == "one") max(ratio) else {
      largest <- which.max(move)
      other <- rep(move[largest], length(move))
      if (copies == 1) other[largest] <- max(0, move[-largest])
      max((move + other) / args$scale)
    }
    if (delta == 1) epsilon <- 0
    return(as_bounds(tibble::tibble(statement = "exact", epsilon = epsilon, delta = delta, mu = NA_real_)))
  }
  mu <- if (changed == "one") max(ratio) else sqrt(copies) * gdp_compose(ratio)
  out <- tibble::tibble(statement = "exact", epsilon = gdp_epsilon(mu, delta), delta = delta, mu = mu)
  if (changed == "one" && k >= 2) {
    d <- delta / (k - 1)
    # Nothing moves, nothing leaks: also at d = 0, where the root is Inf.
    stated <- if (all(ratio == 0)) 0 else 5 * sqrt(2 * log(2 / d)) * max(ratio)
    # The exact value is attained: a statement below it is false.
    if (stated < out$epsilon) stated <- NA_real_
    theorem <- tibble::tibble(statement = "theorem 6", epsilon = stated, delta = delta, mu = NA_real_)
    out <- rbind(out, theorem)
  }
  as_bounds(out)
}
