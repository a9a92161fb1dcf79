# One experiment at two sites. Each site is an R process of its own with a store of its own; all that leaves it
# is its release table, as a CSV file. Whoever has both files concludes as from one experiment.
#
#   Rscript two_sites.R            both sites, then what they prove together
#   Rscript two_sites.R site NAME FOLDER SEED    one site (used by the call above)

library(dpts)

arms <- c("control", "new")
means <- c(control = 0.35, new = 0.55) # the world, which nobody knows
people <- 1000

site <- function(name, folder, seed) {
  set.seed(seed)
  agent <- dpts_agent(policy_randomised(mu = 0.5), arms, file.path(folder, paste0(name, ".sqlite")),
                      use = "arrival")
  for (i in seq_len(people / 100)) {
    choice <- agent_choose(agent, n = 100)
    agent_reward(agent, choice$ticket, runif(100) < means[as.character(choice$arm)])
  }
  agent_finish(agent)
  write.csv(dpts_releases(agent), file.path(folder, paste0(name, ".csv")), row.names = FALSE)
  agent_close(agent)
}

args <- commandArgs(trailingOnly = TRUE)
if (length(args) && args[1] == "site") {
  site(args[2], args[3], as.integer(args[4]))
} else {
  folder <- tempfile("sites")
  dir.create(folder)
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  rscript <- file.path(R.home("bin"), "Rscript")
  for (i in 1:2) {
    system2(rscript, c(shQuote(script), "site", c("north", "south")[i], shQuote(folder), i))
  }
  tables <- lapply(c(north = "north", south = "south"), function(name) {
    as_releases(read.csv(file.path(folder, paste0(name, ".csv"))))
  })
  print(dpts_releases(tables))
  print(verdict(tables))
  print(effects(tables))
}
