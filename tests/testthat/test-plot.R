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

# The plot of each of the results
plots <- once(function() lapply(results(), autoplot))

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
    plot <- plots()[[name]]
    expect_s3_class(plot, "ggplot")
    colours <- unlist(lapply(plot$layers, function(layer) layer$aes_params[c("colour", "fill")]))
    for (scale in plot$scales$scales) {
      if (any(c("colour", "fill") %in% scale$aesthetics)) colours <- c(colours, scale$palette(length(scale$breaks)))
    }
    colours <- setdiff(colours, "white") # on the fill
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
  many <- evidence(dpts_simulate(two_arms(), policy_randomised(mu = 1, block = 50), 100, runs = 21, seed = 1, history = TRUE), "tosses")
  caption <- function(runs) one_line(autoplot(many[many$run <= runs, ])$labels$caption)
  expect_match(caption(21), "drawn at 0. Drawn are 20 of 21 runs.", fixed = TRUE)
  expect_match(caption(20), "Each line is one run", fixed = TRUE)
  expect_no_match(caption(1), "Each line|Drawn are")
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
  expect_identical(levels(plots()$audit$data$adversary), unique(as.character(results()$audit$adversary)))
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
  band <- plots()$simulation$layers[[1]]$data(plots()$simulation$data)
  expect_equal(sort(band$upper), sort(summary(sim)$upper))
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
  text <- plot$layers[[4]]$data
  expect_equal(nrow(text), 16)
  # in the order of the curves, apart from each other, and inside the panel
  last <- final_rows(summary(many))
  expect_equal(as.character(text$label[order(text$at)])[1], as.character(last$policy[which.min(last$mean)]))
  expect_gt(min(diff(sort(text$at))), 0.9 * diff(range(text$at)) / 16)
  expect_gte(min(text$at), 0)
})

test_that("labels at line ends are as near as they can be", {
  at <- function(y, range) sort(spread_ends(data.frame(x = 1, y = y, label = letters[seq_along(y)]), "", range)$at)
  expect_equal(at(c(0, 5, 10), c(0, 10)), c(0, 5, 10)) # room for all
  crowded <- at(c(5, 5, 5), c(0, 18))
  expect_equal(crowded, c(4, 5, 6)) # 18 places of 1
  expect_equal(at(c(0, 0, 0), c(0, 18)), c(0, 1, 2)) # inside the panel
  expect_equal(at(c(18, 18), c(0, 18)), c(17, 18))
})

test_that("a saved picture that is empty is not transparent", {
  expect_equal(nothing_to_draw("Nothing.")$theme$plot.background$fill, "white")
})

test_that("columns of the user's are there to facet by", {
  sim <- results()$simulation
  sim$kind <- ifelse(sim$policy == "a", "Thompson", "index")
  sim$draw <- seq_len(nrow(sim)) # varies over runs
  expect_true("kind" %in% names(summary(sim)))
  expect_false("draw" %in% names(summary(sim)))
  panels <- function(x) length(unique(autoplot(x)$data$kind))
  expect_equal(panels(sim), 2)
  privacy <- results()$privacy
  privacy$kind <- privacy$policy
  expect_equal(panels(privacy), 2)
  for (name in c("replay", "tuning", "recommendation")) {
    x <- results()[[name]]
    x$kind <- rep("one", nrow(x))
    expect_equal(panels(x), 1)
  }
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
  few <- few[if (extended()) !grepl("reproduction", names(few)) else "simulation"]
  history <- dpts_history(dpts_simulate(two_arms(), stats::setNames(rep(list(policy_uniform()), 6), paste("Gaussian", 1:6)),
                                        3000, runs = 1, seed = 1, history = TRUE))
  if (extended()) few$history <- history
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
  for (name in names(few)) for (width in if (extended() && name == "simulation") c(3.9, 7) else 3.9) {
    table <- page(drawing(few[[name]]))$table
    texts <- suppressWarnings(read_texts(table, width, 3.4))
    expect_gte(min(texts$points), 8)
    expect_gte(min(contrast(texts$colour, "#FFFFFF")), 4.5)
    expect_true(all(texts$left > -0.01 & texts$right < width + 0.01 & texts$bottom > -0.01 & texts$top < 3.41), info = name)
    expect_equal(overlapping(texts), character(), info = name)
  }
})

test_that("in 5 cm the legend is below, texts are whole and apart, and names of curves have room with a theme of the user's", {
  at_5_cm <- function(plot, width = 1.97) {
    grDevices::pdf(NULL, width, 2.56)
    on.exit(grDevices::dev.off())
    ggplot2::ggplotGrob(plot)
  }
  curves <- function(n) autoplot(dpts_simulate(two_arms(), stats::setNames(rep(list(policy_ucb1()), n), paste("policy", 1:n)), 300,
                                               runs = 2, seed = 1, record = 5))
  # In less than 4 cm long names break once more.
  named <- list(`EXTRAORDINARILY_PRIVATE_ONES` = policy_dp_imed(1), `NO PRIVACY WHATSOEVER, AT ALL` = policy_ucb1())
  plot <- autoplot(dpts_simulate(two_arms(), named, 300, runs = 2, seed = 1, record = 5))
  table <- at_5_cm(plot, 1.5)
  texts <- read_texts(table, 1.5, 2.56)
  legend <- texts[grepl("^(EXTRA|NO PRI|Policy)", texts$label), ]
  expect_identical(nrow(legend), 3L)
  expect_true(all(legend$left > -0.01 & legend$right < 1.51))
  wide <- at_5_cm(plot, 7)
  expect_true("EXTRAORDINARILY_PRIVATE_\nONES" %in% read_texts(wide, 7, 2.56)$label) # no narrower than before
  few <- list(eight = curves(8))
  if (extended()) {
    forty <- arms_bernoulli(stats::setNames(seq(0.3, 0.7, length.out = 40), paste("treatment", 1:40)))
    few <- c(few, plots()[c("simulation", "recommendation", "ope", "tuning")],
             list(ends = curves(10) + ggplot2::theme_bw(), rows = autoplot(forty)))
  }
  for (name in names(few)) {
    table <- at_5_cm(few[[name]])
    texts <- suppressWarnings(read_texts(table, 1.97, 2.56))
    expect_true(all(texts$left > -0.02 & texts$right < 1.99 & texts$bottom > -0.02 & texts$top < 2.58), info = name)
    expect_equal(overlapping(texts), character(), info = name)
  }
})

test_that("more than eight curves never share a colour, and carry names or get panels", {
  expect_equal(anyDuplicated(line_colours(100)), 0)
  expect_true(all(contrast(line_colours(60), "#FFFFFF") >= 4.5))
  n <- MAX_LABELS + 1
  many <- stats::setNames(lapply(seq(0.1, 2, length.out = n), policy_dp_imed), paste("policy", seq_len(n)))
  sim <- dpts_simulate(two_arms(), many, 300, runs = 2, seed = 1, record = 5)
  plot <- autoplot(sim)
  expect_equal(names(plot$facet$params$facets), "policy")
  expect_equal(length(unique(plot$scales$get_scales("colour")$palette(n))), n)
  if (!extended()) return()
  whole <- page(plot)
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
  curves <- autoplot(sim)$data
  ends <- tidy(sim)
  a <- ends$estimate[ends$term == "a"]
  b <- ends$estimate[ends$term == "b"]
  for (f in c(1, 1.5, 3)) {
    expect_equal(max(curves$share[curves$policy == "a" & curves$at <= f], 0), mean(a <= f * pmin(a, b)))
    expect_equal(max(curves$share[curves$policy == "b" & curves$at <= f], 0), mean(b <= f * pmin(a, b)))
  }
  # Exactly twice the least is within twice the least; where the least is 0, nothing else is.
  few <- data.frame(problem = rep(c("p", "q", "r"), each = 2), policy = factor(c("a", "b")), mean = c(1, 2, 1, 3, 0, 1), t = 100)
  expect_match(ggplot2::get_alt_text(draw_profile(few)), "Within twice the least: a 100%, b 33%.", fixed = TRUE)
  last <- autoplot(results()$simulation[results()$simulation$t == 300, ])$data
  expect_equal(sort(last$at), sort(tidy(results()$simulation)$estimate))
  expect_equal(sort(last$from), sort(tidy(results()$simulation)$conf.low))
})

test_that("tables of pulls, estimates, evidence and effects draw their numbers", {
  sim <- dpts_simulate(arms_bernoulli(c(old = 0.5, new = 0.7)), policy_randomised(mu = 1), 600, runs = 2, seed = 1,
                       history = TRUE)
  p <- pulls(sim)
  e <- estimates(sim)
  w <- evidence(sim, "tosses")
  d <- effects(sim)
  expect_equal(sort(autoplot(p)$data$at), sort(tapply(p$pulls, p$arm, mean)), ignore_attr = TRUE)
  expect_equal(sort(autoplot(e)$data$at), sort(e$mean))
  curves <- autoplot(w)$data
  expect_equal(max(curves$shown), max(w$evidence)) # two arms: one rival
  expect_equal(unique(curves$line), log(20))
  expect_equal(sort(autoplot(d)$data$from), sort(d$lower))
  # Arms from the top in their order, also one of which nothing was released yet
  few <- estimates(as_releases(data.frame(arm = c("old", "new", "mid"), n = c(50, 50, 0), sum = c(20, 30, 0), event = c(NA, NA, "begin")),
                               "gaussian", 2))
  expect_identical(rev(levels(autoplot(few)$data$y)), c("old", "new", "mid"))
  expect_identical(rev(levels(downwards(c("old", "new", "mid")))), c("old", "new", "mid"))
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
  # Seen from the other arm, what is worst for one is best for the other.
  case <- rep(c("released", "worst", "best"), 3)
  pairs <- data.frame(arm = rep(c("b", "c", "c"), each = 3), control = rep(c("a", "a", "b"), each = 3), missing = case,
                      difference = c(0.1, 0, 0.2, 0.3, 0.2, 0.45, 0.2, 0.1, 0.3))
  pairs[c("lower", "upper")] <- pairs$difference + cbind(rep(-0.05, 9), 0.05)
  own <- pairs_with_best(pairs)
  expect_identical(unique(own$control), "c")
  own <- own[own$arm == "a", ]
  expect_equal(stats::setNames(own$difference, own$missing)[c("released", "worst", "best")], c(released = -0.3, worst = -0.45, best = -0.2))
})

test_that("of panels that have no room nothing comes back, whatever layer it is from", {
  data <- data.frame(x = 1:40, y = 1, site = factor(1:40))
  plot <- ggplot2::ggplot(data, ggplot2::aes(x, y)) + ggplot2::geom_point() +
    ggplot2::geom_vline(ggplot2::aes(xintercept = x), data = data) + panels_by(data, "site") + plot_words(x = "x")
  withr::local_pdf(NULL, width = 2, height = 2)
  built <- ggplot2::ggplot_build(plot)
  n <- nrow(built$layout$layout)
  expect_lt(n, 40)
  expect_match(one_line(built$plot$labels$caption), sprintf("Drawn are %d of 40 panels", n), fixed = TRUE)
})

# ---- every picture in words ------------------------------------------------------------------------

# Each branch of each plot, and what the package chooses in small and large pictures. Whoever changes this on purpose runs the
# extended tests, which read the pictures that are drawn.

named <- function(things, names) stats::setNames(things, names)
policies_named <- function(names) named(rep(list(policy_uniform()), length(names)), names)
small <- c(142, 142)
narrow <- c(142, 184)
page_wide <- c(504, 288)
wide <- c(850, 400)

show_arms <- function() {
  show_picture("means", autoplot(arms_bernoulli(c(a = 0.3, b = 0.71234, c = 0.71234))), small)
  forty <- arms_bernoulli(named(seq(0.3, 0.7, length.out = 40), paste("the treatment of number", 1:40)))
  show_picture("means of 40", autoplot(forty), narrow, wide, c(400, 1200))
  long <- arms_bernoulli(named(1:3 / 10, paste("an arm that somebody has named with many words, the", c("first", "second", "third"))))
  show_picture("means, long names", autoplot(long), small)
  drift <- arms_drift(c(a = 0.8, b = 0.2), c(a = 0.3, b = 0.7), "sine", period = 365)
  show_picture("drift", autoplot(drift), narrow)
  show_picture("switch", autoplot(arms_switch(list(two_arms(), arms_bernoulli(c(0.1, 0.2)), two_arms()), c(4500, 6000)), horizon = 5000))
  show_picture("walk of 9", autoplot(arms_walk(named(rep(0.5, 9), paste("arm of a long name, number", 1:9)), 0.02), horizon = 30, seed = 2, run = 3), wide)
  show_picture("walk of 19", autoplot(arms_walk(named(rep(0.5, 19), letters[1:19]), 0.02), horizon = 5), small)
}

show_simulations <- function() {
  sim <- results()$simulation
  show_picture("simulation", autoplot(sim), small, page_wide)
  show_picture("simulation: log y, runs, level", autoplot(sim, log = "y", runs = TRUE, level = 0.9))
  show_picture("simulation: median, log x", autoplot(sim, log = "x", show = "median"))
  show_picture("simulation: one run of one policy", autoplot(sim[sim$policy == "a" & sim$run == 1, ]))
  show_picture("simulation: last round", autoplot(sim[sim$t == 300, ]), narrow)
  show_picture("simulation: last round, log xy", autoplot(sim[sim$t == 300, ], log = "xy"))
  none <- sim[sim$t == 1 & sim$regret == 0, ]
  show_picture("simulation: nothing, log y", autoplot(none, log = "y"))
  three <- arms_bernoulli(c(0.2, 0.5, 0.8))
  some <- function(problems, names, horizon = 6, record = 3) {
    dpts_simulate(rep(list(p = two_arms(), q = three, r = arms_bernoulli(c(0.6, 0.4))), length.out = problems) |>
                    named(paste("problem", seq_len(problems))), policies_named(names), horizon, runs = 2, seed = 1, record = record)
  }
  two <- some(2, c("x", "y"))
  show_picture("simulation: two problems", autoplot(two))
  show_picture("simulation: two problems, last round", autoplot(two[two$t == 6, ], log = "x"))
  show_picture("simulation: two problems, nine policies", autoplot(some(2, paste("policy", 1:9))), small)
  show_picture("profile of 13 problems", autoplot(some(13, c("x", "y"))))
  show_picture("profile, nine policies", autoplot(some(4, paste("policy", 1:9))))
  values <- data.frame(problem = rep(c("p", "q", "r"), each = 19), policy = factor(paste0("policy ", 1:19), paste0("policy ", 1:19)),
                       mean = c(0, 1:18, 19:1, 2 + (1:19 %% 5)), t = 1000)
  show_picture("profile, 19 policies", draw_profile(values))
  one_problem <- function(names) autoplot(some(1, names))
  show_picture("8 curves", one_problem(paste("policy", 1:8)), small, c(142, 128), c(504, 142), page_wide)
  show_picture("8 curves, names of 30 letters", one_problem(paste("a policy that is of the kind", 1:8)), narrow, c(269, 300), c(271, 300))
  nine <- one_problem(c(paste("policy", 1:8), "a policy with a name that is long"))
  show_picture("9 curves", nine, small)
  show_fitted("9 curves, theme of the user's", nine + ggplot2::theme_bw(), small)
  show_picture("40 curves", one_problem(paste0("policy_of(number = ", 1:40, ", kind = \"uniform\")")), narrow)
  plot <- autoplot(sim)
  show_fitted("legend of the user's above", plot + ggplot2::theme(legend.position = "top"), narrow)
  show_fitted("legend of the user's at a place", plot + ggplot2::theme(legend.position = c(0.9, 0.1)), narrow)
  show_fitted("legend of the user's below", plot + ggplot2::theme(legend.position = "bottom"), wide)
  show_fitted("panels of the user's", plot + ggplot2::facet_wrap("policy", ncol = 1), small, wide)
  show_fitted("type of the user's", plot + ggplot2::theme(text = ggplot2::element_text(size = 14)), small)
}

show_tables <- function() {
  withr::local_options(rlib_message_verbosity = "quiet")
  sim <- dpts_simulate(list(p = arms_bernoulli(c(old = 0.5, new = 0.7)), q = two_arms()), list(a = policy_dp_imed(1), b = policy_ucb1()), 60,
                       runs = 22, seed = 1, record = I(60))
  one <- sim[sim$problem == "p" & sim$policy == "a", ]
  show_picture("pulls", autoplot(pulls(sim), log = "x"), small)
  show_picture("pulls of one run", autoplot(pulls(one[one$run == 1, ])))
  large <- pulls(one)
  large$pulls <- 100 * large$pulls
  large$pulls[1] <- 0
  show_picture("pulls, large", autoplot(large))
  show_picture("pulls, large, log x", autoplot(large, log = "x"))
  large$pulls[2] <- 0
  show_picture("pulls, none on log x", autoplot(large, log = "x"))
  show_picture("no pulls", autoplot(large[0, ]))
  show_picture("estimates of 22 runs", autoplot(estimates(one)), narrow)
  few <- estimates(one[one$run <= 2, ])
  few[1, c("lower", "upper")] <- NA
  show_picture("estimates of 2 runs", autoplot(few))
  few$mean <- NA
  show_picture("no estimates", autoplot(few))

  trial <- dpts_simulate(arms_bernoulli(named(seq(0.3, 0.7, length.out = 3), letters[1:3])), policy_randomised(mu = 2, block = 40), 200,
                         runs = 21, seed = 1, history = TRUE)
  runs <- function(n) trial[trial$run <= n, ]
  show_picture("evidence of 21 runs", autoplot(evidence(trial, "means")))
  show_picture("evidence of 3 runs", autoplot(evidence(runs(3), "tosses")))
  show_picture("evidence against a number", autoplot(evidence(runs(1), against = 0.5)))
  found <- evidence(runs(1), "means")
  show_picture("no evidence", autoplot(found[0, ]))
  many <- found[rep(seq_len(nrow(found)), 10), ]
  many$arm <- factor(paste("arm", rep(1:20, length.out = nrow(many))), paste("arm", 1:20))
  show_picture("evidence of 20 arms", autoplot(many))
  show_picture("effects of 21 runs", autoplot(effects(trial, control = "a")))
  all <- effects(runs(2))
  show_picture("effects of 2 runs", autoplot(all))
  attr(all, "asked") <- NULL
  show_picture("effects of which nothing is known", autoplot(all))
  show_picture("no effects", autoplot(all[0, ]))
  pairs <- utils::combn(7, 2)
  wide_table <- data.frame(arm = letters[pairs[1, ]], control = letters[pairs[2, ]], difference = (pairs[1, ] - pairs[2, ]) / 10)
  wide_table[c("lower", "upper")] <- list(wide_table$difference - 0.2, wide_table$difference + 0.1)
  table <- rbind(cbind(wide_table, missing = "worst"), cbind(wide_table, missing = "best"), cbind(wide_table, missing = "released"))
  table$difference <- table$difference + rep(c(0, 0.01, 0.02), each = 21)
  show_picture("effects of 21 pairs", autoplot(structure(table, class = c("dpts_effects", "data.frame"), asked = list(level = 0.9, at = "end"))))
  table <- rbind(cbind(wide_table, problem = "p"), cbind(wide_table[1:15, ], problem = "q"))
  show_picture("effects of 21 pairs, two problems",
               autoplot(structure(table[c(1:20, 22:36), ], class = c("dpts_effects", "data.frame"), asked = list(level = 0.9, at = "each"))))

  history <- dpts_history(dpts_simulate(two_arms(), list(a = policy_ucb1(), b = policy_uniform(), c = policy_exp3()), 40, runs = 2, seed = 1, history = TRUE))
  show_picture("history", autoplot(history, bins = 4), small)
  show_picture("history of one policy", autoplot(history[history$policy == "a", ], bins = 50))
  show_picture("no history", autoplot(history[0, ]))
  twenty <- as.data.frame(history[1:40, ])
  twenty$arm <- factor(paste("arm", rep(1:19, length.out = 40)), paste("arm", 1:19))
  show_picture("history of 19 arms", autoplot(structure(twenty, class = c("dpts_history", "data.frame")), bins = 1))
  bounds <- regret_bound(list(ucb = policy_ucb1(), private = policy_dp_imed(1), unknown = policy_exp3()), two_arms(), 1000)
  show_picture("bounds", autoplot(bounds))
  show_picture("one bound", autoplot(bounds[bounds$policy == "ucb" & bounds$kind == bounds$kind[1], ]))
  show_picture("no bound", autoplot(bounds[is.na(bounds$bound), ]))
}

show_results <- function() {
  seeded <- results()$audit[!results()$audit$adversary %in% c("random", "searched"), ]
  for (name in c("privacy", "tuning", "recommendation", "replay", "ope", "identification", "audit", "plan", "reproduction_simulation",
                 "reproduction_tuning", "reproduction_privacy", "reproduction_replay")) {
    plot <- if (name == "audit") autoplot(seeded) else plots()[[name]]
    if (name %in% c("privacy", "replay", "plan", "reproduction_tuning")) show_picture(name, plot, small) else show_picture(name, plot)
  }
}

show_edges <- function() {
  x <- results()
  point <- x$privacy[x$privacy$horizon == 30 & x$privacy$delta == 1e-4, ]
  show_picture("privacy: points", autoplot(point))
  show_picture("privacy: horizons", autoplot(x$privacy[x$privacy$delta == 1e-4, ], log = "x"))
  show_picture("privacy: nothing", autoplot(dpts_privacy(list(u = policy_ucb1(), v = policy_exp3()), 100)))
  ten <- named(lapply(1:19, policy_gaussian_imed), paste("mu =", 1:19))
  own <- function(policies, ...) dpts_privacy(policies, 10, delta = 10^-(2:3), accountant = "gdp", ...)
  show_picture("privacy: 9 policies", autoplot(own(ten[1:9])), small)
  show_picture("privacy: 19 policies", autoplot(own(ten), log = ""))
  show_picture("privacy: 9 policies, two accountants", autoplot(dpts_privacy(ten[1:9], 10, delta = 10^-(2:3), accountant = c("gdp", "rdp"))))
  pair <- dpts_privacy(c(ten[1:2], list(u = policy_ucb1(), v = policy_exp3(), n = policy_uniform())), 10, delta = 10^-(2:3))
  show_picture("privacy: two cannot be drawn", autoplot(pair))
  show_picture("privacy: linear", autoplot(pair, log = "x"))
  band <- own(ten[1:2])
  band$lower <- c(0, 0.5, 1, 2)
  band$arms <- c(2, 2, 3, 3)
  show_picture("privacy: band, arms", autoplot(band))
  audit <- x$audit[x$audit$adversary %in% c("silent", "success"), ]
  show_picture("audit: bars", autoplot(audit[audit$delta == 0.1, ]))
  show_picture("audit: bars, nothing claimed, sampling",
               autoplot(dpts_audit(policy_ucb1(), 2, streams = c("silent", "success"), runs = 100, seed = 1)))
  found <- data.frame(adversary = factor(c("a", "a", "b", "b")), method = c("exact", "sampling"), delta = c(0, 0.1, 1e-3, 0.1),
                      claimed = c(1, 1, Inf, 2), lower = c(Inf, 1.5, 0, 3), verdict = factor(names(audit_colours())[c(3, 2, 2, 3)]))
  show_picture("audit: bars, infinite", audit_bars(found))
  show_picture("audit: bars of 0", audit_bars(found[3, ]))
  found$claimed <- found$claimed / 10
  show_picture("audit: bars, infinite beside small ones", audit_bars(found[1, ]))
  show_picture("audit: curves, infinite", audit_curves(found))
  id <- x$identification
  show_picture("identification: one run", autoplot(id[id$run == 1, ]))
  id$people[2] <- NA
  show_picture("identification: one run without a verdict", autoplot(id))
  id$people[id$policy == "a"] <- NA
  show_picture("identification: a policy without a verdict", autoplot(id[id$run < 5, ]))
  id$people <- NA_real_
  show_picture("identification: no verdict", autoplot(id))
  plan <- x$plan
  show_picture("plan: one number of people", autoplot(plan[plan$people == 100, ]), small)
  show_picture("plan: one scenario", autoplot(plan[plan$people == 300 & plan$scenario == "hope", ]))
  by <- plan[plan$people == 100, ]
  by$stratum <- factor(rep(c("low", "high"), 2), c("low", "high"))
  by$counted <- 40
  show_picture("plan: strata", autoplot(by))
  never <- dpts_plan(policy_uniform(), two_arms(), runs = 2, seed = 1, power = 0.8, limit = 20)
  show_picture("plan: no number found", autoplot(never))
  replay <- x$replay
  show_picture("replay: level", autoplot(replay[replay$delay == 0 & replay$run == 1, ], level = 0.8))
  replay$reward <- NA_real_
  show_picture("replay: no reward", autoplot(replay))
  ope <- x$ope
  ope$estimate <- NA_real_
  show_picture("ope: no estimate", autoplot(ope))
  tuning <- dpts_tune(privacy_gdp(1), two_arms(), 4000, prepulls = c(0, 1000), runs = 2, seed = 1)
  show_picture("tuning: to 1000, level", autoplot(tuning, level = 0.5))
  show_picture("tuning: no prepulls", autoplot(tuning[tuning$prepulls == 0, ]))
  show_picture("recommendation: linear", autoplot(x$recommendation, log = ""))
  show_picture("reproduction: simulation, log xy, level", autoplot(x$reproduction_simulation, log = "xy", level = 0.9))
  show_picture("reproduction: simulation, log y", autoplot(x$reproduction_simulation, log = "y"))
  show_picture("reproduction: tuning, linear", autoplot(x$reproduction_tuning, log = ""))
  show_picture("reproduction: privacy, linear", autoplot(x$reproduction_privacy, log = ""))
}

test_that("what is no result of the package's any more is an error and no picture", {
  for (x in results()) expect_error(autoplot(x[c(1, 1), ]), class = "dpts_error_rows")
})

# Names, panels or a legend, on both sides of MANY_LINES and MAX_LABELS
show_limits <- function() {
  withr::local_options(rlib_message_verbosity = "quiet")
  show <- function(n, plot) {
    parts <- picture(plot)
    cat(deparse1(substitute(plot)), n, ":", sum(startsWith(names(parts), "layer")), "layers;", parts$panels, ";", parts$guides, ";",
        parts$caption, "\n")
  }
  arm <- function(n) paste("arm", seq_len(n))
  found <- evidence(dpts_simulate(two_arms(), policy_randomised(mu = 2, block = 40), 80, runs = 1, seed = 1, history = TRUE), "means")
  found <- found[rep(1, 18), ]
  pairs <- data.frame(arm = rep(c("a", "b"), each = 9), control = letters[3:20], difference = 0.1, lower = 0, upper = 0.2)
  for (n in c(8, 18)) {
    show(n, autoplot(dpts_privacy(named(lapply(seq_len(n), policy_gaussian_imed), arm(n)), 10, delta = 10^-(2:3), accountant = "gdp")))
  }
  show(18, autoplot(arms_walk(named(rep(0.5, n), arm(n)), 0.02), horizon = 2))
  show(18, draw_profile(data.frame(problem = "p", policy = factor(arm(n), arm(n)), mean = seq_len(n), t = 10)))
  show(18, autoplot(dpts_simulate(two_arms(), policies_named(arm(18)), 6, runs = 1, seed = 1, record = 3)))
  found$arm <- factor(arm(18), arm(18))
  show(18, autoplot(found))
  show(18, autoplot(structure(pairs, class = c("dpts_effects", "data.frame"))))
  pulled <- data.frame(policy = factor("a"), t = 1:18, arm = factor(arm(18), arm(18)))
  show(18, autoplot(structure(pulled, class = c("dpts_history", "data.frame")), bins = 1))
  for (n in 8:9) {
    show(n, autoplot(dpts_identify(arms_bernoulli(c(0.9, 0.1)), named(rep(list(policy_top_two(mu = 1)), n), arm(n)), runs = 1, seed = 1, limit = 200)))
    show(n, autoplot(dpts_replay(random_log(), policies_named(arm(n)), runs = 1, seed = 1)))
  }
}

test_that("pictures say the same to ggplot2", {
  expect_snapshot(show_arms())
  expect_snapshot(show_simulations())
  expect_snapshot(show_tables())
  expect_snapshot(show_results())
  expect_snapshot(show_edges())
  expect_snapshot(show_limits())
})
