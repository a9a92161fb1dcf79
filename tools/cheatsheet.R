# One page with what dpts does, man/figures/cheatsheet.svg: `make cheatsheet`. Plain SVG: text,
# boxes, no fonts or pictures from elsewhere. tests/testthat/test-documents.R checks that its code
# parses and calls functions that exist.

cards <- list(
  list(title = "1  Describe the problem", column = 1, rows = list(
    c("arms_bernoulli(c(old = 0.5, new = 0.6))", "rewards 0 or 1, with these means"),
    c("arms_beta()  arms_gaussian()  arms_truncexp()", "other distributions; c() joins arms"),
    c("arms_data(trial, \"arm\", \"cured\")", "rewards drawn from recorded outcomes"),
    c("arms_linear(theta)", "means that depend on a context"),
    c("arms_switch()  arms_drift()  arms_walk()", "means that change over time"),
    c("arms_custom(draw, means)", "any distribution, written in R")
  )),
  list(title = "2  Pick policies", column = 1, rows = list(
    c("policy_gaussian_imed(mu = 1)", "mu-GDP; least regret at equal privacy"),
    c("policy_dp_imed(epsilon = 1, index = \"likelihood\")", "pure epsilon-DP"),
    c("policy_ts_gaussian(prepulls = 500, variance_scale = 8)",
      "Thompson sampling, private without added noise"),
    c("policy_top_two(mu = 1)  policy_randomised(mu = 1)", "for a conclusion: few people; randomised, valid under drift"),
    c("policy_linucb(mu = 1)  policy_logistic_ucb(mu = 1)", "contextual"),
    c("policy_local(policy_imed(), epsilon = 1)", "makes any policy locally private"),
    c("policy_imed()  policy_ucb1()  policy_ts_beta()", "not private; for comparison"),
    c("policy_custom(\"mine\", start, choose, update)", "your own, as three R functions")
  )),
  list(title = "Words", column = 1, notes = c(
    "arm  one of the options; pulling it yields a reward",
    "policy  the rule that chooses the next arm",
    "regret  reward lost against always pulling the best arm",
    "horizon  the number of rounds",
    "neighbours  two streams that differ in one reward",
    "epsilon, delta, mu  how much one reward may show;",
    "   smaller is more private"
  )),
  list(title = "3  Simulate regret", column = 2, rows = list(
    c("sim <- dpts_simulate(arms, policies, horizon = 1e5,\n  runs = 20, seed = 1)",
      "same seed, same result; threads = 4 for speed"),
    c("dpts_simulate(arms, policies, 1e5, delay = 10, batch = 7)", "late rewards, weekly batches"),
    c("tidy(sim)  summary(sim)  autoplot(sim, log = \"x\")", "final regret, curves, picture"),
    c("pulls(sim)  estimates(sim)  dpts_history(sim)", "pulls, estimated means, every round (history = TRUE)"),
    c("regret_bound(policy, arms, 1e5)", "bounds from theory"),
    c("dpts_explore()", "an interactive page for a class or a meeting")
  )),
  list(title = "4  Account for privacy", column = 2, rows = list(
    c("dpts_privacy(policies, horizon = 1e5, delta = 1e-6)", "epsilon at each delta, by each accountant"),
    c("privacy_compose(policy, privacy_pure(0.2))", "several releases about the same people"),
    c("privacy_group(policy, 3)", "a person with up to three rewards"),
    c("dpts_audit(policy, horizon = 8)", "attack it: a lower bound on what it leaks"),
    c("gdp_epsilon(mu = 1, delta = 1e-6)  gdp_mu(1, 1e-6)", "convert between mu-GDP and (epsilon, delta)-DP")
  )),
  list(title = "5  Choose within a budget", column = 2, rows = list(
    c("budget <- privacy_gdp(1)", "or privacy_pure(1), privacy_approx(1, 1e-6)"),
    c("advice <- dpts_recommend(budget, horizon = 1e5, k = 5)", "ranks all policies that fit; never on private data"),
    c("policy <- recommended_policy(advice)", "the recommended policy, ready to use"),
    c("dpts_tune(budget, arms, horizon = 1e5)", "pre-pulls and variance of Thompson sampling"),
    c("dpts_plan(designs, scenarios, people = 2000)", "power, failures and false claims of each design"),
    c("dpts_identify(arms, policies)", "number of people until an arm is declared best")
  )),
  list(title = "6  Evaluate on logged data", column = 3, rows = list(
    c("log <- open_bandit", "or read_open_bandit(), read_yahoo_r6()"),
    c("dpts_replay(log, policies, delay = c(0, 100))", "run policies against the log"),
    c("dpts_ope(log, \"uniform\")", "value of a fixed policy: IPW, SNIPW, DM, DR")
  )),
  list(title = "7  Run it on people", column = 3, rows = list(
    c("agent <- dpts_agent(policy, c(\"a\", \"b\"), \"trial.sqlite\",\n  deadline = as.difftime(7, units = \"days\"))",
      "survives crashes; exact noise"),
    c("ticket <- agent_choose(agent)$ticket", "which arm for the next person"),
    c("agent_reward(agent, ticket, 1)", "its outcome: soon, late or never"),
    c("verdict(agent)  effects(agent)", "is an arm declared best? look as often as you like"),
    c("estimates(agent)  dpts_privacy(agent)", "noisy means with intervals; what has been spent"),
    c("agent_serve(agent, port = 8000, token = token)", "the same over HTTP")
  )),
  list(title = "8  Reproduce the papers", column = 3, rows = list(
    c("dpts_experiment()", "the catalogue of published figures"),
    c("figure <- dpts_reproduce(\"ou-2\")\nautoplot(figure)\nclaims(figure)", "run one, draw it, measure what the paper says")
  )),
  list(title = "Remember", column = 3, notes = c(
    "\u2022 Privacy is for one reward of one round. For people with several",
    "   rewards use privacy_group() or max_per_person.",
    "\u2022 Published: the arms chosen. Not the rewards, not the draws.",
    "\u2022 Compare regret only at equal guarantees: 1-GDP follows from",
    "   epsilon = 0.8, and implies (4.38, 1e-5)-DP.",
    "\u2022 Choose the policy and its settings before seeing private data.",
    "\u2022 Simulations and replays use a seeded generator: only an agent",
    "   may publish choices made from real people's data."
  ))
)

width <- 1123 # A4, landscape
margin <- 26
gutter <- 16
column_width <- (width - 2 * margin - 2 * gutter) / 3
blue <- "#0072B2"
escape <- function(x) gsub("<", "&lt;", gsub("&", "&amp;", x, fixed = TRUE), fixed = TRUE)
text <- function(x, y, class, content) {
  sprintf("<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" xml:space=\"preserve\">%s</text>", x, y, class,
          escape(content))
}

# A card and its height: code in one font, what it does below in another
card <- function(x, y, card) {
  at <- y + 39
  lines <- character()
  for (row in card$rows) {
    for (code in strsplit(row[1], "\n", fixed = TRUE)[[1]]) {
      lines <- c(lines, text(x + 11, at, "code", code))
      at <- at + 12.5
    }
    lines <- c(lines, text(x + 11, at, "says", row[2]))
    at <- at + 17.5
  }
  for (note in card$notes) { # a word and two spaces: the word is explained
    shown <- text(x + 11, at, "note", note)
    lines <- c(lines, sub(">([^<]*?)  ", "><tspan class=\"word\">\\1</tspan>  ", shown, perl = TRUE))
    at <- at + 15
  }
  height <- at - y - 5
  list(height = height, svg = c(
    sprintf("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"5\" class=\"card\"/>", x, y,
            column_width, height),
    sprintf("<path d=\"M%.1f %.1f v-16 a5 5 0 0 1 5 -5 h%.1f a5 5 0 0 1 5 5 v16 z\" class=\"head\"/>", x,
            y + 21, column_width - 10),
    text(x + 11, y + 15, "title", card$title), lines
  ))
}

top <- 70
drawn <- lapply(1:3, function(column) {
  y <- top
  x <- margin + (column - 1) * (column_width + gutter)
  svg <- character()
  for (one in Filter(function(card) card$column == column, cards)) {
    made <- card(x, y, one)
    svg <- c(svg, made$svg)
    y <- y + made$height + 11
  }
  list(svg = svg, bottom = y)
})
height <- max(vapply(drawn, `[[`, 0, "bottom")) + 22

svg <- c(
  sprintf(paste("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" role=\"img\"",
                "aria-labelledby=\"title desc\">"), width, height),
  "<title id=\"title\">dpts on one page</title>",
  paste0("<desc id=\"desc\">A cheat sheet: the functions that describe problems, pick policies, simulate, ",
         "account for privacy, choose within a budget, evaluate on logs, run live and reproduce papers.</desc>"),
  "<style>",
  "text { font-family: system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, 'DejaVu Sans', sans-serif; }",
  ".page { fill: #ffffff; } .card { fill: #f6f8fa; stroke: #d0d7de; }",
  sprintf(".head { fill: %s; } .title { fill: #ffffff; font-size: 12px; font-weight: 600; }", blue),
  ".code { font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: 9.6px; fill: #1f2328; }",
  ".says { font-size: 9.8px; fill: #57606a; } .note { font-size: 9.9px; fill: #1f2328; } .word { font-weight: 600; }",
  ".name { font-size: 26px; font-weight: 700; } .sub { font-size: 12.5px; fill: #57606a; }",
  "</style>",
  sprintf("<rect width=\"%d\" height=\"%.0f\" class=\"page\"/>", width, height),
  text(margin, 40, "name", "dpts"),
  text(margin + 76, 33, "sub", "Differentially private multi-armed bandits, on one page."),
  text(margin + 76, 50, "sub", paste("Describe arms, pick policies, then simulate, account, choose and run.",
                                     "Every result is a tibble; most have tidy(), summary() and autoplot().")),
  unlist(lapply(drawn, `[[`, "svg")),
  text(margin, height - 12, "says",
       "Help: ?dpts_simulate, ?dpts_recommend, ?dpts_agent.  Articles: browseVignettes(\"dpts\").  Words: vignette(\"glossary\", \"dpts\")."),
  "</svg>"
)
writeLines(enc2utf8(svg), "man/figures/cheatsheet.svg", useBytes = TRUE)
message("Wrote man/figures/cheatsheet.svg: ", width, " x ", round(height))
message("Columns end at ", paste(round(vapply(drawn, `[[`, 0, "bottom")), collapse = ", "))
