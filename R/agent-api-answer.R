# What requests and answers are made of.

API_MOST_BYTES <- 1e6
API_MOST_DEPTH <- 20

# What work() gave is given again for twenty times as long as that took, and no longer than `most` seconds.
at_leisure <- function(place, name, work, most = Inf) {
  began <- seconds_now()
  old <- place$leisure[[name]]
  if (!is.null(old) && began < old$until) return(old$value)
  value <- work()
  took <- seconds_now() - began
  place$leisure[[name]] <- list(value = value, until = began + took + min(most, 20 * took))
  value
}

package_version_text <- function() as.character(utils::packageVersion("dpts"))

api_answer <- function(status, body, ...) {
  headers <- utils::modifyList(list(
    "Content-Type" = "application/json; charset=utf-8", "Cache-Control" = "no-store",
    "X-Content-Type-Options" = "nosniff",
    # httpuv sends the head and the body of an answer separately, and the body waits until the client has
    # acknowledged the head. On a connection that stays open clients put that off for 40 ms; on a new one they
    # do not.
    Connection = "close"), list(...))
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

# The fields of a JSON object; nothing is one without fields
api_body <- function(req, fields) {
  bytes <- req$bodyRaw
  if (length(bytes) > API_MOST_BYTES) abort_body("The body is too large.", "dpts_error_size")
  if (!length(bytes)) return(list())
  text <- tryCatch(rawToChar(bytes), error = function(e) NULL)
  if (is.null(text) || !validUTF8(text)) abort_body("The body must be JSON in UTF-8.")
  Encoding(text) <- "UTF-8"
  # parse_json() never gives back the memory of what it could not read to the end; validate() does.
  valid <- json_depth(text) <= API_MOST_DEPTH && jsonlite::validate(text)
  given <- if (valid) tryCatch(jsonlite::parse_json(text, simplifyVector = TRUE), error = function(e) NULL)
  if (!is.list(given) || !grepl("^\\s*\\{", text)) abort_body("The body must be a JSON object.")
  unknown <- setdiff(names(given), fields)
  if (length(unknown) || anyDuplicated(names(given))) {
    abort_body(sprintf("The body may have the fields %s, each once.", paste(fields, collapse = ", ")))
  }
  given
}

# How deep brackets are nested, of JSON or what pretends to be. Parsers recurse.
json_depth <- function(text) {
  bare <- gsub("\"[^\"]*+\"", "", gsub("\\\\.", "", text, perl = TRUE), perl = TRUE)
  bytes <- charToRaw(bare)
  opens <- bytes == as.raw(0x5b) | bytes == as.raw(0x7b)
  closes <- bytes == as.raw(0x5d) | bytes == as.raw(0x7d)
  max(0, cumsum(opens - closes))
}

# JSON's empty list is no string, and no NULL either
api_strings <- function(x) if (is.list(x) && !length(x)) character() else x

api_number <- function(req, name, default) {
  text <- req$argsQuery[[name]]
  if (is.null(text)) return(default)
  number <- suppressWarnings(as.numeric(text[[1]]))
  if (length(text) != 1 || is.na(number)) abort_arg(name, "a number", text[[1]])
  number
}
