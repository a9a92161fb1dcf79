#ifndef DPTS_PLAY_OBSERVER_H
#define DPTS_PLAY_OBSERVER_H
/* What is measured of a run. An observer begins with the run, sees the rounds that it asks for,
   finishes with the run, and leaves its numbers in memory of the caller. Nothing that it does
   changes what happens, but for one that ends the run. To add one: a file
   play_observer_NAME.c, its name in the table of play_observer.c, and an entry in R/observe.R,
   which says what becomes of its numbers. */

#include <stddef.h>
#include <stdint.h>
#include "play_report.h"
#include "play_round.h"

typedef struct environment_t environment_t;
typedef struct session_t session_t;
typedef struct observer_t observer_t;

#define OBSERVERS_MOST   10 /* at once */
#define OBSERVER_OUTPUTS 2  /* most matrices of one observer */

/* What is known before all runs of a call. */
typedef struct {
  int k; /* arms */
  int64_t horizon;
  const double *rounds; /* the recorded rounds, increasing */
  int n_rounds;
  int tosses;          /* does the policy say with which chance it chooses an arm? */
  double line, margin; /* of a verdict */
  double carry, risk;  /* of correlated noise, 0: none (policy_evidence.h) */
  double least;        /* no toss between two arms is less likely; 0: they are not tossed */
  int concludes;   /* does the policy release sums of batches, of which evidence is made? */
  int permuted;    /* are they tossed in fixed numbers? */
  int blind;       /* does it toss with chances that nothing changes? */
  double interval; /* of a trial: the line of its intervals */
  int control;     /* from 1, the arm that others are compared with; 0: none */
} survey_t;

/* A matrix of results: rows of each run, a column for each run. Before the first round it is full of 0 (whole
   numbers) or NaN, which stays in rounds that are never played. */
typedef struct {
  const char *name; /* NULL: there is none */
  int whole;        /* are they of type int? Else double */
  size_t (*rows)(const survey_t *survey);
} output_t;

/* What a policy has released of each arm. */
typedef struct {
  report_t (*of)(const void *policy, int arm);
  const void *policy;
} reports_t;

/* One kind of observer. All but `name` and `output` may be NULL. */
typedef struct {
  const char *name;
  output_t output[OBSERVER_OUTPUTS];
  size_t (*room)(const survey_t *survey); /* bytes that it needs for itself in a run */
  /* Before the first round. Here and in see() it says in observer->next after which round it
     looks again; so a stretch of rounds in which nobody looks costs nothing. */
  void (*begin)(observer_t *observer);
  /* After that round, of which the environment has the counts, the clock and the sums. The round's
     arm is -1 where many runs are played side by side; it and the reward are those of a single
     round if the observer has looked after the round before, too. */
  void (*see)(observer_t *observer, const environment_t *env, int arm, double reward);
  /* For policies that say their chances: an arm was chosen and is played, and the policy has not learned
     of it. Rounds are then played one by one. Returns a session_status_t. */
  int (*chosen)(observer_t *observer, const session_t *session, const round_t *round,
                int arm);
  /* The policy may have released something: after each reward that it learned, after a stretch
     that it skipped, and after its end. Returns whether the run ends here. */
  int (*released)(observer_t *observer, const session_t *session);
  void (*finish)(observer_t *observer, const environment_t *env, const reports_t *reports);
} observer_kind_t;

#define OBSERVER(NAME, ...) \
  const observer_kind_t observer_##NAME = {.name = #NAME, __VA_ARGS__}

/* An observer of one run. */
struct observer_t {
  const observer_kind_t *kind;
  const survey_t *survey;
  int64_t next;                /* it sees the end of this round; INT64_MAX: of none */
  int64_t kept;                /* numbers that it has kept, for its own use */
  void *out[OBSERVER_OUTPUTS]; /* the run's column of each matrix */
  void *space;                 /* of kind->room() bytes */
};

/* All that is observed of the runs of a call. */
typedef struct {
  survey_t survey;
  int n;
  struct {
    const observer_kind_t *kind;
    void *out[OBSERVER_OUTPUTS]; /* memory of the caller */
  } of[OBSERVERS_MOST];
} observation_t;

const observer_kind_t *observer_find(const char *name); /* NULL if there is none */

/* Bytes for the observers of one run. */
size_t observation_size(const observation_t *all);
/* Put them into the environment of a run, the run-th of the call from 0, in such a block. */
void observation_begin(const observation_t *all, environment_t *env, void *block, int run);

/* The round in which somebody looks has been played. */
void observers_see(environment_t *env, int arm, double reward);
int observers_chosen(environment_t *env, const session_t *session, const round_t *round,
                     int arm);
void observers_released(environment_t *env, const session_t *session);
void observers_finish(environment_t *env, const reports_t *reports);

#endif
