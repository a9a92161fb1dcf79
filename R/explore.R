# A page in the browser for a class or a meeting.

#' An interactive page
#'
#' `dpts_explore()` opens a page in the browser that shows at once what privacy costs. You drag the means of
#' the arms, choose a guarantee with a slider and tick policies.
#'
#' @details
#' The page answers six questions: how much reward is lost (*Regret*); which arms are pulled (*Shares*); how
#' epsilon depends on delta (*Guarantee*); what this means (a guessing game about one person, *Guess*);
#' whether an attacker finds more than the guarantee allows (an audit, *Attack*), and when the experiment may
#' stop (*Stop*). Below each picture is the R call that makes it. Nothing leaves your computer.
#'
#' @param means The means of the arms at the beginning: two to eight numbers in \[0, 1\].
#' @param horizon The number of rounds at the beginning: a whole number from 100 to 20,000.
#' @template dots
#' @returns A shiny app: printed, it opens in the browser. `shiny::runApp(dpts_explore(), host = "0.0.0.0")`
#'   serves it to a class.
#' @template see_simulation
#' @examples
#' if (interactive()) dpts_explore()
#' @export
dpts_explore <- function(means = c(0.6, 0.5, 0.4), horizon = 1000, ...) {
  check_dots_empty(...)
  means <- check_numbers(means, 0, 1)
  if (!length(means) %in% 2:8) abort_arg("means", "two to eight numbers", means)
  horizon <- check_count(horizon, 100, 20000)
  need_package("shiny", "for the page")
  shiny::addResourcePath("dpts-explore", system.file("explore", package = "dpts"))
  shiny::shinyApp(explore_page(means, horizon), explore_server)
}

# The policies of the page: calls, with the guarantee in its place, and what a rate of noise costs
explore_policies <- function(epsilon) {
  list("DP-IMED" = call("policy_dp_imed", epsilon), "DP-SE" = call("policy_dp_se", epsilon),
       "Lazy DP-TS" = call("policy_lazy_dp_ts", epsilon),
       "Randomised" = call("policy_randomised", epsilon = epsilon),
       "IMED, no privacy" = call("policy_imed"), "UCB1, no privacy" = call("policy_ucb1"),
       "Uniform" = call("policy_uniform"))
}

explore_page <- function(means, horizon) {
  names <- names(explore_policies(1))
  panel <- function(title, ...) shiny::tabPanel(title, shiny::br(), ..., value = tolower(title))
  shiny::fluidPage(
    lang = "en", title = "dpts: explore",
    shiny::tags$head(shiny::tags$meta(name = "viewport", content = "width=device-width, initial-scale=1"),
                     shiny::tags$link(rel = "icon", href = "data:,"),
                     shiny::tags$link(rel = "stylesheet", href = "dpts-explore/explore.css"),
                     shiny::tags$script(src = "dpts-explore/explore.js")),
    shiny::h1("What does privacy cost a bandit?"),
    shiny::sidebarLayout(
      shiny::sidebarPanel(
        width = 4,
        shiny::p("Drag the arms: how often is each one rewarded?"),
        shiny::div(id = "means", `data-start` = sprintf("[%s]", paste(means, collapse = ","))),
        shiny::tags$button(id = "fewer", class = "btn btn-default", "One arm fewer"),
        shiny::tags$button(id = "more", class = "btn btn-default", "One arm more"),
        shiny::sliderInput("guarantee", "Guarantee: epsilon (left: more private)", -1, 1, 0, step = 0.1,
                           ticks = FALSE),
        shiny::textOutput("epsilon"),
        shiny::checkboxGroupInput("policies", "Policies", names, names[c(1, 2, 5)]),
        shiny::numericInput("horizon", "Rounds (people)", horizon, 100, 20000, 100)
      ),
      shiny::mainPanel(
        width = 8,
        shiny::tabsetPanel(
          id = "tab", type = "pills",
          panel("Regret", shiny::plotOutput("regret", height = 360)),
          panel("Shares", shiny::plotOutput("shares", height = 360)),
          panel("Guarantee",
                shiny::p("A guarantee is a curve of epsilon against delta. Under pure differential privacy",
                         "epsilon is the same at every delta."),
                shiny::plotOutput("curve", height = 360)),
          panel("Guess", shiny::p("What does this mean? Two data sets differ in one person's reward."),
                shiny::div(class = "big", shiny::textOutput("riddle")),
                shiny::actionButton("no", "It was 0"), shiny::actionButton("yes", "It was 1"),
                shiny::div(class = "big", shiny::textOutput("score", container = shiny::p))),
          panel("Attack",
                shiny::p("An attack on one person's reward: the first private policy that is ticked runs",
                         "eight rounds on two data sets that differ in this reward alone, and the attacker",
                         "guesses which it was. A bar is the smallest epsilon that an attack proves. The",
                         "line is the guarantee, which no bar should pass."),
                shiny::actionButton("attack", "Attack (again, with more runs)"),
                shiny::plotOutput("audit", height = 360)),
          panel("Stop",
                shiny::p("People are randomised to the arms (policy Randomised, at this epsilon). You may",
                         "stop at any look at which an arm's evidence reaches the threshold."),
                shiny::actionButton("again", "Another experiment"),
                shiny::plotOutput("evidence", height = 360),
                shiny::div(class = "big", shiny::textOutput("verdict")))
        ),
        shiny::h2("In R", style = "font-size: 1.1rem"),
        shiny::verbatimTextOutput("code")
      )
    )
  )
}

# What one tab shows: a call that computes, and one that draws. Both are what the page writes and what it
# runs.
explore_calls <- function(tab, means, epsilon, policies, horizon, times) {
  all <- explore_policies(epsilon)
  chosen <- as.call(c(quote(list), all[policies]))
  means <- stats::setNames(as.list(means), letters[seq_along(means)])
  arms <- call("arms_bernoulli", as.call(c(quote(c), means)))
  private <- all[[c(intersect(policies, names(all)[1:3]), names(all)[1])[1]]]
  simulate <- call("dpts_simulate", arms, chosen, horizon, runs = 20, seed = 1)
  switch(tab,
    regret = list(simulate, quote(autoplot(x))),
    shares = list(simulate, quote(autoplot(pulls(x)))),
    guarantee = list(call("dpts_privacy", chosen, horizon), quote(autoplot(x))),
    attack = list(call("dpts_audit", private, 8, streams = quote(c("silent", "contest")),
                       runs = 1000 * 2^times, seed = 1), quote(autoplot(x))),
    stop = list(call("dpts_simulate", arms, all[["Randomised"]], horizon, runs = 1, seed = 1 + times,
                     history = TRUE),
                quote(autoplot(evidence(x, "tosses"))))
  )
}

explore_text <- function(calls) {
  paste(c(paste("x <-", paste(trimws(deparse(calls[[1]], 50)), collapse = "\n  ")), deparse(calls[[2]])),
        collapse = "\n")
}

explore_server <- function(input, output, session) {
  epsilon <- shiny::reactive(signif(10^shiny::req(input$guarantee %||% 0), 2))
  # While an arm is dragged only its last place counts.
  means <- shiny::debounce(shiny::reactive(unlist(input$means)), 40)
  horizon <- shiny::reactive({
    shiny::validate(shiny::need(isTRUE(input$horizon >= 100 && input$horizon <= 20000),
                                "Rounds: from 100 to 20,000."))
    round(input$horizon)
  })
  calls <- function(tab, times = 0) {
    shiny::req(means())
    chosen <- tab %in% c("attack", "stop") || length(input$policies)
    shiny::validate(shiny::need(chosen, "Tick a policy."))
    explore_calls(tab, means(), epsilon(), input$policies, horizon(), times)
  }
  result <- function(tab, times = 0) {
    env <- new.env(parent = asNamespace("dpts"))
    both <- calls(tab, times)
    env$x <- eval(both[[1]], env)
    list(x = env$x, plot = eval(both[[2]], env))
  }
  times <- list(attack = shiny::reactive(min(input$attack %||% 0, 6)),
                stop = shiny::reactive(as.numeric(input$again %||% 0)))
  made <- lapply(stats::setNames(nm = c("regret", "shares", "guarantee", "attack", "stop")), function(tab) {
    shiny::reactive(result(tab, if (tab %in% names(times)) times[[tab]]() else 0))
  })
  draw <- function(tab, place) {
    force(c(tab, place))
    light <- ggplot2::theme(text = ggplot2::element_text(size = 12),
                            panel.grid.minor = ggplot2::element_blank())
    below <- ggplot2::theme(legend.position = "bottom", legend.direction = "vertical")
    # As a table of graphical objects: shiny would also look for where the panels of a plot are.
    shiny::renderPlot({
      if (tab == "attack") shiny::validate(shiny::need(input$attack, "Press the button."))
      narrow <- isTRUE(session$clientData[[paste0("output_", place, "_width")]] < 500)
      plot(ggplot2::ggplotGrob(made[[tab]]()$plot + light + if (narrow) below))
    }, res = 84, alt = function() {
      if (tab == "attack" && !isTRUE(input$attack > 0)) return("Nothing yet")
      ggplot2::get_alt_text(made[[tab]]()$plot)
    })
  }
  shown <- c(regret = "regret", shares = "shares", curve = "guarantee", audit = "attack", evidence = "stop")
  for (place in names(shown)) output[[place]] <- draw(shown[[place]], place)
  output$epsilon <- shiny::renderText(sprintf(
    paste("epsilon = %s: the odds that anybody can infer about one person's reward change by a factor of %s",
          "at most."), number_text(epsilon()), number_text(exp(epsilon()), digits = 3)))
  output$verdict <- shiny::renderText({
    v <- verdict(made$stop()$x)
    if (is.na(v$arm)) paste("Not yet.", v$missing) else
      sprintf("After %s people: %s is the best, wrong with probability %s at most.", label_count(v$t), v$arm,
              number_text(v$wrong, digits = 2))
  })
  output$code <- shiny::renderText({
    tab <- input$tab %||% "regret"
    if (tab == "guess") {
      return(sprintf("# The best guess is right with at most this probability:\n1 / (1 + exp(-%s))",
                     format(epsilon())))
    }
    explore_text(calls(tab, if (tab %in% names(times)) times[[tab]]() else 0))
  })
  explore_game(input, output, epsilon)
}

# The guessing game: the sum of 20 people's rewards is published with noise; all rewards but one are known
explore_game <- function(input, output, epsilon) {
  game <- shiny::reactiveValues(truth = NULL, sum = NULL, others = NULL, right = 0, played = 0, last = "")
  deal <- function() {
    game$truth <- sample(0:1, 1)
    game$others <- sample(5:14, 1)
    game$sum <- game$others + game$truth + (stats::rexp(1) - stats::rexp(1)) / epsilon()
  }
  shiny::observeEvent(epsilon(), {
    game$right <- game$played <- 0
    game$last <- ""
    deal()
  })
  guess <- function(value) {
    game$played <- game$played + 1
    game$right <- game$right + (value == game$truth)
    game$last <- sprintf("It was %d. ", game$truth)
    deal()
  }
  shiny::observeEvent(input$no, guess(0))
  shiny::observeEvent(input$yes, guess(1))
  output$riddle <- shiny::renderText(sprintf(
    paste("Twenty people were rewarded or not. Nineteen of the rewards are known to you: %d in sum.",
          "You also see the noisy sum of all: %.2f. Was the last reward 0 or 1?"), shiny::req(game$others),
    game$sum))
  output$score <- shiny::renderText(sprintf(
    paste0("%sYou: %d of %d right. At this epsilon the best guess is right %s in the long run; a coin is ",
           "right half of the time."),
    game$last, game$right, game$played, times_words(1 / (1 + exp(-epsilon())))))
}
