#ifndef DPTS_PLAY_OBSERVER_H
#define DPTS_PLAY_OBSERVER_H
/* Observers measure a run. An observer begins with the run, sees the rounds that it asks for, finishes
   with the run, and leaves its numbers in the caller's memory. It changes nothing, except that it may
   end the run. To add one: a file play_observer_NAME.c, its name in the table of play_observer.c, and an
   entry in R/observe.R, which says what becomes of its numbers. */

#include <stddef.h>
#include <stdint.h>
#include "noise_report.h"
#include "policy_evidence.h"
#include "round.h"

typedef struct environment_t environment_t;
typedef struct session_t session_t;
typedef struct observer_t observer_t;

#define OBSERVERS_MAX    10 /* in one call */
#define OBSERVER_OUTPUTS 2  /* the most matrices of one observer */

/* What is known before the runs of a call. */
typedef struct {
  int k; /* arms, of all strata */
  int64_t horizon;
  const double *rounds; /* the recorded rounds, increasing */
  int n_rounds;
  int tosses;    /* does the policy report its choice probabilities? */
  int concludes; /* does the policy release batch sums, which evidence needs? */
  int blind;     /* are its choice probabilities constant? */
  /* Of a verdict, and of a trial */
  const martingale_t *rule; /* NULL: nothing is judged */
  design_t design;          /* its arms: those of a stratum */
  int parts;                /* what is judged: all people, 1, or each of so many strata by itself */
  double correlation;       /* of an arm's releases; 0: each has noise of its own */
  double interval;          /* threshold of the intervals */
  int control;              /* from 1, the arm that others are compared with; 0: none */
} survey_t;

/* A matrix of results: a column for each run. Before the first round it is filled with 0 (integers) or
   NaN, which stays in rounds that are never played. */
typedef struct {
  const char *name; /* NULL: no matrix */
  int whole;        /* 1: of type int; 0: double */
  size_t (*rows)(const survey_t *survey);
} output_t;

/* The reports of a policy's arms. */
typedef struct {
  report_t (*of)(const void *policy, int arm);
  const void *policy;
} reports_t;

/* One kind of observer. All but `name` and `output` may be NULL. */
typedef struct {
  const char *name;
  output_t output[OBSERVER_OUTPUTS];
  size_t (*size)(const survey_t *survey); /* bytes of its own memory in a run */
  /* Called before the first round. begin() and see() set observer->next to the next round to look at;
     the rounds before cost nothing. */
  void (*begin)(observer_t *observer);
  /* Called after that round; the environment has the clock, the counts and the sums. The arm is -1 if
     runs are played side by side. Arm and reward are those of the last round alone only if the
     observer has looked at the round before, too. */
  void (*see)(observer_t *observer, const environment_t *env, int arm, double reward);
  /* For policies that report their choice probabilities: called when an arm was chosen and is played,
     before the policy learns from it. Rounds are then played one by one. Returns a session_status_t. */
  int (*chosen)(observer_t *observer, const session_t *session, const round_t *round, int arm);
  /* Called when the policy may have released something: after each reward that it learned, after each
     stretch that it skipped, and after its end. Returns whether the run ends here. */
  int (*released)(observer_t *observer, const session_t *session);
  void (*finish)(observer_t *observer, const environment_t *env, const reports_t *reports);
} observer_kind_t;

#define OBSERVER(NAME, ...) const observer_kind_t observer_##NAME = {.name = #NAME, __VA_ARGS__}

/* An observer of one run. */
struct observer_t {
  const observer_kind_t *kind;
  const survey_t *survey;
  int64_t next;                /* the next round that it looks at; INT64_MAX: none */
  int64_t kept;                /* how many numbers it has written; only it uses this */
  void *out[OBSERVER_OUTPUTS]; /* the run's column of each matrix */
  void *space;                 /* of kind->size() bytes */
};

/* All that is observed of the runs of a call. */
typedef struct {
  survey_t survey;
  int n;
  struct {
    const observer_kind_t *kind;
    void *out[OBSERVER_OUTPUTS]; /* the caller's memory */
  } of[OBSERVERS_MAX];
} observation_t;

const observer_kind_t *observer_find(const char *name); /* NULL if there is none */

/* Bytes for the observers of one run. */
size_t observation_size(const observation_t *all);
/* Sets up the observers of the run-th run of the call, from 0, in such a block. */
void observation_begin(const observation_t *all, environment_t *env, void *block, int run);

/* To be called after a round that an observer looks at. */
void observers_see(environment_t *env, int arm, double reward);
int observers_chosen(environment_t *env, const session_t *session, const round_t *round, int arm);
void observers_released(environment_t *env, const session_t *session);
void observers_finish(environment_t *env, const reports_t *reports);

#endif
