# The floors of src/, as the table of CONTRIBUTING.md lists them from below: a named vector, a floor's number for
# each word that names of its files begin with.
floors <- function() {
  guide <- test_path("..", "..", "CONTRIBUTING.md")
  skip_if_not(file.exists(guide), "the sources are here")
  cells <- sub("^\\| *([^|]*)\\|.*", "\\1", grep("^\\| `", readLines(guide), value = TRUE))
  words <- lapply(regmatches(cells, gregexpr("`[^`]+`", cells)), function(x) unique(gsub("[`_]", "", x)))
  stats::setNames(rep(seq_along(words), lengths(words)), unlist(words))
}
floor_of <- function(files, floors) unname(floors[sub("[_.].*", "", basename(files))])

# `uses` names, for each file, those that it uses: the arrows that go to a higher floor.
upward <- function(uses, floors) {
  from <- rep(names(uses), lengths(uses))
  to <- unlist(uses, use.names = FALSE)
  up <- floor_of(to, floors) > floor_of(from, floors)
  paste(from, "->", to)[up]
}

# Files that use each other in circles. What uses nothing, or is used by nothing, is in no circle, and is taken out
# until no more can be.
rings <- function(uses) {
  repeat {
    free <- lengths(uses) == 0 | !names(uses) %in% unlist(uses)
    if (!any(free)) return(uses)
    gone <- names(uses)[free]
    uses <- lapply(uses[!free], setdiff, gone)
  }
}

# These hold a table of all policies, worlds, observers or rules, each of which is named POLICY_name and so on. It is the
# one place from which they are found, and no call.
TABLES <- c(policy.o = "policy_", policy_evidence.o = "martingale_", play_environment.o = "environment_",
            play_observer.o = "observer_")

# Which object uses functions or data of which: read from the symbols of the objects in a folder.
links <- function(folder) {
  objects <- list.files(folder, "\\.o$")
  lines <- withr::with_dir(folder, system2("nm", c("-A", objects), stdout = TRUE))
  parts <- regmatches(lines, regexec("^([^:]+\\.o):[0-9a-fA-F]* *([A-Za-z]) (\\S+)$", lines))
  parts <- do.call(rbind, parts[lengths(parts) == 4])
  object <- parts[, 2]
  symbol <- parts[, 4]
  here <- parts[, 3] != "U" & parts[, 3] == toupper(parts[, 3]) # lower case: of its own
  home <- stats::setNames(object[here], symbol[here])
  used <- parts[, 3] == "U" & symbol %in% names(home)
  listed <- object %in% names(TABLES) & startsWith(symbol, ifelse(object %in% names(TABLES), TABLES[object], ""))
  used <- used & !listed
  uses <- lapply(split(home[symbol[used]], factor(object[used], objects)), unique)
  lapply(uses, unname)
}
