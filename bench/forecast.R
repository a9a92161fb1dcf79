# Of forecasts near 50% how many come true? Two arms, mu = 1, the default blocks: forecasts at 600 people of a
# verdict by 2,000. `Rscript bench/forecast.R 2700 8 >> bench/forecast.md`: experiments and seed.

library(dpts)
given <- as.numeric(commandArgs(TRUE))
experiments <- c(given, 2700)[1]
seed <- c(given[-1], 8)[1]
set.seed(seed)
found <- vapply(seq_len(experiments), function(i) {
  d <- runif(1, -0.2, 0.2) # about the effect nothing is known beforehand
  sim <- dpts_simulate(arms_bernoulli(0.5 + c(d, -d) / 2), policy_randomised(mu = 1), 2000, runs = run_range(i, i), seed = seed,
                       history = TRUE)
  table <- dpts_releases(sim)
  table <- table[table$t <= 600, ]
  # Those that are far from 50% need few futures to be seen as such.
  if (abs(forecast(table, 2000, runs = 20, seed = i)$verdict - 0.5) > 0.3) return(c(NA, NA))
  c(forecast(table, 2000, runs = 100, seed = i + 1e6)$verdict, !is.na(verdict(sim)$arm))
}, c(0, 0))
near <- which(abs(found[1, ] - 0.5) <= 0.1)
cat(sprintf("Seed %g, %g experiments: of %d forecasts from 40%% to 60%%, %.1f%% in the mean, %.1f%% came true (standard error %.1f%%).\n",
            seed, experiments, length(near), 100 * mean(found[1, near]), 100 * mean(found[2, near]),
            50 / sqrt(length(near))))
