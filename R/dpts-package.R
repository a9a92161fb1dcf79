#' Private bandits: a map of the package
#'
#' A bandit policy learns from people's outcomes which option to give next. Differential privacy limits what
#' its choices reveal about any one person. Start with `vignette("get-started", "dpts")`, or with an
#' interactive page: [dpts_explore()].
#'
#' @section The nouns:
#' * Arms, the available options and their rewards: [arms_bernoulli()], [arms_beta()], [arms_data()],
#'   [arms_custom()]; changing: [arms_switch()], [arms_adversary()]; with contexts: [arms_linear()].
#' * Policies, which choose: private [policy_gaussian_imed()], [policy_dp_imed()], [policy_ts_gaussian()]; to
#'   conclude [policy_randomised()], [policy_top_two()]; not private [policy_imed()], [policy_ucb1()]; your
#'   own [policy_custom()], [policy_compiled()]; the glossary and `vignette("which-bandit", "dpts")` have the
#'   others.
#' * Guarantees and budgets, how much may leak: [privacy_pure()], [privacy_gdp()], [privacy_approx()]; noise
#'   of your own: [mechanism_laplace()], [counter_tree()].
#'
#' @section The verbs:
#' * Simulate and compare: [dpts_simulate()], [dpts_compare()], then `autoplot()`, `tidy()`, [pulls()],
#'   [estimates()], [dpts_history()].
#' * Choose within a budget: [dpts_recommend()], [dpts_tune()], [dpts_calibrate()].
#' * Plan an experiment: [dpts_plan()], [dpts_identify()].
#' * Run it on people: [dpts_agent()], [agent_choose()], [agent_reward()], [agent_serve()].
#' * Conclude: [verdict()], [evidence()], [effects()][effects.dpts_simulation],
#'   [forecast()][forecast.dpts_releases], from the table of [dpts_releases()].
#' * Account for privacy: [dpts_privacy()], [privacy_compose()], [privacy_statement()]; Thompson
#'   sampling's arms: [sequence_gdp()].
#' * Attack: [dpts_audit()].
#' * Use logged data: [dpts_replay()], [dpts_ope()], [as_log()], [log_query()].
#' * Reproduce papers: [dpts_experiment()], [dpts_reproduce()], [claims()].
#'
#' @section Articles:
#' `browseVignettes("dpts")`. For statisticians: "Planning a private adaptive trial", "A private trial, from
#' protocol to report", "A micro-randomised trial", "Real outcomes". For product teams: "Stop and ship",
#' "Run a private bandit". For researchers: "How private is it really?", "Write your own policy". For
#' teachers: "A class of ninety minutes". "Glossary" explains the words.
#'
#' @examples
#' arms <- arms_bernoulli(c(new = 0.6, old = 0.5))
#' policies <- list(private = policy_gaussian_imed(mu = 1), open = policy_imed())
#' sim <- dpts_simulate(arms, policies, 2000, seed = 1)
#' tidy(sim)
#' @useDynLib dpts, .registration = TRUE, .fixes = "C_"
#' @importFrom rlang %||% caller_env
"_PACKAGE"

#' Generics that dpts re-exports
#'
#' Functions of other packages that `library(dpts)` brings along. `autoplot()` comes from ggplot2, `tidy()`,
#' `glance()`, `augment()` and `forecast()` from generics, [effects()] from stats. They are re-exported so
#' that `library(dpts)` is enough to use them.
#'
#' @param object,x An object of one of the dpts classes.
#' @param ... Passed on to the method.
#' @returns What the method for the class of the first argument returns.
#' @importFrom ggplot2 autoplot
#' @importFrom generics tidy glance augment forecast
#' @importFrom stats effects
#' @name reexports
#' @aliases autoplot tidy glance augment forecast
#' @keywords internal
#' @export autoplot
#' @export tidy
#' @export glance
#' @export augment
#' @export effects
#' @export forecast
NULL
