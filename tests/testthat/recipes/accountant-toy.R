# A kind of guarantee and its accountant in one file, which is loaded before those that it uses.
guarantee_toy <- function(epsilon) new_guarantee("toy", epsilon = epsilon)

privacy_toy <- function(epsilon) as_budget(guarantee_toy(epsilon))

kind_toy <- list(
  like = "pure",
  forms = list(toy = function(guarantee, at) 2 * guarantee$epsilon),
  words = function(guarantee, digits) "a toy",
  sentences = function(guarantee, digits) "A toy."
)

accountant_toy <- list(
  supports = function(guarantee, at) if (is.null(form(guarantee, "toy", at))) "it reads toys" else TRUE,
  epsilon = function(guarantee, at, delta, ...) toy_epsilon(form(guarantee, "toy", at), delta)
)

toy_epsilon <- function(toy, delta) rep(toy, length(delta))
