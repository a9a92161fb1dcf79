policy_toy <- function(epsilon = Inf) new_policy("toy", guarantee = guarantee_toy(epsilon), title = "a toy")
