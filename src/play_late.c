#include <string.h>
#include "play_late.h"

size_t late_size(int64_t longest, int dim) {
  const size_t capacity = late_capacity(longest);
  return capacity * (sizeof(pending_t) + sizeof(double) * (size_t)dim) +
         2 * sizeof(int) * late_places(longest);
}

void late_on(late_t *late, void *block, int64_t longest, int dim) {
  late->capacity = (int)late_capacity(longest);
  late->mask = (int64_t)late_places(longest) - 1;
  late->dim = dim;
  late->pending = block;
  late->context = (double *)(late->pending + late->capacity);
  late->first = (int *)(late->context + (size_t)dim * (size_t)late->capacity);
  late->last = late->first + late->mask + 1;
}

void late_begin(late_t *late) {
  for (int64_t i = 0; i <= late->mask; i++) late->first[i] = late->last[i] = -1;
  late->free = late->capacity > 0 ? 0 : -1;
  for (int i = 0; i < late->capacity; i++) late->pending[i].next = i + 1 < late->capacity ? i + 1 : -1;
}

/* The round at whose end the reward of round t is learned. */
static int64_t learned(late_t *late, int64_t t) {
  if (late->sampled) t += late->delays[rng_below(&late->rng, (int)late->n_delays)];
  else t += late->delays ? late->delays[(t - 1) % late->n_delays] : late->delay;
  if (late->group <= 1) return t;
  return (t + late->group - 1) / late->group * late->group;
}

int64_t late_add(late_t *late, int64_t now, const round_t *round, int arm, int64_t batch, double reward) {
  if (late->free < 0) return 0;
  const int at = late->free;
  late->free = late->pending[at].next;
  late->pending[at] = (pending_t){round->t, batch, reward, arm, -1};
  if (late->dim) {
    memcpy(late_context(late, at), round_context(round, arm), sizeof(double) * (size_t)late->dim);
  }
  const int64_t learn = learned(late, now), due = learn & late->mask;
  if (late->last[due] < 0) late->first[due] = at;
  else late->pending[late->last[due]].next = at;
  late->last[due] = at;
  return learn;
}
