# Makes data/open_bandit.rda from the small sample of the Open Bandit Dataset.
#
#   Rscript data-raw/open_bandit.R FOLDER
#
# FOLDER (or the environment variable OPEN_BANDIT) holds random-men/ and bts-men/, each with men.csv
# and item_context.csv, as in the folder obd of github.com/st-tech/zr-obp, where the two are
# called random/men and bts/men. Licence: Apache-2.0, inst/licenses/open-bandit-LICENSE.

folder <- c(commandArgs(TRUE), Sys.getenv("OPEN_BANDIT"))[1]
if (!nzchar(folder)) stop("Give the folder of the data.")
pkgload::load_all(quiet = TRUE)

logs <- lapply(c(random = "random", bts = "bts"), function(logger) {
  path <- file.path(folder, c(paste0(logger, "-men"), file.path(logger, "men")))
  read_open_bandit(path[dir.exists(path)][1])
})
# The anonymised levels of the user features have the same meaning in both logs. Letters, the most
# common first over both, say as much as their hashes.
recode <- function(name) {
  all <- unlist(lapply(logs, function(log) as.character(log[[name]])))
  order <- names(sort(-table(all)))
  lapply(logs, function(log) {
    factor(letters[match(log[[name]], order)], levels = letters[seq_along(order)])
  })
}
users <- lapply(c(user_feature_0 = "user_feature_0", user_feature_1 = "user_feature_1"), recode)
parts <- lapply(names(logs), function(logger) {
  log <- logs[[logger]]
  features <- lapply(users, `[[`, logger)
  tibble::tibble(
    logger = factor(logger, levels = names(logs)),
    arm = log$arm, reward = as.integer(log$reward),
    propensity = log$propensity, position = log$position,
    !!!features,
    context_constant = 1L,
    context_position_2 = as.integer(log$position == "2"),
    context_position_3 = as.integer(log$position == "3"),
    context_user_0_2 = as.integer(features$user_feature_0 == "b"),
    context_user_0_3 = as.integer(features$user_feature_0 == "c"),
    context_user_1 = as.integer(features$user_feature_1 != "a")
  )
})
open_bandit <- do.call(rbind, parts)
save(open_bandit, file = "data/open_bandit.rda", compress = "xz", version = 2)
