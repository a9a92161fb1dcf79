arms_toy <- function(shape) {
  shape <- check_by_arm(shape, 0, open = TRUE)
  new_arms("toy", shape / (shape + 1), shape, list(shape = shape), "toy rewards")
}
