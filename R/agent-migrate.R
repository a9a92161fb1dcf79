# Stores of earlier versions, brought to the tables of today in one transaction: it is done as a whole, or the
# store is as it was.
#   2  until 0.1.0: no identity, keys or schemas; the state is one value, rounds number the tickets
#   3  the state is one value; no probabilities and no release table

MIGRATES <- 2:3

# `place`: A store with a function rewrite(make): make() gets a function that looks, and returns statements
migrate_store <- function(place) {
  place$rewrite(function(sql, look) {
    head <- look(sprintf("SELECT * FROM %sdpts_agent WHERE id = 1", sql$at))
    if (head$version == STORE_VERSION) return(NULL) # another process was quicker
    kept <- look(sprintf("SELECT definition, definition_sum FROM %sdpts_definition WHERE id = 1", sql$at))
    state <- head$state[[1]]
    if (!identical(checksum(kept$definition[[1]]), kept$definition_sum) ||
        !identical(checksum(state), head$state_sum)) {
      abort_store("a checksum is wrong")
    }
    terms <- migrated_terms(unserialize(kept$definition[[1]]))
    whole <- unserialize(memDecompress(state, "gzip"))
    session <- live_session(terms$policy, length(terms$arms), terms$horizon, terms$dim)
    session$start()
    old <- if (head$version == 2) list(bytes = whole$engine[[1]]) else whole$session
    old$bytes <- migrated_session(old$bytes, session$save()$bytes, terms)
    tryCatch(session$restore(old), error = function(e) abort_migrated(terms$policy))
    image <- session$image(whole$outstanding, serialize(new_life(terms$arms), NULL, xdr = FALSE))
    definition <- serialize(terms, NULL)
    sum <- checksum(definition)
    agent <- list(id = 1L, version = STORE_VERSION, identity = new_identity(sum), seq = head$seq + 1,
                  clock = head$clock,
                  next_due = as.numeric(head$next_due), late = head$late, restored = head$restored,
                  pages = image$pages, state_sum = image$sum)
    c(move_away(sql, head$version),
      create_statements(sql, agent, list(id = 1L, definition = list(definition), definition_sum = sum),
                        image),
      move_back(sql, head$version),
      sprintf("INSERT INTO %sdpts_event (seq, part, time, kind) VALUES (%s, 1, %s, 'migrated')", sql$at,
              exactly(agent$seq), exactly(agent$clock)))
  })
}

OLD_TABLES <- paste0("dpts_", c("agent", "definition", "ticket", "event", "person"))

move_away <- function(sql, version) {
  c(sql$unguard(if (version == 2) "step" else "change"),
    paste0("DROP INDEX ", sql$at, "dpts_ticket_", c("due", "batch", if (version == 3) "asked")),
    sprintf("ALTER TABLE %s%s RENAME TO old_%2$s", sql$at, OLD_TABLES))
}

move_back <- function(sql, version) {
  c(sprintf("INSERT INTO %sdpts_ticket (id, ticket, t, arm, batch, time, due, status, reward, context, asked)
               SELECT %s, ticket, t, arm, batch, time, due, status, reward, %s FROM %1$sold_dpts_ticket",
            sql$at, if (version == 2) "CAST(t AS INTEGER)" else "id",
            if (version == 2) sprintf("nullif(%s, ''), NULL", sprintf(sql$hex, "context")) else
              "context, asked"),
    sql$renumber,
    sprintf("INSERT INTO %sdpts_event (seq, part, time, kind, ticket, t, arm)
       SELECT seq, part, time, kind, ticket, t, arm FROM %1$sold_dpts_event", sql$at),
    # Which arm a person had was not kept: it is none (0).
    sprintf("INSERT INTO %sdpts_person (person, pulls, arm, ticket)
               SELECT person, pulls, %s FROM %1$sold_dpts_person",
            sql$at, if (version == 2) "0, ''" else "arm, ticket"),
    sprintf("DROP TABLE %sold_%s", sql$at, OLD_TABLES))
}

# Terms as they are today: rewards had no range and people no fixed arm, and classes had other names.
migrated_terms <- function(terms) {
  rename <- function(policy) {
    class(policy) <- sub("^policy", "dpts_policy", class(policy))
    if (!is.null(policy$policy)) policy$policy <- rename(policy$policy)
    policy
  }
  if (inherits(terms$policy, "policy")) terms$policy <- rename(terms$policy)
  terms["name"] <- list(terms$name)
  terms$range <- terms$range %||% c(0, 1)
  terms$sticky <- terms$sticky %||% FALSE
  terms
}

# A session's bytes (src/play_session_save.c) as they would be saved today, `fresh` being of a session that
# has just begun: its head, a clock that says whether the session was finished, and the state, if its layout
# is the same or known
migrated_session <- function(old, fresh, terms) {
  if (!is.raw(old) || length(old) < 100) abort_migrated(terms$policy)
  number <- function(bytes, at) readBin(bytes[at + 1:4], "integer")
  format <- number(old, 32)
  version <- c(number(old, 36), number(fresh, 36))
  body <- old[-(1:48)]
  if (format == 2) body <- c(body[1:24], raw(8), body[-(1:24)])
  if (version[1] == 4 && version[2] == 5 && is_true_of(terms$policy, "batches") &&
      length(body) == length(fresh) - 48 + 8 + 16 * length(terms$arms)) {
    body <- with_new_arms(body, fresh, length(terms$arms))
  } else if (version[1] != version[2]) abort_migrated(terms$policy)
  if (length(body) != length(fresh) - 48) abort_migrated(terms$policy)
  # As the first part of an image it gets its checksum.
  image <- c(writeBin(as.integer(c(length(fresh), rep(0, 7))), raw()), fresh[1:48], body)
  .Call(C_image_parts, c(image, raw(-length(image) %% IMAGE_PAGE)))[[2]]
}

# Policies by batches: the plan and the parameters are today's, and an arm has the noise in its mean as a
# number and, last, the number of its last batch that counts. In doubles: 12 of the clock, the pulls, the head
# of the state (18 of plan and parameters, then 3), the arms of 28, and of their batches 69.
with_new_arms <- function(body, fresh, k) {
  x <- matrix(body, 8) # a double a column
  new <- matrix(fresh[-(1:48)], 8)
  double <- function(bytes) readBin(c(bytes), "double", length(bytes) / 8)
  front <- 12 + k
  gathers <- front + 21 + 28 * k
  arms <- lapply(seq_len(k), function(i) {
    was <- x[, front + 21 + 28 * (i - 1) + seq_len(28), drop = FALSE]
    arm <- double(was)
    squares <- arm[11]
    spread <- if (squares > 0) sqrt(squares) / arm[7] else arm[5]
    gather <- x[, gathers + 69 * (i - 1) + seq_len(69)]
    whole <- function(at) readBin(c(gather[1:4, at]), "integer", length(at))
    last <- max(0L, setdiff(seq_len(whole(2)), whole(6 + 4 * 0:15)))
    c(was[, 1:4], writeBin(spread, raw()), was[, c(7:9, 11:27)], writeBin(c(last, 0L), raw()))
  })
  c(x[, seq_len(front)], new[, front + 1:17], x[, front + 19:21], unlist(arms), x[, -seq_len(gathers)])
}

abort_migrated <- function(policy) {
  abort_dpts(sprintf(paste("The store was made by an older version of dpts, which kept the state of policy",
                           "\"%s\" in another way; nothing was changed. Use that version, or begin a new",
                           "store."), policy$name),
             c("dpts_error_store_older", "dpts_error_store"))
}
