/* A stand-in for libcuda and libnvrtc on a machine without a GPU. It proves ordering and plumbing,
   not CUDA: memory is this machine's, a GPU is a thread that carries out what was issued to its streams,
   each in order and after random delays, and a kernel is compiled for the processor, from the
   source that NVRTC gets. What a stream is not made to wait for may happen in any order.

   COLLSIM_STANDIN, or standin_configure, says what there is and what goes wrong, as in
   "devices=2 seed=3 delay=200 hang=7":
     seed=N delay=N  each operation comes up to so many microseconds late, of a clock that stands
                     still while there is something to do: this is their order, and takes no time
     slow=N          as delay, of the clock on the wall
     devices=N       GPUs; each has its memory, which others reach when they were asked to
     apart=1         no GPU can be asked to
     memory=N        what each has, in bytes
     load=N          the next kernels to be loaded take so many milliseconds
     launch=N        the N-th launch is refused
     fault=N         the N-th kernel or copy ends with an illegal address
     lost=N          at the N-th the device is gone, and stays so
     hang=N          the N-th never ends
     block=N         the N-th launch never returns
     drop=N          the N-th cuStreamWaitEvent is left out, and what it would have waited for
                     happens after what should have waited, if nothing else orders the two: if
                     nothing else can happen any more while somebody asks, they are ordered
     skip=N          the N-th cuStreamWaitValue32 is left out
     graph=N         the N-th graph cannot be instantiated
   Nothing runs before somebody asks whether it has: all orders that are allowed are possible.

   COLLSIM_STANDIN_KERNELS names a folder in which kernels are kept that were compiled: for this
   device.h and this C compiler alone. Tests have one. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum {
	INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, UNAVAILABLE = 46,
	INVALID_DEVICE = 101, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, INVALID_PTX = 218, INVALID_HANDLE = 400,
	NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700, OUT_OF_RESOURCES = 701,
	PEER_ALREADY = 704, PEER_UNSUPPORTED = 217, CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901, CAPTURE_UNMATCHED = 903,
	CAPTURE_UNJOINED = 904, CAPTURE_ISOLATION = 905, CAPTURED_EVENT = 907
};

static const struct { int code; const char *name, *text; } errors[] = {
	{0, "CUDA_SUCCESS", "no error"},
	{INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
	{UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
	{INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
	{INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed: the stand-in runs no PTX"},
	{INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	{NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
	{ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	{OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
	{PEER_UNSUPPORTED, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these two devices"},
	{PEER_ALREADY, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
	{CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
	{CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "operation failed due to a previous error during capture"},
	{CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the stream did not initiate the capture"},
	{CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
	{CAPTURE_ISOLATION, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"},
	{CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded in a capturing stream"},
};

typedef struct record { int references, done; double at; } record;

/* A set of nodes of a graph. */
typedef struct nodes { int n; int *list; } nodes;

typedef struct event {
	record *last;
	struct stream *on;
	struct op *op;
	struct context *context;
	struct graph *captured; /* the capture in which it was recorded last */
	nodes after;
} event;

enum kind { KERNEL, COPY, SET, RECORD, WAIT, VALUE, GRAPH };

typedef struct op {
	enum kind kind;
	struct op *next, *before;
	uint64_t number; /* in its stream, from 1 */
	int fails, hangs;
	struct function *function;
	unsigned grid, block;
	void *arguments;
	char *to;
	const char *from;
	int value;
	size_t bytes;
	record *record;
	event *event; /* of a record in a graph */
	struct graph *graph;
	struct op *all; /* of a graph: its operations as they are this time */
	char *over; /* of a graph: which of them are over */
	int left; /* of a graph: how many are not */
	struct stream *until; /* with drop: not before that stream has done so many */
	uint64_t done;
} op;

/* A graph: operations, each after others. A capture is one that grows. */
typedef struct node { op what; nodes after; struct stream *on; int begins; } node;
typedef struct graph {
	int n;
	node *all;
	struct stream *origin;
	int open, invalid, late, early; /* late, early: with drop, the node that is to be before the other */
} graph;

typedef struct stream {
	struct context *context;
	op *first, *last;
	uint64_t issued, done, random;
	int begun, node; /* the first operation comes at that time; of a graph: this node */
	double due;
	op *late; /* waits for the next operation of this stream to be over */
	graph *capture;
	nodes after; /* what the next node of the capture is after */
	int recorded, late_node; /* a record is the last that was captured; as late, from 1 */
} stream;

typedef struct function { void (*launch)(void *, unsigned, unsigned, const void *); void *f; size_t size; } function;
typedef struct module { void *handle; int file; struct module *next; } module;
typedef struct memory { char *at; size_t bytes; struct memory *next; } memory;

enum { DEVICES = 16 };

typedef struct context {
	int device, dead, error, streams;
	int stuck, idle; /* a call that never returns is in it; its thread has nothing that it can do */
	pthread_t thread;
	pthread_cond_t woken;
	double clock; /* in microseconds */
	size_t pending;
	stream *all[4096];
	memory *memories, *hosts;
	module *modules;
	size_t used;
	int reaches[DEVICES];
	struct context *next;
} context;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* for those who are no GPU */
static __thread context *current;
static context *contexts;
static size_t pending; /* of all contexts but those that are stuck */
static int initialized, configured, running, lost;

static struct {
	uint64_t seed, delay, slow, devices, apart, memory, load, launch, fault, lost, hang, block, drop, graph,
		skip;
	uint64_t launches, operations, waits, words, inverted, graphs, replays, peers; /* counted */
} options;

static void count_pending(context *c, int more) {
	c->pending += more;
	if (!c->stuck) pending += more;
}

static uint64_t option(const char *text, const char *name) {
	size_t n = strlen(name);
	for (const char *p = text; p && *p; p = strchr(p, ' ') ? strchr(p, ' ') + 1 : NULL) {
		if (!strncmp(p, name, n) && p[n] == '=') return strtoull(p + n + 1, NULL, 10);
	}
	return 0;
}

/* Says anew how the device behaves, and counts from the start. */
void standin_configure(const char *text) {
	pthread_mutex_lock(&lock);
	memset(&options, 0, sizeof options);
	options.seed = option(text, "seed");
	options.delay = option(text, "delay");
	options.slow = option(text, "slow");
	options.devices = option(text, "devices");
	options.apart = option(text, "apart");
	options.graph = option(text, "graph");
	options.memory = option(text, "memory");
	options.load = option(text, "load");
	options.launch = option(text, "launch");
	options.fault = option(text, "fault");
	options.lost = option(text, "lost");
	options.hang = option(text, "hang");
	options.block = option(text, "block");
	options.drop = option(text, "drop");
	options.skip = option(text, "skip");
	if (!options.memory) options.memory = 1ull << 30;
	if (!options.devices || options.devices > DEVICES) options.devices = 1;
	configured = 1, lost = 0;
	pthread_mutex_unlock(&lock);
}

/* How many waits there were, and whether the one that was dropped mattered: 0, 1, 2, … and 1. */
uint64_t standin_waits(void) { return options.waits; }
uint64_t standin_inverted(void) { return options.inverted; }

/* How many graphs were launched, and copies made between GPUs. */
uint64_t standin_replays(void) { return options.replays; }
uint64_t standin_peers(void) { return options.peers; }

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static void release(record *r) {
	if (r && --r->references == 0) free(r);
}

/* Has GPUs look again whether they can go on: those that wait for a record, or all; with the lock. */
static void wake(const record *r) {
	for (context *c = contexts; c; c = c->next) {
		int waits = !r;
		for (int i = 0; i < c->streams && !waits; i++) {
			op *o = c->all[i]->first;
			waits = o && o->kind == WAIT && o->record == r;
		}
		if (!waits) continue;
		c->idle = 0;
		pthread_cond_signal(&c->woken);
	}
	if (!r) pthread_cond_broadcast(&changed);
}

/* Whether memory lies in what was allocated. */
static int within(context *c, const char *p, size_t n) {
	for (memory *m = c->memories; m; m = m->next) {
		if (p >= m->at && p + n <= m->at + m->bytes) return 1;
	}
	return 0;
}

/* Whether memory lies in what was allocated of the host. */
static int within_host(const char *p, size_t n) {
	for (context *c = contexts; c; c = c->next) {
		for (memory *m = c->hosts; m; m = m->next) {
			if (p >= m->at && p + n <= m->at + m->bytes) return 1;
		}
	}
	return 0;
}

static int is_data(op *o) { return o->kind <= SET; }
static int is_work(op *o) { return is_data(o) || o->kind == GRAPH; }

/* Carries out one operation; the lock is not held. */
static void carry_out(op *o) {
	switch (o->kind) {
	case KERNEL:
		o->function->launch(o->function->f, o->grid, o->block, o->arguments);
		break;
	case COPY:
		memmove(o->to, o->from, o->bytes);
		break;
	case SET:
		memset(o->to, o->value, o->bytes);
		break;
	default:
		break;
	}
}

/* Whether a node is after another. */
static int is_after(graph *g, int node, int other) {
	if (node == other) return 1;
	for (int i = 0; i < g->all[node].after.n; i++) {
		if (is_after(g, g->all[node].after.list[i], other)) return 1;
	}
	return 0;
}

static uint64_t any(stream *s) {
	s->random = s->random * 6364136223846793005ull + 1442695040888963407ull;
	return s->random >> 33;
}

/* The node of a graph that is next, of those that can be; none if what never ends is before them. */
static int choose(stream *s, op *o) {
	graph *g = o->graph;
	int at = any(s) % g->n;
	for (int tried = 0; tried < g->n; tried++, at = (at + 1) % g->n) {
		int ready = !o->over[at] && !o->all[at].hangs;
		for (int i = 0; i < g->all[at].after.n; i++) ready &= o->over[g->all[at].after.list[i]];
		if (ready) return at;
	}
	return -1;
}

/* Whether the first operation of a stream cannot begin. */
static int held(stream *s, op *o, int *polls) {
	if (o->hangs) return 1;
	if (o->kind == WAIT) return !o->record->done;
	if (o->kind == VALUE) {
		if ((int)(__atomic_load_n((unsigned *)o->from, __ATOMIC_SEQ_CST) - (unsigned)o->value) >= 0) return 0;
		return *polls = 1;
	}
	if (o->until && o->until->done < o->done) return 1;
	if (o->until) options.inverted++, o->until = NULL;
	return o->kind == GRAPH && o->left && (s->node = choose(s, o)) < 0;
}

/* The stream of a context whose first operation comes next, of those that can; with the lock. */
static stream *next(context *c, int *polls) {
	stream *first = NULL;
	if (options.slow) c->clock = now() * 1e3;
	for (int i = 0; i < c->streams; i++) {
		stream *s = c->all[i];
		op *o = s->first;
		if (!o) continue;
		if (!s->begun) {
			if (held(s, o, polls)) continue;
			s->begun = 1;
			s->due = c->clock;
			uint64_t most = options.slow ? options.slow : options.delay ? options.delay : 1;
			if (is_data(o->kind == GRAPH && o->left ? &o->all[s->node] : o)) {
				s->due += any(s) % (most * 1024) / 1024.;
			}
		}
		if (!first || s->due < first->due) first = s;
	}
	return first;
}

/* Waits until somebody wakes the context, or for so many microseconds; with the lock. */
static void rest(context *c, double longest) {
	struct timespec deadline;
	clock_gettime(CLOCK_REALTIME, &deadline);
	int64_t at = deadline.tv_nsec + (int64_t)(longest * 1e3);
	deadline.tv_sec += at / 1000000000, deadline.tv_nsec = at % 1000000000;
	pthread_cond_timedwait(&c->woken, &lock, &deadline);
}

/* Carries out an operation; with the lock. Whether that goes well. */
static int perform(context *c, op *o) {
	if (o->fails) {
		c->error = o->fails;
		if (o->fails == UNAVAILABLE) lost = 1;
		wake(NULL);
		return 0;
	}
	if (is_data(o)) {
		pthread_mutex_unlock(&lock);
		carry_out(o);
		pthread_mutex_lock(&lock);
	}
	if (o->kind == RECORD) {
		o->record->done = 1, o->record->at = now();
		wake(o->record);
	}
	release(o->record);
	return 1;
}

/* Forgets an operation, which nothing is to come before any more; with the lock. */
static void discard(op *o) {
	for (context *c = options.drop ? contexts : NULL; c; c = c->next) {
		for (int i = 0; i < c->streams; i++) {
			if (c->all[i]->late == o) c->all[i]->late = NULL;
		}
	}
	if (o->kind != GRAPH) free(o->arguments);
	free(o->all), free(o->over);
	free(o);
}

static void *work(void *p) {
	context *c = p;
	pthread_mutex_lock(&lock);
	while (!c->dead) {
		int polls = 0;
		stream *s = running && !c->error ? next(c, &polls) : NULL;
		double left = !s ? 1e6 : options.slow ? s->due - c->clock : 0;
		if (polls && left > 100) left = 100;
		if (!s && !polls) {
			c->idle = 1;
			pthread_cond_wait(&c->woken, &lock);
			c->idle = 0;
			continue;
		}
		if (left > 0) {
			rest(c, left);
			continue;
		}
		if (!options.slow) c->clock = s->due;
		s->begun = 0;
		op *o = s->first;
		if (o->kind == GRAPH && o->left) {
			int at = s->node;
			if (!perform(c, &o->all[at])) continue;
			o->over[at] = 1;
			if (--o->left) continue;
		} else if (!perform(c, o)) {
			continue;
		}
		s->first = o->next;
		if (s->first) s->first->before = NULL;
		else s->last = NULL;
		s->done = o->number;
		count_pending(c, -1);
		discard(o);
		if (options.drop) wake(NULL);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Begins a call: with the lock, in a context that is well. */
static int enter(void) {
	pthread_mutex_lock(&lock);
	if (!initialized) return NOT_INITIALIZED;
	if (!current || current->dead) return INVALID_CONTEXT;
	return current->error;
}

static int leave(int code) {
	pthread_mutex_unlock(&lock);
	return code;
}

#define ENTER do { int code_ = enter(); if (code_) return leave(code_); } while (0)

static void add(nodes *to, const nodes *from) {
	for (int i = 0; i < from->n; i++) {
		int known = 0;
		for (int j = 0; j < to->n; j++) known |= to->list[j] == from->list[i];
		if (known) continue;
		to->list = realloc(to->list, (to->n + 1) * sizeof *to->list);
		to->list[to->n++] = from->list[i];
	}
}

static void clear(nodes *of) {
	free(of->list);
	*of = (nodes){0, NULL};
}

/* Adds an operation to the capture that a stream is in. */
static void append(stream *s, op *o) {
	graph *g = s->capture;
	int at = g->n++;
	g->all = realloc(g->all, g->n * sizeof *g->all);
	g->all[at] = (node){.what = *o, .on = s, .begins = s->recorded};
	add(&g->all[at].after, &s->after);
	clear(&s->after);
	add(&s->after, &(nodes){1, &at});
	s->recorded = 0;
	if (is_data(o) && s->late_node) g->late = at + 1, g->early = s->late_node, s->late_node = 0;
	free(o);
}

/* Says of an operation how it ends: it is one more. */
static void count(op *o) {
	options.operations++;
	if (options.operations == options.fault) o->fails = ILLEGAL_ADDRESS;
	if (options.operations == options.lost) o->fails = UNAVAILABLE;
	if (options.operations == options.hang) o->hangs = 1;
}

static void issue(stream *s, op *o) {
	if (s->capture) {
		append(s, o);
		return;
	}
	if (pending == 0) running = 0;
	count_pending(s->context, 1);
	o->number = ++s->issued;
	o->before = s->last;
	if (s->last) s->last->next = o;
	else s->first = o;
	s->last = o;
	if (running) {
		s->context->idle = 0;
		pthread_cond_signal(&s->context->woken);
	}
	if (is_data(o)) count(o);
	if (is_work(o) && s->late) s->late->until = s, s->late->done = o->number, s->late = NULL;
}

/* Begins a call for a stream, of the thread's context. */
#define ENTER_STREAM(s) do { ENTER; if ((s)->context != current) return leave(INVALID_CONTEXT); } while (0)

int cuInit(unsigned flags) {
	pthread_mutex_lock(&lock);
	initialized = 1;
	pthread_mutex_unlock(&lock);
	if (!configured) standin_configure(getenv("COLLSIM_STANDIN"));
	return flags ? INVALID_VALUE : 0;
}

int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count) {
	*count = options.devices;
	return initialized ? 0 : NOT_INITIALIZED;
}
int cuDeviceGet(int *device, int ordinal) {
	*device = ordinal;
	return ordinal >= 0 && (uint64_t)ordinal < options.devices ? 0 : INVALID_DEVICE;
}
int cuDeviceCanAccessPeer(int *can, int device, int peer) {
	*can = device != peer && !options.apart;
	return 0;
}

int cuDeviceGetName(char *name, int n, int device) {
	snprintf(name, n, "stand-in driver: ordering and plumbing, not CUDA");
	return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
	switch (attribute) {
	case 16: *value = 2; return 0; /* multiprocessors */
	case 75: *value = 9; return 0; /* compute capability */
	case 76: *value = 0; return 0;
	}
	return INVALID_VALUE;
}

static int name_of(int code, const char **text, int long_one) {
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
		if (errors[i].code == code) {
			*text = long_one ? errors[i].text : errors[i].name;
			return 0;
		}
	}
	*text = NULL;
	return INVALID_VALUE;
}
int cuGetErrorName(int code, const char **text) { return name_of(code, text, 0); }
int cuGetErrorString(int code, const char **text) { return name_of(code, text, 1); }

int cuCtxCreate_v2(context **c, unsigned flags, int device) {
	pthread_mutex_lock(&lock);
	if (lost) return leave(UNAVAILABLE);
	*c = calloc(1, sizeof **c);
	pthread_cond_init(&(*c)->woken, NULL);
	sigset_t all, old; /* signals are for the threads of the program */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int failed = pthread_create(&(*c)->thread, NULL, work, *c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (failed) {
		free(*c);
		return leave(OUT_OF_MEMORY);
	}
	current = *c;
	current->device = device;
	current->reaches[device] = 1;
	current->next = contexts;
	contexts = current;
	return leave(0);
}

/* The primary context of a device is the first that was made. */
int cuDevicePrimaryCtxRetain(context **c, int device) {
	pthread_mutex_lock(&lock);
	for (context *o = contexts; o; o = o->next) {
		if (o->device != device) continue;
		*c = o;
		return leave(0);
	}
	pthread_mutex_unlock(&lock);
	return cuCtxCreate_v2(c, 0, device);
}

int cuCtxEnablePeerAccess(context *to, unsigned flags) {
	ENTER;
	if (options.apart) return leave(PEER_UNSUPPORTED);
	if (current->reaches[to->device]) return leave(PEER_ALREADY);
	current->reaches[to->device] = 1;
	return leave(0);
}

int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
	ENTER;
	*least = 0, *greatest = -2;
	return leave(0);
}

int cuCtxSetCurrent(context *c) { current = c; return 0; }

int cuCtxDestroy_v2(context *c) {
	pthread_mutex_lock(&lock);
	if (!c || c->dead) return leave(INVALID_CONTEXT);
	c->dead = 1;
	wake(NULL);
	for (context **o = &contexts; *o; o = &(*o)->next) {
		if (*o != c) continue;
		*o = c->next;
		break;
	}
	pthread_mutex_unlock(&lock);
	pthread_join(c->thread, NULL);
	for (int i = 0; i < c->streams; i++) {
		stream *s = c->all[i];
		for (op *o = s->first, *next; o; o = next) {
			next = o->next;
			pthread_mutex_lock(&lock);
			release(o->record);
			count_pending(c, -1);
			discard(o);
			pthread_mutex_unlock(&lock);
		}
		free(s);
	}
	for (memory *m = c->memories, *next; m; m = next) {
		next = m->next;
		free(m->at);
		free(m);
	}
	for (memory *m = c->hosts, *next; m; m = next) {
		next = m->next;
		free(m->at);
		free(m);
	}
	for (module *m = c->modules, *next; m; m = next) {
		next = m->next;
		dlclose(m->handle);
		close(m->file);
		free(m);
	}
	if (current == c) current = NULL;
	free(c);
	return 0;
}

int cuMemGetInfo_v2(size_t *left, size_t *total) {
	ENTER;
	*total = options.memory;
	*left = options.memory > current->used ? options.memory - current->used : 0;
	return leave(0);
}

int cuMemAlloc_v2(char **at, size_t bytes) {
	ENTER;
	if (!bytes) return leave(INVALID_VALUE);
	if (current->used + bytes > options.memory) return leave(OUT_OF_MEMORY);
	memory *m = malloc(sizeof *m);
	*m = (memory){aligned_alloc(256, (bytes + 255) / 256 * 256), bytes, current->memories};
	memset(m->at, 0xa5, bytes);
	current->memories = m;
	current->used += bytes;
	*at = m->at;
	return leave(0);
}

int cuMemFree_v2(char *at) {
	ENTER;
	for (memory **m = &current->memories; *m; m = &(*m)->next) {
		if ((*m)->at != at) continue;
		memory *gone = *m;
		if (pending) return leave(INVALID_VALUE); /* CUDA would wait: we are not to */
		current->used -= gone->bytes;
		*m = gone->next;
		free(gone->at);
		free(gone);
		return leave(0);
	}
	return leave(INVALID_VALUE);
}

int cuMemHostAlloc(char **at, size_t bytes, unsigned flags) {
	ENTER;
	if (!bytes || flags != 3) return leave(INVALID_VALUE);
	memory *m = malloc(sizeof *m);
	*m = (memory){aligned_alloc(4096, (bytes + 4095) / 4096 * 4096), bytes, current->hosts};
	memset(m->at, 0xa5, bytes);
	current->hosts = m;
	*at = m->at;
	return leave(0);
}

int cuMemFreeHost(char *at) {
	ENTER;
	for (memory **m = &current->hosts; *m; m = &(*m)->next) {
		if ((*m)->at != at) continue;
		memory *gone = *m;
		if (pending) return leave(INVALID_VALUE);
		*m = gone->next;
		free(gone->at);
		free(gone);
		return leave(0);
	}
	return leave(INVALID_VALUE);
}

int cuStreamCreateWithPriority(stream **s, unsigned flags, int priority) {
	ENTER;
	context *c = current;
	if (c->streams == sizeof c->all / sizeof *c->all) return leave(OUT_OF_MEMORY);
	*s = calloc(1, sizeof **s);
	(*s)->context = c;
	(*s)->random = options.seed * 7919 + c->streams;
	c->all[c->streams++] = *s;
	return leave(0);
}

static void begin(void) {
	if (running) return;
	running = 1;
	wake(NULL);
}

/* With drop: what was to happen after something else happens now, if nothing else can any more. */
static void give_in(void) {
	if (!options.drop) return;
	for (context *c = contexts; c; c = c->next) {
		if (!c->idle) return;
	}
	for (context *c = contexts; c; c = c->next) {
		for (int i = 0; i < c->streams; i++) {
			if (c->all[i]->first) c->all[i]->first->until = NULL;
		}
	}
	wake(NULL);
}

/* Has a stream be after an event of the capture that it is in, or joins. */
static int join(stream *s, event *e) {
	if (!e->captured->open) return CAPTURED_EVENT;
	if (s->capture && s->capture != e->captured) return CAPTURE_ISOLATION;
	if (!s->capture) s->capture = e->captured, s->recorded = 1;
	add(&s->after, &e->after);
	return 0;
}

/* Leaves a captured wait out: the node that would have been after others is to be before the first of
   those that the event tells of. */
static void forget(stream *s, event *e) {
	if (!s->capture) s->capture = e->captured, s->recorded = 1;
	if (e->after.n == 0) return;
	int at = e->after.list[0];
	node *all = e->captured->all;
	if (!is_data(&all[at].what)) return;
	while (!all[at].begins && all[at].after.n == 1 && all[all[at].after.list[0]].on == all[at].on &&
		is_data(&all[all[at].after.list[0]].what)) at = all[at].after.list[0];
	s->late_node = at + 1;
}

int cuStreamWaitEvent(stream *s, event *e, unsigned flags) {
	ENTER_STREAM(s);
	if (e->captured) {
		if (++options.waits != options.drop) return leave(join(s, e));
		forget(s, e);
		return leave(0);
	}
	if (s->capture) return leave(CAPTURE_ISOLATION);
	if (!e->last) return leave(0);
	if (++options.waits == options.drop) {
		op *o = e->last->done ? NULL : e->op;
		while (o && !is_work(o)) o = o->before;
		while (o && o->before && is_work(o->before)) o = o->before; /* all that the event tells of */
		s->late = o;
		return leave(0);
	}
	op *o = calloc(1, sizeof *o);
	o->kind = WAIT;
	o->record = e->last;
	e->last->references++;
	issue(s, o);
	return leave(0);
}

int cuStreamWaitValue32_v2(stream *s, const char *at, unsigned value, unsigned flags) {
	ENTER_STREAM(s);
	if (s->capture) return leave(CAPTURE_UNSUPPORTED); /* we do not count on it */
	if (flags || !within_host(at, 4)) return leave(INVALID_VALUE);
	if (++options.words == options.skip) return leave(0);
	op *o = calloc(1, sizeof *o);
	*o = (op){.kind = VALUE, .from = at, .value = value};
	issue(s, o);
	return leave(0);
}

int cuEventCreate(event **e, unsigned flags) {
	ENTER;
	*e = calloc(1, sizeof **e);
	(*e)->context = current;
	return leave(0);
}

static record *anew(event *e) {
	release(e->last);
	e->last = calloc(1, sizeof *e->last);
	e->last->references = 2;
	return e->last;
}

int cuEventRecordWithFlags(event *e, stream *s, unsigned flags) {
	ENTER_STREAM(s);
	if (e->context != current) return leave(INVALID_HANDLE);
	if (flags && !s->capture) return leave(INVALID_VALUE);
	if (s->capture && !flags) {
		e->captured = s->capture;
		clear(&e->after);
		add(&e->after, &s->after);
		s->recorded = 1;
		return leave(0);
	}
	op *o = calloc(1, sizeof *o);
	o->kind = RECORD;
	e->captured = NULL;
	if (s->capture) {
		o->event = e;
	} else {
		o->record = anew(e);
		e->op = o;
	}
	issue(s, o);
	return leave(0);
}

int cuEventRecord(event *e, stream *s) { return cuEventRecordWithFlags(e, s, 0); }

int cuEventQuery(event *e) {
	ENTER;
	if (e->captured) return leave(CAPTURED_EVENT);
	begin();
	if (!e->last || e->last->done) return leave(0);
	give_in();
	return leave(NOT_READY);
}

int cuEventElapsedTime(float *ms, event *from, event *to) {
	ENTER;
	if (from->context != to->context) return leave(INVALID_HANDLE);
	if (!from->last || !to->last) return leave(INVALID_HANDLE);
	if (!from->last->done || !to->last->done) return leave(NOT_READY);
	*ms = (float)(to->last->at - from->last->at);
	return leave(0);
}
int cuEventElapsedTime_v2(float *ms, event *from, event *to) { return cuEventElapsedTime(ms, from, to); }

int cuStreamBeginCapture_v2(stream *s, int mode) {
	ENTER_STREAM(s);
	if (s->capture) return leave(CAPTURE_UNMATCHED);
	s->capture = calloc(1, sizeof *s->capture);
	s->capture->origin = s;
	s->capture->open = 1;
	return leave(0);
}

int cuStreamEndCapture(stream *s, graph **made) {
	ENTER_STREAM(s);
	graph *g = s->capture;
	if (!g || g->origin != s) return leave(CAPTURE_UNMATCHED);
	int code = 0;
	for (context *c = contexts; c; c = c->next) {
		for (int i = 0; i < c->streams; i++) {
			stream *o = c->all[i];
			if (o->capture != g) continue;
			for (int j = 0; j < o->after.n && o != s; j++) {
				int known = 0;
				for (int k = 0; k < s->after.n; k++) known |= is_after(g, s->after.list[k], o->after.list[j]);
				if (!known) code = CAPTURE_UNJOINED;
			}
		}
	}
	for (context *c = contexts; c; c = c->next) {
		for (int i = 0; i < c->streams; i++) {
			stream *o = c->all[i];
			if (o->capture == g) o->capture = NULL, o->recorded = o->late_node = 0, clear(&o->after);
		}
	}
	g->open = 0;
	if (g->late && !is_after(g, g->late - 1, g->early - 1)) {
		int at = g->late - 1;
		add(&g->all[g->early - 1].after, &(nodes){1, &at});
		options.inverted++;
	}
	*made = g;
	return leave(code);
}

int cuGraphInstantiateWithFlags(graph **made, graph *g, unsigned long long flags) {
	ENTER;
	if (++options.graphs == options.graph) return leave(OUT_OF_MEMORY);
	*made = g; /* which lives on: events may name it */
	return leave(0);
}
int cuGraphDestroy(graph *g) { return 0; }
int cuGraphExecDestroy(graph *g) { return pending ? INVALID_VALUE : 0; }

int cuGraphLaunch(graph *g, stream *s) {
	ENTER_STREAM(s);
	if (s->capture) return leave(CAPTURE_ISOLATION);
	options.replays++;
	op *o = calloc(1, sizeof *o);
	o->kind = GRAPH;
	o->graph = g;
	o->all = calloc(g->n + 1, sizeof *o->all);
	o->over = calloc(g->n + 1, 1);
	o->left = g->n;
	for (int i = 0; i < g->n; i++) {
		o->all[i] = g->all[i].what;
		if (is_data(&o->all[i])) count(&o->all[i]);
		if (o->all[i].kind == RECORD) o->all[i].record = anew(o->all[i].event);
	}
	issue(s, o);
	return leave(0);
}

static int copy(char *to, const char *from, size_t n, stream *s, context *to_on, context *from_on) {
	ENTER_STREAM(s);
	op *o = calloc(1, sizeof *o);
	*o = (op){.kind = COPY, .to = to, .from = from, .bytes = n};
	if (to_on && !within(to_on, to, n) || from_on && !within(from_on, from, n)) {
		o->fails = ILLEGAL_ADDRESS;
	}
	issue(s, o);
	return leave(0);
}
int cuMemcpyHtoDAsync_v2(char *to, const char *from, size_t n, stream *s) {
	return copy(to, from, n, s, current, NULL);
}
int cuMemcpyDtoHAsync_v2(char *to, const char *from, size_t n, stream *s) {
	return copy(to, from, n, s, NULL, current);
}
int cuMemcpyDtoDAsync_v2(char *to, const char *from, size_t n, stream *s) {
	return copy(to, from, n, s, current, current);
}
int cuMemcpyPeerAsync(char *to, context *to_on, const char *from, context *from_on, size_t n, stream *s) {
	options.peers++;
	return copy(to, from, n, s, to_on, from_on);
}

int cuMemsetD8Async(char *to, unsigned char value, size_t n, stream *s) {
	ENTER;
	op *o = calloc(1, sizeof *o);
	*o = (op){.kind = SET, .to = to, .value = value, .bytes = n};
	if (!within(current, to, n)) o->fails = ILLEGAL_ADDRESS;
	issue(s, o);
	return leave(0);
}

static int write_all(int file, const void *data, size_t n) {
	const char *p = data;
	while (n > 0) {
		ssize_t some = write(file, p, n);
		if (some <= 0) return -1;
		p += some, n -= some;
	}
	return 0;
}

/* A new name of a file that has something in it. */
static int write_file(char *name, const void *data, size_t n, int suffix) {
	int file = mkstemps(name, suffix);
	if (file < 0) return -1;
	int failed = write_all(file, data, n);
	close(file);
	return failed;
}

static char *read_file(const char *name, size_t *n) {
	FILE *f = fopen(name, "rb");
	if (!f) return NULL;
	fseek(f, 0, SEEK_END);
	*n = ftell(f);
	rewind(f);
	char *data = malloc(*n + 1);
	*n = fread(data, 1, *n, f);
	data[*n] = 0;
	fclose(f);
	return data;
}

int cuModuleLoadData(module **m, const void *image) {
	ENTER;
	usleep(options.load * 1000);
	options.load = 0;
	const Elf64_Ehdr *elf = image;
	const char *text = image; /* of PTX: comments, and directives, of which these are the first two */
	while (!strncmp(text, "//", 2) || *text == '\n') {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	if (!strncmp(text, ".version ", 9) && strstr(text, "\n.target sm_")) return leave(INVALID_PTX);
	if (memcmp(elf->e_ident, ELFMAG, SELFMAG)) return leave(INVALID_IMAGE);
	char name[64];
	size_t n = elf->e_shoff + (size_t)elf->e_shnum * elf->e_shentsize;
	int file = memfd_create("module", MFD_CLOEXEC); /* open as long as it is loaded: its number names it */
	snprintf(name, sizeof name, "/proc/self/fd/%d", file);
	void *handle = write_all(file, image, n) ? NULL : dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		close(file);
		return leave(INVALID_IMAGE);
	}
	*m = malloc(sizeof **m);
	**m = (module){handle, file, current->modules};
	current->modules = *m;
	return leave(0);
}

int cuModuleGetFunction(function **f, module *m, const char *name) {
	ENTER;
	char size[128];
	snprintf(size, sizeof size, "%s_size", name);
	void *at = dlsym(m->handle, name);
	unsigned long *n = dlsym(m->handle, size);
	if (!at || !n) return leave(NOT_FOUND);
	*f = malloc(sizeof **f);
	**f = (function){(void (*)(void *, unsigned, unsigned, const void *))dlsym(m->handle, "standin_launch"), at, *n};
	return leave(0);
}

int cuFuncSetAttribute(function *f, int attribute, int value) {
	ENTER;
	return leave(attribute == 8 && value >= 0 && value <= 227 << 10 ? 0 : INVALID_VALUE); /* shared memory */
}

/* Whether arguments name memory of a GPU that this one was not asked to reach. */
static int strays(const uint64_t *arguments, size_t n) {
	for (size_t i = 0; i < n / 8; i++) {
		for (context *c = contexts; c; c = c->next) {
			if (!current->reaches[c->device] && within(c, (const char *)arguments[i], 1)) return 1;
		}
	}
	return 0;
}

int cuLaunchKernel(function *f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by,
		unsigned bz, unsigned shared, stream *s, void **parameters, void **extra) {
	ENTER_STREAM(s);
	options.launches++;
	if (options.launches == options.block) {
		context *c = current;
		pending -= c->pending;
		c->stuck = 1;
		while (!c->dead) pthread_cond_wait(&changed, &lock);
		return leave(INVALID_CONTEXT);
	}
	if (options.launches == options.launch) return leave(OUT_OF_RESOURCES);
	if (!x || !bx || bx > 1024 || y != 1 || z != 1 || by != 1 || bz != 1) return leave(INVALID_VALUE);
	op *o = calloc(1, sizeof *o);
	*o = (op){.kind = KERNEL, .function = f, .grid = x, .block = bx, .arguments = malloc(f->size)};
	memcpy(o->arguments, parameters[0], f->size);
	if (strays(o->arguments, f->size)) o->fails = ILLEGAL_ADDRESS;
	issue(s, o);
	return leave(0);
}

/* NVRTC: the C compiler. */
typedef struct program { char *source, *log, *code; size_t log_bytes, code_bytes; } program;

const char *nvrtcGetErrorString(int code) {
	return code == 6 ? "NVRTC_ERROR_COMPILATION" : code ? "NVRTC_ERROR_INVALID_INPUT" : "NVRTC_SUCCESS";
}
int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return 0; }
int nvrtcGetNumSupportedArchs(int *n) { *n = 1; return 0; }
int nvrtcGetSupportedArchs(int *list) { *list = 90; return 0; }

int nvrtcCreateProgram(program **p, const char *source, const char *name, int n,
		const char *const *headers, const char *const *names) {
	*p = calloc(1, sizeof **p);
	(*p)->source = strdup(source);
	return 0;
}

/* The name of a kernel among those that are kept: 128 bits of what it is compiled from. */
static void name_kernel(char *to, size_t room, const char *folder, const char *source, int n,
		const char *const *given) {
	uint64_t one = 14695981039346656037ull, two = 7809847782465536322ull;
	for (int i = -1; i < n; i++) {
		const char *p = i < 0 ? source : given[i];
		do {
			one = (one ^ (unsigned char)*p) * 1099511628211ull;
			two = (two + (unsigned char)*p) * 6364136223846793005ull;
		} while (*p++);
	}
	snprintf(to, room, "%s/%016llx%016llx.so", folder, (unsigned long long)one,
		(unsigned long long)two);
}

int nvrtcCompileProgram(program *p, int n, const char *const *given) {
	const char *folder = getenv("COLLSIM_STANDIN_KERNELS");
	char kept[4096] = "", source[4096], log[sizeof source + 4], code[sizeof source + 4];
	if (folder && *folder) {
		name_kernel(kept, sizeof kept, folder, p->source, n, given);
		if ((p->code = read_file(kept, &p->code_bytes))) return 0;
	}
	snprintf(source, sizeof source, "%s/collsim-kernel-XXXXXX.c", *kept ? folder : "/tmp");
	if (write_file(source, p->source, strlen(p->source), 2)) return 6;
	snprintf(log, sizeof log, "%s.log", source);
	snprintf(code, sizeof code, "%s.so", source);
	const char *a[64] = {"cc", "-std=gnu11", "-O1", "-ffp-contract=off", "-shared", "-fPIC",
		"-include", DEVICE_HEADER, "-o", code, source};
	int k = 11;
	for (int i = 0; i < n && k < 63; i++) {
		if (!strncmp(given[i], "-D", 2)) a[k++] = given[i];
	}
	posix_spawn_file_actions_t files;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	pid_t child;
	int status = -1;
	if (!posix_spawnp(&child, "cc", &files, NULL, (char *const *)a, environ)) {
		while (waitpid(child, &status, 0) < 0 && status == -1);
	}
	posix_spawn_file_actions_destroy(&files);
	p->log = read_file(log, &p->log_bytes);
	p->code = status ? NULL : read_file(code, &p->code_bytes);
	if (p->code && *kept) rename(code, kept);
	unlink(source), unlink(log), unlink(code);
	return p->code ? 0 : 6;
}

int nvrtcGetProgramLogSize(program *p, size_t *n) { *n = p->log_bytes + 1; return 0; }
int nvrtcGetProgramLog(program *p, char *to) {
	memcpy(to, p->log ? p->log : "", p->log_bytes + 1);
	return 0;
}
int nvrtcGetCUBINSize(program *p, size_t *n) { *n = p->code_bytes; return 0; }
int nvrtcGetCUBIN(program *p, char *to) { memcpy(to, p->code, p->code_bytes); return 0; }
int nvrtcGetPTXSize(program *p, size_t *n) { *n = 0; return 5; }
int nvrtcGetPTX(program *p, char *to) { return 5; }

int nvrtcDestroyProgram(program **p) {
	free((*p)->source), free((*p)->log), free((*p)->code), free(*p);
	*p = NULL;
	return 0;
}
