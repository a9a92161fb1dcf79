guarantee_toy <- function(epsilon) new_guarantee("toy", epsilon = epsilon)
kind_toy <- list(
  forms = list(epsilon = function(guarantee, at) guarantee$epsilon),
  fixed = function(guarantee) TRUE,
  words = function(guarantee, digits) "a toy",
  sentences = function(guarantee, digits) "A toy."
)
