#' @export
policy_logistic_ucb <- function(alpha = 1, mu = Inf, ..., model = c("disjoint", "shared"),
                                contexts = c("private", "public"), batch = NULL, norm = NULL,
                                ridge = 1, margin = 0.5) {
  check_dots_empty(...)
  alpha <- check_number(alpha, 0)
  policy <- new_linear_policy("logistic_ucb", list(alpha = alpha), Inf, mu, model, contexts,
                              "toeplitz", batch, norm, ridge, margin, "logistic UCB",
                              rlang::current_env())
  # There is one budget and one mechanism.
  policy$args[c("epsilon", "mechanism")] <- NULL
  policy
}
