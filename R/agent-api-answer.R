# What answers of the service are made of.

# A value that takes long to compute, kept in `owner` (an environment) for 20 times its computing time, or for
# `most` seconds
cached <- function(owner, name, compute, most = Inf) {
  began <- seconds_now()
  old <- owner$cache[[name]]
  if (!is.null(old) && began < old$until) return(old$value)
  value <- compute()
  took <- seconds_now() - began
  owner$cache[[name]] <- list(value = value, until = began + took + min(most, 20 * took))
  value
}

package_version_text <- function() as.character(utils::packageVersion("dpts"))

api_answer <- function(status, body, ...) {
  headers <- list(
    "Content-Type" = "application/json; charset=utf-8", "Cache-Control" = "no-store",
    "X-Content-Type-Options" = "nosniff")
  own <- list(...)
  headers[names(own)] <- own
  structure(list(status = status, headers = headers, body = body), class = "dpts_answer")
}

api_error <- function(status, error, message, ...) {
  answer <- api_answer(as.integer(status), api_json(list(error = error, message = message)), ...)
  answer$error <- error
  answer
}

api_json <- function(value) .Call(C_json, value)

abort_body <- function(message, class = "dpts_error_body") abort_dpts(message, class)
