# Which agents a service serves.

# `single`: is it one agent, without a name in its paths? `names(wanted)`: of those that are served; where
# `wanted` is not among them, new ones are looked for. `find(name)`: an agent, which is opened when it is
# asked for; `most` are kept open. `step(name)`: a part of opening it: TRUE as long as there are more;
# `is_open(name)`. `at_hand()`: names of so many, first of all of those that are open; their order does not
# tell which was asked for last.
# `titles()`: what the experiments are called, NA: nothing, or not known yet: of those some are read in each
# call, for a twentieth of a second. `check()`: an error if no agent can be served at all.
# `close(all)`: those that were opened here, or all.
agent_registry <- function(x, most = 100) {
  from <- agent_source(x)
  agents <- from$agents
  open <- from$open
  single <- isTRUE(from$single)
  titles <- lapply(agents, function(agent) agent$terms$name %||% NA_character_)
  given <- names(agents)
  known <- c(given, from$look())
  looked <- seconds_now()
  opening <- list() # those that are not open yet, by name
  step <- function(name) {
    if (!is.null(agents[[name]])) return(FALSE)
    if (is.null(opening[[name]])) {
      opening[[name]] <<- open(name)
      return(TRUE)
    }
    done <- FALSE
    on.exit(if (!done) {
      opening[[name]]$agent$store$close()
      opening[[name]] <<- NULL
    })
    more <- opening[[name]]$step()
    done <- TRUE
    if (!more) {
      agents[[name]] <<- opening[[name]]$agent
      opening[[name]] <<- NULL
    }
    more
  }
  find <- function(name) {
    if (is.null(open) || identical(utils::tail(names(agents), 1), name)) return(agents[[name]])
    while (step(name)) NULL
    agent <- agents[[name]]
    titles[[name]] <<- agent$terms$name %||% NA_character_
    # Who was asked for last is last.
    agents <<- c(agents[names(agents) != name], stats::setNames(list(agent), name))
    if (length(agents) > most) {
      agent_close(agents[[1]])
      agents <<- agents[-1]
    }
    agent
  }
  if (single) find(known)
  list(
    single = single, only = if (single) known,
    names = function(wanted = NULL) {
      if (!is.null(open) && !single && !isTRUE(wanted %in% known) && seconds_now() - looked > 1) {
        known <<- from$look()
        looked <<- seconds_now()
      }
      known
    },
    find = find, step = step, is_open = function(name) !is.null(agents[[name]]),
    titles = function() {
      began <- seconds_now()
      for (name in setdiff(known, names(titles))) {
        if (seconds_now() - began > 0.05) break
        # One that cannot be opened now is served to nobody, and listed all the same.
        titles[[name]] <<- tryCatch(title_of(from$peek(name)), error = function(e) NULL) %||% NA_character_
      }
      vapply(known, function(name) titles[[name]] %||% NA_character_, "", USE.NAMES = FALSE)
    },
    check = function() if (is.null(from$check)) check_any(agents) else from$check(),
    at_hand = function() {
      some <- utils::head(union(names(agents), known), most)
      some[order(match(some, known))]
    },
    close = function(all) {
      for (begun in opening) begun$agent$store$close()
      for (name in names(agents)) if (all || !name %in% given) agent_close(agents[[name]])
    }
  )
}

# Where agents come from: `agents` that are open already; or `look()`, the names of those that are there,
# `open(name)`, which begins to open one as begin_opening() does, `peek(name)`, the store of one, and
# `check()`, an error if there is none to be had; `single`: it is one
agent_source <- function(x) {
  path <- is.character(x) && length(x) == 1 && !is.na(x)
  if (path) need_package(c("DBI", "RSQLite"), "for an agent") # loaded now, and not at the first customer
  if (inherits(x, "dpts_agent")) {
    agent <- check_agent(x, arg = "agent")
    list(agents = stats::setNames(list(agent), agent$terms$name %||% "agent"), single = TRUE,
         look = function() NULL)
  } else if (is.list(x) && !is.object(x)) {
    named <- length(names(x)) && all(nzchar(names(x))) && !anyDuplicated(names(x))
    if (!named || !all(vapply(x, inherits, NA, "dpts_agent"))) {
      abort_arg("agent", "a list of agents, each with a name of its own", x)
    }
    for (agent in x) check_agent(agent)
    names(x) <- as_utf8(names(x))
    list(agents = x, look = function() NULL)
  } else if (path && dir.exists(x)) {
    file <- function(name) file.path(x, paste0(from_utf8(name), ".sqlite"))
    list(look = function() as_utf8(sub("\\.sqlite$", "", list.files(x, "\\.sqlite$"))),
         open = function(name) begin_opening(file(name)),
         peek = function(name) store_sqlite_file(file(name), FALSE, "agent"),
         check = function() if (file.access(x, 5) != 0) abort_store("the folder cannot be read"))
  } else if (inherits(x, "PqConnection")) {
    list(look = function() postgres_agents(x),
         open = function(name) in_schema(x, name, begin_opening(x)),
         peek = function(name) in_schema(x, name, store_postgres(x)),
         check = function() with_store_errors(DBI::dbGetQuery(x, "SELECT 1")))
  } else if (path && file.exists(x)) {
    list(single = TRUE, look = function() as_utf8(sub("\\.[^.]*$", "", basename(x))),
         open = function(name) begin_opening(x))
  } else {
    abort_arg("agent", paste("an agent, a named list of agents, the path of a SQLite file or of a folder, or",
                             "a connection of RPostgres"), x)
  }
}

# The title of the agent in a store, which is closed
title_of <- function(store) {
  force(store) # or one that cannot be opened would be opened again to close it
  on.exit(store$close())
  read_definition(store)$terms$name
}

# The schemas of a database that hold an agent
postgres_agents <- function(con) {
  with_store_errors(DBI::dbGetQuery(con, "SELECT n.nspname AS name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = 'dpts_agent' AND has_schema_privilege(n.oid, 'USAGE') ORDER BY 1")$name)
}

# What an expression finds in a schema of a database
in_schema <- function(con, schema, expr) {
  with_store_errors({
    before <- DBI::dbGetQuery(con, "SHOW search_path")[[1]]
    on.exit(DBI::dbExecute(con, paste("SET search_path =", before)))
    DBI::dbExecute(con, paste("SET search_path =", DBI::dbQuoteIdentifier(con, schema)))
  })
  expr
}

# An error if none of these agents is there: the first one's
check_any <- function(agents) {
  first <- NULL
  for (name in names(agents)) {
    error <- tryCatch({
      check_there(agents[[name]])
      NULL
    }, error = identity)
    if (is.null(error)) return(invisible())
    error$experiment <- name # for the log
    first <- first %||% error
  }
  if (!is.null(first)) stop(first)
}
