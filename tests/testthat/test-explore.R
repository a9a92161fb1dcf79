# The page to play with: its server, and the page in a browser if there is one.

skip_on_cran() # takes seconds

skip_if_not_installed("shiny")

test_that("the page writes the R call that makes its picture, or says what is missing", {
  # Here it draws the pictures of all tabs, not of that which is open, at each change that reaches them: few do.
  withr::local_options(shiny.deepstacktrace = FALSE) # which takes most of the time
  shiny::testServer(explore_server, {
    session$setInputs(means = c(0.9, 0.2), guarantee = 0, policies = NULL, horizon = 5, again = 0, tab = "regret")
    session$elapse(200)
    expect_error(output$code, "Tick a policy")
    session$setInputs(tab = "stop")
    expect_error(output$code, "from 100")
    session$setInputs(horizon = 600, guarantee = log10(0.5), policies = c("DP-IMED", "Uniform"))
    expect_match(output$code, "policy_randomised\\(epsilon = 0.5\\),\\s+600")
    session$setInputs(tab = "regret")
    expect_match(output$code, "policy_dp_imed(0.5)", fixed = TRUE)
    made <- eval(parse(text = output$code))
    expect_equal(ggplot2::get_alt_text(made), output$regret$alt)
    expect_equal(levels(result("regret")$x$policy), c("DP-IMED", "Uniform"), ignore_attr = TRUE)
    session$setInputs(tab = "guarantee")
    expect_match(output$code, "dpts_privacy(list(`DP-IMED` = policy_dp_imed(0.5)", fixed = TRUE)
    expect_match(output$curve$alt, "Epsilon")
    session$setInputs(tab = "shares")
    expect_match(output$shares$alt, "Mean pulls")
    expect_match(output$epsilon, "epsilon = 0.5")
    # The experiment says when it may stop, and an attack what it found.
    expect_match(output$verdict, "a is the best")
    expect_match(output$evidence$alt, "Evidence to be the best arm")
    expect_error(output$audit, "Press")
    session$setInputs(attack = 1, tab = "attack")
    expect_match(output$audit$alt, "nothing that contradicts the claim")
    expect_match(output$code, "dpts_audit(policy_dp_imed(0.5), 8", fixed = TRUE)
  })
})

test_that("the guessing game counts, and nobody wins more often than epsilon allows", {
  withr::local_options(shiny.deepstacktrace = FALSE) # which takes most of the time
  shiny::testServer(explore_server, {
    session$setInputs(guarantee = log10(2))
    # The best guess: is the sum nearer to one more than the others have?
    set.seed(1)
    for (i in 1:30) {
      riddle <- output$riddle
      others <- as.numeric(sub(".*known to you: ([0-9]+) .*", "\\1", riddle))
      sum <- as.numeric(sub(".*noisy sum of all: (-?[0-9.]+)\\. .*", "\\1", riddle))
      if (sum > others + 0.5) session$setInputs(yes = i) else session$setInputs(no = i)
    }
    right <- as.numeric(sub(".*You: ([0-9]+) of 30.*", "\\1", output$score))
    # Laplace noise of scale 1/2 exceeds 1/2 with chance e^-1 / 2.
    expect_gt(stats::pbinom(right, 30, 1 - exp(-1) / 2), 1e-4)
    expect_lt(stats::pbinom(right, 30, 1 - exp(-1) / 2), 1 - 1e-4)
    expect_lt(1 - exp(-1) / 2, 1 / (1 + exp(-2)))
    expect_match(output$score, "at most 89 times in 100") # e^2 / (1 + e^2) = 0.881, rounded up
    session$setInputs(tab = "guess")
    expect_equal(eval(parse(text = output$code)), 1 / (1 + exp(-2)))
    # At another epsilon another game begins.
    expect_match(output$score, "^It was [01]. You: [1-9][0-9]* of 30 right")
    session$setInputs(guarantee = log10(0.5))
    expect_match(output$score, "^You: 0 of 0 right")
    # Attacks do not grow for ever, and rounds have bounds.
    for (presses in c(1, 6, 9)) {
      session$setInputs(attack = presses)
      expect_equal(times$attack(), min(presses, 6))
    }
    for (rounds in c(100, 20000, 99, 20001)) {
      session$setInputs(horizon = rounds)
      if (rounds %in% c(100, 20000)) expect_equal(horizon(), rounds) else expect_error(horizon(), "from 100 to 20,000")
    }
  })
})

test_that("what more privacy costs is shown the right way round: noise, errors, and longer attacks", {
  withr::local_options(shiny.deepstacktrace = FALSE) # which takes most of the time
  shiny::testServer(explore_server, {
    set.seed(1)
    spread <- function(guarantee) {
      session$setInputs(guarantee = log10(guarantee))
      stats::sd(vapply(1:12, function(i) {
        session$setInputs(yes = 100 * guarantee + i)
        riddle <- output$riddle
        as.numeric(sub(".*noisy sum of all: (-?[0-9.]+)\\. .*", "\\1", riddle)) -
          as.numeric(sub(".*known to you: ([0-9]+) .*", "\\1", riddle))
      }, 0))
    }
    # The sd of Laplace noise of scale 1 / epsilon, and a coin
    expect_equal(spread(0.1), sqrt(200), tolerance = 0.5)
    expect_equal(spread(10), sqrt(0.02 + 0.25), tolerance = 0.5)
    session$setInputs(means = c(0.9, 0.2), guarantee = 0, policies = NULL, horizon = 2000, again = 0, tab = "stop")
    session$elapse(200)
    wrong <- verdict(made$stop()$x)$wrong
    expect_lt(wrong, 0.05)
    expect_match(output$verdict, paste("wrong with probability", dpts:::number_text(wrong, digits = 2)), fixed = TRUE)
  })
  calls <- lapply(0:2, function(times) dpts:::explore_calls("attack", c(0.5, 0.4), 1, "DP-IMED", 100, times)[[1]])
  expect_equal(vapply(calls, function(call) eval(call$runs), 0), c(1000, 2000, 4000))
  # The first of the private ones that are ticked is attacked, whatever else is, and the first of all if none is.
  all <- names(dpts:::explore_policies(1))
  private <- c("DP-IMED", "DP-SE", "Lazy DP-TS")
  for (ticked in c(utils::combn(all, 2, simplify = FALSE), utils::combn(rev(all), 3, simplify = FALSE), list(NULL))) {
    attacked <- dpts:::explore_calls("attack", c(0.5, 0.4), 2, ticked, 100, 0)[[1]][[2]]
    expect_identical(attacked, dpts:::explore_policies(2)[[c(ticked[ticked %in% private], "DP-IMED")[1]]])
  }
  # Another experiment is another one.
  calls <- lapply(0:2, function(times) dpts:::explore_calls("stop", c(0.5, 0.4), 1, "DP-IMED", 100, times)[[1]])
  expect_identical(anyDuplicated(lapply(calls, function(call) eval(call$seed))), 0L)
})

test_that("a page is an app of two to eight arms", {
  expect_error(dpts_explore(0.5), "two to eight", class = "dpts_error_input")
  expect_s3_class(dpts_explore(), "shiny.appobj")
})

test_that("in a browser of a phone's width the page loads, is dragged and answers, without an error", {
  skip_on_os("windows") # where R does not fork
  browser <- Sys.which(c("chromium", "chromium-browser", "google-chrome"))
  browser <- browser[nzchar(browser)]
  skip_if(length(browser) == 0, "no browser")
  folder <- withr::local_tempdir()
  writeLines(c(
    "<!doctype html><iframe id='page' src='/' width='375' height='1600'></iframe><script>",
    "function until(name, test, then, n) {",
    "  var value = null;",
    "  try { value = test(); } catch (e) { if (n <= 0) console.log('PROBE failed ' + name + ' ' + e); }",
    "  if (value) then(value); else if (n > 0) setTimeout(function () { until(name, test, then, n - 1); }, 50);",
    "  else console.log('PROBE failed ' + name);",
    "}",
    "var page = document.getElementById('page');",
    "function get(what) { return page.contentDocument.querySelector(what); }",
    "function picture() { return get('#regret img') && get('#regret img').src; }",
    "until('picture', picture, function (first) {",
    "  var arm = get('.arm'), place = arm.getBoundingClientRect(), start = performance.now();",
    "  arm.dispatchEvent(new page.contentWindow.PointerEvent('pointerdown', { clientX: place.left + 5,",
    "    clientY: place.top + 0.1 * place.height, pointerId: 1, buttons: 1, bubbles: true }));",
    "  until('new picture', function () { return get('#code').textContent.includes('a = 0.9') && picture() !== first; },",
    "    function () { buttons('PROBE done width ' + page.contentDocument.documentElement.scrollWidth + ' ms ' +",
    "      Math.round(performance.now() - start) + ' height ' + Math.round(get('#regret img').height)); }, 600);",
    "}, 1200);",
    "// Each button answers: a guess is counted, an attack is drawn, another experiment is another picture.",
    "function tab(name) { get('a[data-value=' + name + ']').click(); }",
    "function press(id) { get('#' + id).click(); }",
    "function buttons(done) {",
    "  tab('guess'); press('yes');",
    "  until('guess', function () { return get('#score').textContent.includes('of 1 right'); }, function () {",
    "    tab('attack'); press('attack');",
    "    until('attack', function () { return get('#audit img'); }, function () {",
    "      tab('stop');",
    "      until('stop', function () { return get('#evidence img') && get('#verdict').textContent; }, function () {",
    "        var before = get('#evidence img').src;",
    "        press('again');",
    "        until('again', function () { return get('#evidence img').src !== before; },",
    "          function () {",
    "            console.log(done + ' arms ' + ['fewer', 'more'].map(function (id) {",
    "              for (var i = 0; i < 9; i++) press(id);",
    "              return page.contentDocument.querySelectorAll('.arm').length;",
    "            }).join(' to '));",
    "          }, 600);",
    "      }, 600);",
    "    }, 600);",
    "  }, 600);",
    "}",
    "</script>"), file.path(folder, "probe.html"))
  # A copy of this process, in which all packages are loaded
  app <- parallel::mcparallel({
    shiny::addResourcePath("probe", folder)
    port <- httpuv::randomPort()
    later::later(function() writeLines(format(port), file.path(folder, "port")))
    shiny::runApp(dpts_explore(horizon = 300), port = port, launch.browser = FALSE, quiet = TRUE)
  }, silent = TRUE)
  withr::defer({
    tools::pskill(app$pid, tools::SIGKILL)
    suppressWarnings(parallel::mccollect(app))
  })
  for (i in 1:150) if (!file.exists(file.path(folder, "port"))) Sys.sleep(0.2)
  port <- as.integer(readLines(file.path(folder, "port")))
  log <- file.path(folder, "log")
  run <- file.path(folder, "run.sh")
  writeLines(c("echo $$ > \"$1/pid\"", sprintf(paste(
    "exec timeout 120 %s --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --enable-logging=stderr",
    "--remote-debugging-port=0 --user-data-dir=\"$1/user\" http://127.0.0.1:%d/probe/probe.html > \"$1/out\" 2> \"$1/log\""
  ), shQuote(browser[[1]]), port)), run)
  system2("sh", c(run, folder), wait = FALSE)
  withr::defer(tools::pskill(as.integer(readLines(file.path(folder, "pid")))))
  for (i in 1:450) {
    said <- if (file.exists(log)) grep("CONSOLE", readLines(log, warn = FALSE), value = TRUE)
    if (any(grepl("PROBE", said))) break
    Sys.sleep(0.2)
  }
  expect_match(said, "PROBE done width (375|3[0-6][0-9]) ", all = FALSE, info = paste(said, collapse = "\n"))
  expect_match(said, " arms 2 to 8", all = FALSE, fixed = TRUE)
  expect_false(any(grepl("error|failed", said, ignore.case = TRUE)), info = paste(said, collapse = "\n"))
})
