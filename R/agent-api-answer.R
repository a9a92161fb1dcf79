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
    "X-Content-Type-Options" = "nosniff",
    # httpuv sends the head and the body of an answer separately, and the body waits until the client has
    # acknowledged the head. On a connection that stays open clients put that off for 40 ms; on a new one they
    # do not.
    Connection = "close")
  own <- list(...)
  headers[names(own)] <- own
  structure(list(status = status, headers = headers, body = body), class = "dpts_answer")
}

api_error <- function(status, error, message, ...) {
  answer <- api_answer(as.integer(status), api_json(list(error = error, message = message)), ...)
  answer$error <- error
  answer
}

set_response <- function(res, answer) {
  res$status <- answer$status
  for (name in names(answer$headers)) res$setHeader(name, answer$headers[[name]])
  answer$body
}

serializer_as_is <- function() {
  function(value, req, res, errorHandler) {
    res$body <- value
    res$toResponse()
  }
}

api_json <- function(value) {
  as.character(jsonlite::toJSON(value, dataframe = "rows", auto_unbox = TRUE, na = "null", null = "null",
                                digits = NA))
}

abort_body <- function(message, class = "dpts_error_body") abort_dpts(message, class)
