# Several sites of one experiment: their release tables as one. Only tables cross the border between sites.
#
# Evidence multiplies over all rows if one order of rows serves all looks, and whether a row is there did not
# depend on its sum. Sites have no common clock, so the order is by rounds: the j-th release of each site,
# site by site. A round counts once every site that still runs has released it. A row then keeps its place at
# all later looks, with nothing to remember but the tables.

#' @rdname dpts_releases
#' @param ended Of a list of sites, the names of those that release nothing more, if their tables do not say
#'   so. Only releases of a round count that every other site has, too; see Several sites.
#' @param outcome Of a list of sites, of which outcome the sums are.
#' @export
dpts_releases.list <- function(x, ..., ended = NULL, outcome = "reward") {
  check_dots_empty(...)
  sites <- names(x)
  if (!length(x) || is.null(sites) || !all(nzchar(sites)) || anyNA(sites)) {
    abort_arg("x", "a list of agents or release tables, named by their sites", x)
  }
  if (anyDuplicated(sites)) {
    abort_arg("x", sprintf("a list of different sites; \"%s\" comes twice", sites[duplicated(sites)][1]))
  }
  if (!is.null(ended)) ended <- check_choice(ended, sites, several = TRUE)
  tables <- Map(site_table, x, sites, MoreArgs = list(outcome = outcome))
  check_alike(tables)
  join_sites(tables, ended)
}

# The table of one site, without the columns that say which run it is
site_table <- function(x, site, outcome) {
  table <- tryCatch(one_outcome(dpts_releases(x), outcome), dpts_error_input = identity)
  if (inherits(table, "condition")) {
    abort_input(table$arg, "Site \"%s\": %s", site, conditionMessage(table), class = class(table)[1])
  }
  if (!is.null(table[["site"]])) {
    abort_input("x", "Site \"%s\" of `x` must be one site: its table has several.", site)
  }
  if (!nrow(table) || any(record_id(table) > 1)) {
    abort_input("x", "Site \"%s\" of `x` must be %s.", site,
                if (nrow(table)) "one run: its table has several" else "a table with rows")
  }
  guarantees <- attr(table, "guarantees")
  if (!is.null(table[["policy"]])) guarantees <- guarantees[as.character(table$policy[1])]
  table <- table[setdiff(names(table), KEYS)]
  attr(table, "guarantees") <- guarantees
  table
}

# What must be the same at all sites, for their bets to be one
check_alike <- function(tables) {
  tables <- lapply(tables, as.list)
  arms <- lapply(tables, function(table) sort(unique(as.character(table$arm))))
  released <- function(table) table$whole & is.na(table[["event"]] %||% NA)
  law <- function(table) {
    out <- lapply(c("noise", "scale", "grid"), function(name) unique(table[[name]][released(table)]))
    if (any(released(table))) out
  }
  squares <- function(table) {
    if (any(released(table))) if (all(is.na(table$squares[released(table)]))) "none" else "of all rewards"
  }
  one <- function(name) lapply(tables, function(table) table[[name]][1] %||% OPTIONAL[[name]])
  came <- lapply(tables, function(table) {
    changed <- (table[["event"]] %||% NA) %in% c("added", "retired")
    sort(paste(table$event, table$arm)[changed])
  })
  strata <- lapply(tables, function(table) sort(strata_of(table)))
  said <- c(list("the same arms" = arms, "the same range of rewards" = Map(c, one("low"), one("high")),
                 "noise of the same distribution, scale and `grid`" = lapply(tables, law),
                 "sums of squares, or none" = lapply(tables, squares),
                 "the same floor of probabilities, or no randomisation at all" = one("floor"),
                 "the same strata" = strata, "as many rewards of a person" = one("per_person"),
                 "predictions in the same range" = Map(c, one("predicted_low"), one("predicted_high")),
                 "permuted blocks, or none" = lapply(one("permuted"), function(x) if (x) "some" else "none"),
                 "bits that were flipped with the same probability" = one("flip"),
                 "the same arms added and retired" = came))
  for (must in names(said)) {
    all <- Filter(Negate(is.null), said[[must]])
    other <- !vapply(all, identical, NA, all[[1]])
    if (any(other)) {
      has <- sprintf("\"%s\" has %s", names(all), vapply(all, words_alike, ""))[c(1, which(other)[1])]
      abort_input("x", "All sites of `x` must have %s: %s.", must, paste(has, collapse = ", "),
                  class = "dpts_error_sites")
    }
  }
  correlated <- vapply(tables, function(table) table$correlation[1] > 0, NA)
  if (any(correlated)) {
    abort_input("x", "All sites of `x` must have independent noise: that of \"%s\" is correlated.",
                names(tables)[correlated][1], class = "dpts_error_sites")
  }
  # Whoever reads one table twice, perhaps at two looks, would count its people twice. (Whole numbers, of a
  # coarse grid or an example by hand, may agree by chance.)
  first <- lapply(tables, function(table) {
    utils::head(table$sum[which(released(table) & table$scale > 0 & table$sum %% 1 != 0)], 3)
  })
  twice <- which(duplicated(first) & lengths(first) == 3)
  if (length(twice)) {
    abort_input("x", "Sites \"%s\" and \"%s\" of `x` have the same noisy sums: they are one table.",
                names(first)[match(first[twice[1]], first)], names(first)[twice[1]],
                class = "dpts_error_sites")
  }
}

# What a site has, of what must be the same
words_alike <- function(has) {
  parts <- lapply(has, function(x) {
    x <- x[!is.na(x)]
    if (is.numeric(x)) number_text(x) else paste(x)
  })
  if (length(unlist(parts))) words_list(unlist(parts), most = 6) else "none"
}

join_sites <- function(tables, ended) {
  arm <- tables[[1]]$arm
  labels <- if (is.factor(arm)) levels(arm) else sort(unique(arm))
  rows <- do.call(rbind, lapply(seq_along(tables), function(i) {
    v <- as.list(tables[[i]])
    event <- v$event %||% rep(NA_character_, length(v$n))
    released <- is.na(event)
    # What was released while rewards were out proves nothing, and comes last.
    cut <- v$block %in% v$block[released & !v$whole]
    round <- ifelse(released & cut, Inf, match(v$block, unique(v$block[released])))
    data.frame(site = i, row = seq_along(round), round, t = v$t, event,
               arm = match(as.character(v$arm), labels))
  }))
  over <- names(tables) %in% ended | seq_along(tables) %in% rows$site[rows$event %in% "end"]
  whole <- is.na(rows$event) & rows$round < Inf
  made <- vapply(seq_along(tables), function(i) max(rows$round[whole & rows$site == i], 0), 0)
  all_have <- if (all(over)) Inf else min(made[!over])
  released <- rows[is.na(rows$event) & (!whole | rows$round <= all_have), ]
  released <- released[order(released$round, released$site, released$row), ]
  before <- stats::ave(released$t, released$site, FUN = function(t) c(0, t[-length(t)]))
  released$t <- cumsum(released$t - before) # people so far, of all sites
  # Which arms there are, and which came and went: by the first site
  changed <- rows[rows$site == 1 & rows$event %in% c("added", "retired"), ]
  born <- setdiff(seq_along(labels), changed$arm[changed$event == "added"])
  begin <- data.frame(site = 1, row = 1, round = 0, t = 0, event = "begin", arm = born)
  ends <- vctrs::data_frame(site = which(over), row = 1, round = 0, t = max(released$t, 0), event = "end",
                            arm = 1)
  rows <- rbind(begin, if (nrow(changed)) replace(changed, "t", 0), released, ends)
  idle <- !is.na(rows$event)
  rest <- setdiff(c(TABLE, names(OPTIONAL)), c("t", "block", "arm", "event"))
  v <- lapply(stats::setNames(nm = rest), function(name) site_column(tables, rows, name))
  v[c("n", "sum")] <- lapply(v[c("n", "sum")], replace, idle, 0)
  v[c("chance", "squares")] <- lapply(v[c("chance", "squares")], replace, idle, NA_real_)
  v$whole[idle] <- TRUE
  planned <- vapply(tables, function(table) as.double(table[["planned"]][1] %||% NA), 0)
  v$planned <- rep(sum(planned), nrow(rows))
  for (name in c("looks", "missing")) { # not known where sites differ
    own <- unique(vctrs::vec_c(!!!lapply(tables, function(table) as.vector(table[[name]][1]) %||% NA)))
    v[[name]] <- rep(if (length(own) == 1) own else NA, nrow(rows))
  }
  block <- vctrs::vec_group_id(vctrs::new_data_frame(as.list(rows[!idle, c("site", "round", "t")])))
  number <- replace(rep(NA_real_, nrow(rows)), !idle, as.double(block))
  strata <- unique(unlist(lapply(tables, strata_of)))
  if (length(strata)) {
    tables <- lapply(tables, as.list)
    for (i in seq_along(tables)) tables[[i]]$stratum <- as.character(tables[[i]]$stratum)
    v$stratum <- factor(site_column(tables, rows, "stratum"), strata)
  }
  v <- c(v, list(t = rows$t, event = rows$event, block = number,
                 arm = if (is.factor(arm)) factor(labels[rows$arm], labels) else labels[rows$arm],
                 site = factor(names(tables)[rows$site], names(tables))))
  out <- check_releases(new_releases(v, site_guarantees(tables)), "x")
  inform_waiting(stats::setNames(pmax(made - all_have, 0), names(tables)))
  out
}

# The strata of a table, also those of which nothing was released; NULL: it has none
strata_of <- function(table) {
  of <- table[["stratum"]]
  if (is.factor(of)) levels(of) else unique(as.character(of))
}

site_column <- function(tables, rows, name) {
  out <- vector(mode(tables[[1]][[name]] %||% OPTIONAL[[name]]), nrow(rows))
  for (i in unique(rows$site)) {
    at <- rows$site == i
    out[at] <- (tables[[i]][[name]] %||% rep(OPTIONAL[[name]], nrow(tables[[i]])))[rows$row[at]]
  }
  out
}

# A person is at one site, so that each site's guarantee is that of its people.
site_guarantees <- function(tables) {
  all <- lapply(tables, attr, "guarantees")
  if (any(lengths(all) != 1)) return(NULL)
  if (all(vapply(all, identical, NA, all[[1]]))) return(all[[1]])
  stats::setNames(lapply(all, `[[`, 1), sprintf("%s at %s", vapply(all, names, ""), names(all)))
}

inform_waiting <- function(waiting) {
  waiting <- waiting[waiting > 0]
  if (!length(waiting)) return(invisible())
  each <- sprintf("%s of \"%s\"", vapply(waiting, count_noun, "", "release", "releases"), names(waiting))
  inform_once("sites_waiting", class = "dpts_message_sites", message = c(
    sprintf("%s %s for other sites.", words_list(each), if (sum(waiting) == 1) "waits" else "wait"),
    i = paste("A release counts once every site has as many, so that it keeps its place at all later looks;",
              "`ended` of `dpts_releases()` names sites that release no more.")
  ))
}

#' @rdname effects
#' @export
effects.list <- effects.dpts_simulation

#' @rdname estimates
#' @export
estimates.list <- estimates.dpts_releases
