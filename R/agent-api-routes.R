# The requests that a service answers. Dispatch, roles, checks, the description and the help read one table,
# api_routes().

# One route. `role`: which token it asks for, "" for none; `agent`: is it about one agent?
# `like`: the function of R whose value the answer is; what is sent has the names of its arguments.
# `work`: what it does, if that is not all: a function of the agent (or the service) and of a list of what
# was sent. `query`, `body`: schemas of what may be sent; `answer`: of what it gives; `errors`: statuses that
# not every route may have.
api_route <- function(method, path, role, id, summary, work = call_like, ..., like = NULL, agent = TRUE,
                      answer = NULL, query = NULL, body = NULL, errors = NULL, parts = NULL) {
  call_like <- function(agent, given) do.call(like, c(list(agent), given))
  list(method = method, path = path, role = role, id = id, summary = summary, work = work, like = like,
       agent = agent, answer = answer, query = query, body = body, errors = errors, parts = parts)
}

api_routes <- function() c(choice_routes(), report_routes(), operator_routes(), service_routes())

# Choices and rewards ----

choice_routes <- function() list(
  api_route("POST", "/choose", "choose", "choose", "Choose arms", like = "agent_choose",
            body = choose_body(), errors = c("409", "410"), answer = schema_rows(
              ticket = SCHEMA_TEXT, t = or_null(SCHEMA_NUMBER), arm = SCHEMA_TEXT,
              probability = or_null(SCHEMA_NUMBER))),
  api_route("POST", "/reward", "report", "reward", "Report rewards", like = "agent_reward",
            body = schema_body(ticket = schema_several(SCHEMA_TEXT, 1000),
                               reward = schema_several(list(oneOf = list(SCHEMA_NUMBER, SCHEMA_FLAG)), 1000),
                               outcome = SCHEMA_OUTCOME, key = SCHEMA_KEY,
                               required = c("ticket", "reward")),
            answer = schema_rows(ticket = SCHEMA_TEXT, status = schema_enum(
              c("used", "waiting", "known", "late", "refused", "unknown")))),
  api_route("POST", "/return", "report", "return", "Give back tickets that nobody used", api_return,
            like = "agent_return", errors = "410",
            body = schema_body(ticket = schema_several(SCHEMA_TEXT, 1000), required = "ticket"),
            answer = schema_rows(ticket = SCHEMA_TEXT, status = schema_enum("returned")))
)

choose_body <- function() schema_body(
  n = list(type = "integer", minimum = 1, maximum = 1000, default = 1),
  offer = c(schema_several(SCHEMA_TEXT), description = "The available arms; all, if it is left out"),
  context = c(SCHEMA_ANY, description = paste(
    "Numbers, or a list of them for each choice (for each arm, if one model is for all);",
    "for policies in R any value")),
  person = schema_several(SCHEMA_TEXT),
  key = SCHEMA_KEY,
  predicted = c(schema_several(or_null(SCHEMA_NUMBER), 1000), description = paste(
    "Of a policy with predictions: the reward that is expected of each person;",
    "null where nothing is known")),
  stratum = c(schema_several(SCHEMA_TEXT), description = "Of an agent with strata: to which a person belongs")
)

api_return <- function(agent, given) {
  agent_return(agent, given$ticket)
  data.frame(ticket = given$ticket, status = "returned")
}

# What was published ----

report_routes <- function() list(
  api_route("GET", "/status", "read", "status", "What was chosen: see below",
            function(agent, given) api_status(agent), answer = status_answer()),
  api_route("GET", "/overview", "read", "overview", "What the page shows",
            function(agent, given) api_overview(agent), answer = list(type = "object"),
            parts = overview_parts),
  api_route("GET", "/verdict", "read", "verdict", "The arm declared the best, or what is missing",
            conclude_route("verdict"), like = "verdict", parts = conclude_parts("verdict"),
            query = list(error = schema_chance(0.05), margin = schema_margin(), outcome = SCHEMA_OUTCOME),
            answer = schema_rows(arm = or_null(SCHEMA_TEXT), t = or_null(SCHEMA_NUMBER),
                                 wrong = SCHEMA_NUMBER, missing = SCHEMA_TEXT)),
  api_route("GET", "/effects", "read", "effects", "Differences of arms, with intervals",
            conclude_route("effects"), like = "effects", parts = conclude_parts("effects"),
            query = list(control = SCHEMA_TEXT, level = schema_chance(0.95), by = schema_enum("stratum"),
                         outcome = SCHEMA_OUTCOME),
            answer = and_some(schema_rows(arm = SCHEMA_TEXT, control = SCHEMA_TEXT,
                                          difference = or_null(SCHEMA_NUMBER), lower = or_null(SCHEMA_NUMBER),
                                          upper = or_null(SCHEMA_NUMBER), p = or_null(SCHEMA_NUMBER)),
                              list(stratum = SCHEMA_TEXT))),
  api_route("GET", "/evidence", "read", "evidence", "What the released sums prove, in time",
            conclude_route("evidence"), like = "evidence", parts = conclude_parts("evidence"),
            answer = evidence_answer(),
            query = list(kind = schema_enum(names(EVIDENCE)), against = SCHEMA_NUMBER,
                         error = schema_chance(0.05), outcome = SCHEMA_OUTCOME)),
  api_route("GET", "/releases", "read", "releases", "The noisy sums that were released",
            like = "dpts_releases", answer = releases_answer()),
  api_route("GET", "/estimates", "read", "estimates", "What the released sums say",
            like = "estimates", query = list(level = schema_chance(0.95), outcome = SCHEMA_OUTCOME),
            answer = schema_rows(arm = SCHEMA_TEXT, rewards = or_null(SCHEMA_NUMBER),
                                 releases = or_null(SCHEMA_NUMBER), mean = or_null(SCHEMA_NUMBER),
                                 lower = or_null(SCHEMA_NUMBER), upper = or_null(SCHEMA_NUMBER))),
  api_route("GET", "/privacy", "read", "privacy", "What was spent", like = "dpts_privacy",
            query = list(delta = schema_chance(open = FALSE)),
            answer = schema_rows(unit = SCHEMA_TEXT, accountant = SCHEMA_TEXT, delta = SCHEMA_NUMBER,
                                 epsilon = or_null(SCHEMA_NUMBER), spent = or_null(SCHEMA_NUMBER))),
  api_route("GET", "/statement", "read", "statement", "The guarantee to people, in words", api_statement,
            like = "privacy_statement", query = list(delta = schema_chance(1e-6)),
            answer = list(type = "object", additionalProperties = SCHEMA_TEXT))
)

evidence_answer <- function() {
  and_some(schema_rows(t = SCHEMA_NUMBER, arm = SCHEMA_TEXT, evidence = or_null(SCHEMA_NUMBER),
                       line = SCHEMA_NUMBER, p = SCHEMA_NUMBER),
           list(rival = SCHEMA_TEXT, against = SCHEMA_NUMBER, side = schema_enum(c("above", "below"))))
}

releases_answer <- function() {
  number <- or_null(SCHEMA_NUMBER)
  rows <- schema_rows(
    t = SCHEMA_NUMBER, block = number, arm = SCHEMA_TEXT, n = SCHEMA_NUMBER, sum = SCHEMA_NUMBER,
    squares = number, noise = schema_enum(names(LAWS)), scale = SCHEMA_NUMBER, terms = SCHEMA_NUMBER,
    correlation = SCHEMA_NUMBER, chance = number, floor = number, whole = SCHEMA_FLAG, low = SCHEMA_NUMBER,
    high = SCHEMA_NUMBER)
  optional <- lapply(OPTIONAL, function(value) number) # columns that are there where a row needs them
  optional[c("permuted", "event", "outcome", "looks", "stratum")] <-
    list(SCHEMA_FLAG, or_null(schema_enum(EVENTS)), SCHEMA_TEXT, or_null(SCHEMA_TEXT), SCHEMA_TEXT)
  and_some(rows, optional)
}

status_answer <- function() schema_object(
  name = or_null(SCHEMA_TEXT), policy = SCHEMA_TEXT, guarantee = SCHEMA_TEXT, restored = SCHEMA_NUMBER,
  learning = SCHEMA_FLAG, use = SCHEMA_TEXT, rounds = SCHEMA_NUMBER, horizon = or_null(SCHEMA_NUMBER),
  outstanding = SCHEMA_NUMBER, clipped = or_null(SCHEMA_NUMBER),
  arms = schema_rows(arm = SCHEMA_TEXT, pulls = SCHEMA_NUMBER, outstanding = SCHEMA_NUMBER),
  then = schema_enum(c("go", "end", "verdict")), winner = or_null(SCHEMA_TEXT),
  deadline = or_null(SCHEMA_NUMBER), window = or_null(SCHEMA_NUMBER),
  range = list(type = "array", items = SCHEMA_NUMBER, minItems = 2, maxItems = 2), sums = SCHEMA_FLAG,
  spends = schema_enum(c("by choice", "once")), guess = or_null(SCHEMA_NUMBER),
  often = schema_rows(rewards = SCHEMA_NUMBER, guess = or_null(SCHEMA_NUMBER)),
  shares = schema_rows(t = SCHEMA_NUMBER, arm = SCHEMA_TEXT, share = SCHEMA_NUMBER),
  outcomes = schema_rows(outcome = SCHEMA_TEXT, about = SCHEMA_TEXT, waiting = SCHEMA_NUMBER,
                         guard = or_null(SCHEMA_NUMBER),
                         worse = list(type = "array", items = SCHEMA_TEXT))
)

api_statement <- function(agent, given) {
  as.list(unclass(do.call(privacy_statement, c(list(agent), given))))
}

# For operators ----

operator_routes <- function() list(
  api_route("POST", "/finish", "admin", "finish", "End an experiment; answers as `/status`",
            function(agent, given) api_status(do.call(agent_finish, c(list(agent), given))),
            answer = status_answer(),
            body = schema_body(then = schema_enum(c("end", "verdict"), default = "end"),
                               reason = SCHEMA_TEXT)),
  api_route("POST", "/arms", "admin", "arms", "Add, pause, resume or retire arms",
            like = "agent_arms",
            body = schema_body(add = schema_several(SCHEMA_TEXT), retire = schema_several(SCHEMA_TEXT),
                               pause = schema_several(SCHEMA_TEXT), resume = schema_several(SCHEMA_TEXT),
                               reason = SCHEMA_TEXT),
            answer = schema_rows(arm = SCHEMA_TEXT, status = schema_enum(names(ARM))))
)

# Of the service ----

service_routes <- function() list(
  api_route("GET", "/experiments", "read", "experiments", "The agents that are served", api_experiments,
            agent = FALSE, answer = schema_rows(experiment = SCHEMA_TEXT, name = or_null(SCHEMA_TEXT))),
  api_route("GET", "/metrics", "watch", "metrics",
            "Requests, times, tickets, releases and errors, as Prometheus reads them", api_metrics,
            agent = FALSE, answer = "text/plain", parts = metrics_parts),
  api_route("GET", "/health", "", "health", "Is the process there?",
            function(service, given) list(status = "ok", version = package_version_text()), agent = FALSE,
            answer = schema_object(status = SCHEMA_TEXT, version = SCHEMA_TEXT)),
  api_route("GET", "/ready", "", "ready", "Can the database be read? 503 if not", api_ready,
            agent = FALSE,
            answer = schema_object(status = SCHEMA_TEXT, experiments = SCHEMA_NUMBER)),
  api_route("GET", "/openapi.json", "", "describe", "The description of all this",
            function(service, given) api_description(service), agent = FALSE, answer = list(type = "object")),
  api_route("GET", "/", "", "page",
            "A page for people; it asks for a token, or takes it from its address: `/#TOKEN`",
            function(service, given) api_page(), agent = FALSE, answer = "text/html")
)

api_experiments <- function(service, given) {
  names <- service$agents$names()
  data.frame(experiment = names, name = service$agents$titles())
}

api_metrics <- function(service, given) {
  api_answer(200L, metrics_text(service), "Content-Type" = "text/plain; version=0.0.4; charset=utf-8")
}

# The process and its database: one experiment that is damaged stops no other.
api_ready <- function(service, given) {
  cached(service, "ready", function() {
    service$agents$check()
    list(status = "ready", experiments = length(service$agents$names()))
  }, most = 2)
}

# The rows of the table in ?agent_api
api_table <- function() {
  row <- function(route) {
    sent <- if (length(route$query)) query_words(route$query) else
      paste0("`", names(route$body$properties), "`", collapse = ", ", recycle0 = TRUE)
    sprintf("| `%s %s` | %s | %s | %s%s |", route$method, route$path, route$role, sent, route$summary,
            if (length(route$like)) sprintf(", as [%s()]", route$like) else "")
  }
  paste(c("| request | role | body or query | answer |", "| --- | --- | --- | --- |",
          vapply(api_routes(), row, "")), collapse = "\n")
}

query_words <- function(query) {
  value <- vapply(query, function(schema) format(schema$default %||% schema$enum[1] %||% "..."), "")
  paste0("`", names(query), "=", value, "`", collapse = ", ")
}

# OpenAPI 3.0
api_description <- function(service) {
  json <- function(schema) list("application/json" = list(schema = schema))
  words <- c("400" = "Bad input", "401" = "No token, or a wrong one", "403" = "A token that may not do this",
             "404" = "No such experiment",
             "409" = paste("The key came with another number of choices or other people, or tickets of its",
                           "call were returned (another `offer`, `context`, `predicted` or `stratum` is not",
                           "noticed: the tickets of the first call come); or no available arm takes part"),
             "410" = "The experiment has ended: `arm` is its winner", "413" = "The body is too large",
             "429" = "Too many requests", "500" = "The service failed; nothing was changed",
             "503" = "Not now: try again")
  single <- service$agents$single
  one <- function(route) {
    content <- if (!is.character(route$answer)) json(route$answer) else
      stats::setNames(list(list(schema = list(type = "string"))), route$answer)
    statuses <- c("400", if (nzchar(route$role)) c("401", "403"), if (route$agent && !single) "404",
                  route$errors, "413", if (!route$path %in% c("/health", "/ready")) "429", "500", "503")
    errors <- sapply(statuses, function(status) {
      schema <- paste0("#/components/schemas/", if (status == "410") "Ended" else "Error")
      list(description = words[[status]], content = json(list("$ref" = schema)))
    }, simplify = FALSE)
    parameters <- c(
      if (route$agent && !single) list(list(name = "experiment", `in` = "path", required = TRUE,
                                            schema = SCHEMA_TEXT)),
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
      schemas = list(Error = schema_object(error = SCHEMA_TEXT, message = SCHEMA_TEXT),
                     Ended = schema_object(error = SCHEMA_TEXT, message = SCHEMA_TEXT,
                                           arm = or_null(SCHEMA_TEXT)))),
    paths = paths
  )
}
