# Schemas of OpenAPI: what a request may have and what its answer has. The description of the service is made
# of them, and requests are checked by them.

API_MAX_BYTES <- 1e6
API_MAX_DEPTH <- 20
API_MAX_CELLS <- 1e6

SCHEMA_TEXT <- list(type = "string")
SCHEMA_NUMBER <- list(type = "number")
SCHEMA_FLAG <- list(type = "boolean")
SCHEMA_OUTCOME <- list(type = "string", default = "reward")
SCHEMA_KEY <- list(type = "string", pattern = "^[-A-Za-z0-9_.:]{1,100}$",
                   description = "a string of at most 100 letters, digits and -_.:")
SCHEMA_ANY <- structure(list(), names = character())

or_null <- function(schema) c(schema, nullable = TRUE)

schema_enum <- function(values, ...) list(type = "string", enum = I(values), ...)

# A probability or a level in a query; `open`: are 0 and 1 none?
schema_chance <- function(default = NULL, open = TRUE) {
  c(list(type = "number", minimum = 0, maximum = 1),
    if (open) list(exclusiveMinimum = TRUE, exclusiveMaximum = TRUE),
    if (length(default)) list(default = default))
}

schema_margin <- function() list(type = "number", minimum = 0, default = 0)

# One value, or a list of up to `most`
schema_several <- function(schema, most = 1e4) {
  list(oneOf = list(schema, list(type = "array", items = schema, minItems = 1, maxItems = most)))
}

# An object of an answer, which has all of these fields, and a list of such
schema_object <- function(...) {
  list(type = "object", required = I(names(list(...))), properties = list(...))
}
schema_rows <- function(...) list(type = "array", items = schema_object(...))

# Rows, of which some have these fields, too
and_some <- function(rows, fields) {
  rows$items$properties <- c(rows$items$properties, fields)
  rows
}

# A request's body: an object with some of these fields, where null is the same as none
schema_body <- function(..., required = NULL) {
  fields <- list(...)
  free <- setdiff(names(fields), required)
  fields[free] <- lapply(fields[free], function(field) {
    if (is.null(field$type) && is.null(field$oneOf)) field else or_null(field)
  })
  c(list(type = "object", additionalProperties = FALSE), if (length(required)) list(required = I(required)),
    list(properties = fields))
}

# Is a value what the schema says? Values are those of jsonlite::parse_json(): scalars, and lists.
fits <- function(x, schema) {
  if (is.null(schema$type) && is.null(schema$oneOf)) return(TRUE)
  if (is.null(x)) return(isTRUE(schema$nullable))
  if (length(schema$oneOf)) return(any(vapply(schema$oneOf, function(each) fits(x, each), NA)))
  if (schema$type == "array") {
    return(is.list(x) && is.null(names(x)) && length(x) >= (schema$minItems %||% 0) &&
             length(x) <= (schema$maxItems %||% Inf) && all(vapply(x, fits, NA, schema$items)))
  }
  if (length(x) != 1 || is.list(x) || is.na(x)) return(FALSE)
  switch(
    schema$type,
    boolean = is.logical(x),
    string = is.character(x) && x %in% (schema$enum %||% x) &&
      (is.null(schema$pattern) || grepl(schema$pattern, x, perl = TRUE, useBytes = TRUE)),
    all_inside(x, schema$minimum %||% -Inf, schema$maximum %||% Inf, isTRUE(schema$exclusiveMinimum),
               FALSE) && (schema$type == "number" || x == trunc(x))
  )
}

# What it says, in words
schema_words <- function(schema) {
  if (length(schema$oneOf)) return(paste(unique(vapply(schema$oneOf, schema_words, "")), collapse = " or "))
  if (length(schema$enum)) return(paste("one of", paste0("\"", schema$enum, "\"", collapse = ", ")))
  switch(
    schema$type,
    boolean = "true or false", string = schema$description %||% "a string",
    integer = sprintf("a whole number from %s to %s", number_text(schema$minimum),
                      number_text(schema$maximum)),
    number = words_number("a number", schema$minimum %||% -Inf, schema$maximum %||% Inf,
                          isTRUE(schema$exclusiveMinimum)),
    array = sprintf("a list of 1 to %s, each %s", number_text(schema$maxItems), schema_words(schema$items))
  )
}

check_fits <- function(x, schema, arg) {
  if (!fits(x, schema)) abort_arg(arg, schema_words(schema), x)
}

# The fields of a request's body; one without a body has none. They are checked as they were sent, and handed
# on as R wants them: a list of numbers is a vector, a list of such lists a matrix.
read_body <- function(req, schema) {
  bytes <- req$bodyRaw %||% req$rook.input$read()
  if (length(bytes) > API_MAX_BYTES) abort_body("The body is too large.", "dpts_error_size")
  text <- if (length(bytes)) json_text(bytes)
  sent <- if (length(bytes)) jsonlite::parse_json(text) else list()
  fields <- schema$properties
  if (length(setdiff(names(sent), names(fields))) || anyDuplicated(names(sent))) {
    abort_body(sprintf("The body may have the fields %s, each once.", paste(names(fields), collapse = ", ")))
  }
  said <- unlist(sent)
  if (is.character(said) && !all(validUTF8(c(said, names(said))))) {
    abort_body("The body has half a character.")
  }
  for (name in union(names(sent), schema$required)) check_fits(sent[[name]], fields[[name]], name)
  given <- if (any(vapply(sent, is.list, NA))) jsonlite::parse_json(text, simplifyVector = TRUE) else sent
  with_defaults(Filter(Negate(is.null), as.list(given)), fields)
}

# The parameters that are in an address
parse_query <- function(text) {
  parts <- strsplit(sub("^\\?", "", text %||% ""), "&", fixed = TRUE)[[1]]
  parts <- parts[nzchar(parts)]
  plain <- decode_address(gsub("+", " ", sub("^[^=]*=?", "", parts), fixed = TRUE))
  name <- decode_address(sub("=.*$", "", parts))
  if (!all(validUTF8(c(name, plain)))) abort_body("The address is no UTF-8.")
  split(plain, factor(name, unique(name)))
}

# Parts of an address as they were meant: %41 is A. A % that begins no byte stays.
decode_address <- function(x) {
  vapply(x, function(part) {
    at <- gregexpr("%(?!00)[0-9A-Fa-f]{2}", part, perl = TRUE, useBytes = TRUE)
    regmatches(part, at) <- lapply(regmatches(part, at), function(hex) {
      vapply(strtoi(substr(hex, 2, 3), 16), function(byte) rawToChar(as.raw(byte)), "")
    })
    Encoding(part) <- "UTF-8"
    part
  }, "", USE.NAMES = FALSE)
}

# The parameters of a request's path
read_query <- function(req, schemas) {
  if (!nzchar(req$QUERY_STRING %||% "")) return(with_defaults(list(), schemas))
  given <- parse_query(req$QUERY_STRING)
  unknown <- setdiff(names(given), names(schemas))
  if (length(unknown)) abort_body(sprintf("There is no parameter \"%s\" here.", substr(unknown[1], 1, 40)))
  for (name in names(given)) {
    text <- given[[name]]
    if (length(text) != 1) abort_body(sprintf("The parameter \"%s\" is there more than once.", name))
    number <- if (schemas[[name]]$type == "number") suppressWarnings(as.numeric(text))
    given[[name]] <- if (is.null(number) || is.na(number)) text else number
    check_fits(given[[name]], schemas[[name]], name)
  }
  with_defaults(given, schemas)
}

with_defaults <- function(given, schemas) {
  for (name in setdiff(names(schemas), names(given))) given[[name]] <- schemas[[name]]$default
  given
}

# The text of a JSON object
json_text <- function(bytes) {
  text <- tryCatch(rawToChar(bytes), error = function(e) NULL)
  if (is.null(text) || !validUTF8(text)) abort_body("The body must be JSON in UTF-8.")
  Encoding(text) <- "UTF-8"
  # (A string of R ends at a NUL. parse_json() never gives back the memory of what it could not read to the
  # end; validate() does.)
  valid <- grepl("^\\s*\\{", text) && !grepl("\\u0000", text, fixed = TRUE) &&
    (length(bytes) <= API_MAX_DEPTH || json_depth(text) <= API_MAX_DEPTH) && jsonlite::validate(text)
  if (valid && json_cells(text) > API_MAX_CELLS) abort_body("The body has too many different names.")
  if (!valid) abort_body("The body must be a JSON object.")
  text
}

# How deep brackets are nested, of JSON or what pretends to be. Parsers recurse.
json_depth <- function(text) {
  bare <- gsub("\"[^\"]*+\"", "", gsub("\\\\.", "", text, perl = TRUE), perl = TRUE)
  bytes <- charToRaw(bare)
  opens <- bytes == as.raw(0x5b) | bytes == as.raw(0x7b)
  closes <- bytes == as.raw(0x5d) | bytes == as.raw(0x7d)
  max(0, cumsum(opens - closes))
}

# How large the data frame is that jsonlite makes of a list of objects: a row for each, a column for each name
json_cells <- function(text) {
  rows <- sum(charToRaw(text) == as.raw(0x7b))
  if (rows < 2) return(rows)
  plain <- gsub("\\\"", "\002", gsub("\\\\", "\001", text, fixed = TRUE), fixed = TRUE)
  names <- regmatches(plain, gregexpr("\"[^\"]*+\"\\s*:", plain, perl = TRUE))[[1]]
  rows * length(unique(names))
}
