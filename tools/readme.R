# The pictures of the README (man/figures/README-*.png), the output of its first example and six
# rows of the table of policies, each written between its markers (`<!-- first: begin -->`,
# `<!-- first: end -->`); and the whole table, bench/regret.md. `make readme` runs it; about half a
# minute.

library(dpts)
library(ggplot2)

theme_set(theme_minimal(base_size = 10))
dir.create("man/figures", showWarnings = FALSE, recursive = TRUE)
picture <- function(name, plot, width = 7, height = 3.4) {
  ggsave(file.path("man/figures", paste0("README-", name, ".png")), plot, width = width,
         height = height, dpi = 150, bg = "white")
}

arms <- arms_bernoulli(c(0.75, 0.625, 0.5, 0.375, 0.25))
horizon <- 1e5
runs <- 100

# ---- the first example -------------------------------------------------------------------
first <- dpts_simulate(
  arms,
  list("Gaussian IMED" = policy_gaussian_imed(mu = 1), "Gaussian TS" = policy_ts_gaussian(),
       "UCB1" = policy_ucb1()),
  horizon, runs = 20, seed = 1
)
picture("first", autoplot(first), 6)
shown <- withr::with_options(list(width = 90, cli.num_colors = 1L),
                             utils::capture.output(print(tidy(first))))

# ---- which policy, which guarantee, what regret ------------------------------------------
# One guarantee for all: 1-GDP. A pure epsilon is as strong if
# epsilon = log(pnorm(mu / 2) / pnorm(-mu / 2)); where a proof speaks of one delta, it is what
# 1-GDP says at delta = 1 / T.
mu <- 1
epsilon <- log(pnorm(mu / 2) / pnorm(-mu / 2))
delta <- 1 / horizon
approx <- gdp_epsilon(mu, delta)
tuning <- dpts_tune(privacy_approx(approx, delta), arms, horizon,
                    prepulls = c(499, 599, 699, 799, 999, 1499, 1999, 2499),
                    accountant = c("gdp", "sequence"), runs = runs, seed = 1)
tuned <- function(accountant) {
  rows <- tuning[tuning$accountant == accountant, ]
  best <- rows[which.min(rows$regret), ]
  # rounded up, so that the guarantee holds for what is printed
  policy_ts_gaussian(best$prepulls, ceiling(best$variance_scale * 10) / 10)
}
pure <- sprintf("%.3f-DP", epsilon)
gdp <- "1-GDP"
at_delta <- sprintf("(%.2f, 1e-05)-DP", approx)
row <- function(policy, guarantee, source) {
  list(policy = policy, guarantee = guarantee, source = source)
}
rows <- list(
  "Gaussian IMED" = row(policy_gaussian_imed(mu), gdp, "this package"),
  "lazy Gaussian TS" = row(policy_lazy_gaussian_ts(mu), gdp, "this package"),
  row(policy_dp_imed(epsilon), pure, "Azize et al. 2025"),
  row(policy_dp_imed(epsilon, index = "likelihood"), pure, "Azize et al. 2025, our index"),
  row(policy_dp_klucb(epsilon), pure, "Azize et al. 2025"),
  row(policy_adac_ucb(mu), gdp, "Azize, Basu 2023"),
  row(policy_adap_klucb(epsilon), pure, "Azize, Basu 2022"),
  row(policy_adap_ucb(epsilon), pure, "Azize, Basu 2022"),
  "Lazy-DP-TS" = row(policy_lazy_dp_ts(epsilon), pure, "Hu, Hegde 2022"),
  row(policy_dp_ts(epsilon), pure, "Hu, Hegde 2022"),
  "Anytime-Lazy-UCB" = row(policy_lazy_ucb(epsilon), pure, "Hu, Huang, Mehta 2021"),
  "DP-SE" = row(policy_dp_se(epsilon), pure, "Sajed, Sheffet 2019"),
  row(policy_dp_ucb_bound(epsilon), pure, "Tossou, Dimitrakakis 2016"),
  row(policy_mt_ts(epsilon, tuned = TRUE), pure, "Mishra, Thakurta 2015, tuned"),
  row(policy_mt_ucb(epsilon), pure, "Mishra, Thakurta 2015"),
  "Modified TS, sequence accountant" = row(
    tuned("sequence"), paste(at_delta, "by the sequence accountant"), "Ou et al. 2024, Algorithm 2"
  ),
  "Modified TS, paper's accountant" = row(tuned("gdp"), gdp, "Ou et al. 2024, Algorithm 2"),
  row(policy_uniform(), "0-DP", "baseline"),
  row(policy_ts_gaussian(), sprintf("(%s, 1e-05)-DP by the sequence accountant", format(round(
    min(summary(dpts_privacy(policy_ts_gaussian(), horizon, delta = delta, arms = 5))$epsilon)))),
    "Ou et al. 2024, Algorithm 1"),
  row(policy_ts_beta(), "none", "Agrawal, Goyal 2012"),
  row(policy_imed(), "none", "Honda, Takemura 2015"),
  row(policy_klucb(), "none", "Garivier, Cappe 2011"),
  row(policy_ucb1(), "none", "Auer et al. 2002")
)
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
policies <- lapply(rows, `[[`, "policy")
names(policies) <- make.unique(vapply(policies, label, ""))
sim <- dpts_simulate(arms, policies, horizon, runs = runs, seed = 7, record = I(horizon))
ends <- tidy(sim)
table <- data.frame(
  policy = sprintf("`%s`", ends$term), source = vapply(rows, `[[`, "", "source"),
  guarantee = vapply(rows, `[[`, "", "guarantee"),
  regret = sprintf("%s ± %s", format(round(ends$estimate), big.mark = ",", trim = TRUE),
                   format(signif(ends$std.error, 2), big.mark = ",", trim = TRUE,
                          scientific = FALSE, drop0trailing = TRUE)),
  private = vapply(rows, `[[`, "", "guarantee") != "none", value = ends$estimate
)
table <- table[order(!table$private, table$value), ]
told <- sprintf(paste("Mean regret ± its standard error over %d runs of %s rounds, five Bernoulli arms with",
                      "means 0.75, 0.625, 0.5, 0.375, 0.25. Tunable policies are set to 1-GDP, to the",
                      "largest pure epsilon that implies 1-GDP, or to what 1-GDP says at delta = 1e-05."),
                runs, format(horizon, big.mark = ",", scientific = FALSE))
lines_of <- function(table) {
  c(told, "", "| policy | source | guarantee | regret |", "| --- | --- | --- | ---: |",
    sprintf("| %s | %s | %s | %s |", table$policy, table$source, table$guarantee, table$regret))
}
writeLines(enc2utf8(c("# What privacy costs", "", lines_of(table), "", "Written by `make readme`.")),
           "bench/regret.md", useBytes = TRUE)

few <- c("policy_imed()", label(policy_gaussian_imed(mu)), label(policy_dp_klucb(epsilon)),
         "policy_ts_gaussian()", label(tuned("sequence")), "policy_uniform()")
few <- table[table$policy %in% sprintf("`%s`", few), ]
stopifnot(nrow(few) == 6)

readme <- readLines("README.md", encoding = "UTF-8")
between <- function(readme, marker, lines) {
  begin <- which(readme == sprintf("<!-- %s: begin -->", marker))
  end <- which(readme == sprintf("<!-- %s: end -->", marker))
  stopifnot(length(begin) == 1, length(end) == 1, begin < end)
  c(readme[seq_len(begin)], lines, readme[end:length(readme)])
}
readme <- between(readme, "first", c("```", shown, "```"))
readme <- between(readme, "policies", c(lines_of(few), "",
                                        "The table of all policies is in [bench/regret.md](bench/regret.md)."))
writeLines(enc2utf8(readme), "README.md", useBytes = TRUE)
message("Wrote man/figures/README-first.png, bench/regret.md and the tables in README.md")
