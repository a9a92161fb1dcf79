#ifndef DPTS_SERVE_H
#define DPTS_SERVE_H
/* HTTP/1.1 for a service in one thread. Requests of many connections are gathered. Each is handed over when
   its head has come, and again when its body has, if that was let in. It may be answered after later ones.
     A connection has one request under way, and what is sent after it waits until it is answered: a request
   of a client that has hung up is not begun. A client that takes longer than `seconds` for a head, a body
   or an answer is hung up on. Where there are too many connections, or requests and answers under way hold
   more than `bytes` together, the connection that has waited longest is closed. */

#include <stddef.h>

enum {
  SERVE_HEAD = 16384, /* the most bytes of a head */
  SERVE_IDLE = 75,    /* seconds between two requests */
  SERVE_CONNECTIONS = 4096
};

typedef struct serve serve_t;

/* A request. The pointers hold until it is answered or its body is let in. */
typedef struct {
  int id;        /* names the request */
  int sound;     /* is the head one of HTTP/1? If not, nothing below is set. */
  int whole;     /* has the body come? */
  int chunked;   /* it has a Transfer-Encoding: its body is not read */
  int upgrade;   /* it asks for another protocol */
  int again;     /* its head was shown before */
  double length; /* of the body; negative: not a number */
  const char *method, *path, *query;
  const char *authorization; /* NULL: none */
  const unsigned char *body;
} serve_request_t;

/* NULL: errno says why */
serve_t *serve_open(const char *host, int port, double seconds, double bytes);
void serve_close(serve_t *serve);

/* Waits for so long at most -> is there a request? */
int serve_next(serve_t *serve, int milliseconds, serve_request_t *request);

/* The body of the request may come. */
void serve_let_in(serve_t *serve, int id);

/* `head`: the status line and lines of the head, each with its CRLF, but for Content-Length and Connection.
   -> 0: there is no memory for it, and the client is hung up on */
int serve_answer(serve_t *serve, int id, const char *head, const char *body, size_t size);

#endif
