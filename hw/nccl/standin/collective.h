/* What ranks share, and what a stream is given to do. */
#ifndef COLLSIM_STANDIN_COLLECTIVE_H
#define COLLSIM_STANDIN_COLLECTIVE_H

#include "standin.h"

#include <stdatomic.h>

enum { MOST_RANKS = 64, MOST_OPERATORS = 64, FIFO = 1 << 16 };

/* fifo is what one rank has sent to another that is not received yet. */
struct fifo {
  atomic_size_t written, read; /* bytes, ever */
  unsigned char data[FIFO];
};

struct shared {
  atomic_int attached;
  atomic_int device[MOST_RANKS]; /* that of each rank, and its host */
  struct fifo fifo[];            /* from, to; behind them are the connections of tables */
};

/* table is a call's schedule: schedule.c has its text. */
struct table {
  struct table *next;
  char function[20], algorithm[12], protocol[12];
  int type, op, root, ranks, low, high; /* channels */
  size_t count;
  size_t slots, largest;  /* of a connection, and the bytes of a slot */
  size_t connections, at; /* in the memory that ranks share */
  size_t scratch;         /* bytes of a rank */
  long picoseconds;       /* that it is said to take; 0 says nothing */
  int count_lanes;
  struct lane {
    int rank;
    long *begin, *end;
  } *lanes;
};

struct comm {
  int rank, ranks, device;
  char id[128];
  struct shared *shared;
  size_t size;
  atomic_int aborted, async;
  struct table *tables;
  int operators;
  struct {
    int type;
    unsigned char factor[8];
  } operator[MOST_OPERATORS];
};

/* leg is bytes to a peer, or from one. */
struct leg {
  int peer, sends;
  unsigned char *at;
  size_t left;
};

enum { ALL_REDUCE, REDUCE, REDUCE_SCATTER, BROADCAST, ALL_GATHER, TRANSFERS, TABLE };

struct task {
  struct comm *comm;
  int kind, type, op, root;
  const void *send;
  void *receive;
  size_t count;
  struct leg *legs; /* of TRANSFERS */
  int count_legs;
  const struct table *table; /* that it is played by, or NULL */
};

/* standin_read_tables reads the tables of a communicator's calls, 0 if that cannot be done; size is
 * of what its ranks share, and grows by what they need. */
int standin_read_tables(struct comm *comm, size_t *size);
void standin_free_tables(struct table *tables);
/* standin_choose finds a call's table, 0 if NCCL_ALGO allows no way to do it. */
int standin_choose(struct task *task, const char *function);
/* standin_play has the rank of a task do what its table says. */
void standin_play(struct task *task);

/* standin_before is done to a rank's own elements before the first addition, standin_after to sums
 * after the last, standin_add between. */
void standin_before(struct task *task, void *own, size_t count);
void standin_after(struct task *task, void *sum, size_t count);
void standin_add(struct task *task, void *dst, const void *src, size_t count);
/* standin_idle waits, the longer the more often it was called in vain. */
void standin_idle(int times);

/* standin_carry_out does a task, and frees it. */
void standin_carry_out(void *task);

#endif
