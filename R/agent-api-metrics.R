# What a service counts, as Prometheus reads it.

METRIC_SECONDS <- c(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)

# Counters by name and labels, and times by path: how many were no longer than each of METRIC_SECONDS
new_metrics <- function() {
  counts <- new.env(parent = emptyenv())
  times <- new.env(parent = emptyenv())
  list(
    add = function(name, labels) {
      key <- paste(c(name, labels), collapse = " ")
      assign(key, (counts[[key]] %||% 0) + 1, counts)
    },
    time = function(path, took) {
      assign(path, (times[[path]] %||% 0) + c(took <= METRIC_SECONDS, 1, took), times)
    },
    counts = function() mget(ls(counts), counts),
    times = function() mget(ls(times), times)
  )
}

metrics_text <- function(service) {
  labels <- function(names, values) {
    values <- gsub("\n", "\\n", gsub("([\\\\\"])", "\\\\\\1", enc2utf8(as.character(values))), fixed = TRUE)
    sprintf("{%s}", paste0(names, "=\"", values, "\"", collapse = ","))
  }
  metric <- function(name, type, help, lines) {
    c(sprintf("# HELP dpts_%s %s", name, help), sprintf("# TYPE dpts_%s %s", name, type), lines)
  }
  line <- function(name, label, value) sprintf("dpts_%s%s %s", name, label, exactly(value))
  counts <- service$metrics$counts()
  keys <- strsplit(names(counts), " ", fixed = TRUE)
  of <- function(name) which(vapply(keys, `[[`, "", 1) == name)
  times <- service$metrics$times()
  agents <- cached(service, "numbers", function() agent_numbers(service))
  gauge <- function(name, type, help, column) {
    known <- agents[!is.na(agents[[column]]), ]
    metric(name, type, help, vapply(seq_len(nrow(known)), function(i) {
      line(name, labels("experiment", known$experiment[i]), known[[column]][i])
    }, ""))
  }
  paste0(paste(c(
    metric("info", "gauge", "The version of dpts.",
           line("info", labels("version", package_version_text()), 1)),
    metric("requests_total", "counter", "Requests answered.", vapply(of("requests"), function(i) {
      line("requests_total", labels(c("path", "method", "status"), keys[[i]][-1]), counts[[i]])
    }, "")),
    metric("request_seconds", "histogram", "Time to an answer.", unlist(lapply(names(times), function(path) {
      x <- times[[path]]
      n <- length(METRIC_SECONDS) + 1
      bucket <- vapply(c(METRIC_SECONDS, "+Inf"), function(le) labels(c("path", "le"), c(path, le)), "")
      c(line("request_seconds_bucket", bucket, x[seq_len(n)]),
        line("request_seconds_sum", labels("path", path), x[n + 1]),
        line("request_seconds_count", labels("path", path), x[n]))
    }))),
    metric("store_errors_total", "counter", "Requests that failed because of a store.",
           line("store_errors_total", "", sum(unlist(counts[of("store_errors")])))),
    gauge("experiment_up", "gauge", "Can the experiment be read?", "up"),
    gauge("choices_total", "counter", "Rounds so far.", "choices"),
    gauge("tickets_out", "gauge", "Tickets that are not resolved.", "out"),
    gauge("releases", "gauge", "Releases in the sums that are shown.", "releases"),
    gauge("guard_pauses_total", "counter", "Arms that a guard has paused so far.", "guards")
  ), collapse = "\n"), "\n")
}

# What an agent has done; one that cannot be read now is not up, and counts as an error
experiment_numbers <- function(service, name) {
  tryCatch({
    agent <- service$agents$find(name)
    pulls <- pulls(agent)
    guards <- if (!is.null(agent$terms$outcomes)) agent_look(agent, function(tx) agent$store$count("guard"))
    data.frame(experiment = name, up = 1, choices = sum(pulls$pulls), out = sum(pulls$outstanding),
               releases = sum(session_arms(agent$session)$releases),
               guards = guards %||% NA)
  }, error = function(e) {
    service$metrics$add("store_errors", "")
    service$log(event = "error", error = "store", experiment = name, message = conditionMessage(e))
    data.frame(experiment = name, up = 0, choices = NA, out = NA, releases = NA, guards = NA)
  })
}

agent_numbers <- function(service) {
  none <- data.frame(experiment = character(), up = numeric(), choices = numeric(), out = numeric(),
                     releases = numeric(), guards = numeric())
  found <- service$numbers
  service$numbers <- NULL
  do.call(rbind, c(list(none), lapply(service$agents$at_hand(), function(name) {
    found[[name]] %||% experiment_numbers(service, name)
  })))
}

# Agent by agent: others are answered between them.
metrics_parts <- function(service, given = NULL) {
  if (is_cached(service, "numbers")) return(NULL)
  unlist(lapply(service$agents$at_hand(), function(name) list(
    function() service$agents$step(name),
    function() service$numbers[[name]] <- service$numbers[[name]] %||% experiment_numbers(service, name)
  )))
}
