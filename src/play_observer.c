#include <string.h>
#include "play_session.h"

#define OBSERVERS(_) \
  _(regret)          \
  _(reward)          \
  _(pulls)           \
  _(estimates)       \
  _(earned)          \
  _(history)         \
  _(probability)     \
  _(sums)            \
  _(releases)        \
  _(verdict)         \
  _(trial)

#define DECLARE(name) extern const observer_kind_t observer_##name;
OBSERVERS(DECLARE)

#define ENTRY(name) &observer_##name,
static const observer_kind_t *const TABLE[] = {OBSERVERS(ENTRY)};

const observer_kind_t *observer_find(const char *name) {
  for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
    if (strcmp(TABLE[i]->name, name) == 0) return TABLE[i];
  }
  return NULL;
}

static size_t aligned(size_t bytes) { return (bytes + 15) / 16 * 16; }

size_t observation_size(const observation_t *all) {
  size_t bytes = aligned(sizeof(observer_t) * (size_t)all->n);
  for (int i = 0; i < all->n; i++) {
    if (all->of[i].kind->size) bytes += aligned(all->of[i].kind->size(&all->survey));
  }
  return bytes;
}

static void find_next(environment_t *env) {
  env->next = INT64_MAX;
  for (int i = 0; i < env->n_observers; i++) {
    if (env->observers[i].next < env->next) env->next = env->observers[i].next;
  }
}

void observation_begin(const observation_t *all, environment_t *env, void *block, int run) {
  char *space = (char *)block + aligned(sizeof(observer_t) * (size_t)all->n);
  env->observers = block;
  env->n_observers = all->n;
  env->followed = env->watched = 0;
  env->releases = 0;
  for (int i = 0; i < all->n; i++) {
    const observer_kind_t *kind = all->of[i].kind;
    observer_t *observer = &env->observers[i];
    *observer = (observer_t){.kind = kind, .survey = &all->survey, .next = INT64_MAX, .space = space};
    if (kind->size) space += aligned(kind->size(&all->survey));
    for (int j = 0; j < OBSERVER_OUTPUTS && kind->output[j].name; j++) {
      const output_t *output = &kind->output[j];
      const size_t size = output->whole ? sizeof(int) : sizeof(double);
      observer->out[j] = (char *)all->of[i].out[j] + (size_t)run * output->rows(&all->survey) * size;
    }
    if (kind->begin) kind->begin(observer);
    env->followed |= kind->chosen && all->survey.tosses;
    env->watched |= kind->released != 0;
  }
  find_next(env);
}

void observers_see(environment_t *env, int arm, double reward) {
  for (int i = 0; i < env->n_observers; i++) {
    observer_t *observer = &env->observers[i];
    if (observer->next != env->player.t) continue;
    observer->kind->see(observer, env, arm, reward);
  }
  find_next(env);
}

int observers_chosen(environment_t *env, const session_t *session, const round_t *round, int arm) {
  int status = 0;
  for (int i = 0; i < env->n_observers && !status; i++) {
    observer_t *observer = &env->observers[i];
    if (!observer->kind->chosen) continue;
    status = observer->kind->chosen(observer, session, round, arm);
  }
  return status;
}

/* A policy that releases batch sums has changed for observers only after a release, and few rewards are
   followed by one, while an observer looks at every arm. A policy in R counts no releases. */
void observers_released(environment_t *env, const session_t *session) {
  const policy_t *policy = session->spec->policy;
  const int64_t before = env->releases, now = session->draws.releases;
  env->releases = now;
  if (now > 0 && now == before && releases_batches(policy) && !policy->verdict && !session->finished) return;
  for (int i = 0; i < env->n_observers; i++) {
    observer_t *observer = &env->observers[i];
    if (!observer->kind->released || !observer->kind->released(observer, session)) continue;
    env->ended = env->over = 1;
  }
}

void observers_finish(environment_t *env, const reports_t *reports) {
  for (int i = 0; i < env->n_observers; i++) {
    observer_t *observer = &env->observers[i];
    if (observer->kind->finish) observer->kind->finish(observer, env, reports);
  }
}
