#ifndef DPTS_PLAY_YAHOO_H
#define DPTS_PLAY_YAHOO_H
/* Lines of the Yahoo! R6A log (ydata-fp-td-clicks-v1_0):

     timestamp displayed click |user 2:x 3:x 4:x 5:x 6:x 1:x |article 2:x ... 1:x |...

   Features are keyed by their ids 1 .. 6, in any order. */

#include <stddef.h>
#include <stdint.h>

#define YAHOO_DIM 6

enum yahoo_status {
  YAHOO_OK,
  YAHOO_BAD_LINE, /* not `number number 0-or-1 |user ...` */
  YAHOO_BAD_USER  /* the user's features are not exactly 1 .. 6 */
};

typedef struct {
  int timestamp, arm, click;
  double user[YAHOO_DIM];
  const char *articles; /* from the bar of the first article to the line's end */
} yahoo_line_t;

enum yahoo_status yahoo_line(const char *line, const char *end, yahoo_line_t *out);

/* An article: its features as they first came, and its text where it was last. A text that comes
   again, as nearly all do, is not parsed again. */
#define YAHOO_TEXT 104
typedef struct {
  int id;
  int n;        /* bytes of the text, 0 where it is too long to keep */
  int64_t line; /* on which it was last: no article is on offer twice */
  double features[YAHOO_DIM];
  char text[YAHOO_TEXT];
} article_t;

/* All articles so far, in the order in which they came, found by id. */
typedef struct {
  int n;
  article_t *article;
  int slots; /* a power of two, at least twice as many as there is room for articles */
  int *slot; /* the number of an article, from 1; 0: free */
} articles_t;

/* Fill `slot` anew, for memory that has grown. */
void yahoo_index(articles_t *known);

/* The ids of the articles on line number `line`, which are added to those known. Blocks that are
   not an id and exactly the features 1 .. 6, or repeat an id, are dropped. Returns how many are
   left. There must be room for yahoo_blocks() more. */
int yahoo_articles(const char *text, const char *end, int64_t line, articles_t *known,
                   int *id, int *dropped);

/* How many blocks there are: an upper bound for yahoo_articles(). */
int yahoo_blocks(const char *text, const char *end);

#endif
