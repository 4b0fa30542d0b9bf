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
  atomic_int device[MOST_RANKS]; /* 1 + that of each rank */
  struct fifo fifo[];            /* from, to */
};

struct comm {
  int rank, ranks, device;
  char id[128];
  struct shared *shared;
  size_t size;
  atomic_int aborted, async;
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

enum { ALL_REDUCE, REDUCE, REDUCE_SCATTER, BROADCAST, ALL_GATHER, TRANSFERS };

struct task {
  struct comm *comm;
  int kind, type, op, root;
  const void *send;
  void *receive;
  size_t count;
  struct leg *legs; /* of TRANSFERS */
  int count_legs;
};

/* standin_carry_out does a task, and frees it. */
void standin_carry_out(void *task);

#endif
