# The chain of digests that makes the rows of a journal one record, and whether the tables of a store agree
# with its end and with the agent's state.

# What an operator does, and is asked the reason of
OPERATED <- c("add", "retire", "pause", "resume", "end", "finish", "restored", "clock", "move", "erase",
              "plan", "amend")

# Who operates: the role of the token that asked the service, or the user of this process
operator <- function() getOption("dpts.who") %||% Sys.info()[["effective_user"]]

# One line of text
check_reason <- function(reason) {
  if (is.null(reason)) NA_character_ else gsub("[[:cntrl:]]+", " ", check_text(reason))
}

# A row of the journal is chained to the one before: its digest is the SHA-256 of that one's and of its own
# fields, joined by a separator.
FIELDS <- c("seq", "part", "time", "kind", "ticket", "t", "arm", "who", "note")

journal_begin <- function(identity) digest_of(identity)

digest_of <- function(text) cli::hash_sha256(enc2utf8(text))

# The fields as text, as a file of the journal has them
journal_text <- function(agent, events) {
  number <- function(x) ifelse(is.na(x), "", sprintf("%.17g", x))
  text <- function(x) ifelse(is.na(x), "", x)
  list(seq = number(events$seq), part = number(events$part), time = number(events$time),
       kind = events$kind, ticket = text(events$ticket), t = number(events$t),
       arm = text(agent$life$arms[events$arm]), who = text(events$who), note = text(events$note))
}

# last: the digest before these rows
chain <- function(last, text) {
  lines <- do.call(paste, c(unname(text[FIELDS]), list(sep = "\x1f")))
  for (i in seq_along(lines)) lines[i] <- last <- digest_of(paste(last, lines[i], sep = "\x1f"))
  lines
}

# The digests of rows that the journal's entry of this number has
journal_digests <- function(agent, last, entry, time, events) {
  n <- length(events$kind)
  if (!n) return(NULL)
  numbers <- list(seq = rep(entry, n), part = seq_len(n), time = rep(time, n))
  chain(last, journal_text(agent, c(events, numbers)))
}

# What the journal notes of tickets, beside its own columns
ticket_text <- function(rows) release_text(rows[c("batch", "probability")])

# Do tickets agree with the rows of the journal that gave them out? A clock that was mended may have set their
# times.
check_tickets <- function(agent, rows) {
  given <- which(rows$kind %in% c("choose", "beyond"))
  log <- lapply(as.list(agent$store$log(Inf)), rev)
  at <- match(rows$ticket[given], log$ticket)
  same <- function(x, y) x == y | is.na(x) & is.na(y)
  time <- as.numeric(log$time)[at]
  fits <- same(as.numeric(log$t)[at], as.numeric(rows$t)[given]) & log$arm[at] == rows$arm[given] &
    (time == rows$time[given] | time %in% rows$time[rows$kind == "clock"]) &
    ticket_text(log)[at] == rows$note[given]
  wrong <- given[!fits %in% TRUE]
  if (length(wrong)) {
    abort_store(sprintf("the ticket of row %d of the journal cannot be read: it is not as it was given out",
                        wrong[1]))
  }
}

# Rows of the release table as notes of the journal
release_text <- function(columns) {
  if (!length(columns[[1]])) return(character())
  do.call(paste, lapply(unname(columns), function(x) sprintf("%.17g", as.numeric(x))))
}

# Do the tables agree with the state, which has a checksum, and with the end of the journal? Most of what was
# edited by hand, lost, or taken from another store does not. Functions, each of which is called until it does
# not return TRUE: a table of tickets is read in pieces. If another process wrote between these looks, it had
# itself opened the store by this check.
checks_of_tables <- function(agent, head) {
  store <- agent$store
  must <- function(ok, what) {
    if (ok || store$begin(head$seq, "read")$seq != head$seq) return(invisible(FALSE))
    abort_store(sprintf("the %s cannot be read: the state, which has a checksum, says otherwise", what))
  }
  sums <- NULL # rows of the release table as the journal has them
  k <- length(agent$life$arms)
  rounds <- open <- numeric(k)
  done <- 0
  count <- function(arm, n) as.numeric(tapply(as.numeric(n), factor(arm, seq_len(k)), sum, default = 0))
  c(
    function() {
      last <- store$journal("last")$digest
      must(identical(c(last, journal_begin(agent$identity))[1], head$journal), "end of the journal")
      sums <<- matrix(numbers_in_text(store$journal("sums")$note), ncol = 1 + length(RELEASE), byrow = TRUE)
    },
    lapply(0:length(agent$terms$outcomes), function(outcome) function() {
      kept <- store$releases(outcome)
      kept <- as.numeric(unlist(lapply(RELEASE, function(name) as.numeric(kept[[name]]))))
      said <- as.numeric(sums[sums[, 1] == outcome, -1])
      must(isTRUE(all.equal(said, kept, tolerance = 1e-14)), "releases")
    }),
    function() {
      found <- store$tallies(done + 1, done + COUNTED_AT_ONCE)
      done <<- done + COUNTED_AT_ONCE
      rounds <<- rounds + count(found$arm, found$rounds)
      open <<- open + count(found$arm, found$n * found$status %in% TICKET[c("open", "waiting")])
      if (done < store$newest()) return(TRUE)
      must(identical(rounds, as.numeric(session_pulls(agent$session))), "tickets")
      must(identical(open, agent$outstanding), "open tickets")
      must(identical(as.numeric(store$counted()), agent$counted), "choices of persons")
    }
  )
}

# Numbers in texts, with spaces between them
numbers_in_text <- function(text) {
  suppressWarnings(as.numeric(unlist(strsplit(as.character(text), " ", fixed = TRUE))))
}
