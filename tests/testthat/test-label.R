# A label is a factor to base R and dplyr, and never loses or mixes what its levels stand for.

labels <- function(codes = c(1, 2, 1, 3), levels = c("b", "a", "c"), things = list(1, 2, 3), ...) {
  new_label(codes, levels, things, ...)
}
stands_for <- function(x, value) {
  expect_true(is_label(x))
  expect_identical(unname(unlist(things_of(x)[as.character(x)])), value)
}

test_that("base R has a factor", {
  x <- labels()
  f <- factor(c("b", "a", "b", "c"), c("b", "a", "c"))
  expect_true(is.factor(x))
  expect_identical(levels(x), levels(f))
  expect_identical(as.character(x), as.character(f))
  expect_identical(as.integer(x), as.integer(f))
  expect_identical(x == "b", f == "b")
  expect_identical(x == x, rep(TRUE, 4))
  expect_identical(c(table(x)), c(table(f)))
  expect_identical(tapply(1:4, x, sum), tapply(1:4, f, sum))
  expect_identical(split(1:4, x), split(1:4, f))
  expect_identical(split(1:4, interaction(x, x)), split(1:4, interaction(f, f)))
  expect_identical(order(x), order(f))
  expect_identical(x %in% c("a", "z"), f %in% c("a", "z"))
  expect_identical(paste(x), paste(f))
  expect_identical(c(list(a = 1, b = 2)[as.character(x[1])]), list(b = 2))
  expect_identical(capture.output(print(x)), capture.output(print(f)))
  expect_identical(capture.output(str(x)), capture.output(str(f)))
  expect_identical(nlevels(x), 3L)
  expect_identical(unclass(stats::lm(y ~ x, data.frame(x, y = c(1, 2, 4, 3))))$coefficients,
                   unclass(stats::lm(y ~ x, data.frame(x = f, y = c(1, 2, 4, 3))))$coefficients)
  expect_identical(as.character(ifelse(x == "a", as.character(x), "-")), c("-", "a", "-", "-"))
  # plain factors where R makes new ones
  expect_identical(factor(x, c("a", "b", "c")), factor(f, c("a", "b", "c")))
  expect_identical(as.vector(x), as.vector(f))
})

test_that("base R keeps what levels stand for", {
  x <- labels(runs = list(1, 2, 3), shared = list(log = "l"))
  stands_for(x[2:3], c(2, 1))
  stands_for(x[[4]], 3)
  stands_for(x[x == "c", drop = TRUE], 3)
  expect_identical(levels(x[x == "c", drop = TRUE]), "c")
  expect_identical(attr(droplevels(x[c(1, 4)]), "runs"), list(1, 3))
  stands_for(rev(x), c(3, 1, 2, 1))
  stands_for(sort(x), c(1, 1, 2, 3))
  stands_for(rep(x, 2), c(1, 2, 1, 3, 1, 2, 1, 3))
  stands_for(unique(x), c(1, 2, 3))
  stands_for(c(x[1], x[4]), c(1, 3))
  stands_for(unsplit(split(x, c(1, 2, 1, 2)), c(1, 2, 1, 2)), c(1, 2, 1, 3))
  stands_for(unserialize(serialize(x, NULL)), c(1, 2, 1, 3))
  levels(x)[2] <- "z"
  stands_for(x, c(1, 2, 1, 3))
  expect_identical(as.character(x), c("b", "z", "b", "c"))
  levels(x) <- list(C = "c", B = "b", Z = "z")
  stands_for(x, c(1, 2, 1, 3))
  expect_identical(levels(x), c("C", "B", "Z"))
  expect_identical(label_shared(x, "log"), "l")
  x[2] <- "C"
  stands_for(x, c(1, 3, 1, 3))
  y <- x
  levels(y) <- c("one", "one", "two")
  expect_identical(y, factor(c("one", "one", "one", "one"), c("one", "two")))
  frame <- data.frame(x, y = 1:4)
  stands_for(frame[frame$y > 2, "x"], c(1, 3))
  stands_for(subset(frame, y == 4)$x, 3)
  stands_for(merge(frame, data.frame(x = c("B", "C"), z = 1:2))$x, c(1, 1, 3, 3))
})

test_that("labels that mean different things are not mixed", {
  x <- labels()
  expect_identical(vctrs::vec_cast(x, character()), as.character(x))
  y <- labels(things = list(1, 9, 3))
  for (f in list(function() c(x, y), function() vctrs::vec_c(x, y), function() x[1] <- y[2],
                 function() vctrs::vec_rbind(data.frame(x), data.frame(x = y)))) {
    expect_error(f(), "\"a\" is not the same in both: `2` and `9`", class = "dpts_error_join")
  }
  stands_for(c(x, labels(1, "d", list(4))), c(1, 2, 1, 3, 4))
  z <- x
  z[2:3] <- labels(c(1, 2), c("d", "b"), list(4, 1))
  stands_for(z, c(1, 4, 1, 3))
  expect_error(c(labels(shared = list(log = "l")), labels(shared = list(log = "k"))), "\"l\" in one, \"k\" in the other",
               class = "dpts_error_join")
})

test_that("dplyr keeps what levels stand for", {
  skip_without_dplyr()
  data <- tibble::tibble(x = labels(), y = 1:4)
  stands_for(dplyr::filter(data, y > 1)$x, c(2, 1, 3))
  stands_for(dplyr::arrange(data, x, y)$x, c(1, 1, 2, 3))
  stands_for(dplyr::count(data, x)$x, 1:3 + 0)
  stands_for(dplyr::summarise(dplyr::group_by(data, x), s = sum(y))$x, 1:3 + 0)
  stands_for(dplyr::distinct(data, x)$x, 1:3 + 0)
  stands_for(dplyr::bind_rows(data, data)$x, rep(c(1, 2, 1, 3), 2))
  more <- dplyr::bind_rows(data, tibble::tibble(x = "new", y = 5L))
  expect_identical(levels(more$x), c("b", "a", "c", "new"))
  expect_identical(as.character(more$x[5]), "new")
  for (key in list(c("a", "c", "other"), factor(c("a", "c", "other")))) {
    info <- tibble::tibble(x = key, z = 1:3)
    joined <- dplyr::left_join(data, info, by = "x")
    stands_for(joined$x, c(1, 2, 1, 3))
    expect_identical(joined$z, c(NA, 1L, NA, 2L))
    expect_identical(nrow(dplyr::full_join(data, info, by = "x")), 5L)
    stands_for(dplyr::semi_join(data, info, by = "x")$x, c(2, 3))
  }
  expect_error(dplyr::left_join(data, tibble::tibble(x = labels(1:2, c("a", "c"), list(5, 3))), by = "x"),
               class = "dpts_error_join")
  mixed <- dplyr::mutate(data, x = dplyr::if_else(y == 1, as.character(x), "b"))
  expect_type(mixed$x, "character")
})

test_that("labels are drawn as factors are", {
  data <- tibble::tibble(x = labels(), y = 1:4)
  plain <- tibble::tibble(x = plain_factor(labels()), y = 1:4)
  draw <- function(data) {
    ggplot2::layer_data(ggplot2::ggplot(data, ggplot2::aes(x, y, colour = x)) + ggplot2::geom_point() +
                          ggplot2::facet_wrap(ggplot2::vars(x)))[c("x", "y", "colour", "PANEL", "group")]
  }
  expect_equal(draw(data), draw(plain), ignore_attr = TRUE)
})

test_that("runs that both parts have are counted once", {
  runs <- function(at) vctrs::new_data_frame(list(run = as.double(at), seed = rep(1, length(at)), regret = at + 0.5))
  both <- join_runs(runs(1:3), runs(4:2), "a")
  expect_identical(both, runs(1:4))
  expect_identical(join_runs(both, runs(2:3), "a"), both)
})
