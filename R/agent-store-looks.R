# What a store in a database is asked: the functions that only look at its tables (R/agent-store.R). Only
# numbers of rounds, changes and seconds are in the text of SQL, which a server may log; other values go
# beside it.

# `query` sends SQL with the values for its places $1, ..., and gives a data frame.
store_looks <- function(sql, query) {
  look <- function(..., values = NULL) {
    force(values) # it may ask the same connection
    with_store_errors(query(sprintf(...), values))
  }
  c(look_at_agent(sql, look), look_at_tickets(sql, look), look_at_persons(sql, look),
    look_at_outcomes(sql, look), look_at_journal(sql, look), look_at_rounds(sql, look))
}

# A number as R has it, whatever the database makes of it
sql_number <- function(sql, x) sprintf("CAST(%s AS %s)", x, sql$number)

# Values for the place that `sql$among` has: what a column may be
among_values <- function(x) list(paste0("[\"", paste(x, collapse = "\",\""), "\"]"))

look_at_agent <- function(sql, look) {
  list(
    definition = function() {
      head <- look("SELECT version FROM %sdpts_agent WHERE id = 1", sql$at)
      if (nrow(head) != 1) return(NULL)
      # Of another version nothing but this column is known.
      if (head$version != STORE_VERSION) return(as.list(head))
      row <- look("SELECT definition, definition_sum, identity FROM %sdpts_definition AS d
                   JOIN %1$sdpts_agent AS a ON a.id = d.id", sql$at)
      list(version = head$version, identity = row$identity, definition = row$definition[[1]],
           sum = row$definition_sum)
    },
    tables = function() {
      stored <- stored()
      sapply(names(stored), function(name) {
        kinds <- stored[[name]]
        rows <- look("SELECT %s FROM %s%s ORDER BY %s", paste(names(kinds), collapse = ", "), sql$at, name,
                     switch(name, dpts_page = "page", dpts_event = "seq, part", dpts_person = "person",
                            dpts_outcome = "ticket, outcome, part", "id"))
        as <- list(integer = as.integer, number = as.numeric, text = as.character,
                   bytes = function(x) lapply(unclass(x), as.raw))
        Map(function(x, kind) as[[kind]](x), as.list(rows), kinds)
      }, simplify = FALSE)
    }
  )
}

look_at_tickets <- function(sql, look) {
  tickets <- function(where, ..., values = NULL) {
    rows <- as.list(look(paste("SELECT ticket, t, arm, batch, time, status, reward, context, probability,",
                               "asked, asked_for, asked_n FROM %sdpts_ticket", where),
                         sql$at, ..., values = values))
    rows$reward <- on_grid(as.numeric(rows$reward)) # a column of NULLs has no type
    rows$t <- as.numeric(rows$t)
    rows$probability <- as.numeric(rows$probability)
    rows$asked_for <- as.character(rows$asked_for)
    rows
  }
  list(
    tickets = function(ids) tickets("WHERE ticket IN (%s)", sql$among, values = among_values(ids)),
    asked = function(key) tickets("WHERE asked = $1 ORDER BY id", values = list(key)),
    # The last ticket of each of these persons, and those with a key
    of_persons = function(ids) {
      tickets("WHERE ticket IN (SELECT ticket FROM %1$sdpts_person WHERE person IN (%2$s))
                 OR asked IS NOT NULL AND asked_for IN (%2$s) ORDER BY id", sql$among,
              values = among_values(ids))
    },
    due = function(now) tickets("WHERE %s AND due <= %s ORDER BY due, id", DUE, exactly(now)),
    # Tickets that are not resolved, and were given out later than that
    ahead = function(now) tickets("WHERE %s AND time > %s", UNRESOLVED, exactly(now)),
    # Tickets that are not resolved, and, unless that is all ("open"), resolved ones whose reward is kept
    # ("rewards"), or of which at least is kept whether there was one ("all")
    kept = function(what) {
      tickets("WHERE %s %s", UNRESOLVED,
              switch(what, open = "", rewards = sprintf("OR (reward IS NOT NULL AND %s)", IN_BATCH),
                     all = paste("OR", IN_BATCH)))
    },
    # Is there a key of a call that is that old?
    has_keys = function(before) {
      look("SELECT count(*) AS n FROM (SELECT 1 FROM %sdpts_ticket WHERE time <= %s AND %s LIMIT 1) AS one",
           sql$at, exactly(before), WITH_KEY)$n > 0
    },
    log = function(n) {
      look("SELECT ticket, t, arm, batch, time, status, probability FROM %sdpts_ticket ORDER BY id DESC%s",
           sql$at, if (n < Inf) paste(" LIMIT", exactly(n)) else "")
    }
  )
}

look_at_persons <- function(sql, look) {
  list(
    # Persons, and of each the last ticket
    persons = function(ids) {
      look("SELECT p.person, p.pulls, p.arm, p.ticket, k.t, k.batch, k.time, k.status, k.reward, k.context,
              k.asked
            FROM %sdpts_person AS p JOIN %1$sdpts_ticket AS k ON k.ticket = p.ticket WHERE p.person IN (%s)",
           sql$at, sql$among, values = among_values(ids))
    },
    # How many choices of persons count
    counted = function() {
      look("SELECT %s AS n FROM %sdpts_person", sql_number(sql, "coalesce(sum(pulls), 0)"), sql$at)$n
    }
  )
}

look_at_outcomes <- function(sql, look) {
  list(
    # `from`: the number of the first row that is wanted
    releases = function(outcome, from = 0) {
      look("SELECT id, %s FROM %sdpts_release WHERE outcome = %d AND id >= %s ORDER BY id",
           paste(RELEASE, collapse = ", "), sql$at, outcome, exactly(from))
    },
    # Answers of an outcome in a block, and those of tickets
    answers = function(outcome, batch) {
      look("SELECT ticket, part, arm, reward FROM %sdpts_outcome WHERE outcome = %d AND batch = %s", sql$at,
           outcome, exactly(batch))
    },
    answered = function(outcome, ids) {
      look("SELECT ticket, part, reward FROM %sdpts_outcome WHERE outcome = %d AND ticket IN (%s)", sql$at,
           outcome, sql$among, values = among_values(ids))
    }
  )
}

# The digest of the last row of the journal up to an entry
sql_digest <- function(at, entry) {
  sprintf("SELECT digest FROM %sdpts_event WHERE seq <= %s ORDER BY seq DESC, part DESC LIMIT 1", at, entry)
}

look_at_journal <- function(sql, look) {
  count <- sql_number(sql, "count(*)")
  list(
    # The journal, or its last row, or its rows of some kinds
    journal = function(where = "") {
      look("SELECT seq, part, time, %s, digest FROM %sdpts_event %s", paste(EVENT, collapse = ", "), sql$at,
           switch(where, "ORDER BY seq, part", last = "ORDER BY seq DESC, part DESC LIMIT 1",
                  plans = "WHERE kind IN ('plan', 'amend') ORDER BY seq, part",
                  sums = "WHERE kind = 'sum' ORDER BY seq, part"))
    },
    digest = function(entry) look("%s", sql_digest(sql$at, exactly(entry)))$digest,
    count = function(kind) look("SELECT %s AS n FROM %sdpts_event WHERE kind = '%s'", count, sql$at, kind)$n,
    # Of each arm: how many rewards did not come, as these entries say
    missing = function(from, to) {
      look("SELECT arm, %s AS n FROM %sdpts_event
            WHERE seq BETWEEN %s AND %s AND kind = 'missing' GROUP BY arm", count, sql$at, exactly(from),
           exactly(to))
    }
  )
}

# Counts and sums over rounds. Those from one round to another use that a round's id is no less.
look_at_rounds <- function(sql, look) {
  number <- function(x) sql_number(sql, x)
  list(
    # How many tickets of each arm have each status, and how many of them are rounds: of those with these ids
    tallies = function(from, to) {
      look("SELECT arm, status, %s AS n, %s AS rounds FROM %sdpts_ticket WHERE id BETWEEN %s AND %s
            GROUP BY arm, status", number("count(*)"), number("count(t)"), sql$at, exactly(from), exactly(to))
    },
    # The id of the newest ticket
    newest = function() look("SELECT %s AS n FROM %sdpts_ticket", number("coalesce(max(id), 0)"), sql$at)$n,
    # How often each arm was chosen in each stretch of `width` rounds
    course = function(from, to, width) {
      look("SELECT %s AS stretch, arm, %s AS n FROM %sdpts_ticket
            WHERE id >= %s AND t BETWEEN %4$s AND %s GROUP BY 1, 2",
           number(sprintf(sql$divide, "t - 1", exactly(width))), number("count(*)"), sql$at, exactly(from),
           exactly(to))
    },
    # For each arm and hour: how many, and sums of inverse chances
    totals = function(from, to) {
      sum_of <- function(x) number(sprintf("coalesce(sum(%s), 0)", x))
      look("SELECT arm, %s AS hour, min(time) AS began, %s AS n, %s AS tossed, %s AS inverse, %s AS spread
            FROM %sdpts_ticket WHERE id >= %s AND t BETWEEN %7$s AND %s GROUP BY 1, 2",
           number(sprintf(sql$divide, "time", "3600")), number("count(*)"), number("count(probability)"),
           sum_of("1 / probability"), sum_of("(1 - probability) / (probability * probability)"), sql$at,
           exactly(from), exactly(to))
    }
  )
}
