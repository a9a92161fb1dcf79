# Intervals of an agent for so many releases, each with this noise, of a moving average with `carry`
mean_intervals <- function(rewards, releases, sum, noise, level) {
  carry <- noise$carry %||% 0
  report_intervals(list(
    rewards = ifelse(is.na(rewards), 0, rewards), sum = sum, kind = rep(match(noise$kind, noise_names(1:4)), length(sum)),
    terms = releases * (1 - carry)^2, scale = rep(noise$scale, length(sum)), last_terms = rep(+(carry > 0), length(sum)),
    last_scale = rep(carry * noise$scale, length(sum)), looks = releases
  ), level, live = TRUE)
}
