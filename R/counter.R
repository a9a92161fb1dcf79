# Counters are values: the kind of a kernel in src/noise_counter_*.c, its parameters and its state
# as raw bytes. `released` holds the sums that the last counter_add() released.

new_counter <- function(kind, par, bound, guarantee, title, noise, args) {
  structure(
    list(kind = kind, par = par, bound = bound, title = title, noise = noise, args = args,
         guarantee = guarantee, items = 0, released = numeric(), state = NULL),
    class = c(paste0("dpts_counter_", kind), "dpts_counter")
  )
}

counter_pure <- function(epsilon) guarantee_pure(epsilon, published = "release")

#' Count a stream in private
#'
#' Running totals that hide each number in them. Four counters that take numbers of \[0, 1\] one after another
#' and release the running sum with noise: the bounded binary mechanism (a tree of partial sums), the
#' logarithmic mechanism and the hybrid of both, and correlated Gaussian noise. The private policies of the
#' package use them.
#'
#' @details
#' * `counter_tree()`, the binary mechanism (Chan, Shi and Song 2011, Algorithm 2): after n items the released
#'   sum is that of one noisy partial sum for each bit of n that is 1, the one of bit j covering 2^j items. A
#'   partial sum gets its noise once, when it is formed, and keeps it: fresh noise in each round would average
#'   out, and with it the protection. A stream of at most `bound` items has L = floor(log2(bound)) + 1 levels,
#'   an item is in at most one partial sum of each level, and each gets noise of scale L / `epsilon`.
#' * `counter_logarithmic()` releases only when the stream reaches 1, 2, 4, 8, ... items (with
#'   `variant = "hu-hegde"` 1, 3, 7, 15, ..., as in Hu and Hegde 2022, section 3): the sum of the
#'   items since the last release, with noise of scale 1 / `epsilon`, is added to the total.
#'   Between releases the released sum stays as it was. It needs no bound.
#' * `counter_hybrid()` adds to a logarithmic mechanism a binary mechanism for the items since
#'   its last release, started afresh each time. Each has half of `epsilon`. It needs no bound.
#'   With the variant of Hu and Hegde it is the counter inside [policy_dp_ts()].
#' * `counter_gaussian()` factorises the matrix of ones on and below the diagonal, which makes running sums:
#'   A = L R. For each item it releases one number of R x with independent normal noise, and the sums are L
#'   times what was released. R is a Toeplitz matrix, in the best case with the entries f_0 = 1, f_k = f_(k-1)
#'   (1 - 1 / (2 k)) of a square root of A (Fichtenberger, Henzinger and Upadhyay 2023; Henzinger, Upadhyay
#'   and Upadhyay 2023). Here the f_k, k > 0, are replaced by a quadrature, r_k = sum_i w_i u_i^k with some
#'   log(`bound`) / 2 + 3 nodes. So an item costs as many operations, and the counter remembers twice as many
#'   numbers (a buffered linear Toeplitz matrix: Dvijotham et al. 2024). Neither the guarantee nor the sums
#'   are approximate: noise is scaled by the norm of this R's columns, and L = A R^-1 exactly. For bounds up
#'   to 1e6 the largest variance of a sum is within 1.2% of the square root's, and the mean variance 1 to 3%
#'   below it. With 1e5 items the largest is 22.5 / `mu`^2, where a Gaussian tree has 272 / `mu`^2.
#'
#'   Without a bound, the weights w_i fall with their order such that the squares r_k^2 have a finite sum (the
#'   idea of Jacobsen and Fawaz 2025). The variance is then 1.7 to 2.5 times that of a counter
#'   whose bound is the present number of items, from the first of them to 1e6.
#'
#' @section Privacy:
#' Neighbouring streams differ in one item, replaced by any number of \[0, 1\]. What is published is the whole
#' sequence of released sums, and it is `epsilon`-DP: an item is in at most L partial sums, each of them
#' (`epsilon` / L)-DP (tree), or in one (logarithmic). That of `counter_gaussian()` is `mu`-GDP: a changed
#' item moves the numbers R x by at most the Euclidean norm of a column of R, and each of them gets noise of
#' that norm / `mu`. It stays so where items depend on what was released before (Denisov et al. 2022). The
#' exact sums are in the counter's `state`, which must not be published; `print()` does not show it. Feeding
#' the same items to a second copy of a counter spends `epsilon` again.
#'
#' @param epsilon Privacy of all released sums together: from 1e-6 to 1e12 (see [privacy_pure()]), or `Inf`
#'   for no noise.
#' @param mu Gaussian privacy of all released sums together: a number from 1e-6 to 1e12, or `Inf`.
#' @param bound The most items the counter can take: a whole number. For `counter_gaussian()` also
#'   `Inf`, for any number of items.
#' @param variant Where the logarithmic mechanism releases; see Details.
#' @template dots
#' @returns A counter, for [counter_add()].
#' @references Chan, T.-H. H., Shi, E. and Song, D. (2011). Private and Continual Release of
#'   Statistics. ACM Transactions on Information and System Security 14(3).
#'
#'   Dwork, C., Naor, M., Pitassi, T. and Rothblum, G. N. (2010). Differential Privacy under
#'   Continual Observation. STOC.
#' @template hu
#' @references Fichtenberger, H., Henzinger, M. and Upadhyay, J. (2023). Constant Matters: Fine-grained
#'   Error Bound on Differentially Private Continual Observation. ICML. arXiv:2202.11205.
#'
#'   Henzinger, M., Upadhyay, J. and Upadhyay, S. (2023). Almost Tight Error Bounds on Differentially
#'   Private Continual Counting. SODA. arXiv:2211.05006.
#' @template denisov
#' @references Dvijotham, K., McMahan, H. B., Pillutla, K., Steinke, T. and Thakurta, A. (2024). Efficient and
#'   Near-Optimal Noise Generation for Streaming Differential Privacy. FOCS. arXiv:2404.16706.
#'
#'   Jacobsen, B. and Fawaz, K. (2025). Private Continual Counting of Unbounded Streams. NeurIPS.
#'   arXiv:2506.15018.
#' @template see_counters
#' @concept matrix mechanism
#' @concept tree mechanism
#' @concept continual observation
#' @concept binary mechanism
#' @examples
#' counter <- counter_tree(epsilon = 1, bound = 100)
#' counter <- counter_add(counter, c(1, 0, 1, 1), seed = 1)
#' counter
#' counter$released
#' counter_add(counter_logarithmic(1, "hu-hegde"), rep(1, 7), seed = 1)$released
#' counter_add(counter_gaussian(mu = 1, bound = 100), rep(1, 7), seed = 1)$released
#' @export
counter_tree <- function(epsilon, bound, ...) {
  check_dots_empty(...)
  epsilon <- check_budget_number(epsilon)
  bound <- check_count(bound)
  # Whole-number logarithm: log2() of 2^k - 1 can round up to k.
  levels <- sum(2^(0:53) <= bound)
  new_counter("tree", c(bound, epsilon), bound, counter_pure(epsilon), "bounded binary mechanism",
              sprintf("%d levels of Laplace noise of scale %s", levels,
                      number_text(signif(levels / epsilon, 5))),
              list(epsilon = epsilon, bound = bound))
}

#' @rdname counter_tree
#' @export
counter_logarithmic <- function(epsilon, variant = c("original", "hu-hegde"), ...) {
  check_dots_empty(...)
  renewing_counter("logarithmic", epsilon, variant, 1, "Laplace noise of scale %s on each release")
}

#' @rdname counter_tree
#' @export
counter_hybrid <- function(epsilon, variant = c("original", "hu-hegde"), ...) {
  check_dots_empty(...)
  renewing_counter("hybrid", epsilon, variant, 2,
                   paste("Laplace noise of scale %s on each release and of as many times that as a block has",
                         "levels on its partial sums"))
}

# Counters of blocks that double; `share`: of epsilon, 1 / `share` is for the release of a block
renewing_counter <- function(kind, epsilon, variant, share, noise) {
  epsilon <- check_budget_number(epsilon)
  variant <- check_choice(variant, c("original", "hu-hegde"))
  new_counter(kind, c(variant == "hu-hegde", epsilon), 2^53, counter_pure(epsilon),
              sprintf("%s mechanism (%s)", kind, variant),
              sprintf(noise, number_text(signif(share / epsilon, 5))),
              list(epsilon = epsilon, variant = variant))
}

#' @rdname counter_tree
#' @export
counter_gaussian <- function(mu, bound = Inf, ...) {
  check_dots_empty(...)
  mu <- check_budget_number(mu)
  if (!identical(bound, Inf)) bound <- check_count(bound)
  factor <- factorisation(bound)
  new_counter("toeplitz", c(bound, mu), min(bound, 2^53), guarantee_gdp(mu, published = "release"),
              "factorisation of running sums",
              sprintf("one number for each item, with normal noise of sd %s",
                      number_text(signif(factor$norm / mu, 5))),
              list(mu = mu, bound = bound))
}

# The factorisation of a stream of at most `bound` items: the norm of its columns, the nodes of its
# quadrature, and the variance of each of the first sums, in units of that of a release
factorisation <- function(bound, items = 0) .Call(C_toeplitz, as.double(bound), as.double(items))

#' Feed a private counter
#'
#' `counter_add()` gives a private counter its next numbers; it answers with noisy running sums.
#'
#' @param counter A counter, from [counter_tree()] and its family.
#' @param x The next items: one or more numbers in \[0, 1\].
#' @param ... Not used; later arguments must be named.
#' @param seed A whole number, or `NULL` to take one from R's generator.
#' @returns The counter after the addition. Its element `released` holds the sums that were released,
#'   one for each item of `x`; `items` is how many it has had in all.
#' @section Errors:
#' An item outside \[0, 1\], or more items than the counter's bound, raise an error of class
#' `dpts_error_input`, before anything is counted. Counters are values: the counter that was
#' handed in stays as it was.
#' @template see_counters
#' @examples
#' counter <- counter_add(counter_hybrid(epsilon = 1), c(0, 1, 0.5), seed = 1)
#' counter$released
#' counter <- counter_add(counter, 1, seed = 2)
#' counter$released
#' @export
counter_add <- function(counter, x, ..., seed = NULL) {
  check_dots_empty(...)
  check_class(counter, "dpts_counter", "a counter, made by one of the `counter_*()` functions")
  x <- check_numbers(x, 0, 1)
  left <- counter$bound - counter$items
  if (length(x) > left) {
    abort_input("x", "`x` must hold at most %s items: the counter has had %s of its bound of %s.",
                number_text(left), number_text(counter$items), number_text(counter$bound),
                class = "dpts_error_bound")
  }
  .Call(C_counter_add, counter, x, check_seed(seed), FALSE, NULL)
}

#' @export
format.dpts_counter <- function(x, ...) {
  items <- if (x$bound < 2^53) sprintf("%s of %s", number_text(x$items), number_text(x$bound))
    else number_text(x$items)
  last <- utils::tail(x$released, 1)
  c(paste0("<counter> ", x$title),
    paste0("  items:     ", items),
    paste0("  released:  ", if (length(last)) number_text(signif(last, 7)) else "nothing yet"),
    paste0("  noise:     ", x$noise),
    paste0("  guarantee: ", format(x$guarantee), " of all released sums"))
}

#' @export
print.dpts_counter <- function(x, ...) print_lines(x, ...)
