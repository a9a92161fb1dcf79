# Bars of what takes more than two seconds.

seconds_now <- function() proc.time()[["elapsed"]]

# When the outermost of the calls that work in stages began, and whether it shows bars
work <- new.env(parent = emptyenv())

begin_stages <- function(show = interactive(), frame = parent.frame()) {
  if (!is.null(work$began)) return(invisible())
  work$began <- seconds_now()
  work$show <- show
  do.call(on.exit, list(quote(work$began <- work$show <- NULL), add = TRUE), envir = frame)
}

# Seconds until a bar is shown: a call that works in stages, as dpts_recommend(), shows that of a stage once
# two seconds of all have passed.
bar_waits <- function() {
  waited <- if (is.null(work$began)) 0 else seconds_now() - work$began
  max(0, getOption("cli.progress_show_after", 2) - waited)
}

# A function of the work done that moves a bar; NULL ends it. Without a total it counts things. A call that
# has no argument of its own shows what the call around it shows, or what a session at a keyboard does.
progress_bar <- function(show = work$show %||% interactive(), total = 1, name = "Bounding",
                         things = "events", frame = parent.frame()) {
  if (!show) return(function(done) NULL)
  force(frame)
  old <- options(cli.progress_show_after = bar_waits())
  on.exit(options(old))
  id <- cli::cli_progress_bar(
    name, total = total, .envir = frame,
    format = if (is.na(total)) paste("{cli::pb_name} {cli::pb_current}", things, "| {cli::pb_rate}") else
      "{cli::pb_name} {cli::pb_bar} {cli::pb_percent} | {cli::pb_eta_str}"
  )
  function(done) {
    if (is.null(done)) cli::cli_progress_done(id, .envir = frame)
    else cli::cli_progress_update(set = done, id = id, .envir = frame)
  }
}
