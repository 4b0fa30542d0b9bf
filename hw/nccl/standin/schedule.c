/* Schedules of calls, as collsim writes them out (hw/nccl/schedules_test.go), and their player.
 *
 * COLLSIM_STANDIN_SCHEDULES names a file of integers and words. A call is
 *
 *   call FUNCTION type op root ranks count ALGORITHM PROTOCOL low high \
 *        slots largest scratch connections picoseconds lanes
 *   rank n step...                                          a lane of n numbers
 *
 * with op as ncclRedOp_t, or OPS for one that was made, and low and high the channels of NCCL's log.
 * Of several calls that are alike, the first is played whose algorithm NCCL_ALGO allows. A step is
 *
 *   scaled bytes
 *   sources { connection scaled | -1 scaled buffer runs { offset bytes } }
 *   stores { buffer runs { offset bytes } }
 *   sends { connection }
 *
 * each list behind its length; buffers are 0 input, 1 output, 2 scratch. A step's sources are combined
 * from left to right, scaled, stored and sent. It waits until all its messages have come and there
 * is a free slot on each connection that it sends on. */
#include "collective.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* connection is slots, of which the first of written - read that are taken is number read. */
struct connection {
  atomic_size_t written, read;
  _Alignas(64) unsigned char slot[];
};

static size_t line_up(size_t n) { return (n + 63) / 64 * 64; }

static size_t connection_size(const struct table *b) {
  return sizeof(struct connection) + line_up(b->slots * b->largest);
}

/* read_lane reads a lane, 0 if it is not one. */
static int read_lane(FILE *f, struct lane *l) {
  int count;
  if (fscanf(f, "%d %d", &l->rank, &count) != 2 || count < 0) return 0;
  l->begin = malloc(sizeof *l->begin * (size_t)(count + 1));
  if (!l->begin) return 0;
  for (l->end = l->begin; count--; l->end++)
    if (fscanf(f, "%ld", l->end) != 1) return 0;
  return 1;
}

/* read_table reads what follows the word "call", 0 if it is no table. */
static int read_table(FILE *f, struct table *b) {
  if (fscanf(f, "%19s %d %d %d %d %zu %11s %11s %d %d %zu %zu %zu %zu %ld %d", b->function,
             &b->type, &b->op, &b->root, &b->ranks, &b->count, b->algorithm, b->protocol, &b->low,
             &b->high, &b->slots, &b->largest, &b->scratch, &b->connections, &b->picoseconds,
             &b->count_lanes) != 16)
    return 0;
  if (b->count_lanes < 0 || !(b->lanes = calloc((size_t)b->count_lanes + 1, sizeof *b->lanes)))
    return 0;
  for (int i = 0; i < b->count_lanes; i++)
    if (!read_lane(f, &b->lanes[i])) return 0;
  return 1;
}

int standin_read_tables(struct comm *c, size_t *size) {
  const char *path = getenv("COLLSIM_STANDIN_SCHEDULES");
  if (!path || !*path) return 1;
  FILE *f = fopen(path, "r");
  if (!f) return 0;
  struct table **last = &c->tables;
  char word[8];
  int good = 1;
  while (good && fscanf(f, "%7s", word) == 1) {
    struct table *b = *last = calloc(1, sizeof *b);
    good = b && !strcmp(word, "call") && read_table(f, b);
    if (!good) break;
    last = &b->next;
    if (b->ranks != c->ranks) continue;
    b->at = line_up(*size);
    *size = b->at + b->connections * connection_size(b);
  }
  fclose(f);
  return good;
}

void standin_free_tables(struct table *b) {
  for (struct table *next; b; b = next) {
    next = b->next;
    for (int i = 0; i < b->count_lanes; i++) free(b->lanes[i].begin);
    free(b->lanes);
    free(b);
  }
}

/* names reports whether a word is in a list of n characters that has commas between. */
static int names(const char *list, size_t n, const char *word) {
  for (const char *end = list + n; list < end; list++) {
    size_t length = strcspn(list, ",;");
    if (length == strlen(word) && !strncasecmp(list, word, length)) return 1;
    list += length;
  }
  return 0;
}

/* allows reports whether NCCL_ALGO allows an algorithm, as NCCL reads it: "ring,tree" are allowed,
 * by "^pat" all others are; "ring;allreduce:tree" has a list of a function's own. */
static int allows(const char *function, const char *algorithm) {
  const char *list = getenv("NCCL_ALGO");
  int yes = 1;
  for (size_t n; list && *list; list += n + (list[n] == ';')) {
    n = strcspn(list, ";");
    size_t name = strcspn(list, ":;"), from = 0;
    if (name < n) {
      if (name != strlen(function) || strncasecmp(list, function, name)) continue;
      from = name + 1;
    }
    int without = list[from] == '^';
    from += (size_t)without;
    yes = without != names(list + from, n - from, algorithm);
  }
  return yes;
}

int standin_choose(struct task *t, const char *function) {
  int op = t->op < OPS ? t->op : OPS;
  for (const struct table *b = t->comm->tables; b && !t->table; b = b->next)
    if (b->ranks == t->comm->ranks && b->type == t->type && b->op == op && b->root == t->root &&
        b->count == t->count && !strcmp(b->function, function) && allows(function, b->algorithm))
      t->table = b;
  return t->table || allows(function, "RING");
}

/* play is a rank that plays. */
struct play {
  struct task *task;
  unsigned char *buffer[3], *value, *operand;
};

static struct connection *at(const struct play *p, long number) {
  const struct table *b = p->task->table;
  return (void *)((unsigned char *)p->task->comm->shared + b->at +
                  (size_t)number * connection_size(b));
}

static unsigned char *slot(const struct play *p, struct connection *c, size_t number) {
  const struct table *b = p->task->table;
  return c->slot + number % b->slots * b->largest;
}

/* skip is what follows a place: a buffer, and its runs. */
static const long *skip(const long *w) { return w + 2 + 2 * w[1]; }

/* ready reports whether a step can be done at once. */
static int ready(const struct play *p, const long *w) {
  w += 2;
  for (long n = *w++; n--;) {
    struct connection *c = at(p, w[0]);
    if (w[0] >= 0 && atomic_load(&c->written) == atomic_load(&c->read)) return 0;
    w = w[0] < 0 ? skip(w + 2) : w + 2;
  }
  for (long n = *w++; n--;) w = skip(w);
  for (long n = *w++; n--; w++) {
    struct connection *c = at(p, *w);
    if (atomic_load(&c->written) - atomic_load(&c->read) == p->task->table->slots) return 0;
  }
  return 1;
}

/* move copies a place's runs into a value, or a value into them. */
static void move(const struct play *p, const long *w, unsigned char *value, int stores) {
  unsigned char *buffer = p->buffer[*w++];
  for (long n = *w++; n--; w += 2) {
    if (stores) memmove(buffer + w[0], value, (size_t)w[1]);
    else memmove(value, buffer + w[0], (size_t)w[1]);
    value += w[1];
  }
}

/* step does a step, and returns the next one. */
static const long *step(struct play *p, const long *w) {
  struct task *t = p->task;
  long scaled = *w++;
  size_t bytes = (size_t)*w++, count = bytes / standin_width(t->type);
  long sources = *w++;
  for (long i = 0; i < sources; i++) {
    unsigned char *into = i ? p->operand : p->value;
    if (w[0] < 0) {
      move(p, w + 2, into, 0);
    } else {
      struct connection *c = at(p, w[0]);
      size_t read = atomic_load(&c->read);
      memcpy(into, slot(p, c, read), bytes);
      atomic_store(&c->read, read + 1);
    }
    if (w[1]) standin_before(t, into, count);
    if (i) standin_add(t, p->value, into, count);
    w = w[0] < 0 ? skip(w + 2) : w + 2;
  }
  if (scaled) standin_after(t, p->value, count);
  for (long n = *w++; n--; w = skip(w)) move(p, w, p->value, 1);
  for (long n = *w++; n--; w++) {
    struct connection *c = at(p, *w);
    size_t written = atomic_load(&c->written);
    memcpy(slot(p, c, written), p->value, bytes);
    atomic_store(&c->written, written + 1);
  }
  return w;
}

void standin_play(struct task *t) {
  const struct table *b = t->table;
  struct play p = {t, {(unsigned char *)t->send, t->receive, malloc(b->scratch + 1)},
                   malloc(b->largest + 1), malloc(b->largest + 1)};
  const long **next = malloc(sizeof *next * (size_t)(b->count_lanes + 1));
  if (!p.buffer[2] || !p.value || !p.operand || !next) abort();
  for (int i = 0; i < b->count_lanes; i++) next[i] = b->lanes[i].begin;
  for (int idle = 0, left = 1; left && !atomic_load(&t->comm->aborted); idle++) {
    left = 0;
    for (int i = 0; i < b->count_lanes; i++) {
      const struct lane *l = &b->lanes[i];
      if (l->rank != t->comm->rank) continue;
      for (; next[i] < l->end && ready(&p, next[i]); idle = 0) next[i] = step(&p, next[i]);
      left |= next[i] < l->end;
    }
    if (left) standin_idle(idle);
  }
  free(next);
  free(p.buffer[2]);
  free(p.value);
  free(p.operand);
}
