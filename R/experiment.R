# The experiments of the papers as data. R/experiment-catalogue.R holds one function a
# figure; what a paper leaves open is an argument of that function. R/reproduce.R runs them.

#' The experiments of the papers
#'
#' `dpts_experiment()` lists the published figures that this package can make again. Every figure of Ou et al.
#' (2024), of Hu and Hegde (2022) and of Mishra and Thakurta (2015) as data: the arms, the policies, the
#' horizon, the number of runs. [dpts_reproduce()] runs one and `autoplot()` draws the figure.
#'
#' @details
#' A paper's text often does not give all parameters of its figures. Each parameter left open is an
#' argument, given in `...`, whose default is ours and not the paper's.
#'
#' * `"ou-1"`: Ou et al., Figure 1, epsilon against delta, by b (left) and c (right). Open: `prepulls`,
#'   `variance_scale`, `delta`, `accountant`.
#' * `"ou-2"`, `"ou-3"`: Figures 2 and 3, regret over time by (b, c), and at the horizon against the
#'   guarantee, Bernoulli arms; `"ou-4"`, `"ou-5"`: the same, truncated exponential arms. Open: `mu`,
#'   `prepulls`, `accountant`.
#' * `"ou-6"`, `"ou-7"`: Gaussian, Renyi and standard differential privacy compared; without the standard
#'   analysis. Open: `arms`, `delta`, `accountant`, `conversion`.
#' * `"ou-8"`: against DP-SE and Anytime-Lazy-UCB. Open: `mu`, `delta`, `prepulls`, `matching`, `also`.
#' * `"hh-1"` to `"hh-5"`: Hu and Hegde, Figures 1 to 5, epsilon 500, 1, 0.5, 0.25 and 0.1. Open:
#'   `log_base`, `lazy_ucb_log_base`, `dp_ts`, `nonprivate`.
#' * `"mt-1"`: Mishra and Thakurta, Figure 1, private UCB and Thompson sampling. Open: `epsilon`, `tuned`,
#'   `warmup`, `gamma`, `split_budget`, `nonprivate`.
#' * `"mt-2"`: Figure 2, replay of a log of recommendations. Open: `log`, `delay`, `epsilon`, `alpha`, `v`.
#'
#' Every experiment takes `horizon` too (except `"mt-2"`), so that it can be tried out at a small size.
#'
#' * `prepulls`, `variance_scale`: b and c of [policy_ts_gaussian()]; in `"ou-8"` one `prepulls` for each
#'   `mu`, by default the best of the grid of `"ou-3"` at the nearest of 1, 5 and 10.
#' * `mu`: the total guarantees, mu-GDP. The paper's appendix names 1, 5 and 10.
#' * `accountant`: how c follows from mu and b. `"paper"`: c = T / (mu^2 (b + 1)), Lemma 5 and composition
#'   over T rounds. `"gdp"` and `"sequence"`: the least c that [dpts_calibrate()] finds, the latter for the
#'   epsilon of mu-GDP at delta = 1 / T. In `"ou-1"` the accountants to draw, `"paper"` being Theorem 4 as
#'   printed; in `"ou-6"` and `"ou-7"` those of [dpts_privacy()] and `"standard"`, Corollary 1 as printed.
#' * `delta`: where the curves are drawn; in `"ou-8"` the delta at which mu-GDP is turned
#'   into epsilon for the policies that are compared with.
#' * `arms`: how many arms (only the standard analysis depends on it).
#' * `conversion`: of [rdp_epsilon()]; the paper's is `"mironov"`.
#' * `matching`: what guarantee the pure policies of `"ou-8"` get. `"paper"`: the epsilon of
#'   the (epsilon, delta) statement that mu-GDP implies. `"gdp"`: the epsilon for which
#'   epsilon-DP implies mu-GDP, which is the same guarantee for all.
#' * `also`: add Lazy-DP-TS, which the paper leaves out?
#' * `log_base`: of Hu and Hegde's algorithms, 2 in their text; several are drawn side by side.
#'   `lazy_ucb_log_base`: of Anytime-Lazy-UCB.
#' * `dp_ts`: draw DP-TS too? The paper does in Figure 1 only.
#' * `nonprivate`: add policies without privacy?
#' * `epsilon`, `tuned`, `warmup`, `gamma`, `split_budget`: of [policy_mt_ucb()] and
#'   [policy_mt_ts()]; `tuned = TRUE` is the variant of the paper's experiments. In
#'   `"mt-2"`, `epsilon` is the total of the 27 sums.
#' * `log`: the log to replay, as of [read_open_bandit()] or [read_yahoo_r6()]; by default
#'   the uniformly logged half of [open_bandit], because the log of the paper may not be passed on.
#'   `delay`: as in [dpts_replay()].
#'
#' @param id One of the ids under Details; without it, the experiments are listed.
#' @param ... The parameters left open, by name.
#' @returns With an id, a `dpts_experiment`, a list:
#'   * `id`, `title`, `source`: as in the list of experiments;
#'   * `kind`: `"simulation"`, `"tuning"`, `"privacy"` or `"replay"`;
#'   * `arms`, `policies`, `horizon`, `runs`: what is simulated;
#'   * `settings`: a tibble with one row per policy, its `panel`, its `series` and its parameters;
#'   * `parameters`, `open`: what the paper leaves open, as chosen, and why;
#'   * `claims`: what the paper says the figure shows, for [claims()].
#'
#'   Without an id, a tibble with one row per experiment:
#'   * `id`, `title`, `source`, `kind`;
#'   * `cost`: the number of rounds at the default size (for `"mt-2"` the logged events read), 0 where
#'     nothing is simulated.
#' @template ou
#' @template hu
#' @template mishra
#' @seealso [dpts_reproduce()] runs an experiment, [claims()] compares it with its paper.
#' @concept experiments
#' @examples
#' dpts_experiment()
#' dpts_experiment("ou-2")
#' dpts_experiment("ou-2", mu = c(1, 10), prepulls = c(9, 99, 999))
#' @export
dpts_experiment <- function(id, ...) {
  if (missing(id)) {
    check_dots_empty(...)
    return(list_experiments())
  }
  id <- check_choice(id, names(catalogue()))
  build <- catalogue()[[id]]
  chosen <- list(...)
  check_argument_names(chosen, names(formals(build)), sprintf("Experiment \"%s\"", id))
  do.call(build, chosen)
}

list_experiments <- function() {
  all <- lapply(catalogue(), function(build) build())
  column <- function(name) vapply(all, `[[`, "", name, USE.NAMES = FALSE)
  tibble::tibble(
    id = names(all), title = column("title"), source = column("source"),
    kind = column("kind"),
    cost = vapply(all, experiment_rounds, 0, USE.NAMES = FALSE)
  )
}

experiment_rounds <- function(x) {
  switch(x$kind,
    privacy = 0,
    replay = as.double(nrow(x$log)) * length(x$policies) * length(x$delay) * x$runs,
    length(x$policies) * x$runs * x$horizon
  )
}

#' @export
format.dpts_experiment <- function(x, ...) {
  words <- function(v) {
    if (is.data.frame(v)) return(sprintf("%s events", label_count(nrow(v))))
    if (is.null(v)) return("chosen by the policy")
    if (is.numeric(v)) v <- label_count(signif(v, 4))
    if (length(v) > 12) v <- c(v[1:5], "...", v[length(v)])
    paste(v, collapse = ", ")
  }
  size <- switch(x$kind,
    privacy = "epsilon against delta, nothing is simulated",
    replay = sprintf("%s, %s, delays %s", count_noun(length(x$policies), "policy", "policies"),
                     count_noun(x$runs, "run", "runs"), words(x$delay)),
    sprintf("%s, %s rounds, %s", count_noun(length(x$policies), "policy", "policies"),
            words(x$horizon), count_noun(x$runs, "run", "runs"))
  )
  chosen <- if (length(x$parameters)) {
    sprintf("    %s = %s", names(x$parameters), vapply(x$parameters, words, ""))
  }
  c(sprintf("<experiment> %s: %s", x$id, x$title),
    sprintf("  source: %s", x$source),
    sprintf("  size:   %s", size),
    if (length(chosen)) "  left open by the paper:", chosen,
    strwrap(x$open, 76, prefix = "  "))
}

#' @export
print.dpts_experiment <- function(x, ...) print_lines(x, ...)

#' @export
describe_thing.dpts_experiment <- function(x) sprintf("\"%s\"", x$id)

# What decides the numbers of an experiment. Its claims are functions, made anew each time.
#' @export
definition.dpts_experiment <- function(x) unclass(x)[setdiff(names(x), c("claims", "open", "runs"))]
