/* The part of the driver's interface that is called: devices, memory, streams as threads. Every
 * function has the driver's name and signature, and its codes. */
#include "standin.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100,
       INVALID_DEVICE = 101, INVALID_CONTEXT = 201, NOT_READY = 600 };

typedef uint64_t CUdeviceptr;

const char *collsim_standin = "not NCCL: collsim's stand-in, on the CPU";

static long number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? atol(text) : otherwise;
}

int standin_failure(const char *call, int rank) {
  const char *text = getenv("COLLSIM_STANDIN_FAIL");
  size_t n = strlen(call);
  if (!text || strncmp(text, call, n) || text[n] != '=') return 0;
  const char *at = strchr(text, '@');
  if (at && rank >= 0 && atoi(at + 1) != rank) return 0;
  return atoi(text + n + 1) + (strncmp(call, "hang", n) == 0);
}

#define ENTER                                                                                      \
  do {                                                                                             \
    int code = standin_failure(__func__, -1);                                                      \
    if (code) return code;                                                                         \
    if (!started) return NOT_INITIALIZED;                                                          \
  } while (0)

static int started;
static _Thread_local long current; /* context: 1 + device; 0 is none */

static int devices(void) { return (int)number("COLLSIM_STANDIN_DEVICES", 8); }

int cuInit(unsigned flags) {
  int code = standin_failure(__func__, -1);
  if (code) return code;
  if (flags) return INVALID_VALUE;
  if (devices() < 1) return NO_DEVICE;
  started = 1;
  return SUCCESS;
}

int cuDriverGetVersion(int *version) {
  *version = 13000;
  return standin_failure(__func__, -1);
}

int cuDeviceGetCount(int *count) {
  ENTER;
  *count = devices();
  return SUCCESS;
}

int cuDeviceGet(int *device, int ordinal) {
  ENTER;
  if (ordinal < 0 || ordinal >= devices()) return INVALID_DEVICE;
  *device = ordinal;
  return SUCCESS;
}

int cuDeviceGetName(char *name, int length, int device) {
  ENTER;
  snprintf(name, (size_t)length, "stand-in device %d", device);
  return SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  ENTER;
  if (device < 0 || device >= devices()) return INVALID_DEVICE;
  *context = (void *)(uintptr_t)(device + 1);
  return SUCCESS;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  ENTER;
  return device < 0 || device >= devices() ? INVALID_DEVICE : SUCCESS;
}

int cuCtxSetCurrent(void *context) {
  ENTER;
  current = (long)(uintptr_t)context;
  return SUCCESS;
}

int standin_device(void) { return (int)current - 1; }

int cuCtxSynchronize(void) {
  ENTER;
  return current ? SUCCESS : INVALID_CONTEXT;
}

/* Memory: what was allocated is known, so that a copy beyond it is an error. */
static struct block {
  struct block *next;
  unsigned char *at;
  size_t size;
} *blocks;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static size_t used;

int cuMemAlloc_v2(CUdeviceptr *pointer, size_t size) {
  ENTER;
  if (!current) return INVALID_CONTEXT;
  if (!size) return INVALID_VALUE;
  long most = number("COLLSIM_STANDIN_MEMORY", 0);
  struct block *b = malloc(sizeof *b);
  pthread_mutex_lock(&guard);
  int full = most && used + size > (size_t)most;
  if (b && !full && (b->at = aligned_alloc(256, (size + 255) / 256 * 256))) {
    b->size = size;
    b->next = blocks;
    blocks = b;
    used += size;
    *pointer = (uintptr_t)b->at;
  } else {
    full = 1;
    free(b);
  }
  pthread_mutex_unlock(&guard);
  return full ? OUT_OF_MEMORY : SUCCESS;
}

int cuMemFree_v2(CUdeviceptr pointer) {
  ENTER;
  int code = INVALID_VALUE;
  pthread_mutex_lock(&guard);
  for (struct block **p = &blocks; *p; p = &(*p)->next) {
    struct block *b = *p;
    if ((uintptr_t)b->at != pointer) continue;
    *p = b->next;
    used -= b->size;
    free(b->at);
    free(b);
    code = SUCCESS;
    break;
  }
  pthread_mutex_unlock(&guard);
  return code;
}

/* standin_holds reports whether a range is allocated. */
int standin_holds(const void *at, size_t size) {
  int yes = size == 0;
  uintptr_t from = (uintptr_t)at;
  pthread_mutex_lock(&guard);
  for (struct block *b = blocks; b && !yes; b = b->next)
    yes = from >= (uintptr_t)b->at && from + size <= (uintptr_t)b->at + b->size;
  pthread_mutex_unlock(&guard);
  return yes;
}

int cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size) {
  ENTER;
  if (!standin_holds((void *)to, size)) return INVALID_VALUE;
  memcpy((void *)to, from, size);
  return SUCCESS;
}

int cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) {
  ENTER;
  if (!standin_holds((void *)from, size)) return INVALID_VALUE;
  memcpy(to, (void *)from, size);
  return SUCCESS;
}

/* A stream is a thread that does one thing after the other. */
struct item {
  struct item *next;
  standin_work work;
  void *argument;
};

struct stream {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct item *first, **last;
  int busy, closing;
};

static void *stream_main(void *argument) {
  struct stream *s = argument;
  pthread_mutex_lock(&s->lock);
  for (;;) {
    while (!s->first && !s->closing) pthread_cond_wait(&s->changed, &s->lock);
    struct item *i = s->first;
    if (!i) break;
    if (!(s->first = i->next)) s->last = &s->first;
    s->busy = 1;
    pthread_mutex_unlock(&s->lock);
    i->work(i->argument);
    free(i);
    pthread_mutex_lock(&s->lock);
    s->busy = 0;
    pthread_cond_broadcast(&s->changed);
  }
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

static int stream_create(void **stream, unsigned flags) {
  if (flags > 1) return INVALID_VALUE;
  if (!current) return INVALID_CONTEXT;
  struct stream *s = calloc(1, sizeof *s);
  if (!s) return OUT_OF_MEMORY;
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->changed, NULL);
  s->last = &s->first;
  if (pthread_create(&s->thread, NULL, stream_main, s)) return OUT_OF_MEMORY;
  *stream = s;
  return SUCCESS;
}

int cuStreamCreate(void **stream, unsigned flags) {
  ENTER;
  return stream_create(stream, flags);
}

int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  ENTER;
  (void)priority;
  return stream_create(stream, flags);
}

int standin_enqueue(void *stream, standin_work work, void *argument) {
  struct stream *s = stream;
  struct item *i = malloc(sizeof *i);
  if (!i) return OUT_OF_MEMORY;
  *i = (struct item){NULL, work, argument};
  pthread_mutex_lock(&s->lock);
  *s->last = i;
  s->last = &i->next;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
  return SUCCESS;
}

int cuStreamQuery(void *stream) {
  ENTER;
  struct stream *s = stream;
  pthread_mutex_lock(&s->lock);
  int code = s->first || s->busy ? NOT_READY : SUCCESS;
  pthread_mutex_unlock(&s->lock);
  if (code) sched_yield(); /* whoever asks takes the processor from the streams */
  return code;
}

int cuStreamDestroy_v2(void *stream) {
  ENTER;
  struct stream *s = stream;
  pthread_mutex_lock(&s->lock);
  s->closing = 1;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
  pthread_join(s->thread, NULL);
  free(s);
  return SUCCESS;
}

/* An event: when its stream came to it. */
struct event {
  _Atomic int pending;
  struct timespec at;
};

int cuEventCreate(void **event, unsigned flags) {
  ENTER;
  if (flags) return INVALID_VALUE;
  *event = calloc(1, sizeof(struct event));
  return *event ? SUCCESS : OUT_OF_MEMORY;
}

static void event_now(void *argument) {
  struct event *e = argument;
  clock_gettime(CLOCK_MONOTONIC, &e->at);
  e->pending = 0;
}

int cuEventRecord(void *event, void *stream) {
  ENTER;
  ((struct event *)event)->pending = 1;
  return standin_enqueue(stream, event_now, event);
}

int cuEventElapsedTime(float *milliseconds, void *from, void *to) {
  ENTER;
  struct event *a = from, *b = to;
  if (a->pending || b->pending) return NOT_READY;
  *milliseconds =
      1e3f * (float)(b->at.tv_sec - a->at.tv_sec) + 1e-6f * (float)(b->at.tv_nsec - a->at.tv_nsec);
  return SUCCESS;
}

struct copy {
  void *to;
  const void *from;
  size_t size;
};

static void copy_now(void *argument) {
  struct copy *c = argument;
  memcpy(c->to, c->from, c->size);
  free(c);
}

static int copy_later(void *to, const void *from, size_t size, void *stream) {
  struct copy *c = malloc(sizeof *c);
  if (!c) return OUT_OF_MEMORY;
  *c = (struct copy){to, from, size};
  return standin_enqueue(stream, copy_now, c);
}

int cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, void *stream) {
  ENTER;
  if (!standin_holds((void *)to, size) || !standin_holds((void *)from, size)) return INVALID_VALUE;
  return copy_later((void *)to, (void *)from, size, stream);
}

/* What comes from the host is taken at once, as CUDA does with memory that is not pinned. */
int cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, void *stream) {
  ENTER;
  if (!standin_holds((void *)to, size)) return INVALID_VALUE;
  struct copy *c = malloc(sizeof *c + size);
  if (!c) return OUT_OF_MEMORY;
  *c = (struct copy){(void *)to, memcpy(c + 1, from, size), size};
  return standin_enqueue(stream, copy_now, c);
}

int cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, void *stream) {
  ENTER;
  if (!standin_holds((void *)from, size)) return INVALID_VALUE;
  return copy_later(to, (void *)from, size, stream);
}

static const struct {
  int code;
  const char *name, *text;
} errors[] = {
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

static int text_of(int code, const char **text, int name) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].code == code) {
      *text = name ? errors[i].name : errors[i].text;
      return SUCCESS;
    }
  *text = NULL;
  return INVALID_VALUE;
}

int cuGetErrorName(int code, const char **text) { return text_of(code, text, 1); }
int cuGetErrorString(int code, const char **text) { return text_of(code, text, 0); }
