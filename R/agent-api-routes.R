# The requests that a service answers, each said once: dispatch, roles and the description all read this
# table.

# One route. `role`: which token it asks for, "" for none; `agent`: is it about one agent?
# `work`: what it does, a function of the agent (or the service) and of the fields of the body, or, where it
#   has none, of the request.
# `query`, `body`: schemas of what it takes; `answer`: of what it gives; `errors`: statuses of its own.
api_route <- function(method, path, role, id, summary, work, ..., agent = TRUE, answer = NULL, query = NULL,
                      body = NULL, errors = if (agent) "503") {
  list(method = method, path = path, role = role, id = id, summary = summary, work = work, agent = agent,
       answer = answer, query = query, body = body, errors = errors)
}

api_routes <- function() {
  text <- list(type = "string")
  number <- list(type = "number")
  maybe <- list(type = "number", nullable = TRUE)
  flag <- list(type = "boolean")
  nothing <- function(schema) c(schema, nullable = TRUE)
  several <- function(schema) list(oneOf = list(schema, list(type = "array", items = schema)))
  object <- function(...) list(type = "object", required = I(names(list(...))), properties = list(...))
  rows <- function(...) list(type = "array", items = object(...))
  fields <- function(..., required = NULL) {
    c(list(type = "object", additionalProperties = FALSE), if (length(required)) list(required = required),
      list(properties = list(...)))
  }
  chance <- function(default) list(type = "number", minimum = 0, maximum = 1, default = default)
  status <- object(
    name = nothing(text), policy = text, guarantee = text, restored = number, learning = flag, use = text,
    rounds = number,
    horizon = maybe, outstanding = number, arms = rows(arm = text, pulls = number, outstanding = number),
    then = list(type = "string", enum = c("go", "end", "verdict")), winner = nothing(text),
    deadline = maybe, range = list(type = "array", items = number, minItems = 2, maxItems = 2), sums = flag,
    spends = list(type = "string", enum = c("by choice", "once")), guess = maybe,
    shares = rows(t = number, arm = text, share = number))
  named <- object(experiment = text, name = nothing(text))
  list(
    api_route("GET", "/", "", "page", "A page for people", function(service, req) api_page(), agent = FALSE,
              answer = "text/html"),
    api_route("GET", "/openapi.json", "", "describe", "This description",
              function(service, req) api_description(service), agent = FALSE, answer = list(type = "object")),
    api_route("GET", "/health", "", "health", "Is the process there?", function(service, req) {
      list(status = "ok", version = package_version_text())
    }, agent = FALSE, answer = object(status = text, version = text)),
    api_route("GET", "/ready", "", "ready", "Can every store be read?", function(service, req) {
      at_leisure(service, "ready", function() {
        for (name in service$agents$at_hand()) {
          assign("dpts_experiment", name, req) # for the log
          check_there(service$agents$find(name))
        }
        list(status = "ready", experiments = length(service$agents$names()))
      }, most = 2)
    }, agent = FALSE, answer = object(status = text, experiments = number), errors = "503"),
    api_route("GET", "/metrics", "read", "metrics", "Numbers for Prometheus", function(service, req) {
      api_answer(200L, metrics_text(service), "Content-Type" = "text/plain; version=0.0.4; charset=utf-8")
    }, agent = FALSE, answer = "text/plain"),
    api_route("GET", "/experiments", "read", "experiments", "What is served", function(service, req) {
      names <- service$agents$names()
      data.frame(experiment = names, name = vapply(names, function(name) {
        # One that cannot be opened now is served to nobody, and there all the same.
        tryCatch(service$agents$find(name)$terms$name, dpts_error = function(e) NULL) %||% NA_character_
      }, ""), row.names = NULL)
    }, agent = FALSE, answer = list(type = "array", items = named)),
    api_route("POST", "/choose", "choose", "choose", "Choose arms", function(agent, given) {
      n <- given$n %||% 1
      check_count(n, 1, 1000)
      agent_choose(agent, n, offer = api_strings(given$offer), context = given$context,
                   person = api_strings(given$person), key = api_strings(given$key))
    }, body = fields(
      n = list(type = "integer", minimum = 1, maximum = 1000, default = 1),
      offer = c(several(text), description = "The arms on offer; all, if it is left out"),
      context = list(
        description = paste("Numbers, or a list of them for each choice (for each arm, if one model is for",
                            "all); for policies in R any value"),
        oneOf = list(list(type = "array", items = structure(list(), names = character())),
                     list(type = "object"))),
      person = several(text), key = list(type = "string", pattern = "^[-A-Za-z0-9_.:]{1,100}$")
    ), answer = rows(ticket = text, t = maybe, arm = text, probability = maybe),
    errors = c("409", "410", "503")),
    api_route("POST", "/reward", "report", "reward", "Report rewards", function(agent, given) {
      if (length(given$ticket) > 1000) abort_body("`ticket` must be at most 1000 tickets.")
      agent_reward(agent, api_strings(given$ticket), given$reward)
    }, body = fields(ticket = several(text), reward = several(list(oneOf = list(number, flag))),
                     required = c("ticket", "reward")),
    answer = rows(ticket = text, status = list(
      type = "string", enum = c("used", "waiting", "known", "late", "refused", "unknown")))),
    api_route("GET", "/status", "read", "status", "What was chosen", function(agent, req) api_status(agent),
              answer = status),
    api_route("POST", "/finish", "admin", "finish", "End an experiment", function(agent, given) {
      api_status(agent_finish(agent, api_strings(given$then) %||% "end"))
    }, body = fields(then = list(type = "string", enum = c("end", "verdict"), default = "end")),
    answer = status),
    api_route("POST", "/arms", "admin", "arms", "Add, pause, resume or retire arms", function(agent, given) {
      do.call(agent_arms, c(list(agent), lapply(given, api_strings)))
    }, body = fields(add = several(text), retire = several(text), pause = several(text),
                     resume = several(text)),
    answer = rows(arm = text, status = list(type = "string", enum = names(ARM)))),
    api_route("GET", "/overview", "read", "overview", "What the page shows",
              function(agent, req) api_overview(agent), answer = list(type = "object")),
    api_route("GET", "/verdict", "read", "verdict", "The arm proved to be the best, or what is missing",
              function(agent, req) {
      verdict(agent, api_number(req, "delta", 0.05), api_number(req, "margin", 0))
    }, query = list(delta = chance(0.05), margin = chance(0)),
    answer = rows(arm = nothing(text), t = maybe, wrong = number, missing = text)),
    api_route("GET", "/effects", "read", "effects", "Differences of arms, with intervals",
              function(agent, req) {
      effects(agent, req$argsQuery$control, api_number(req, "level", 0.95))
    }, query = list(control = text, level = chance(0.95)),
    answer = rows(arm = text, control = text, difference = maybe, lower = maybe, upper = maybe, p = maybe)),
    api_route("GET", "/evidence", "read", "evidence", "What the released sums prove, in time",
              function(agent, req) {
      evidence(agent, req$argsQuery$kind %||% c("means", "tosses"), delta = api_number(req, "delta", 0.05))
    }, query = list(kind = list(type = "string", enum = c("means", "tosses")), delta = chance(0.05)),
    answer = rows(t = number, arm = text, rival = text, evidence = maybe, line = number, p = number)),
    api_route("GET", "/statement", "read", "statement", "What is promised to people, in words",
              function(agent, req) {
      as.list(unclass(privacy_statement(agent, delta = api_number(req, "delta", 1e-6))))
    }, query = list(delta = chance(1e-6)), answer = list(type = "object", additionalProperties = text)),
    api_route("GET", "/privacy", "read", "privacy", "What was spent", function(agent, req) {
      dpts_privacy(agent, delta = api_number(req, "delta", 10^-(1:12)))
    }, query = list(delta = list(type = "number", minimum = 0, maximum = 1)),
    answer = rows(unit = text, accountant = text, delta = number, epsilon = maybe, spent = maybe)),
    api_route("GET", "/estimates", "read", "estimates", "What the released sums say", function(agent, req) {
      estimates(agent, level = api_number(req, "level", 0.95))
    }, query = list(level = chance(0.95)),
    answer = rows(arm = text, rewards = maybe, releases = maybe, mean = maybe, lower = maybe, upper = maybe))
  )
}

# OpenAPI 3.0
api_description <- function(service) {
  json <- function(schema) list("application/json" = list(schema = schema))
  words <- c("400" = "Bad input", "401" = "No token, or a wrong one", "403" = "A token that may not do this",
             "404" = "No such experiment",
             "409" = "The key came with another call, or no arm on offer takes part",
             "410" = "The experiment has ended: `arm` is its winner", "413" = "The body is too large",
             "429" = "Too many requests", "500" = "The service failed; nothing was changed",
             "503" = "Not now: try again")
  single <- service$agents$single
  text <- list(type = "string")
  one <- function(route) {
    content <- if (!is.character(route$answer)) json(route$answer) else
      stats::setNames(list(list(schema = list(type = "string"))), route$answer)
    statuses <- c(if (length(route$query) || length(route$body)) "400",
                  if (nzchar(route$role)) c("401", "403"),
                  if (route$agent && !single) "404", if (length(route$body)) "413", "429", "500",
                  route$errors)
    if (route$path %in% c("/health", "/ready")) statuses <- setdiff(statuses, "429")
    errors <- lapply(words[sort(unique(statuses))], function(said) {
      list(description = said, content = json(list("$ref" = "#/components/schemas/Error")))
    })
    parameters <- c(
      if (route$agent && !single) list(list(name = "experiment", `in` = "path", required = TRUE,
                                            schema = text)),
      lapply(names(route$query), function(name) {
        list(name = name, `in` = "query", schema = route$query[[name]])
      }))
    entry <- list(operationId = route$id, summary = route$summary)
    if (length(parameters)) entry$parameters <- parameters
    if (length(route$body)) {
      entry$requestBody <- list(required = !is.null(route$body$required), content = json(route$body))
    }
    entry$responses <- c(list("200" = list(description = "Done", content = content)), errors)
    entry$security <- if (nzchar(route$role)) list(list(bearer = list())) else list()
    stats::setNames(list(entry), tolower(route$method))
  }
  paths <- lapply(service$routes, one)
  names(paths) <- vapply(service$routes, function(r) {
    paste0(if (r$agent && !single) "/experiments/{experiment}", r$path)
  }, "")
  list(
    openapi = "3.0.3",
    info = list(title = "Private bandits", version = package_version_text()),
    servers = list(list(url = "/")),
    components = list(
      securitySchemes = list(bearer = list(type = "http", scheme = "bearer")),
      schemas = list(Error = list(type = "object", required = c("error", "message"),
                                  properties = list(error = text, message = text)))),
    paths = paths
  )
}
