# Worlds: how a problem's arms change, or where their rewards come from. `arms$world` is NULL for arms that
# are drawn in C and the same in every round. Else it has a kind, which is that of src/play_world_*.c and
# src/play_supply.c, and a class, `dpts_world_KIND`, whose methods are beside its constructor:
#
#   world_sound(world, arms)   is everything in it that the engine reads?
#   world_parts(world, arms)   the arms that it is made of; usually these
#   world_means(world, arms, n, seed, run)   in the rounds 1 to n of a run; usually asked of C
#   world_shown(world)         how many rounds a plot shows
#   world_supply(world, ...)   the next rewards, where R draws them (R/supply.R)

# `...`: What the world consists of; its numbers have the names that its kind in C asks for.
# `changing`: Do means change from round to round?
# `waits`: Does the engine wait for R, or stop, when rewards run out?
new_world <- function(kind, ..., changing = FALSE, waits = FALSE) {
  structure(list(kind = kind, ..., changing = changing, waits = waits),
            class = c(paste0("dpts_world_", kind), "dpts_world"))
}

# Rewards of some arms or all come from R
# `draw`: For each arm, a list of the function that draws and the arm's number for it; or NULL.
world_supplied <- function(draw) new_world("supplied", draw = draw, waits = TRUE)

n_arms <- function(arms) length(arms$mean)

# The arms' names, or their numbers
arm_labels <- function(arms) names(arms$mean) %||% as.character(seq_len(n_arms(arms)))

# Arms that are given by name or by number, as numbers
arm_numbers <- function(x, labels, arg, must) {
  if (is.factor(x)) x <- as.character(x)
  at <- if (is.character(x)) match(as_utf8(x), as_utf8(labels)) else
    if (is.numeric(x)) match(x, seq_along(labels))
  if (!length(at) || anyNA(at)) abort_arg(arg, must, if (length(at)) x[is.na(at)][1] else x)
  at
}

# The widest gap between two means that a round can have; Inf where that is not known
largest_gap <- function(arms) {
  if (!is_changing(arms) && is.null(arms$contexts)) return(max(arms$gap))
  parts <- world_parts(arms$world, arms)
  if (length(parts) > 1) max(vapply(parts, largest_gap, 0)) else diff(arms$range)
}

world_kind <- function(arms) arms$world$kind %||% "stationary"

is_changing <- function(arms) isTRUE(arms$world$changing)

world_sound <- function(world, arms) UseMethod("world_sound")
#' @export
world_sound.default <- function(world, arms) is.null(world)

world_parts <- function(world, arms) UseMethod("world_parts")
#' @export
world_parts.default <- function(world, arms) list(arms)

world_means <- function(world, arms, n, seed, run) UseMethod("world_means")
#' @export
world_means.default <- function(world, arms, n, seed, run) {
  if (!is_changing(arms)) return(matrix(arms$mean, n, n_arms(arms), byrow = TRUE))
  range <- arms_scale(arms)
  .Call(C_world_means, world_kernel(arms), n, seed, run) * diff(range) + range[1]
}

world_shown <- function(world) UseMethod("world_shown")
#' @export
world_shown.default <- function(world) 1000

# The functions of the user's that a world calls
world_functions <- function(world) {
  if (is.null(world)) return(NULL)
  draw <- world$draw
  Filter(is.function, c(if (is.list(draw)) unique(lapply(draw, `[[`, "draw")) else list(draw), world$means))
}

world_supply <- function(world, arms, seed, run, blocks) UseMethod("world_supply")

# What src/r_arms.c reads
world_kernel <- function(arms) {
  world <- arms$world
  list(kind = world_kind(arms), arms = lapply(unname(world_parts(world, arms)), arms_kernel),
       library = if (is.character(world$file)) load_library(world$file, world$source), name = world$name,
       how = if (!is.null(world)) {
         lapply(Filter(function(x) is.numeric(x) || is.logical(x), unclass(world)), as.double)
       })
}

# Arms whose rewards are scaled to [0, 1], as the engine pulls them
arms_kernel <- function(arms) {
  arms <- unclass(arms) # whose `$` is a method
  range <- arms_scale(arms)
  width <- range[2] - range[1]
  list(distribution = arms$distribution, mean = (arms$mean - range[1]) / width,
       gap = arms$gap / width, par = arms$par, unit = all(is.finite(arms$range)),
       contexts = arms$contexts)
}

# The range that the engine scales to [0, 1]: rewards without bounds stay as they are
arms_scale <- function(arms) if (all(is.finite(arms$range))) arms$range else c(0, 1)

# Arms are lists, which may have been edited: is everything in them that the engine reads? What the
# parameters of a distribution must be is in src/play_arms.c.
are_sound <- function(arms) {
  range <- arms$range
  .Call(C_arms_sound, arms) && is.double(range) && length(range) == 2 && isTRUE(range[1] < range[2]) &&
    world_sound(arms$world, arms)
}

# Numbers, so many
are_finite <- function(x, n) is.double(x) && length(x) == n && all(is.finite(x))

# Arms of which a world is made
are_parts <- function(parts, k) {
  length(parts) > 0 && all(vapply(parts, function(x) inherits(x, "dpts_arms") && n_arms(x) == k &&
                                  are_sound(x), NA))
}

# Means of the arms in the rounds 1, 2, ..., n of a run: a column for each arm
arm_means <- function(arms, n, seed = 1, run = 1) {
  means <- world_means(arms$world, arms, n, seed, run)
  dimnames(means) <- list(NULL, arm_labels(arms))
  means
}
