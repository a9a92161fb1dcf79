# Plots by their built data: every colour stands out, no two lines look alike, and words say what is
# drawn.

skip_on_cran() # takes seconds

# `whole`: laid out too, since some errors show only there
drawn <- function(plot, i = NULL, whole = TRUE) {
  layers <- if (whole) page(plot)$layers else on_no_device(ggplot2::ggplot_build(plot)$data)
  if (is.null(i)) layers else layers[[i]]
}

# A plot built and laid out: `layers`, their data; `table`, the page
page <- function(plot) {
  on_no_device({
    built <- ggplot2::ggplot_build(plot)
    list(layers = built$data, table = ggplot2::ggplot_gtable(built))
  })
}

on_no_device <- function(code) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  code
}

# The plot of each of the results and its page
plots <- once(function() lapply(results(), autoplot))
pages <- once(function() lapply(plots(), page))

# Contrast by its definition (WCAG 2.1), written apart from contrast()
wcag <- function(a, b) {
  channel <- function(v) if (v <= 0.04045) v / 12.92 else ((v + 0.055) / 1.055)^2.4
  light <- function(colour) {
    v <- vapply(grDevices::col2rgb(colour)[, 1] / 255, channel, 0)
    0.2126 * v[[1]] + 0.7152 * v[[2]] + 0.0722 * v[[3]]
  }
  both <- sort(c(light(a), light(b)))
  (both[2] + 0.05) / (both[1] + 0.05)
}

test_that("contrast is that of the guidelines", {
  expect_equal(wcag("#000000", "#FFFFFF"), 21)
  expect_equal(contrast("#777777", "#FFFFFF"), 4.48, tolerance = 0.001) # a well-known pair
  for (colour in c("#F0E442", "#D55E00", "grey50")) {
    expect_equal(contrast(colour), wcag(colour, "#EBEBEB"))
  }
  expect_lt(wcag("#F0E442", "#EBEBEB"), 1.12) # the yellow that users could not see
})

test_that("every colour of every plot stands out 3 to 1 on grey and on white", {
  for (name in names(plots())) {
    expect_s3_class(plots()[[name]], "ggplot")
    colours <- unique(unlist(lapply(pages()[[name]]$layers, function(d) c(d$colour, d$fill))))
    colours <- stats::na.omit(colours)
    expect_true(all(vapply(colours, wcag, 0, "#EBEBEB") >= 3), info = name)
    expect_true(all(vapply(colours, wcag, 0, "#FFFFFF") >= 3), info = name)
  }
  expect_true(all(vapply(ordered_colours(20), wcag, 0, "#EBEBEB") >= 3))
})

test_that("a colour and a line type meet once", {
  scales <- scales_by(paste("policy", 1:60))
  look <- function(which, n) scales[[which]]$palette(n)
  colours <- unname(look("colour", 60))
  pairs <- paste(colours, unname(look("linetype", 60)))
  expect_false(anyDuplicated(pairs) > 0)
  expect_false(anyDuplicated(paste(colours, unname(look("shape", 60)))) > 0)
  ten <- stats::setNames(lapply(0:9, policy_ts_gaussian), paste("b =", 0:9))
  for (accountant in list("gdp", c("gdp", "sequence"))) {
    d <- drawn(autoplot(dpts_privacy(ten, 30, delta = 10^-(2:3), accountant = accountant)), 1, whole = FALSE)
    expect_equal(nrow(unique(d[c("colour", "linetype", "PANEL")])), 10 * length(accountant))
  }
})

test_that("lines that coincide are seen as such", {
  twins <- dpts_simulate(two_arms(), list(a = policy_ucb1(), b = policy_ucb1()), 300, runs = 2, seed = 1)
  lines <- drawn(autoplot(twins), 2, whole = FALSE)
  expect_equal(lines$y[lines$group == 1], lines$y[lines$group == 2])
  expect_equal(unique(lines$linetype[lines$group == 1]), "solid")
  expect_false("solid" %in% lines$linetype[lines$group == 2]) # on top, and with gaps
  alike <- list(a = policy_dp_imed(1), b = policy_lazy_dp_ts(1), other = policy_gaussian_imed(1))
  plot <- autoplot(dpts_privacy(alike, 100))
  points <- ggplot2::layer_data(plot, which(vapply(plot$layers, function(l) inherits(l$geom, "GeomPoint"), NA)))
  at_one <- points[points$y == 0, ]
  expect_length(unique(at_one$shape), 2)
  expect_true(all(at_one$shape < 15)) # open: both are seen
})

one_line <- function(text) gsub("\n", " ", text)

test_that("captions are true at the edges of their cases", {
  expect_identical(words_mean(c(1, 5), 0.95), "Mean of 1 to 5 runs; band: 95% confidence interval.")
  expect_identical(words_mean(c(1, 1), 0.95), "One run, which has no confidence interval.")
  expect_identical(words_mean(5, 0.9, "line"), "Mean of 5 runs; line: 90% confidence interval.")
  expect_identical(words_level(c(0.95, 0.999, 0.9995, 0.5)), c("95%", "99.9%", "99.95%", "50%"))
  many <- dpts_simulate(two_arms(), policy_dp_klucb(1), 50, runs = 21, seed = 1, record = I(50))
  caption <- function(runs) one_line(autoplot(estimates(many[many$run <= runs, ]))$labels$caption)
  expect_match(caption(21), "Drawn are 20 of 21 runs", fixed = TRUE)
  expect_match(caption(20), "Each line is one run", fixed = TRUE)
  expect_no_match(caption(1), "Each line|Drawn are")
  expect_length(unique(drawn(autoplot(estimates(many)), 1, whole = FALSE)$group), 20)
})

test_that("names stand at the ends of curves, colours belong to policies, and the first level is on top", {
  ten <- stats::setNames(rep(0.5, 10), letters[1:10])
  walk <- autoplot(arms_walk(ten, 0.02), horizon = 60)
  means <- arm_means(arms_walk(ten, 0.02), 60)
  ends <- Filter(function(layer) inherits(layer$geom, "GeomSegment"), walk$layers)[[1]]$data
  expect_true(all(ends$x == 60))
  expect_equal(ends$y[match(letters[1:10], ends$label)], unname(means[60, ]))
  # The same policy has the same colour, whichever curve is above.
  colour <- function(arms) {
    sim <- dpts_simulate(arms, list(fixed = policy_fixed(1), other = policy_fixed(2)), 20, runs = 2, seed = 1)
    lines <- ggplot2::layer_data(autoplot(sim), 2)
    highest <- function(own) max(lines$y[lines$colour == own])
    c(unique(lines$colour)[which.max(vapply(unique(lines$colour), highest, 0))])
  }
  expect_identical(colour(arms_bernoulli(c(0.5, 0.9))), LINE_COLOURS[1])
  expect_identical(colour(arms_bernoulli(c(0.9, 0.5))), LINE_COLOURS[2])
  pulled <- autoplot(pulls(dpts_simulate(arms_bernoulli(c(a = 0.6, b = 0.5)), policy_ucb1(), 50, runs = 2, seed = 1)))
  expect_identical(ggplot2::layer_scales(pulled)$y$get_limits(), c("b", "a"))
})

test_that("a plot of medians says that it is one, and draws the quantiles that it names", {
  sim <- dpts_simulate(arms_bernoulli(c(0.6, 0.4)), policy_ts_beta(), 50, runs = 9, seed = 1)
  plot <- autoplot(sim, show = "median")
  expect_identical(gsub("\n", " ", plot$labels$caption), "Median of 9 runs; band: from the 5% to the 95% quantile of runs.")
  expect_match(ggplot2::get_alt_text(plot), "^Median cumulative regret .*, with quantile bands; at the end")
  last <- plot$data[plot$data$t == 50, ]
  at <- stats::quantile(sim$regret[sim$t == 50], c(0.05, 0.5, 0.95), names = FALSE)
  expect_equal(unlist(last[c("lower", "mean", "upper")], use.names = FALSE), at)
})

test_that("means, runs, level and bands are named", {
  sim <- results()$simulation
  plot <- autoplot(sim, level = 0.9)
  expect_match(plot$labels$y, "^Mean regret\\s.expected reward lost")
  expect_equal(one_line(plot$labels$caption), "Mean of 6 runs; band: 90% confidence interval.")
  uneven <- rbind(sim, dpts_simulate(two_arms(), list(c = policy_uniform()), 300, runs = 2, seed = 1, record = 10))
  expect_match(one_line(autoplot(uneven)$labels$caption), "Mean of 2 to 6 runs")
  expect_match(one_line(autoplot(sim[sim$run == 1, ])$labels$caption), "no confidence interval")
  # intervals are of one kind, at 95%
  band <- pages()$simulation$layers[[1]]
  expect_equal(sort(band$ymax), sort(summary(sim)$upper))
  # a distribution of people, as bounds of privacy, has no intervals
  for (name in setdiff(names(results()), c("privacy", "audit", "reproduction_privacy", "identification"))) {
    expect_match(gsub("\n", " ", plots()[[name]]$labels$caption), "95% confidence interval", info = name)
  }
})

test_that("every plot has alternative text with its numbers", {
  for (name in names(results())) {
    text <- ggplot2::get_alt_text(plots()[[name]])
    expect_match(text, "[0-9]", info = name)
    expect_gt(nchar(text), 60)
  }
  privacy <- results()$privacy
  s <- privacy[privacy$delta == 1e-4 & privacy$horizon == 30 & privacy$accountant == "gdp", ]
  text <- ggplot2::get_alt_text(plots()$privacy)
  for (i in 1:2) expect_match(text, sprintf("%s (gdp) %s", s$policy[i], short(s$epsilon[i])), fixed = TRUE)
})

test_that("captions fit below a narrow plot", {
  for (name in names(results())) {
    plot <- plots()[[name]]
    if (is.null(plot$labels$caption)) next
    # Of 5 cm, in the plot's own type
    below <- ggplot2::calc_element("plot.caption", ggplot2::theme_grey() + plot$theme)
    withr::with_pdf(NULL, {
      graphics::plot.new()
      wide <- graphics::strwidth(plot$labels$caption, "inches", cex = below$size / graphics::par("ps"))
    })
    expect_lt(2.54 * wide, 5)
  }
  # Drawn, a caption takes as many lines as the picture has room for.
  plot <- plots()$recommendation
  lines <- function(cm) count_lines(fit_plot(plot, c(72 / 2.54 * cm, 200))$labels$caption)
  expect_equal(lines(30), 1)
  expect_gt(lines(5), 1)
  expect_match(words_replay(1, 0.95), "^Mean of 1 run;")
  expect_match(words_replay(c(2, 5), 0.95), "^Mean of 2 to 5 runs;")
})

test_that("long names wrap, and many curves carry their names", {
  name <- "a policy whose name somebody has typed in full, so that it has some ninety characters in all"
  sim <- dpts_simulate(two_arms(), stats::setNames(list(policy_ucb1(), policy_uniform()), c(name, "b")),
                       100, runs = 2, seed = 1)
  legend <- ggplot2::ggplot_build(autoplot(sim))$plot$scales$get_scales("colour")$get_labels()
  expect_true(all(nchar(strsplit(legend[grepl("typed", legend)], "\n")[[1]]) <= 26))
  expect_true(all(nchar(strsplit(wrap_label(strrep("x", 95)), "\n")[[1]]) <= 26))
  expect_equal(gsub("\n", "", wrap_label("policy_gaussian_imed(mu=1,ratio=1.15,first=16)")),
               "policy_gaussian_imed(mu=1,ratio=1.15,first=16)")
  policies <- stats::setNames(lapply(seq(0.1, 2, length.out = 16), policy_dp_imed), paste("policy", 1:16))
  names(policies)[16] <- name
  many <- dpts_simulate(two_arms(), policies, 500, runs = 2, seed = 1)
  plot <- autoplot(many)
  text <- drawn(plot, 4, whole = FALSE) # laid out below
  expect_equal(nrow(text), 16)
  expect_lte(max(nchar(text$label)), 30)
  # in the order of the curves, apart from each other, and inside the panel
  last <- final_rows(summary(many))
  expect_equal(trimws(text$label[order(text$y)])[1], as.character(last$policy[which.min(last$mean)]))
  expect_gt(min(diff(sort(text$y))), 0.9 * diff(range(text$y)) / 16)
  expect_gte(min(text$y), 0)
  # Also with a theme of the user's own
  whole <- ggplot2::ggplotGrob(plot + ggplot2::theme_bw())
  expect_false(any(grepl("guide-box", whole$layout$name)) &&
                 !all(vapply(whole$grobs[grepl("guide-box", whole$layout$name)], inherits, NA, "zeroGrob")))
})

test_that("labels at line ends are as near as they can be", {
  at <- function(y, range) sort(spread_ends(data.frame(x = 1, y = y, label = letters[seq_along(y)]), "", range)$at)
  expect_equal(at(c(0, 5, 10), c(0, 10)), c(0, 5, 10)) # room for all
  crowded <- at(c(5, 5, 5), c(0, 18))
  expect_equal(crowded, c(4, 5, 6)) # 18 places of 1
  expect_equal(at(c(0, 0, 0), c(0, 18)), c(0, 1, 2)) # inside the panel
  expect_equal(at(c(18, 18), c(0, 18)), c(17, 18))
})

test_that("one delta puts the horizon on the axis, and one of each gives points", {
  x <- dpts_privacy(policy_ts_gaussian(), c(10, 30, 100), delta = 1e-6, accountant = c("gdp", "sequence"))
  plot <- autoplot(x)
  d <- drawn(plot, 1)
  expect_equal(sort(unique(round(10^d$x))), c(10, 30, 100))
  expect_equal(sort(10^d$y), sort(x$epsilon))
  expect_equal(plot$labels$y, "epsilon at delta = 1e-6")
  points <- drawn(autoplot(dpts_privacy(list(a = policy_ts_gaussian(), b = policy_dp_imed(1)), 10, delta = 1e-6)), 1)
  expect_equal(nrow(points), 6)
})

test_that("what cannot be drawn is said", {
  none <- autoplot(dpts_privacy(policy_ucb1(), 100))
  expect_match(gsub("\n", " ", drawn(none, 1)$label), "No privacy is guaranteed by ucb1")
  expect_match(none$labels$alt, "ucb1")
  mixed <- autoplot(dpts_privacy(list(a = policy_ts_gaussian(), u = policy_ucb1(), n = policy_uniform()), 10))
  expect_match(gsub("\n", " ", mixed$labels$caption), "No privacy is guaranteed by u")
  expect_match(gsub("\n", " ", mixed$labels$caption), "Epsilon is 0 for n")
  flat <- dpts_simulate(arms_bernoulli(c(0.5, 0.5)), policy_ucb1(), 100, seed = 1)
  expect_match(drawn(autoplot(flat, log = "y"), 1, whole = FALSE)$label, "logarithmic")
  expect_equal(none$theme$plot.background$fill, "white") # a saved picture is not transparent
})

test_that("columns of the user's are there to facet by", {
  sim <- results()$simulation
  sim$kind <- ifelse(sim$policy == "a", "Thompson", "index")
  sim$draw <- seq_len(nrow(sim)) # varies over runs
  expect_true("kind" %in% names(summary(sim)))
  expect_false("draw" %in% names(summary(sim)))
  panels <- function(x) nlevels(drawn(autoplot(x) + ggplot2::facet_wrap(~ kind), 2, whole = FALSE)$PANEL)
  expect_equal(panels(sim), 2)
  privacy <- results()$privacy
  privacy$kind <- privacy$policy
  expect_equal(nlevels(drawn(autoplot(privacy) + ggplot2::facet_wrap(~ kind), 1, whole = FALSE)$PANEL), 2)
  for (name in c("replay", "tuning", "recommendation")) {
    x <- results()[[name]]
    x$kind <- rep("one", nrow(x))
    expect_equal(panels(x), 1)
  }
  # and problems get panels by themselves
  hard <- dpts_simulate(arms_bernoulli(c(0.5, 0.45)), list(b = policy_ucb1()), 300, runs = 3, seed = 1, record = 10)
  both <- autoplot(rbind(easy = results()$simulation, hard = hard))
  expect_equal(nlevels(drawn(both, 2, whole = FALSE)$PANEL), 2)
  expect_match(both$labels$alt, "hard: b")
})

test_that("numbers on axes are short and exact", {
  expect_equal(label_count(c(0, 1, 20000, 1e5, 1e6, 2.5e6, 1e12, 1e-5, 2.5e-4, 0.125, NA)),
               c("0", "1", "20,000", "100,000", "1e6", "2.5e6", "1e12", "1e-5", "2.5e-4", "0.125", NA))
  expect_equal(label_thousands(c(0, 15, 1000, 1500, 1e5, 2e6, 2.5e9, NA)),
               c("0", "15", "1K", "1.5K", "100K", "2M", "2.5B", NA))
})

# ---- what a reader meets ---------------------------------------------------------------------------

test_that("texts can be read at the width of a phone and of a page: 8 points, contrast 4.5, whole, apart", {
  few <- results()
  few <- few[if (extended()) !grepl("reproduction", names(few)) else c("simulation", "audit")]
  history <- dpts_history(dpts_simulate(two_arms(), stats::setNames(rep(list(policy_uniform()), 6), paste("Gaussian", 1:6)),
                                        3000, runs = 1, seed = 1, history = TRUE))
  few$history <- history
  drawing <- function(x) if (inherits(x, "dpts_history")) autoplot(x, bins = 10) else autoplot(x)
  if (extended()) {
    trial <- dpts_simulate(arms_bernoulli(c(old = 0.5, new = 0.7)), policy_randomised(mu = 1), 600, runs = 2, seed = 1,
                           history = TRUE)
    agent <- dpts_agent(policy_dp_imed(1), c("old", "new"), horizon = 300, use = "arrival")
    agent_reward(agent, agent_choose(agent, n = 60)$ticket, rep(0:1, 30))
    few <- c(few, list(pulls = pulls(trial), estimates = estimates(trial), effects = effects(trial),
                       evidence = evidence(trial, "tosses"), bound = regret_bound(policy_ucb1(), two_arms(), 1000),
                       arms = two_arms(), agent = agent))
  }
  for (name in names(few)) for (width in if (name == "simulation") c(3.9, 7) else 3.9) {
    table <- if (name %in% names(pages())) pages()[[name]]$table else page(drawing(few[[name]]))$table
    texts <- suppressWarnings(read_texts(table, width, 3.4))
    expect_gte(min(texts$points), 8)
    expect_gte(min(contrast(texts$colour, "#FFFFFF")), 4.5)
    expect_true(all(texts$left > -0.01 & texts$right < width + 0.01 & texts$bottom > -0.01 & texts$top < 3.41), info = name)
    expect_equal(overlapping(texts), character(), info = name)
  }
})

test_that("in 5 cm the legend is below, texts are whole and apart, and names of curves have room with a theme of the user's", {
  at_5_cm <- function(plot) {
    grDevices::pdf(NULL, 1.97, 2.56)
    on.exit(grDevices::dev.off())
    ggplot2::ggplotGrob(plot)
  }
  eight <- dpts_simulate(two_arms(), stats::setNames(rep(list(policy_ucb1()), 8), paste("policy", 1:8)), 300, runs = 2,
                         seed = 1, record = 5)
  ten <- dpts_simulate(two_arms(), stats::setNames(lapply(1:10, policy_dp_imed), paste("policy", 1:10)), 300, runs = 2,
                       seed = 1, record = 5)
  forty <- autoplot(arms_bernoulli(stats::setNames(seq(0.3, 0.7, length.out = 40), paste("treatment", 1:40))))
  few <- c(plots()[c("simulation", "recommendation", "ope", "tuning")],
           list(eight = autoplot(eight), ends = autoplot(ten) + ggplot2::theme_bw(), rows = forty))
  for (name in names(few)) {
    table <- at_5_cm(few[[name]])
    texts <- suppressWarnings(read_texts(table, 1.97, 2.56))
    expect_true(all(texts$left > -0.02 & texts$right < 1.99 & texts$bottom > -0.02 & texts$top < 2.58), info = name)
    expect_equal(overlapping(texts), character(), info = name)
  }
  legend <- function(plot, size) fit_plot(plot, size)$theme$legend.position
  expect_equal(legend(few$eight, c(142, 184)), "bottom")
  expect_null(legend(few$eight, c(504, 288)))
  expect_equal(legend(few$eight + ggplot2::theme(legend.position = "none"), c(142, 184)), "none")
  # Panels that have no room are left out, and so is a legend, and the caption says so.
  many <- dpts_simulate(two_arms(), stats::setNames(rep(list(policy_ucb1()), 20), paste("policy", 1:20)), 100, runs = 2,
                        seed = 1, record = 5)
  small <- fit_plot(autoplot(many), c(142, 142))
  expect_match(one_line(small$labels$caption), "Drawn are 4 of 20 panels; the others have no room", fixed = TRUE)
  first <- levels(autoplot(many)$data$policy)[1:4]
  expect_setequal(small$data$policy, first)
  expect_equal(nlevels(drawn(small, 2, whole = FALSE)$PANEL), 4)
  expect_no_match(fit_plot(autoplot(many), c(504, 504))$labels$caption, "no room")
  nameless <- fit_plot(autoplot(eight), c(142, 128))
  expect_equal(nameless$theme$legend.position, "none")
  expect_match(one_line(nameless$labels$caption), "8 names have no room", fixed = TRUE)
})

test_that("more than eight curves never share a colour, and carry names or get panels", {
  expect_equal(anyDuplicated(line_colours(100)), 0)
  expect_true(all(contrast(line_colours(60), "#FFFFFF") >= 4.5))
  n <- MAX_LABELS + 1
  many <- stats::setNames(lapply(seq(0.1, 2, length.out = n), policy_dp_imed), paste("policy", seq_len(n)))
  sim <- dpts_simulate(two_arms(), many, 300, runs = 2, seed = 1, record = 5)
  whole <- page(autoplot(sim))
  lines <- whole$layers[[2]]
  expect_equal(nlevels(lines$PANEL), n)
  expect_equal(length(unique(lines$colour)), n)
  texts <- read_texts(whole$table, 3.9, 3.4)
  expect_gte(min(texts$points), 8)
  expect_equal(overlapping(texts), character())
  expect_true(all(names(many) %in% texts$label))
  expect_lt(max(texts$right), 3.91)
})

test_that("colour-blind readers tell the colours of eight lines apart, and areas of a history differ in grey", {
  # What they see, by Machado, Oliveira and Fernandes (2009), severity 1: linear RGB times a matrix
  seen <- list(all = diag(3), deuteranopia = rbind(c(0.367322, 0.860646, -0.227968), c(0.280085, 0.672501, 0.047413),
                                                   c(-0.01182, 0.04294, 0.968881)),
               protanopia = rbind(c(0.152286, 1.052583, -0.204868), c(0.114503, 0.786281, 0.099216),
                                  c(-0.003882, -0.048116, 1.051998)))
  lab <- function(colours, see) {
    rgb <- t(grDevices::col2rgb(colours)) / 255
    linear <- ifelse(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055)^2.4) %*% t(see)
    linear <- pmin(pmax(linear, 0), 1)
    grDevices::convertColor(ifelse(linear <= 0.0031308, 12.92 * linear, 1.055 * linear^(1 / 2.4) - 0.055), "sRGB", "Lab")
  }
  # Okabe and Ito's colours, darkened for contrast, come as near as 4.
  for (see in seen) expect_gt(min(stats::dist(lab(line_colours(8), see))), 20)
  history <- dpts_history(dpts_simulate(arms_bernoulli(c(0.9, 0.5, 0.4, 0.3, 0.2)), policy_uniform(), 100, seed = 1, history = TRUE))
  shades <- unique(drawn(autoplot(history, bins = 10), 1, whole = FALSE)$fill)
  expect_gt(min(diff(sort(lab(shades, seen$all)[, 1]))), 10)
})

test_that("one scale that the user adds changes lines, bands and names together", {
  plot <- suppressMessages(autoplot(results()$simulation) + ggplot2::scale_colour_viridis_d(end = 0.7))
  whole <- page(plot)
  layers <- whole$layers
  expect_setequal(layers[[2]]$colour, scales::viridis_pal(end = 0.7)(2))
  expect_setequal(substr(layers[[1]]$fill, 1, 7), substr(layers[[2]]$colour, 1, 7))
  boxes <- whole$table$grobs[grepl("^guide-box", whole$table$layout$name)] # one for each side since ggplot2 3.5
  legend <- Filter(function(box) !inherits(box, "zeroGrob"), boxes)[[1]]
  expect_equal(sum(legend$layout$name == "guides"), 1)
})

test_that("many problems are a profile, and one round a point with its interval", {
  set.seed(1)
  problems <- stats::setNames(lapply(1:20, function(i) arms_bernoulli(runif(3))), paste0("p", 1:20))
  sim <- dpts_simulate(problems, list(a = policy_ts_beta(), b = policy_uniform()), 200, runs = 2, seed = 1, record = I(200))
  curves <- drawn(autoplot(sim), 1)
  ends <- tidy(sim)
  a <- ends$estimate[ends$term == "a"]
  b <- ends$estimate[ends$term == "b"]
  share <- function(f) mean(a <= f * pmin(a, b))
  at <- function(f) max(curves$y[curves$group == curves$group[which.max(curves$y)] & 10^curves$x <= f * (1 + 1e-9)])
  for (f in c(1, 1.5, 3)) expect_equal(max(at(f), 0), max(share(f), mean(b <= f * pmin(a, b))))
  # Exactly twice the least is within twice the least; where the least is 0, nothing else is.
  few <- data.frame(problem = rep(c("p", "q", "r"), each = 2), policy = factor(c("a", "b")), mean = c(1, 2, 1, 3, 0, 1), t = 100)
  expect_match(ggplot2::get_alt_text(draw_profile(few)), "Within twice the least: a 100%, b 33%.", fixed = TRUE)
  last <- drawn(autoplot(results()$simulation[results()$simulation$t == 300, ]))
  expect_equal(sort(last[[1]]$x), sort(tidy(results()$simulation)$estimate))
  expect_equal(sort(last[[1]]$xmin), sort(tidy(results()$simulation)$conf.low))
})

test_that("tables of pulls, estimates, bounds, evidence and effects draw their numbers", {
  sim <- dpts_simulate(arms_bernoulli(c(old = 0.5, new = 0.7)), policy_randomised(mu = 1), 600, runs = 2, seed = 1,
                       history = TRUE)
  p <- pulls(sim)
  e <- estimates(sim)
  w <- evidence(sim, "tosses")
  d <- effects(sim)
  bounds <- regret_bound(policy_ucb1(), two_arms(), 1000)
  plots <- lapply(list(p = p, e = e, w = w, d = d, bounds = bounds), autoplot)
  layers <- lapply(plots, drawn)
  expect_equal(sort(layers$p[[1]]$x), sort(tapply(p$pulls, p$arm, mean)), ignore_attr = TRUE)
  expect_equal(sort(layers$e[[1]]$x), sort(e$mean))
  expect_equal(max(layers$w[[2]]$y), max(w$evidence)) # two arms: one rival
  expect_equal(unique(layers$w[[1]]$yintercept), log(20))
  expect_equal(sort(layers$d[[2]]$xmin), sort(d$lower))
  expect_equal(sort(10^layers$bounds[[1]]$x), sort(bounds$bound[!is.na(bounds$bound)]))
  for (plot in plots) expect_match(ggplot2::get_alt_text(plot), "[0-9]")
})

test_that("of many pairs of arms those with the best are drawn, and nothing else is said of them", {
  arms <- arms_bernoulli(stats::setNames(seq(0.3, 0.7, length.out = 7), letters[1:7]))
  sim <- dpts_simulate(arms, policy_randomised(mu = 2), 4000, runs = 1, seed = 1, history = TRUE)
  all <- effects(sim)
  plot <- autoplot(all)
  expect_equal(nrow(all), 21)
  expect_match(one_line(plot$labels$caption), "Of 21 pairs, only those with the arm that has the highest estimates", fixed = TRUE)
  best <- effects(sim, control = "g") # the same pairs, turned
  expect_equal(plot$labels$x, "Difference of mean rewards from g")
  at <- match(as.character(plot$data$arm), as.character(best$arm))
  expect_setequal(at, 1:6)
  expect_equal(plot$data$at, best$difference[at])
  expect_false(is.unsorted(rev(plot$data$at)))
  expect_equal(plot$data$to - plot$data$at, (all$difference - all$lower)[all$arm == "g"][match(plot$data$arm, all$control[all$arm == "g"])])
  expect_no_match(autoplot(best)$labels$caption, "pairs")
})
