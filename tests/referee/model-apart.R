# Who is in which release, read from the releases alone, by the page of dpts_agent(): sections People who come again, Strata
# and A day as the unit. Each person always says a number of their own, so that the digits of a sum without noise tell how
# often each person is in it: never twice in a block or batch, in m sums at most, and in those of one stratum.

APART <- list(
  equal = function(n, mu) policy_randomised(mu, block = n), permuted = function(n, mu) policy_randomised(mu, block = n, permuted = TRUE),
  thompson = function(n, mu) policy_randomised(mu, block = n, rule = "thompson"), top_two = function(n, mu) policy_top_two(mu),
  gaussian_imed = function(n, mu) policy_gaussian_imed(mu, first = n, correlation = 0), dp_imed = function(n, mu) policy_dp_imed(mu, first = n),
  dp_klucb = function(n, mu) policy_dp_klucb(mu, first = n)
)

apart_setting <- function() {
  list(m = whole(2, 6), policy = names(APART)[sample.int(length(APART), 1)], block = whole(5, 9), people = whole(2, 10), k = whole(2, 3),
       strata = whole(0, 3), use = one_of("arrival", "deadline"), window = one_of(0, 0, 5, 12), block_time = one_of(0, 0, 30),
       file = flip(0.3), steps = whole(20, 50), answers = one_of(1, 0.8, 0.4), roams = flip(0.3), seed = whole(1, 1e6))
}

referee_model("apart", apart_setting, function(s) {
  now <- 1e9
  old <- options(dpts.clock = function() now)
  on.exit(options(old))
  seconds <- function(x) if (x > 0) as.difftime(x, units = "secs")
  store <- if (s$file) tempfile(fileext = ".sqlite")
  deadline <- if (s$use == "deadline") as.difftime(max(15, s$window), units = "secs") else Inf
  strata <- if (s$strata > 0) paste0("s", seq_len(s$strata))
  agent <- dpts_agent(APART[[s$policy]](s$block, 1e9), s$k, store, use = s$use, deadline = deadline, max_per_person = s$m,
                      strata = strata, window = seconds(s$window), block_time = seconds(s$block_time))
  on.exit(agent_close(agent), add = TRUE)
  code <- 4^(seq_len(s$people) - 1) / 2^20
  own <- if (s$strata > 0) sample.int(s$strata, s$people, TRUE)
  ticket <- character()
  who <- numeric()
  paused <- FALSE
  tell <- function(share) {
    some <- which(stats::runif(length(ticket)) < share)
    some <- some[some > length(ticket) - 60]
    if (length(some)) agent_reward(agent, ticket[some], code[who[some]])
  }
  for (step in seq_len(s$steps)) {
    now <- now + one_of(0, 1, 3, whole(1, 20))
    n <- one_of(1, 1, 2, whole(1, 8))
    person <- sample.int(s$people, n, TRUE)
    in_stratum <- if (s$strata > 0) strata[if (s$roams) sample.int(s$strata, n, TRUE) else own[person]]
    x <- agent_choose(agent, n, person = paste0("p", person), stratum = in_stratum)
    ticket <- c(ticket, x$ticket)
    who <- c(who, person)
    tell(s$answers / if (s$window > 0) 2 else 1)
    if (flip(0.1) && s$k > 2) {
      if (paused) agent_arms(agent, resume = "1") else agent_arms(agent, pause = "1")
      paused <- !paused
    }
    if (flip(0.1) && s$file) {
      agent_close(agent)
      agent <- agent_open(store)
    }
  }
  now <- now + 100
  tell(1)
  now <- now + 100
  agent_finish(agent)
  rows <- dpts_releases(agent)
  rows <- rows[rows$n > 0, ]
  grid <- round(rows$sum * 2^20)
  if (any(abs(rows$sum * 2^20 - grid) > 1e-3)) return("a sum is not on the grid")
  often <- vapply(seq_len(s$people), function(p) floor(grid / 4^(p - 1)) %% 4, numeric(nrow(rows)))
  often <- matrix(often, nrow(rows))
  total <- colSums(often)
  by_block <- if (nrow(rows)) rowsum(often, rows$block) else often
  in_strata <- if (s$strata > 0 && nrow(rows)) colSums(rowsum(often, as.integer(rows$stratum)) > 0) else rep(1, s$people)
  c(if (any(by_block > 1)) sprintf("person %d is twice in a release", which(apply(by_block > 1, 2, any))[1]),
    if (any(total > s$m)) sprintf("%d rewards of person %d, of %d", max(total), which.max(total), s$m),
    if (any(in_strata > 1)) sprintf("person %d is in %d strata", which.max(in_strata), max(in_strata)),
    if (any(rowSums(often) > rows$n)) "more rewards in a sum than people",
    if (s$answers == 1 && s$window == 0 && s$use == "arrival" && any(rowSums(often) < rows$n)) "fewer rewards in a sum than people",
    if (s$steps > 30 && !nrow(rows)) "nothing was released")
})
