# What answers of the service are made of.

# A value that takes long to compute, kept in `owner` (an environment) for 20 times its computing time, or for
# `most` seconds. `owner$spent`: seconds that parts of it took before
cached <- function(owner, name, compute, most = Inf) {
  if (is_cached(owner, name)) return(owner$cache[[name]]$value)
  began <- seconds_now()
  value <- compute()
  took <- seconds_now() - began + (owner$spent %||% 0)
  owner$spent <- 0
  owner$cache[[name]] <- list(value = value, until = seconds_now() + min(most, 20 * took))
  value
}

is_cached <- function(owner, name) {
  old <- owner$cache[[name]]
  !is.null(old) && seconds_now() < old$until
}

package_version_text <- function() as.character(utils::packageVersion("dpts"))

api_answer <- function(status, body, ...) {
  headers <- list(
    "Content-Type" = "application/json; charset=utf-8", "Cache-Control" = "no-store",
    "X-Content-Type-Options" = "nosniff")
  own <- list(...)
  headers[names(own)] <- own
  structure(list(status = status, headers = headers, body = body), class = "dpts_http_answer")
}

api_error <- function(status, error, message, ...) {
  answer <- api_answer(as.integer(status), api_json(list(error = error, message = message)), ...)
  answer$error <- error
  answer
}

api_json <- function(value) .Call(C_json, value)

abort_body <- function(message, class = "dpts_error_body") abort_dpts(message, class)
