# What mutants.R knows of R code. A place in an expression is a path: the numbers by which `[[` comes to it.

is_call_to <- function(e, name) is.call(e) && identical(e[[1]], as.name(name))
is_absent <- function(e, i) identical(e[[i]], quote(expr = ))
get_at <- function(e, path) Reduce(function(e, i) e[[i]], path, e)
set_at <- function(e, path, new) {
  if (!length(path)) return(new)
  e[[path[1]]] <- set_at(e[[path[1]]], path[-1], new)
  e
}

# What a folder assigns at top level: a list of name, expr, file, line
definitions <- function(folder) {
  of_file <- function(path) {
    parsed <- parse(path, keep.source = TRUE)
    lines <- vapply(attr(parsed, "srcref"), `[`, 0L, 1)
    Map(function(e, line) {
      if (is_call_to(e, "<-") && is.name(e[[2]])) {
        list(name = as.character(e[[2]]), expr = e[[3]], file = basename(path), line = line)
      }
    }, as.list(parsed), lines)
  }
  Filter(Negate(is.null), unlist(lapply(list.files(folder, "\\.R$", full.names = TRUE), of_file), recursive = FALSE))
}

# The statements of an expression: what is in braces in functions, and bodies without braces
statements <- function(e, line, path = integer()) {
  if (!is.call(e)) return(NULL)
  if (is_call_to(e, "function")) {
    bare <- if (!is_call_to(e[[3]], "{")) list(list(path = c(path, 3L), line = line))
    return(c(bare, statements(e[[3]], line, c(path, 3L))))
  }
  places <- attr(e, "srcref")
  unlist(lapply(seq_along(e), function(i) {
    if (is_absent(e, i)) return(NULL)
    in_braces <- is_call_to(e, "{") && i > 1
    if (in_braces && !is.null(places)) line <- places[[i]][1]
    c(if (in_braces) list(list(path = c(path, i), line = line)), statements(e[[i]], line, c(path, i)))
  }), recursive = FALSE)
}

# All statements of all definitions, numbered by their rows; `from`: the definition's number
statements_of <- function(code) {
  all <- lapply(seq_along(code), function(i) lapply(statements(code[[i]]$expr, code[[i]]$line), c, from = i))
  all <- unlist(all, recursive = FALSE)
  from <- vapply(all, `[[`, 0L, "from")
  list(from = from, path = lapply(all, `[[`, "path"), line = vapply(all, `[[`, 0L, "line"),
       file = vapply(code, `[[`, "", "file")[from])
}

# Each statement with a mark before it, inner ones first
with_marks <- function(code) {
  all <- statements_of(code)
  for (i in order(-lengths(all$path))) {
    from <- all$from[i]
    at <- all$path[[i]]
    code[[from]]$expr <- set_at(code[[from]]$expr, at, call("{", call(".mark", i), get_at(code[[from]]$expr, at)))
  }
  code[unique(all$from)]
}

OTHERS <- c("<" = "<=", "<=" = "<", ">" = ">=", ">=" = ">", "==" = "!=", "!=" = "==", "+" = "-", "-" = "+", "*" = "/", "/" = "*",
            "&&" = "||", "||" = "&&", "&" = "|", "|" = "&", min = "max", max = "min", pmin = "pmax", pmax = "pmin", any = "all",
            all = "any", floor = "ceiling", ceiling = "floor", which.max = "which.min", which.min = "which.max", head = "tail",
            tail = "head", union = "intersect", intersect = "union", setdiff = "union", nrow = "ncol", seq_len = "seq_along",
            sum = "length", mean = "max", colSums = "rowSums", rowSums = "colSums", cumsum = "identity", rev = "identity",
            sort = "identity", unique = "identity", abs = "identity", sqrt = "identity", is.null = "is.list")

# The single mistakes of an expression: lists of path, what, new
mistakes <- function(e, path = integer()) {
  one <- function(what, new) list(list(path = path, what = what, new = new))
  if (is.numeric(e) && length(e) == 1 && is.finite(e)) {
    return(one(paste(e, "->", e + 1), e + (if (is.integer(e)) 1L else 1)))
  }
  if (isTRUE(e) || isFALSE(e)) return(one(paste(e, "->", !e), !e))
  if (is.character(e) && length(e) == 1 && nzchar(e)) { # most are words of a message
    return(if (stats::runif(1) < 0.2) one(sprintf("\"%.30s\" changed", e), paste0(e, "_")))
  }
  if (!is.call(e)) return(NULL)
  name <- if (is.name(e[[1]])) as.character(e[[1]]) else ""
  if (name == "function") return(mistakes(e[[3]], c(path, 3L)))
  named <- which(nzchar(names(e)))
  own <- c(
    if (name %in% names(OTHERS) && !(name %in% c("+", "-") && length(e) == 2)) {
      one(paste(name, "->", OTHERS[[name]]), set_at(e, 1, as.name(OTHERS[[name]])))
    },
    if (name %in% c("!", "-") && length(e) == 2) one(paste(name, "left out"), e[[2]]),
    if (name %in% c("if", "while")) one(paste(name, "negated"), set_at(e, 2, call("!", call("(", e[[2]])))),
    if (name %in% c("-", "/", "^", "%%") && length(e) == 3) one("operands in the other order", e[c(1, 3, 2)]),
    if (!name %in% c("list", "data.frame", "c", "structure", "switch")) {
      unlist(lapply(named, function(i) one(paste("without", names(e)[i], "="), e[-i])), recursive = FALSE)
    }
  )
  parts <- Filter(function(i) !is_absent(e, i) && (i > 1 || is.call(e[[1]])), seq_along(e))
  c(own, unlist(lapply(parts, function(i) mistakes(e[[i]], c(path, i))), recursive = FALSE))
}

# One mistake in a statement, and not in those that it holds: file, line, name, what, and the changed code; NULL: none
plant <- function(code, all, at) {
  own <- code[[all$from[at]]]
  statement <- get_at(own$expr, all$path[[at]])
  inner <- lapply(statements(statement, 0L), `[[`, "path")
  starts <- function(path, with) identical(as.integer(utils::head(path, length(with))), as.integer(with))
  is_inner <- function(x) any(vapply(inner, starts, NA, path = x$path))
  could <- Filter(Negate(is_inner), mistakes(statement))
  is_last <- utils::tail(all$path[[at]], 1) == length(get_at(own$expr, utils::head(all$path[[at]], -1)))
  if (!is_last && is.call(statement)) could <- c(could, list(list(path = integer(), what = "left out", new = quote({}))))
  if (!length(could)) return(NULL)
  mistake <- could[[sample.int(length(could), 1)]]
  text <- gsub("\\s+", " ", paste(deparse(get_at(statement, mistake$path), 500), collapse = " "))
  list(file = own$file, line = all$line[at], name = own$name, what = sprintf("%.60s: %s", text, mistake$what),
       code = list(list(name = own$name, expr = set_at(own$expr, c(all$path[[at]], mistake$path), mistake$new))))
}
