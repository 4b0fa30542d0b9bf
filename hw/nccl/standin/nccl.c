/* The part of NCCL's interface that is called. Communicators, groups, and what each function asks
 * for; collective.c carries it out. Every function has NCCL's name and signature, and its codes. */
#include "collective.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUCCESS = 0, UNHANDLED_CUDA = 1, SYSTEM = 2, INTERNAL = 3, INVALID_ARGUMENT = 4,
       INVALID_USAGE = 5, REMOTE = 6, IN_PROGRESS = 7, TIMEOUT = 8, RESULTS = 9 };

typedef struct { char internal[128]; } ncclUniqueId;
typedef struct comm *ncclComm_t;

int standin_device(void);
int standin_holds(const void *at, size_t size);

static _Thread_local char last_error[256];

static int fail(int code, const char *text) {
  snprintf(last_error, sizeof last_error, "%s", text);
  return code;
}

#define ENTER(rank)                                                                                \
  do {                                                                                             \
    int code = standin_failure(__func__, rank);                                                    \
    if (code) return grouped(fail(code, "as COLLSIM_STANDIN_FAIL asks"));                          \
  } while (0)

/* What a thread has asked for since its group began. */
struct request {
  struct request *next;
  struct comm *init;       /* a communicator to attach, or */
  struct task *task;       /* something for a stream */
  void *stream;
};
static _Thread_local struct {
  int depth, error;
  struct request *first, **last;
} group;

/* grouped notes an error, which the end of the group returns again. */
static int grouped(int code) {
  if (code && group.depth && !group.error) group.error = code;
  return code;
}

static int push(struct request r) {
  struct request *p = malloc(sizeof *p);
  if (!p) return fail(SYSTEM, "malloc");
  *p = r;
  p->next = NULL;
  if (!group.first) group.last = &group.first;
  *group.last = p;
  group.last = &p->next;
  return SUCCESS;
}

int ncclGroupStart(void) {
  ENTER(-1);
  group.depth++;
  return SUCCESS;
}

static void path_of(const ncclUniqueId *id, char *path, size_t size) {
  const char *dir = getenv("COLLSIM_STANDIN_DIR");
  snprintf(path, size, "%s/collsim-%.64s", dir && *dir ? dir : "/tmp", id->internal);
}

/* host is a number for the host that this library is on, which it looks for once. */
static int host(void) {
  static _Atomic int known;
  if (!known) {
    const char *name = getenv("NCCL_HOSTID");
    unsigned hash = 5381;
    while (name && *name) hash = hash * 33 + (unsigned char)*name++;
    known = 1 + (int)(hash % (1 << 20));
  }
  return known;
}

/* attach maps what the ranks of a communicator share. */
static int attach(struct comm *c) {
  char path[512];
  path_of((ncclUniqueId *)c->id, path, sizeof path);
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fail(SYSTEM, path);
  size_t size = sizeof(struct shared) + sizeof(struct fifo) * (size_t)(c->ranks * c->ranks);
  if (!standin_read_tables(c, &size)) {
    close(fd);
    return fail(SYSTEM, "COLLSIM_STANDIN_SCHEDULES: no such file, or not as schedule.c has them");
  }
  void *at = MAP_FAILED;
  if (!ftruncate(fd, (off_t)size)) at = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) return fail(SYSTEM, path);
  c->shared = at;
  c->size = size;
  atomic_store(&c->shared->device[c->rank], host() * 256 + c->device);
  atomic_fetch_add(&c->shared->attached, 1);
  return SUCCESS;
}

/* meet waits until all ranks have come. */
static int meet(struct comm *c) {
  while (atomic_load(&c->shared->attached) < c->ranks) usleep(50);
  if (c->rank == 0) {
    char path[512];
    path_of((ncclUniqueId *)c->id, path, sizeof path);
    unlink(path);
  }
  for (int a = 0; a < c->ranks; a++)
    for (int b = 0; b < a; b++)
      if (c->shared->device[a] == c->shared->device[b])
        return fail(INVALID_USAGE, "Duplicate GPU detected");
  return SUCCESS;
}

/* merge has sends and receives of one communicator and stream in one task: they go on together. */
static void merge(struct request *r) {
  for (; r; r = r->next) {
    if (!r->task || r->task->kind != TRANSFERS) continue;
    for (struct request *s = r->next; s; s = s->next) {
      struct task *a = r->task, *b = s->task;
      if (!b || b->kind != TRANSFERS || b->comm != a->comm || s->stream != r->stream) continue;
      struct leg *legs = realloc(a->legs, sizeof *legs * (size_t)(a->count_legs + b->count_legs));
      if (!legs) abort();
      memcpy(legs + a->count_legs, b->legs, sizeof *legs * (size_t)b->count_legs);
      a->legs = legs;
      a->count_legs += b->count_legs;
      free(b->legs);
      free(b);
      s->task = NULL;
    }
  }
}

/* sim_info is ncclSimInfo_t. */
struct sim_info {
  size_t size;
  unsigned magic, version;
  float estimated;
};

/* ncclGroupSimulateEnd forgets a group of calls, and says what the last of them takes by the table
 * of COLLSIM_STANDIN_SCHEDULES. */
int ncclGroupSimulateEnd(struct sim_info *info) {
  ENTER(-1);
  if (group.depth == 0) return fail(INVALID_USAGE, "ncclGroupSimulateEnd without ncclGroupStart");
  if (!info || info->magic != 0x74685283 || info->size < sizeof *info)
    return fail(INVALID_ARGUMENT, "ncclSimInfo_t is not initialized");
  if (--group.depth) return SUCCESS;
  struct request *all = group.first;
  int code = group.error;
  group.first = NULL;
  group.error = 0;
  info->estimated = -1;
  for (struct request *r = all, *next; r; r = next) {
    next = r->next;
    if (r->task && r->task->table && r->task->table->picoseconds > 0)
      info->estimated = (float)((double)r->task->table->picoseconds / 1e6);
    if (r->task) free(r->task->legs);
    free(r->task);
    free(r);
  }
  return code;
}

int ncclGroupEnd(void) {
  ENTER(-1);
  if (group.depth == 0) return fail(INVALID_USAGE, "ncclGroupEnd without ncclGroupStart");
  if (--group.depth) return SUCCESS;
  struct request *all = group.first;
  int code = group.error;
  group.first = NULL;
  group.error = 0;
  for (struct request *r = all; r && !code; r = r->next)
    if (r->init) code = attach(r->init);
  for (struct request *r = all; r && !code; r = r->next)
    if (r->init) code = meet(r->init);
  if (!code) merge(all);
  for (struct request *r = all, *next; r; r = next) {
    next = r->next;
    if (r->task && !code) code = standin_enqueue(r->stream, standin_carry_out, r->task) ? SYSTEM : 0;
    free(r);
  }
  return code;
}

int ncclGetVersion(int *version) {
  *version = 23007;
  return standin_failure(__func__, -1);
}

const char *ncclGetErrorString(int code) {
  static const char *text[RESULTS] = {
      "no error", "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
      "unhandled system error (run with NCCL_DEBUG=INFO for details)", "internal error",
      "invalid argument (run with NCCL_DEBUG=WARN for details)",
      "invalid usage (run with NCCL_DEBUG=WARN for details)",
      "remote process exited or there was a network error", "NCCL operation in progress",
      "timeout"};
  return code >= 0 && code < RESULTS ? text[code] : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t comm) {
  (void)comm;
  return last_error;
}

int ncclGetUniqueId(ncclUniqueId *id) {
  ENTER(-1);
  uint64_t luck[2];
  FILE *f = fopen("/dev/urandom", "rb");
  if (!f || fread(luck, sizeof luck, 1, f) != 1) return fail(SYSTEM, "/dev/urandom");
  fclose(f);
  memset(id, 0, sizeof *id);
  snprintf(id->internal, sizeof id->internal, "%016llx%016llx", (unsigned long long)luck[0],
           (unsigned long long)luck[1]);
  return SUCCESS;
}

static int init(ncclComm_t *comm, int ranks, const ncclUniqueId *id, int rank, int device) {
  if (ranks < 1 || ranks > MOST_RANKS || rank < 0 || rank >= ranks)
    return fail(INVALID_ARGUMENT, "ranks");
  if (device < 0) return fail(UNHANDLED_CUDA, "no current device");
  struct comm *c = calloc(1, sizeof *c);
  if (!c) return fail(SYSTEM, "calloc");
  c->rank = rank;
  c->ranks = ranks;
  c->device = device;
  memcpy(c->id, id, sizeof c->id);
  *comm = c;
  return push((struct request){.init = c});
}

/* one is a group of one call, or part of the group that there is. */
#define ONE(call)                                                                                  \
  do {                                                                                             \
    group.depth++;                                                                                 \
    grouped(call);                                                                                 \
    int code = group.depth == 1 ? ncclGroupEnd() : group.error;                                    \
    if (group.depth) group.depth--;                                                                \
    return code;                                                                                   \
  } while (0)

int ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank) {
  ENTER(rank);
  ONE(init(comm, ranks, &id, rank, standin_device()));
}

int ncclCommInitAll(ncclComm_t *comms, int devices, const int *list) {
  ENTER(-1);
  ncclUniqueId id;
  int code = ncclGetUniqueId(&id);
  ncclGroupStart();
  for (int i = 0; i < devices && !code; i++)
    code = grouped(init(&comms[i], devices, &id, i, list ? list[i] : i));
  int end = ncclGroupEnd();
  return code ? code : end;
}

int ncclCommDestroy(ncclComm_t c) {
  ENTER(c->rank);
  if (c->shared) munmap(c->shared, c->size);
  standin_free_tables(c->tables);
  free(c);
  return SUCCESS;
}

int ncclCommAbort(ncclComm_t c) {
  ENTER(c->rank);
  atomic_store(&c->aborted, 1); /* what still runs uses it: it stays */
  return SUCCESS;
}

int ncclCommGetAsyncError(ncclComm_t c, int *code) {
  ENTER(c->rank);
  *code = atomic_load(&c->async);
  return SUCCESS;
}

int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, ncclComm_t c) {
  ENTER(c->rank);
  int at = 0;
  while (at < c->operators && c->operator[at].type >= 0) at++; /* the first that is free */
  if (type < 0 || type >= TYPES || residence != 1 || at == MOST_OPERATORS)
    return fail(INVALID_ARGUMENT, "ncclRedOpCreatePreMulSum");
  if (at == c->operators) c->operators++;
  memcpy(c->operator[at].factor, scalar, standin_width(type));
  c->operator[at].type = type;
  *op = OPS + at;
  return SUCCESS;
}

int ncclRedOpDestroy(int op, ncclComm_t c) {
  ENTER(c->rank);
  if (op < OPS || op >= OPS + c->operators) return fail(INVALID_ARGUMENT, "ncclRedOpDestroy");
  c->operator[op - OPS].type = -1;
  return SUCCESS;
}

/* note writes the line that NCCL has in its log for every collective of rank 0. */
static void note(const struct task *t, const char *function) {
  static FILE *log;
  const char *debug = getenv("NCCL_DEBUG"), *to = getenv("NCCL_DEBUG_FILE");
  if (t->comm->rank || t->comm->ranks < 2 || !debug || strcmp(debug, "INFO") || !to) return;
  if (!log) {
    char path[512];
    const char *pid = strstr(to, "%p");
    if (pid)
      snprintf(path, sizeof path, "%.*s%d", (int)(pid - to), to, (int)getpid());
    else
      snprintf(path, sizeof path, "%s", to);
    if (!(log = fopen(path, "w"))) return;
    setlinebuf(log);
    int channels = 1;
    for (struct table *a = t->comm->tables; a; a = a->next)
      if (a->high >= channels) channels = a->high + 1;
    fprintf(log, "stand-in:%d:%d [%d] NCCL INFO %d coll channels\n", (int)getpid(), (int)getpid(),
            t->comm->device, channels);
  }
  static const struct table ring = {.algorithm = "RING", .protocol = "SIMPLE"};
  const struct table *b = t->table ? t->table : &ring;
  fprintf(log, "stand-in:%d:%d [%d] NCCL INFO %s: %zu Bytes -> Algo %s proto %s "
               "channel{Lo..Hi}={%d..%d}\n", (int)getpid(), (int)getpid(), t->comm->device, function,
          t->count * standin_width(t->type), b->algorithm, b->protocol, b->low, b->high);
}

/* apart reports whether what is sent and what is received have nothing in common, or are in place. */
static int apart(const struct task *t, size_t block, size_t sent, size_t received) {
  uintptr_t send = (uintptr_t)t->send, receive = (uintptr_t)t->receive;
  size_t mine = (size_t)t->comm->rank * block;
  if (send >= receive + received || receive >= send + sent) return 1;
  switch (t->kind) {
  case ALL_GATHER: return send == receive + mine;
  case REDUCE_SCATTER: return receive == send + mine;
  }
  return send == receive;
}

/* ask checks what a collective is given, and notes it. Sizes are those of blocks of count. */
static int ask(struct task t, size_t sends, size_t receives, void *stream) {
  struct comm *c = t.comm;
  if (t.type < 0 || t.type >= TYPES || t.root < 0 || t.root >= c->ranks)
    return fail(INVALID_ARGUMENT, "type or root");
  if (t.kind <= REDUCE_SCATTER &&
      (t.op < 0 || t.op >= OPS + c->operators ||
       (t.op >= OPS && c->operator[t.op - OPS].type != t.type)))
    return fail(INVALID_ARGUMENT, "operator");
  size_t block = t.count * standin_width(t.type);
  if (!standin_holds(t.send, sends * block) || !standin_holds(t.receive, receives * block))
    return fail(INVALID_ARGUMENT, "not a device pointer, or too short");
  if (!apart(&t, block, sends * block, receives * block))
    return fail(INVALID_ARGUMENT, "buffers that overlap and are not in place: NCCL would not notice");
  if (t.count == 0) return SUCCESS;
  static const char *name[] = {"AllReduce", "Reduce", "ReduceScatter", "Broadcast", "AllGather"};
  if (!standin_choose(&t, name[t.kind]))
    return fail(INVALID_USAGE, "no algorithm is available: NCCL_ALGO allows none that there is");
  note(&t, name[t.kind]);
  struct task *task = malloc(sizeof *task);
  if (!task) return fail(SYSTEM, "malloc");
  *task = t;
  return push((struct request){.task = task, .stream = stream});
}

#define ANY const void *send, void *receive, size_t count, int type
#define GIVEN .comm = c, .send = send, .receive = receive, .count = count, .type = type

int ncclAllReduce(ANY, int op, ncclComm_t c, void *stream) {
  ENTER(c->rank);
  ONE(ask((struct task){GIVEN, .kind = ALL_REDUCE, .op = op}, 1, 1, stream));
}

int ncclReduce(ANY, int op, int root, ncclComm_t c, void *stream) {
  ENTER(c->rank);
  ONE(ask((struct task){GIVEN, .kind = REDUCE, .op = op, .root = root}, 1, root == c->rank, stream));
}

int ncclReduceScatter(ANY, int op, ncclComm_t c, void *stream) {
  ENTER(c->rank);
  ONE(ask((struct task){GIVEN, .kind = REDUCE_SCATTER, .op = op}, (size_t)c->ranks, 1, stream));
}

int ncclBroadcast(ANY, int root, ncclComm_t c, void *stream) {
  ENTER(c->rank);
  ONE(ask((struct task){GIVEN, .kind = BROADCAST, .root = root}, root == c->rank, 1, stream));
}

int ncclAllGather(ANY, ncclComm_t c, void *stream) {
  ENTER(c->rank);
  ONE(ask((struct task){GIVEN, .kind = ALL_GATHER}, 1, (size_t)c->ranks, stream));
}

/* Sends and receives, and the collectives that are made of them. */
static int transfer(struct comm *c, void *at, size_t count, int type, int peer, int sends,
                    void *stream) {
  if (type < 0 || type >= TYPES || peer < 0 || peer >= c->ranks)
    return fail(INVALID_ARGUMENT, "type or peer");
  size_t size = count * standin_width(type);
  if (!standin_holds(at, size)) return fail(INVALID_ARGUMENT, "not a device pointer, or too short");
  struct task *task = calloc(1, sizeof *task);
  if (!task || !(task->legs = malloc(sizeof *task->legs))) return fail(SYSTEM, "malloc");
  task->comm = c;
  task->kind = TRANSFERS;
  task->count = count;
  task->count_legs = 1;
  task->legs[0] = (struct leg){peer, sends, at, size};
  return push((struct request){.task = task, .stream = stream});
}

int ncclSend(const void *send, size_t count, int type, int peer, ncclComm_t c, void *stream) {
  ENTER(c->rank);
  ONE(transfer(c, (void *)send, count, type, peer, 1, stream));
}

int ncclRecv(void *receive, size_t count, int type, int peer, ncclComm_t c, void *stream) {
  ENTER(c->rank);
  ONE(transfer(c, receive, count, type, peer, 0, stream));
}

/* among is a send to some ranks and a receive from some, of a block each. */
static int among(ANY, struct comm *c, int to, int from, void *stream) {
  size_t block = type < 0 || type >= TYPES ? 0 : count * standin_width(type);
  int code = SUCCESS;
  for (int peer = 0; peer < c->ranks && !code; peer++) {
    size_t at = (size_t)peer * block;
    if (to < 0 || to == peer)
      code = transfer(c, (char *)send + (to < 0 ? at : 0), count, type, peer, 1, stream);
    if (!code && (from < 0 || from == peer))
      code = transfer(c, (char *)receive + (from < 0 ? at : 0), count, type, peer, 0, stream);
  }
  return code;
}

enum { ALL = -1, NONE = MOST_RANKS };

int ncclAlltoAll(ANY, ncclComm_t c, void *stream) {
  ENTER(c->rank);
  ONE(among(send, receive, count, type, c, ALL, ALL, stream));
}

int ncclGather(ANY, int root, ncclComm_t c, void *stream) {
  ENTER(c->rank);
  ONE(among(send, receive, count, type, c, root, root == c->rank ? ALL : NONE, stream));
}

int ncclScatter(ANY, int root, ncclComm_t c, void *stream) {
  ENTER(c->rank);
  ONE(among(send, receive, count, type, c, root == c->rank ? ALL : NONE, root, stream));
}
