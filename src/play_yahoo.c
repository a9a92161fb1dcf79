#include <limits.h>
#include <string.h>
#include "play_yahoo.h"

static const char *skip_spaces(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  return at;
}

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* A whole number below 2^31; NULL if there is none. */
static const char *read_int(const char *at, const char *end, int *out) {
  int64_t x = 0;
  const char *start = at;
  for (; at < end && is_digit(*at); at++) {
    x = 10 * x + (*at - '0');
    if (x > INT_MAX) return NULL;
  }
  *out = (int)x;
  return at > start ? at : NULL;
}

/* A decimal number. With up to 15 digits and a power of ten up to 22 both are exact doubles, and
   one division rounds correctly; the log has 7 digits. */
static const char *read_decimal(const char *at, const char *end, double *out) {
  static const double TEN[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                               1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  int64_t digits = 0;
  int n = 0, after = 0, point = 0, negative = 0, power = 0, down = 0;
  if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
  const char *start = at;
  for (; at < end; at++) {
    if (*at == '.' && !point) {
      point = 1;
      continue;
    }
    if (!is_digit(*at)) break;
    if (n < 15) {
      digits = 10 * digits + (*at - '0');
      if (digits > 0) n++;
      after += point;
    } else if (!point) {
      return NULL; /* beyond any feature */
    }
  }
  if (at == start || (point && at == start + 1)) return NULL;
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    if (at < end && (*at == '-' || *at == '+')) down = *at++ == '-';
    at = read_int(at, end, &power);
    if (!at || power > 300) return NULL;
  }
  double x = (double)digits;
  int shift = (down ? -power : power) - after;
  for (; shift < -15; shift += 15) x /= 1e15;
  for (; shift > 15; shift -= 15) x *= 1e15;
  x = shift < 0 ? x / TEN[-shift] : x * TEN[shift];
  *out = negative ? -x : x;
  return at;
}

/* `2:x 3:x ...` up to the next bar. Sets `good` when the ids are exactly 1 .. 6. */
static const char *read_features(const char *at, const char *end, double *out, int *good) {
  const char *bar = memchr(at, '|', (size_t)(end - at));
  if (!bar) bar = end;
  unsigned seen = 0;
  int n = 0;
  *good = 0;
  for (at = skip_spaces(at, bar); at < bar; at = skip_spaces(at, bar), n++) {
    int id;
    double x;
    at = read_int(at, bar, &id);
    if (!at || at >= bar || *at != ':' || id < 1 || id > YAHOO_DIM) return bar;
    at = read_decimal(at + 1, bar, &x);
    if (!at || (at < bar && *at != ' ' && *at != '\t')) return bar;
    out[id - 1] = x;
    seen |= 1u << id;
  }
  *good = n == YAHOO_DIM && seen == 0x7e;
  return bar;
}

enum yahoo_status yahoo_line(const char *line, const char *end, yahoo_line_t *out) {
  const char *at = read_int(line, end, &out->timestamp);
  if (!at || at == end || *at != ' ') return YAHOO_BAD_LINE;
  at = read_int(skip_spaces(at, end), end, &out->arm);
  if (!at || at == end || *at != ' ') return YAHOO_BAD_LINE;
  at = read_int(skip_spaces(at, end), end, &out->click);
  if (!at || at == end || *at != ' ' || out->click > 1) return YAHOO_BAD_LINE;
  at = skip_spaces(at, end);
  if (end - at < 6 || memcmp(at, "|user ", 6) != 0) return YAHOO_BAD_LINE;
  int good;
  out->articles = read_features(at + 6, end, out->user, &good);
  return good ? YAHOO_OK : YAHOO_BAD_USER;
}

int yahoo_blocks(const char *text, const char *end) {
  int n = 0;
  for (; (text = memchr(text, '|', (size_t)(end - text))); text++) n++;
  return n;
}

/* The place of an id in the table: its own, or the free one that it would get. */
static int *find_article(const articles_t *known, int id) {
  const uint32_t mask = (uint32_t)known->slots - 1;
  uint32_t at = ((uint32_t)id * 0x9e3779b1u >> 7) & mask;
  while (known->slot[at] && known->article[known->slot[at] - 1].id != id)
    at = (at + 1) & mask;
  return &known->slot[at];
}

void yahoo_index(articles_t *known) {
  memset(known->slot, 0, sizeof(int) * (size_t)known->slots);
  for (int i = 0; i < known->n; i++) *find_article(known, known->article[i].id) = i + 1;
}

/* A block from behind its bar to the next one. NULL if it is no article, else the article. */
static article_t *read_article(const char *text, const char *end, articles_t *known) {
  int id, good;
  double features[YAHOO_DIM];
  const char *at = read_int(text, end, &id);
  if (!at || at == end || *at != ' ') return NULL;
  const size_t n = (size_t)(end - at);
  int *slot = find_article(known, id);
  article_t *article = *slot ? &known->article[*slot - 1] : NULL;
  if (article && (size_t)article->n == n && memcmp(article->text, at, n) == 0)
    return article;
  read_features(at, end, features, &good);
  if (!good) return NULL;
  if (!article) {
    article = &known->article[known->n++];
    *slot = known->n;
    article->id = id;
    article->line = 0;
    memcpy(article->features, features, sizeof features);
  }
  article->n = n <= YAHOO_TEXT ? (int)n : 0;
  memcpy(article->text, at, (size_t)article->n);
  return article;
}

int yahoo_articles(const char *text, const char *end, int64_t line, articles_t *known,
                   int *id, int *dropped) {
  int n = 0;
  *dropped = 0;
  while (text < end) { /* at a bar */
    const char *bar = memchr(text + 1, '|', (size_t)(end - text - 1));
    article_t *article = read_article(text + 1, bar ? bar : end, known);
    if (article && article->line != line) {
      id[n++] = article->id;
      article->line = line;
    } else {
      ++*dropped;
    }
    text = bar ? bar : end;
  }
  return n;
}
