#ifndef DPTS_YAHOO_H
#define DPTS_YAHOO_H
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

/* The articles of a line: at most `max` ids and features (YAHOO_DIM each). Blocks that are not an
   id and exactly the features 1 .. 6, or repeat an id, are dropped. Returns how many are left. */
int yahoo_articles(const char *text, const char *end, int max, int *id, double *features,
                   int *dropped);

/* How many blocks there are: an upper bound for yahoo_articles(). */
int yahoo_blocks(const char *text, const char *end);

uint64_t yahoo_hash(const char *text, size_t n);

#endif
