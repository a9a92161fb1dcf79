/* The HTTP server without R, for tools/fuzz.py: answers what it understood. Arguments: port, seconds, bytes. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../src/serve.h"

/* FNV-1a */
static unsigned digest(const unsigned char *body, size_t n) {
  unsigned h = 2166136261u;
  for (size_t i = 0; i < n; i++) h = (h ^ body[i]) * 16777619u;
  return h;
}

int main(int argc, char **argv) {
  if (argc != 4) return 1;
  serve_t *serve = serve_open("127.0.0.1", atoi(argv[1]), atof(argv[2]), atof(argv[3]));
  if (!serve) return 2;
  enum { MOST = 1000000, BIG = 4000000 };
  char *text = malloc(BIG + 40000);
  for (serve_request_t request;;) {
    if (!serve_next(serve, 200, &request)) continue;
    const char *status = "200 OK";
    size_t n = 0;
    if (!request.sound) status = "400 Error";
    else if (!strcmp(request.path, "/end")) break;
    else if (request.upgrade) status = "426 Error";
    else if (request.chunked || request.length < 0 || request.length > MOST) status = "413 Error";
    else if (!request.whole) {
      serve_let_in(serve, request.id);
      continue;
    } else {
      n = (size_t)sprintf(text, "%s|%s|%s|%s|%.0f|%u", request.method, request.path, request.query,
                          request.authorization ? request.authorization : "-", request.length,
                          digest(request.body, (size_t)request.length));
      if (!strcmp(request.path, "/big")) memset(text + n, 'x', BIG - n), n = BIG;
    }
    char head[100];
    sprintf(head, "HTTP/1.1 %s\r\n", status);
    serve_answer(serve, request.id, head, text, n);
  }
  serve_close(serve);
  free(text);
  return 0;
}
