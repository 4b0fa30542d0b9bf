/* Collectives as collsim's schedules have them, where no table says more (schedule.c): a ring for
 * all_reduce (order=nccl), reduce_scatter and all_gather, a chain for reduce and broadcast. */
#include "collective.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* move moves what can be moved of a leg at once. */
static size_t move(struct comm *c, struct leg *l) {
  int from = l->sends ? c->rank : l->peer, to = l->sends ? l->peer : c->rank;
  struct fifo *f = &c->shared->fifo[from * c->ranks + to];
  size_t written = atomic_load(&f->written), read = atomic_load(&f->read);
  size_t n = l->sends ? FIFO - (written - read) : written - read;
  size_t at = (l->sends ? written : read) % FIFO;
  if (n > l->left) n = l->left;
  if (n > FIFO - at) n = FIFO - at;
  if (!n) return 0;
  if (l->sends) {
    memcpy(f->data + at, l->at, n);
    atomic_store(&f->written, written + n);
  } else {
    memcpy(l->at, f->data + at, n);
    atomic_store(&f->read, read + n);
  }
  l->at += n;
  l->left -= n;
  return n;
}

/* first reports whether no leg before this one goes the same way. */
static int first(const struct leg *legs, int i) {
  for (int j = 0; j < i; j++)
    if (legs[j].left && legs[j].peer == legs[i].peer && legs[j].sends == legs[i].sends) return 0;
  return 1;
}

void standin_idle(int times) {
  if (times > 1000) usleep(50);
  else sched_yield();
}

/* transfers returns when all legs are done, or 0 if the communicator was aborted. */
static int transfers(struct comm *c, struct leg *legs, int count) {
  for (int idle = 0;; idle++) {
    size_t left = 0;
    for (int i = 0; i < count; i++) {
      if (legs[i].left && first(legs, i) && move(c, &legs[i])) idle = 0;
      left += legs[i].left;
    }
    if (!left) return 1;
    if (atomic_load(&c->aborted)) return 0;
    standin_idle(idle);
  }
}

static int exchange(struct comm *c, int to, const void *send, size_t sent, int from, void *receive,
                    size_t received) {
  struct leg legs[] = {{to, 1, (unsigned char *)send, sent}, {from, 0, receive, received}};
  return transfers(c, legs, 2);
}

void standin_before(struct task *t, void *own, size_t count) {
  unsigned char factor[8];
  if (t->op >= OPS) {
    standin_scale(t->type, own, t->comm->operator[t->op - OPS].factor, count);
  } else if (t->op == AVG && standin_is_float(t->type)) {
    standin_reciprocal(t->type, factor, t->comm->ranks);
    standin_scale(t->type, own, factor, count);
  }
}

void standin_after(struct task *t, void *sum, size_t count) {
  if (t->op == AVG && !standin_is_float(t->type))
    standin_divide(t->type, sum, t->comm->ranks, count);
}

void standin_add(struct task *t, void *dst, const void *src, size_t count) {
  standin_combine(t->type, t->op >= OPS || t->op == AVG ? SUM : t->op, dst, src, count);
}

/* The chunks of a ring: parts that are as even as they can be, or blocks. */
struct chunk {
  size_t from, count;
};

static struct chunk chunk(const struct task *t, int i) {
  size_t n = (size_t)t->comm->ranks, c = (size_t)((i % (int)n + (int)n) % (int)n);
  if (t->kind != ALL_REDUCE) return (struct chunk){c * t->count, t->count};
  size_t size = t->count / n, more = t->count % n;
  return (struct chunk){c * size + (c < more ? c : more), size + (c < more)};
}

/* around has chunk c set out from rank c+1, go from each rank to the next and be added to. The
 * chunk that is complete here is left in sum. */
static int around(struct task *t, const unsigned char *own, unsigned char *sum, unsigned char *spare) {
  struct comm *c = t->comm;
  size_t width = standin_width(t->type);
  int n = c->ranks, next = (c->rank + 1) % n, previous = (c->rank + n - 1) % n;
  struct chunk leaves = chunk(t, c->rank - 1);
  unsigned char *out = spare, *in = sum;
  memcpy(n == 1 ? sum : out, own + leaves.from * width, leaves.count * width);
  for (int i = 1; i < n; i++) {
    struct chunk comes = chunk(t, c->rank - 1 - i);
    if (!exchange(c, next, out, leaves.count * width, previous, in, comes.count * width)) return 0;
    standin_add(t, in, own + comes.from * width, comes.count);
    leaves = comes;
    unsigned char *other = out;
    out = in;
    in = other;
  }
  if (n > 1 && out != sum) memcpy(sum, out, leaves.count * width);
  standin_after(t, sum, leaves.count);
  return 1;
}

/* gather has the chunk that a rank holds, number mine, go round. */
static void gather(struct task *t, int mine) {
  struct comm *c = t->comm;
  size_t width = standin_width(t->type);
  unsigned char *all = t->receive;
  int n = c->ranks;
  for (int i = 0; i < n - 1; i++) {
    struct chunk leaves = chunk(t, mine - i), comes = chunk(t, mine - i - 1);
    if (!exchange(c, (c->rank + 1) % n, all + leaves.from * width, leaves.count * width,
                  (c->rank + n - 1) % n, all + comes.from * width, comes.count * width))
      return;
  }
}

/* reduce has the sum come from each rank to the one before, down to the root. */
static void reduce(struct task *t, unsigned char *own, unsigned char *sum) {
  struct comm *c = t->comm;
  size_t size = t->count * standin_width(t->type);
  int n = c->ranks, place = (c->rank - t->root + n) % n;
  struct leg in = {(c->rank + 1) % n, 0, sum, size};
  if (place == n - 1) {
    memcpy(sum, own, size);
  } else {
    if (!transfers(c, &in, 1)) return;
    standin_add(t, sum, own, t->count);
  }
  struct leg out = {(c->rank + n - 1) % n, 1, sum, size};
  if (place) {
    transfers(c, &out, 1);
    return;
  }
  standin_after(t, sum, t->count);
  memcpy(t->receive, sum, size);
}

static void broadcast(struct task *t) {
  struct comm *c = t->comm;
  size_t size = t->count * standin_width(t->type);
  int n = c->ranks, place = (c->rank - t->root + n) % n;
  struct leg in = {(c->rank + n - 1) % n, 0, t->receive, size};
  if (place == 0) memmove(t->receive, t->send, size);
  else if (!transfers(c, &in, 1)) return;
  struct leg out = {(c->rank + 1) % n, 1, t->receive, size};
  if (place < n - 1) transfers(c, &out, 1);
}

/* reduction carries out what adds: on a copy of the input, which may lie where the output will. */
static void reduction(struct task *t) {
  struct comm *c = t->comm;
  size_t width = standin_width(t->type);
  size_t count = t->kind == REDUCE_SCATTER ? t->count * (size_t)c->ranks : t->count;
  unsigned char *own = malloc(count * width), *sum = malloc(count * width);
  unsigned char *spare = malloc(count * width);
  if (!own || !sum || !spare) abort();
  memcpy(own, t->send, count * width);
  standin_before(t, own, count);
  if (t->kind == REDUCE) {
    reduce(t, own, sum);
  } else if (around(t, own, sum, spare)) {
    struct chunk mine = chunk(t, c->rank);
    size_t at = t->kind == ALL_REDUCE ? mine.from * width : 0;
    memcpy((unsigned char *)t->receive + at, sum, mine.count * width);
    if (t->kind == ALL_REDUCE) gather(t, c->rank);
  }
  free(own);
  free(sum);
  free(spare);
}

/* stops reports whether the rank is asked not to do its part: it never ends then. */
static void stops(struct task *t) {
  struct comm *c = t->comm;
  if (t->count < 2) return;
  const char *slow = getenv("COLLSIM_STANDIN_SLOW");
  if (slow && *slow) usleep((useconds_t)atol(slow));
  int signal_number = standin_failure("die", c->rank);
  if (signal_number) raise(signal_number);  // not kill: another thread might take the signal
  int code = standin_failure("async", c->rank);
  if (code) atomic_store(&c->async, code);
  while ((code || standin_failure("hang", c->rank)) && !atomic_load(&c->aborted)) usleep(1000);
}

void standin_carry_out(void *argument) {
  struct task *t = argument;
  struct comm *c = t->comm;
  stops(t);
  if (!atomic_load(&c->aborted)) {
    size_t block = t->count * standin_width(t->type);
    unsigned char *own = (unsigned char *)t->receive + (size_t)c->rank * block;
    int behind = t->kind == REDUCE_SCATTER && standin_failure("behind", c->rank);
    if (t->table) t->kind = TABLE;
    switch (t->kind) {
    case TABLE: standin_play(t); break;
    case BROADCAST: broadcast(t); break;
    case ALL_GATHER:
      memmove(own, t->send, block);
      gather(t, c->rank);
      break;
    case TRANSFERS: transfers(c, t->legs, t->count_legs); break;
    default: reduction(t);
    }
    if (behind) ((unsigned char *)t->receive)[block] ^= 1;
  }
  free(t->legs);
  free(t);
}
