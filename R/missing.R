# What a release table would be if missing answers had counted as something else: from the noisy numbers of
# people who answered, released for the same blocks.

# `reward`, `answers`: tables of the two outcomes, of which `answers` has a 1 for each who answered
# `more`: by how much more a missing answer of each row of `reward` is to count, in parts of the range
# A sum S of n people becomes S + more (n - A), A being who answered: rewards of 0 or 1 stay so, if a missing
# answer counts 0 or 1 then. Squares are not known any more; 1/4 for each is the largest.
imputed_table <- function(reward, answers, more) {
  released <- function(table) which(is.na(table[["event"]] %||% rep(NA, nrow(table))))
  rows <- released(reward)
  at <- released(answers)
  # The blocks of an outcome are released in the order of those of the reward.
  key <- function(table, rows) {
    own <- paste(table[["stratum"]][rows], table$arm[rows])
    paste(own, stats::ave(seq_along(rows), own, FUN = seq_along))
  }
  at <- at[match(key(reward, rows), key(answers, at))]
  if (anyNA(at) || any(answers$n[at] != reward$n[rows])) {
    abort_input("answered", paste("`answered` must be released for the same blocks as the reward: its",
                                  "deadline is not past for all, or `agent_finish()` dropped some."))
  }
  v <- as.list(reward)
  w <- more[rows]
  if (!all(c(reward$noise[rows], answers$noise[at]) %in% c("gaussian", "none"))) {
    abort_input("answered", paste("`answered` must have Gaussian noise or none, as the reward: plan both",
                                  "with `mu`. Two sums with Laplace noise have no such noise together."))
  }
  variance <- function(table, i) ifelse(table$noise[i] == "none", 0, table$terms[i] * table$scale[i]^2)
  s2 <- variance(reward, rows) + w^2 * variance(answers, at)
  v$sum[rows] <- reward$sum[rows] + w * (reward$n[rows] - answers$sum[at])
  v$noise[rows] <- ifelse(s2 > 0, "gaussian", "none")
  v$scale[rows] <- sqrt(s2)
  v$terms[rows] <- 1
  v$squares[] <- NA_real_
  new_releases(v, attr(reward, "guarantees"))
}
