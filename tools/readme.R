# The pictures of the README (man/figures/README-first.png and README-second.png: side by side, on a phone one below the
# other), the output of its live example, written between its markers (`<!-- first: begin -->`, `<!-- first: end -->`), and
# the table of all policies, bench/regret.md. `make readme` runs it; about six minutes.

library(dpts)
library(ggplot2)

theme_set(theme_minimal(base_size = 10))
dir.create("man/figures", showWarnings = FALSE, recursive = TRUE)

arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
horizon <- 1e5
runs <- 1000
more_runs <- 20000 # of a policy of which a few runs in a thousand make much of the mean

# ---- the live example, as it stands in the README: its noise is that of the operating system, so that it differs from
# time to time. Messages and warnings are shown as a reader gets them.
readme <- readLines("README.md", encoding = "UTF-8")
code <- readme[seq(which(readme == "library(dpts)"), length(readme))]
code <- parse(text = code[seq_len(which(code == "```")[1] - 1)])
set.seed(1)
withr::local_options(width = 90, cli.num_colors = 1L)
shown <- utils::capture.output(for (line in code) {
  value <- withVisible(withCallingHandlers(eval(line), condition = function(cnd) {
    if (inherits(cnd, c("message", "warning"))) cat(conditionMessage(cnd), "\n")
  }))
  if (value$visible) print(value$value)
})
shown <- trimws(shown, "right")

# ---- the picture: regret at equal privacy, and evidence against its line -------------------
mu <- 1
pure_of <- function(mu) log(pnorm(mu / 2) / pnorm(-mu / 2)) # the largest pure epsilon that implies mu-GDP
epsilon <- pure_of(mu)
equal <- dpts_simulate(arms, list(
  "Gaussian IMED (dpts)" = policy_gaussian_imed(mu), "DP-IMED, 2025" = policy_dp_imed(epsilon),
  "DP-KLUCB, 2025" = policy_dp_klucb(epsilon), "AdaC-UCB, 2023" = policy_adac_ucb(mu),
  "Lazy-DP-TS, 2022" = policy_lazy_dp_ts(epsilon), "not private: IMED" = policy_imed()
), horizon, runs = runs, seed = 7, record = I(horizon), progress = TRUE)
trial <- dpts_simulate(arms_bernoulli(c(old = 0.5, new = 0.6)), policy_randomised(mu = mu), 4000, runs = 1, seed = 1,
                       history = TRUE)
left <- autoplot(equal, log = "x") + labs(title = "What 1-GDP costs")
right <- autoplot(evidence(trial, kind = "tosses")) + labs(title = "May I stop?")
ggsave("man/figures/README-first.png", left, width = 3.9, height = 3.2, dpi = 150, bg = "white")
ggsave("man/figures/README-second.png", right, width = 3.9, height = 3.2, dpi = 150, bg = "white")

# ---- which policy, which guarantee, what regret ------------------------------------------
# One guarantee for all, of mu-GDP, or the pure epsilon that is as strong; where a proof speaks of one delta, it is what
# mu-GDP says at delta = 1 / T.
delta <- 1 / horizon
row <- function(policy, guarantee, source) {
  list(policy = policy, guarantee = guarantee, source = source)
}
rows_at <- function(mu) {
  epsilon <- pure_of(mu)
  approx <- gdp_epsilon(mu, delta)
  tuning <- dpts_tune(privacy_approx(approx, delta), arms, horizon,
                      prepulls = c(499, 599, 699, 799, 999, 1499, 1999, 2499),
                      accountant = c("gdp", "sequence"), runs = 100, seed = 1, progress = TRUE)
  tuned <- function(accountant) {
    rows <- tuning[tuning$accountant == accountant, ]
    best <- rows[which.min(rows$regret), ]
    # rounded up, so that the guarantee holds for what is printed
    policy_ts_gaussian(best$prepulls, ceiling(best$variance_scale * 10) / 10)
  }
  pure <- sprintf("%.3f-DP", epsilon)
  gdp <- sprintf("%s-GDP", mu)
  at_delta <- sprintf("(%.2f, 1e-05)-DP", approx)
  list(
    row(policy_gaussian_imed(mu), gdp, "this package"),
    row(policy_lazy_gaussian_ts(mu), gdp, "this package"),
    row(policy_dp_imed(epsilon), pure, "Azize et al. 2025"),
    row(policy_dp_imed(epsilon, index = "likelihood"), pure, "Azize et al. 2025, our index"),
    row(policy_dp_klucb(epsilon), pure, "Azize et al. 2025"),
    row(policy_adac_ucb(mu), gdp, "Azize, Basu 2023"),
    row(policy_adap_klucb(epsilon), pure, "Azize, Basu 2022"),
    row(policy_adap_ucb(epsilon), pure, "Azize, Basu 2022"),
    row(policy_lazy_dp_ts(epsilon), pure, "Hu, Hegde 2022"),
    row(policy_dp_ts(epsilon), pure, "Hu, Hegde 2022"),
    row(policy_lazy_ucb(epsilon), pure, "Hu, Huang, Mehta 2021"),
    row(policy_dp_se(epsilon), pure, "Sajed, Sheffet 2019"),
    row(policy_dp_ucb_bound(epsilon), pure, "Tossou, Dimitrakakis 2016"),
    row(policy_mt_ts(epsilon, tuned = TRUE), pure, "Mishra, Thakurta 2015, tuned"),
    row(policy_mt_ucb(epsilon), pure, "Mishra, Thakurta 2015"),
    row(tuned("sequence"), paste(at_delta, "by the sequence accountant"), "Ou et al. 2024, Algorithm 2"),
    row(tuned("gdp"), gdp, "Ou et al. 2024, Algorithm 2")
  )
}
rows <- c(rows_at(mu), list(
  row(policy_uniform(), "0-DP", "baseline"),
  row(policy_ts_gaussian(), sprintf("(%s, 1e-05)-DP by the sequence accountant", format(round(
    min(summary(dpts_privacy(policy_ts_gaussian(), horizon, delta = delta, arms = 5))$epsilon)))),
    "Ou et al. 2024, Algorithm 1"),
  row(policy_ts_beta(), "none", "Agrawal, Goyal 2012"),
  row(policy_imed(), "none", "Honda, Takemura 2015"),
  row(policy_klucb(), "none", "Garivier, Cappe 2011"),
  row(policy_ucb1(), "none", "Auer et al. 2002")
))
low <- 0.2
rows_low <- rows_at(low)
label <- function(policy) { # only what differs from the defaults, to three digits
  args <- policy$args
  own <- formals(get(paste0("policy_", policy$name), asNamespace("dpts")))
  keep <- vapply(names(args), function(a) {
    !is.null(args[[a]]) && !identical(args[[a]], tryCatch(eval(own[[a]]), error = function(e) NULL))
  }, NA)
  shown <- vapply(args[keep], function(v) paste(format(if (is.numeric(v) && v %% 1 != 0) signif(v, 3) else v),
                                                collapse = ", "), "")
  text <- vapply(args[keep], is.character, NA)
  shown[text] <- paste0("\"", shown[text], "\"")
  sprintf("policy_%s(%s)", policy$name, paste(names(shown), shown, sep = " = ", collapse = ", "))
}
play <- function(rows) {
  policies <- lapply(rows, `[[`, "policy")
  names(policies) <- make.unique(vapply(policies, label, ""))
  rare <- vapply(policies, dpts:::is_true_of, NA, "fails_rarely")
  some <- function(policies, runs) {
    summary(dpts_simulate(arms, policies, horizon, runs = runs, seed = 7, record = I(horizon), progress = TRUE))
  }
  ends <- rbind(some(policies[!rare], runs), some(policies[rare], more_runs))
  ends[match(names(policies), ends$policy), ]
}
regret_of <- function(ends) {
  sprintf("%s ± %s", format(round(ends$mean), big.mark = ",", trim = TRUE),
          format(signif(ends$se, 2), big.mark = ",", trim = TRUE, scientific = FALSE, drop0trailing = TRUE))
}
ends <- play(rows)
table <- data.frame(
  policy = sprintf("`%s`", ends$policy), source = vapply(rows, `[[`, "", "source"),
  guarantee = vapply(rows, `[[`, "", "guarantee"), regret = regret_of(ends),
  worst = format(round(ends$worst), big.mark = ",", trim = TRUE),
  low = c(regret_of(play(rows_low)), rep("", length(rows) - length(rows_low))),
  private = vapply(rows, `[[`, "", "guarantee") != "none", value = ends$mean
)
table <- table[order(!table$private, table$value), ]
whole <- function(n) format(n, big.mark = ",", scientific = FALSE)
told <- sprintf(paste("Mean regret ± its standard error, and the largest regret of a run, over %s runs of %s rounds",
                      "(%s runs of the published DP-IMED and its variant, of which a few runs in a thousand make much",
                      "of the mean), five Bernoulli arms with means 0.75, 0.625, 0.5, 0.375, 0.25. Tunable policies are set to 1-GDP, to the",
                      "largest pure epsilon that implies 1-GDP, or to what 1-GDP says at delta = 1e-05. The last column has the",
                      "regret of the same policies set to %s-GDP in these ways, which is what somebody should ask for who",
                      "would accept epsilon = 1 at small deltas."),
                whole(runs), whole(horizon), whole(more_runs), low)
lines_of <- function(table) {
  c(told, "", sprintf("| policy | source | guarantee | regret | largest | regret at %s-GDP |", low),
    "| --- | --- | --- | ---: | ---: | ---: |",
    sprintf("| %s | %s | %s | %s | %s | %s |", table$policy, table$source, table$guarantee, table$regret, table$worst,
            table$low))
}
writeLines(enc2utf8(c("# What privacy costs", "", lines_of(table), "", "Written by `make readme`.")),
           "bench/regret.md", useBytes = TRUE)

readme <- readLines("README.md", encoding = "UTF-8")
between <- function(readme, marker, lines) {
  begin <- which(readme == sprintf("<!-- %s: begin -->", marker))
  end <- which(readme == sprintf("<!-- %s: end -->", marker))
  stopifnot(length(begin) == 1, length(end) == 1, begin < end)
  c(readme[seq_len(begin)], lines, readme[end:length(readme)])
}
readme <- between(readme, "first", c("```", shown, "```"))
writeLines(enc2utf8(readme), "README.md", useBytes = TRUE)
message("Wrote man/figures/README-first.png, README-second.png, bench/regret.md and the output in README.md")
