# The recipes of CONTRIBUTING.md, followed: toys are added to a copy of the package as it says, which is built, and
# played by recipes/run.R. The objects that are built say whether calls in C keep to the floors.

skip_on_cran() # takes seconds

# A recipe: files that are new (they are in recipes/), and what goes into files that are there, at a line.
recipe <- function(..., into = list()) list(new = c(character(), ...), into = into)
into <- function(file, at, before = NULL, after = NULL) list(file = file, at = at, before = before, after = after)

RECIPES <- list(
  policy = recipe("src/policy_toy.c", "R/policy-toy.R",
                  into = list(into("src/policy.c", "#define POLICIES(_)", after = "  _(toy) \\"))),
  accountant = recipe("R/accountant-toy.R", into = list(
    into("R/privacy-accountant.R", "ACCOUNTANTS <- c(", after = "ACCOUNTANTS <- c(ACCOUNTANTS, \"toy\")")
  )),
  distribution = recipe("R/arms-toy.R", into = list(into(
    "src/play_arms.c", "static const distribution_t DISTRIBUTIONS[]",
    before = c("static double toy_draw(const arms_t *arms, int arm, rng_t *rng) {",
               "  return pow(rng_unif(rng), 1 / *arms->source[arm].par);", "}", ""),
    after = "    {\"toy\", 1, toy_draw, NULL, NULL},"
  ))),
  world = recipe("src/play_world_toy.c", "R/arms-toy-world.R",
                 into = list(into("src/play_environment.c", "#define WORLDS(_)", after = "  _(toy) \\"))),
  observer = recipe("src/play_observer_toy.c", into = list(
    into("src/play_observer.c", "#define OBSERVERS(_)", after = "  _(toy) \\"),
    into("R/observe.R", "OBSERVERS <- list(", after = "  toy = list(when = \"always\", column = \"first\"),")
  )),
  rule = recipe("src/policy_evidence_toy.c", into = list(
    into("src/policy_evidence.c", "#define MARTINGALES(_)", after = "  _(toy)               \\"),
    into("R/evidence-kinds.R", "EVIDENCE <- list(", after = c(
      "  toy = list(fits = function(design) NULL, bounds = function(design) TRUE, drifts = FALSE, by_block = FALSE),"
    ))
  )),
  store = recipe("R/agent-store-toy.R", into = list(into(
    "R/agent.R", "  if (is.null(store) && create)", after = "  if (identical(store, \"toy:\")) return(store_toy())"
  )))
)

follow <- function(recipe, root) {
  for (new in recipe$new) file.copy(test_path("recipes", basename(new)), file.path(root, new))
  for (change in recipe$into) {
    path <- file.path(root, change$file)
    code <- readLines(path)
    at <- which(startsWith(code, change$at))
    expect_length(at, 1)
    writeLines(c(code[seq_len(at - 1)], change$before, code[at], change$after, code[-seq_len(at)]), path)
  }
}

contents <- function(root) tools::md5sum(list.files(root, full.names = TRUE, recursive = TRUE))

test_that("what CONTRIBUTING.md says is enough for a policy, a guarantee, an accountant, arms, an observer, a stopping rule and a store", {
  skip_if_not(file.exists(test_path("..", "..", "CONTRIBUTING.md")), "the sources are here")
  root <- file.path(withr::local_tempdir(), "dpts")
  library <- withr::local_tempdir()
  guide <- readLines(test_path("..", "..", "CONTRIBUTING.md"))
  expect_lte(length(guide), 150) # what is longer is not read
  guide <- paste(guide, collapse = "\n")
  dir.create(root)
  for (part in c("R", "src")) {
    dir.create(file.path(root, part))
    files <- list.files(test_path("..", "..", part), "\\.(R|c|h|win)$|^Makevars$", full.names = TRUE)
    file.copy(files, file.path(root, part), copy.date = TRUE)
  }
  file.copy(test_path("..", "..", c("DESCRIPTION", "NAMESPACE", "data", "inst")), root, recursive = TRUE)

  touched <- sapply(RECIPES, function(recipe) {
    before <- contents(root)
    follow(recipe, root)
    for (change in recipe$into) expect_true(grepl(change$file, guide, fixed = TRUE), label = change$file)
    now <- contents(root)
    length(setdiff(paste(names(now), now), paste(names(before), before)))
  })
  expect_identical(touched, c(policy = 3L, accountant = 2L, distribution = 2L, world = 3L,
                              observer = 3L, rule = 3L, store = 2L))

  # Without optimisation it is built in a third of the time, by the user's compiler, which may have a cache.
  run <- function(command, args) suppressWarnings(system2(file.path(R.home("bin"), command), args, stdout = TRUE, stderr = TRUE))
  compiler <- utils::tail(run("R", c("CMD", "config", "CC")), 1)
  withr::local_envvar(R_MAKEVARS_USER = file.path(library, "Makevars"), DPTS_TOYS = library, MAKEFLAGS = "-j2",
                      R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep), R_TESTS = "")
  writeLines(c(paste("CC =", compiler), "CFLAGS = -O0"), file.path(library, "Makevars"))
  built <- run("R", c("CMD", "INSTALL", "--no-byte-compile", "--no-help", "--no-data", "--no-test-load",
                      paste0("--library=", library), root))
  expect_null(attr(built, "status"), info = paste(utils::tail(built, 20), collapse = "\n"))
  played <- run("Rscript", test_path("recipes", "run.R"))
  expect_identical(utils::tail(played, 1), "all toys run", info = paste(played, collapse = "\n"))

  skip_if(Sys.which("nm") == "", "nm, which reads objects, is not there")
  src <- file.path(root, "src")
  uses <- links(src)
  expect_gt(sum(lengths(uses)), 250)
  expect_identical(upward(uses, floors()), character())
  expect_identical(names(rings(uses)), character())

  # Calls that break both rules are seen.
  plant <- function(file, code) {
    writeLines(code, file.path(src, paste0(file, ".c")))
    withr::with_dir(src, run("R", c("CMD", "COMPILE", paste0(file, ".c"))))
  }
  plant("math_planted", "double planted(void) { double planted_too(void); return planted_too(); }")
  plant("noise_planted", "double planted_too(void) { double planted(void); return planted(); }")
  uses <- links(src)
  expect_identical(upward(uses, floors()), "math_planted.o -> noise_planted.o")
  expect_setequal(names(rings(uses)), c("math_planted.o", "noise_planted.o"))
})
