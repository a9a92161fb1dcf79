arms_toy_world <- function(means) {
  means <- check_by_arm(means, 0, 1)
  new_arms("bernoulli", means, means, list(means = means), "rewards that flip",
           world = new_world("toy", changing = TRUE), class = "toy_world")
}
world_sound.dpts_world_toy <- function(world, arms) TRUE
