#ifndef DPTS_PLAY_VISITS_H
#define DPTS_PLAY_VISITS_H
/* People who come again, in a simulation. They come in groups of `apart`, each person of a group `number`
   times: all of the group in turn, and so again. Then comes the next group; the last may be smaller. As with
   an agent (R/agent-choose.R), a person has at most `most` visits that count, and with `separate` no two of
   them in one batch. What a visit that does not count brings is learned by nobody. A person stays in the
   stratum of the first visit. */

#include <stdint.h>

/* What is known of a person */
typedef struct {
  int64_t counted, batch; /* visits that count, and the batch of the last one, */
  int64_t due;            /* at the end of which visit its reward is learned */
  int arm, stratum;       /* the stratum from 1 */
} visitor_t;

typedef struct {
  int64_t people, number, apart, most;
  int separate;
  visitor_t *group; /* `apart` of them */
} visits_t;

/* Who comes after so many visits */
static inline visitor_t *visits_next(const visits_t *visits, int64_t before) {
  const int64_t each = visits->apart * visits->number, first = before / each * visits->apart;
  const int64_t left = visits->people - first, n = left < visits->apart ? left : visits->apart;
  visitor_t *who = &visits->group[before % each % n];
  if (before % each < n) *who = (visitor_t){0};
  return who;
}

#endif
