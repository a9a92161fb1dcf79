#include "serve.h"

#ifndef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

enum { CHUNK = 16384, LISTENING = 2, DRAIN_SECONDS = 2, SPARE_FILES = 200 };

/* DRAINING: answered, and told that no more is answered. What still comes is thrown away until the client
   hangs up, since hanging up on what it sends would lose the answer. */
typedef enum { FREE, READING, ASKED, WRITING, DRAINING } state_t;

typedef struct {
  int fd;
  state_t state;
  char *in, *out;
  size_t used, capacity;      /* of `in` */
  size_t size, sent;          /* of `out` */
  size_t head, length;        /* bytes of the head, 0: not all is there; of the body */
  int shown, let_in, goodbye; /* the head was handed over; its body may come; the answer is the last one */
  int serial;                 /* of the request */
  int sound, chunked, upgrade, expect, bare; /* bare: the answer has no body */
  double claimed;                            /* what Content-Length says */
  size_t method, path, query, authorization; /* where they begin in `in`; 0: nowhere, but for the method */
  double since;
} client_t;

struct serve {
  int fd[LISTENING], listening, clients, most, next, serial;
  double seconds, bytes; /* see serve.h */
  client_t *client;
  struct pollfd *polled;
};

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int prepare(int fd) {
  const int on = 1;
#ifdef SO_NOSIGPIPE
  setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0;
}

serve_t *serve_open(const char *host, int port, double seconds, double bytes) {
  struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM},
                  *found = NULL;
  struct rlimit files;
  char service[16];
  snprintf(service, sizeof service, "%d", port);
  serve_t *serve = calloc(1, sizeof *serve);
  if (!serve) return NULL;
  serve->seconds = seconds;
  serve->bytes = bytes;
  serve->most = SERVE_CONNECTIONS;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < SERVE_CONNECTIONS + SPARE_FILES)
    serve->most = files.rlim_cur > 2 * SPARE_FILES ? (int)files.rlim_cur - SPARE_FILES : SPARE_FILES;
  serve->client = calloc((size_t)serve->most, sizeof *serve->client);
  serve->polled = calloc((size_t)serve->most + LISTENING, sizeof *serve->polled);
  errno = EADDRNOTAVAIL;
  if (serve->client && serve->polled && getaddrinfo(host, service, &hints, &found) == 0) {
    for (struct addrinfo *at = found; at && serve->listening < LISTENING; at = at->ai_next) {
      const int on = 1, fd = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
      if (fd < 0) continue;
      setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
#ifdef IPV6_V6ONLY
      if (at->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
#endif
      if (prepare(fd) && bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, 1024) == 0)
        serve->fd[serve->listening++] = fd;
      else {
        const int why = errno;
        close(fd);
        errno = why;
      }
    }
    freeaddrinfo(found);
  }
  if (serve->listening) return serve;
  const int why = errno;
  serve_close(serve);
  errno = why;
  return NULL;
}

static void hang_up(client_t *client) {
  close(client->fd);
  free(client->in);
  free(client->out);
  memset(client, 0, sizeof *client);
}

void serve_close(serve_t *serve) {
  if (!serve) return;
  for (int i = 0; i < serve->clients; i++)
    if (serve->client[i].state != FREE) hang_up(serve->client + i);
  for (int i = 0; i < serve->listening; i++) close(serve->fd[i]);
  free(serve->client);
  free(serve->polled);
  free(serve);
}

/* The head ---- */

static int is_token(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* The request line, in place -> is it one? */
static int read_line(client_t *client, char *line) {
  char *at = line;
  while (*at >= 'A' && *at <= 'Z') at++;
  if (at == line || at - line > 20 || *at != ' ') return 0;
  *at++ = 0;
  client->method = 0;
  client->bare = strcmp(line, "HEAD") == 0;
  client->path = (size_t)(at - client->in);
  if (*at != '/') return 0;
  for (; *at > ' ' && *at < 127; at++)
    if (*at == '?' && !client->query) {
      *at = 0;
      client->query = (size_t)(at + 1 - client->in);
    }
  if (*at != ' ') return 0;
  *at++ = 0;
  if (strcmp(at, "HTTP/1.1") != 0 && strcmp(at, "HTTP/1.0") != 0) return 0;
  client->goodbye = at[7] == '0';
  return 1;
}

/* A line `name: value` -> is it one? What frames a request may be there once. */
static int read_field(client_t *client, char *line) {
  char *at = line;
  while (is_token(*at)) at++;
  if (at == line || *at != ':') return 0;
  *at++ = 0;
  while (*at == ' ' || *at == '\t') at++;
  char *end = at + strlen(at);
  while (end > at && (end[-1] == ' ' || end[-1] == '\t')) *--end = 0;
  for (const char *c = at; *c; c++)
    if ((unsigned char)*c < ' ' && *c != '\t') return 0;
  if (!strcasecmp(line, "content-length")) {
    if (client->claimed || !*at) return 0;
    client->claimed = strspn(at, "0123456789") == strlen(at) && strlen(at) < 16 ? atof(at) + 1 : -1;
  } else if (!strcasecmp(line, "authorization")) {
    if (client->authorization) return 0;
    client->authorization = (size_t)(at - client->in);
  } else if (!strcasecmp(line, "transfer-encoding")) client->chunked = 1;
  else if (!strcasecmp(line, "upgrade")) client->upgrade = 1;
  else if (!strcasecmp(line, "expect")) client->expect = !strcasecmp(at, "100-continue");
  else if (!strcasecmp(line, "connection") && !strcasecmp(at, "close")) client->goodbye = 1;
  return 1;
}

/* Looks whether the head is there. A head that is none is shown, too, and is answered last. */
static void read_head(client_t *client) {
  if (client->head || !client->used) return;
  const size_t seen = client->used < SERVE_HEAD ? client->used : SERVE_HEAD;
  size_t end = 0;
  for (size_t i = 3; i < seen && !end; i++)
    if (client->in[i] == '\n' && !memcmp(client->in + i - 3, "\r\n\r\n", 4)) end = i + 1;
  if (!end && client->used < SERVE_HEAD) return;
  client->head = end ? end : seen;
  client->method = client->path = client->query = client->authorization = 0;
  client->shown = client->let_in = client->goodbye = client->chunked = client->upgrade = client->expect = 0;
  client->bare = 0;
  client->claimed = 0;
  client->sound = end && !memchr(client->in, 0, end);
  char *line = client->in;
  for (int first = 1; client->sound && line < client->in + end - 2; first = 0) {
    char *close = memchr(line, '\r', (size_t)(client->in + end - 1 - line));
    if (!close || close[1] != '\n' || memchr(line, '\n', (size_t)(close - line))) client->sound = 0;
    else {
      *close = 0;
      client->sound = first ? read_line(client, line) : read_field(client, line);
      line = close + 2;
    }
  }
  client->length = client->claimed > 1 ? (size_t)(client->claimed - 1) : 0;
  if (!client->sound || client->chunked || client->upgrade || client->claimed < 0) client->goodbye = 1;
}

static int is_whole(const client_t *client) {
  return client->used - client->head >= client->length && !client->chunked && client->claimed >= 0;
}

/* Is there something to hand over? Where the body has come with the head, both are at once. */
static int is_ready(const client_t *client) {
  return client->state == READING && client->head && (!client->shown || (client->let_in && is_whole(client)));
}

/* Room ---- */

static double held(const client_t *client) { return (double)client->capacity + (double)client->size; }

/* Hangs up on whoever has waited longest, but for `except`, those whose turn has come, and those who hold
   less than `least` bytes -> was there one? */
static int make_room(serve_t *serve, const client_t *except, double least) {
  client_t *oldest = NULL;
  for (int i = 0; i < serve->clients; i++) {
    client_t *client = serve->client + i;
    if (client->state == FREE || client->state == ASKED || is_ready(client) || client == except) continue;
    if (held(client) < least) continue;
    if (!oldest || client->since < oldest->since) oldest = client;
  }
  if (oldest) hang_up(oldest);
  return oldest != NULL;
}

/* A buffer of `client` grew: what all hold is brought below the limit, if others that hold something are
   there to hang up on. */
static void share_room(serve_t *serve, const client_t *client) {
  for (;;) {
    double all = 0;
    for (int i = 0; i < serve->clients; i++) all += held(serve->client + i);
    if (all <= serve->bytes || !make_room(serve, client, 1)) return;
  }
}

/* Sockets ---- */

static void take(serve_t *serve, client_t *client) {
  char thrown[CHUNK];
  for (;;) {
    char *to = thrown;
    size_t most = sizeof thrown;
    if (client->state == READING) {
      if (is_ready(client)) return;
      if (client->capacity - client->used < CHUNK) {
        const size_t capacity = 2 * client->capacity + CHUNK;
        char *in = realloc(client->in, capacity);
        if (!in) {
          hang_up(client);
          return;
        }
        client->in = in;
        client->capacity = capacity;
        share_room(serve, client);
      }
      to = client->in + client->used;
      most = CHUNK;
    }
    const ssize_t got = recv(client->fd, to, most, 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    if (got <= 0) {
      hang_up(client);
      return;
    }
    if (client->state != READING) return;
    if (!client->used) client->since = seconds();
    client->used += (size_t)got;
    read_head(client);
    if ((size_t)got < most) return;
  }
}

/* Sends what there is to send. After an answer what came behind its request is looked at. */
static void give(client_t *client) {
  while (client->sent < client->size) {
    const ssize_t gone =
        send(client->fd, client->out + client->sent, client->size - client->sent, MSG_NOSIGNAL);
    if (gone < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    if (gone < 0) {
      hang_up(client);
      return;
    }
    client->sent += (size_t)gone;
  }
  free(client->out);
  client->out = NULL;
  client->size = client->sent = 0;
  if (client->state != WRITING) return;
  client->since = seconds();
  if (client->goodbye) {
    client->state = DRAINING;
    shutdown(client->fd, SHUT_WR);
    return;
  }
  const size_t done = client->head + client->length;
  client->used -= done;
  memmove(client->in, client->in + done, client->used);
  if (!client->used && client->capacity > 4 * CHUNK) {
    free(client->in);
    client->in = NULL;
    client->capacity = 0;
  }
  client->head = client->length = 0;
  client->state = READING;
  read_head(client);
}

static void welcome(serve_t *serve, int listening) {
  for (int n = 0; n < 64; n++) {
    int i = 0;
    while (i < serve->clients && serve->client[i].state != FREE) i++;
    if (i == serve->most) {
      make_room(serve, NULL, 0);
      i = 0;
      while (i < serve->clients && serve->client[i].state != FREE) i++;
      if (i == serve->most) return;
    }
    const int fd = accept(listening, NULL, NULL);
    if (fd < 0) {
      if (errno == EMFILE || errno == ENFILE) make_room(serve, NULL, 0);
      return;
    }
    if (!prepare(fd)) {
      close(fd);
      continue;
    }
    if (i == serve->clients) serve->clients++;
    serve->client[i] = (client_t){.fd = fd, .state = READING, .since = seconds()};
  }
}

static double patience(const serve_t *serve, const client_t *client) {
  if (client->state == DRAINING) return DRAIN_SECONDS;
  return client->state == READING && !client->used ? SERVE_IDLE : serve->seconds;
}

static int any_ready(const serve_t *serve) {
  for (int i = 0; i < serve->clients; i++)
    if (is_ready(serve->client + i)) return 1;
  return 0;
}

int serve_next(serve_t *serve, int milliseconds, serve_request_t *request) {
  while (serve->clients && serve->client[serve->clients - 1].state == FREE) serve->clients--;
  for (int i = 0; i < serve->listening; i++)
    serve->polled[i] = (struct pollfd){.fd = serve->fd[i], .events = POLLIN};
  for (int i = 0; i < serve->clients; i++) {
    const client_t *client = serve->client + i;
    const int reads = client->state == DRAINING || (client->state == READING && !is_ready(client));
    serve->polled[LISTENING + i] =
        (struct pollfd){.fd = client->state == FREE ? -1 : client->fd,
                        .events = (short)((reads ? POLLIN : 0) | (client->size ? POLLOUT : 0))};
  }
  for (int i = serve->listening; i < LISTENING; i++) serve->polled[i] = (struct pollfd){.fd = -1};
  const int known = serve->clients;
  if (poll(serve->polled, (nfds_t)(LISTENING + known), any_ready(serve) ? 0 : milliseconds) >= 0) {
    const double now = seconds();
    for (int i = 0; i < known; i++) {
      client_t *client = serve->client + i;
      const short seen = serve->polled[LISTENING + i].revents;
      if (client->state == FREE) continue;
      if (seen & POLLOUT) give(client);
      if (client->state != FREE && (seen & POLLIN)) take(serve, client);
      else if (client->state != FREE && (seen & (POLLERR | POLLHUP | POLLNVAL))) hang_up(client);
      /* Whoever sends a byte now and then is timed, too. */
      if (client->state != FREE && client->state != ASKED && !is_ready(client) &&
          now - client->since > patience(serve, client))
        hang_up(client);
    }
    for (int i = 0; i < serve->listening; i++)
      if (serve->polled[i].revents & POLLIN) welcome(serve, serve->fd[i]);
  }
  for (int n = 0; n < serve->clients; n++) {
    const int i = (serve->next + n) % serve->clients; /* in turn */
    client_t *client = serve->client + i;
    if (!is_ready(client)) continue;
    serve->next = i + 1;
    const char *in = client->in;
    serve->serial = (serve->serial + 1) % (INT_MAX / SERVE_CONNECTIONS);
    client->serial = serve->serial;
    const int id = i + SERVE_CONNECTIONS * client->serial;
    *request = (serve_request_t){.id = id, .sound = client->sound, .again = client->shown};
    if (client->sound) {
      request->whole = is_whole(client);
      request->chunked = client->chunked;
      request->upgrade = client->upgrade;
      request->length = client->claimed < 0 ? -1 : (double)client->length;
      request->method = in + client->method;
      request->path = in + client->path;
      request->query = client->query ? in + client->query : "";
      request->authorization = client->authorization ? in + client->authorization : NULL;
      request->body = (const unsigned char *)in + client->head;
    }
    client->shown = 1;
    client->state = ASKED;
    return 1;
  }
  return 0;
}

/* The client may have hung up since, and another one come in its place. */
static client_t *asked(serve_t *serve, int id) {
  const int i = id % SERVE_CONNECTIONS, serial = id / SERVE_CONNECTIONS;
  if (id < 0 || i >= serve->clients || serve->client[i].state != ASKED) return NULL;
  return serve->client[i].serial == serial ? serve->client + i : NULL;
}

void serve_let_in(serve_t *serve, int id) {
  static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
  client_t *client = asked(serve, id);
  if (!client) return;
  client->let_in = 1;
  client->state = READING;
  client->since = seconds();
  if (!client->expect || !(client->out = malloc(sizeof go_on))) return;
  memcpy(client->out, go_on, sizeof go_on);
  client->size = sizeof go_on - 1;
  give(client);
}

int serve_answer(serve_t *serve, int id, const char *head, const char *body, size_t size) {
  client_t *client = asked(serve, id);
  if (!client) return 1;
  const size_t most = strlen(head) + size + 100;
  char *out = malloc(most + client->size - client->sent);
  if (!out) {
    hang_up(client);
    return 0;
  }
  if (!client->sound || !is_whole(client)) client->goodbye = 1;
  const size_t before = client->size - client->sent; /* of a 100 that has not gone yet */
  if (before) memcpy(out, client->out + client->sent, before);
  size_t n = before + (size_t)snprintf(out + before, most, "%sContent-Length: %lu\r\nConnection: %s\r\n\r\n",
                                       head, (unsigned long)size, client->goodbye ? "close" : "keep-alive");
  if (!client->bare) {
    memcpy(out + n, body, size);
    n += size;
  }
  free(client->out);
  client->out = out;
  client->size = n;
  client->sent = 0;
  client->state = WRITING;
  client->since = seconds();
  give(client);
  if (client->size) share_room(serve, client);
  return 1;
}

#else

#include <errno.h>

serve_t *serve_open(const char *host, int port, double seconds, double bytes) {
  (void)host, (void)port, (void)seconds, (void)bytes;
  errno = ENOSYS;
  return NULL;
}
void serve_close(serve_t *serve) { (void)serve; }
int serve_next(serve_t *serve, int milliseconds, serve_request_t *request) {
  (void)serve, (void)milliseconds, (void)request;
  return 0;
}
void serve_let_in(serve_t *serve, int id) { (void)serve, (void)id; }
int serve_answer(serve_t *serve, int id, const char *head, const char *body, size_t size) {
  (void)serve, (void)id, (void)head, (void)body, (void)size;
  return 0;
}

#endif
