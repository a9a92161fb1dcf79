# A store in memory: the same functions as a database's, on growing columns. A change is
# computed before commit() is called and cannot fail half-way, so rollback() has nothing to do.

store_memory <- function() {
  agent <- NULL
  tickets <- growing(ticket = character(), t = numeric(), arm = integer(), batch = numeric(),
                     time = numeric(), due = numeric(), status = integer(), reward = numeric(),
                     context = character(), asked = character(), probability = numeric())
  releases <- do.call(growing, stats::setNames(rep(list(numeric()), length(RELEASE)), RELEASE))
  events <- growing(seq = numeric(), kind = character(), ticket = character(), t = numeric(), arm = integer())
  rows <- new.env(hash = TRUE, parent = emptyenv()) # ticket -> its row
  asked <- new.env(hash = TRUE, parent = emptyenv()) # key -> its rows
  people <- new.env(hash = TRUE, parent = emptyenv()) # person -> pulls, arm, ticket
  given <- NULL # the definition
  pages <- new.env(hash = TRUE, parent = emptyenv())
  keep_pages <- function(image) {
    from <- page_starts(image)
    for (i in seq_along(from)) {
      pages[[as.character(image$numbers[i])]] <- image$bytes[from[i] - 1 + seq_len(IMAGE_PAGE)]
    }
  }
  unsettled <- function() which(tickets$get("status") %in% TICKET[c("open", "waiting")])
  next_due <- function() {
    due <- tickets$get("due")[unsettled()]
    due <- due[!is.na(due)]
    if (length(due)) min(due) else NA_real_
  }
  list(
    label = "memory",
    exists = function() !is.null(agent),
    create = function(row, definition, image) {
      agent <<- row
      keep_pages(image)
      given <<- definition
    },
    definition = function() {
      list(version = agent$version, identity = agent$identity, definition = given$definition[[1]],
           sum = given$definition_sum)
    },
    begin = function(seq, how) {
      head <- agent[c("version", "identity", HEAD)]
      head$now <- NA_real_
      if (agent$seq != seq) {
        head$state <- unlist(mget(as.character(seq_len(agent$pages) - 1), pages), use.names = FALSE)
      }
      head
    },
    rollback = function() NULL,
    commit = function(changes) {
      new <- changes$tickets
      if (length(new$ticket)) {
        at <- tickets$size() + seq_along(new$ticket)
        tickets$add(new)
        for (i in seq_along(at)) rows[[new$ticket[i]]] <- at[i]
        if (!is.na(new$asked[1])) asked[[new$asked[1]]] <- at
      }
      old <- changes$resolved
      if (length(old$ticket)) {
        at <- unlist(mget(old$ticket, rows))
        tickets$set("status", at, old$status)
        tickets$set("reward", at, old$reward)
        tickets$set("context", at[old$drop == 1], NA_character_)
      }
      gone <- changes$forget
      if (length(gone)) {
        at <- which(tickets$get("status") %in% TICKET[c("used", "missing")])
        key <- function(arm, batch) complex(real = arm, imaginary = batch)
        batch <- match(key(tickets$get("arm")[at], tickets$get("batch")[at]), key(gone$arm, gone$batch))
        tickets$set("reward", at[!is.na(batch)], NA_real_)
        status <- gone$status[batch]
        tickets$set("status", at[!is.na(status)], status[!is.na(status)])
      }
      who <- changes$persons
      for (i in seq_along(who$person)) people[[who$person[i]]] <- lapply(who, `[`, i)
      if (length(changes$releases)) releases$add(changes$releases)
      if (length(changes$events$kind)) {
        events$add(c(list(seq = rep(changes$agent$seq, length(changes$events$kind))), changes$events))
      }
      keep_pages(changes$image)
      if (changes$find_next_due) changes$agent$next_due <- next_due()
      agent[names(changes$agent)] <<- changes$agent
      TRUE
    },
    tickets = function(ids) {
      at <- unlist(mget(ids, rows, ifnotfound = NA_integer_))
      tickets$rows(at[!is.na(at)])
    },
    asked = function(key) tickets$rows(asked[[key]]),
    due = function(now) {
      at <- unsettled()
      due <- tickets$get("due")[at]
      at <- at[!is.na(due) & due <= now]
      tickets$rows(at[order(tickets$get("due")[at], at)])
    },
    kept = function(what) {
      settled <- tickets$get("status") %in% TICKET[c("used", "missing")]
      more <- switch(what, open = FALSE, rewards = settled & !is.na(tickets$get("reward")), all = settled)
      tickets$rows(which(tickets$get("status") %in% TICKET[c("open", "waiting")] | more))
    },
    persons = function(ids) {
      known <- Filter(Negate(is.null), mget(ids, people, ifnotfound = list(NULL)))
      columns <- c("person", "pulls", "arm", "ticket")
      sapply(columns, function(name) unlist(lapply(unname(known), `[[`, name)), simplify = FALSE)
    },
    log = function(n) {
      newest <- tickets$rows(rev(utils::tail(seq_len(tickets$size()), n)))
      newest[c("ticket", "t", "arm", "time", "status", "probability")]
    },
    course = function(from, to, width) {
      arm <- tickets$get("arm")
      t <- tickets$get("t")
      new <- which(t >= from & t <= to)
      stretch <- floor((t[new] - 1) / width)
      n <- table(stretch, arm = arm[new])
      out <- as.data.frame(n, responseName = "n", stringsAsFactors = FALSE)
      out <- out[out$n > 0, ]
      list(stretch = as.numeric(out$stretch), arm = as.integer(out$arm), n = out$n)
    },
    releases = function() releases$rows(seq_len(releases$size())),
    totals = function(from, to) {
      t <- tickets$get("t")
      all <- as.data.frame(tickets$rows(which(t >= from & t <= to)))
      all$hour <- floor(all$time / 3600)
      one <- function(own) data.frame(
        arm = own$arm[1], hour = own$hour[1], began = min(own$time), n = nrow(own),
        tossed = sum(!is.na(own$probability)), inverse = sum(1 / own$probability, na.rm = TRUE),
        spread = sum((1 - own$probability) / own$probability^2, na.rm = TRUE))
      cells <- split(all, list(all$arm, all$hour), drop = TRUE)
      do.call(rbind, lapply(cells, one)) %||% data.frame(arm = integer())
    },
    missing = function(from, to) {
      new <- events$get("kind") == "missing" & events$get("seq") >= from & events$get("seq") <= to
      as.data.frame(table(arm = events$get("arm")[new]), responseName = "n", stringsAsFactors = FALSE)
    },
    count = function(kind) as.numeric(sum(events$get("kind") == kind)),
    close = function() NULL
  )
}

# Columns that grow by doubling, so that a row costs the same however many there are
growing <- function(...) {
  columns <- list(...)
  n <- 0
  list(
    size = function() n,
    add = function(new) {
      extra <- length(new[[1]])
      if (n + extra > length(columns[[1]])) {
        for (name in names(columns)) length(columns[[name]]) <<- max(64, 2 * (n + extra))
      }
      for (name in names(new)) columns[[name]][n + seq_len(extra)] <<- new[[name]]
      n <<- n + extra
    },
    get = function(name) columns[[name]][seq_len(n)],
    set = function(name, at, value) columns[[name]][at] <<- value,
    rows = function(at) lapply(columns, `[`, at)
  )
}
