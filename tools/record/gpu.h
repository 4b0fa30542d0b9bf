/* What experiments are made of: the GPU, work for its streams, and times. */
#ifndef GPU_H
#define GPU_H

#if __has_include(<cublasLt.h>) && !defined NO_HEADERS
#include <cuda.h>
#include <nvrtc.h>
#include <cublasLt.h>
#else
#include "declarations.h"
#endif
#include "arguments.h"

#include <stdarg.h>
#include <stdio.h>

enum { THREADS = 512, WHOLE = 224 << 10 }; /* of a block; shared memory that leaves room for no other */

/* work is something that is given to a stream; about says what. The host's calls for it, if they are
   many, are what a stream has to be kept waiting for. */
struct work {
	void (*give)(CUstream s, const void *about);
	const void *about;
	int host_calls;
};

/* What makes random bits numbers from 1/2 to 1, of either sign: those that stay, and those that are set. */
struct numbers { const char *dtype; u32 keep, set; };
extern const struct numbers number_types[];
enum { FLOAT32, FLOAT16, BFLOAT16, FLOAT8_E4M3FN };

struct copying { u64 to, from, bytes; unsigned blocks; }; /* 0 blocks: by cuMemcpyDtoDAsync */
struct reducing { u64 to, from, bytes; unsigned blocks; int sources; CUfunction kernel; };
struct holding { u64 nanoseconds, processors; unsigned blocks; int whole; };

extern int small, processors;
extern CUstream streams[9];
extern CUevent events[600]; /* of finish the last, of device_time the first two */
extern u64 arena, arena_bytes;

void check(long code, const char *what);
#define CU(call) check(call, #call)

void start(const char *folder);
CUfunction kernel(const char *name);
void finish(CUstream s);
float between(CUevent from, CUevent to); /* in microseconds */
double host_now(void);                  /* in microseconds */
/* fill fills memory with numbers, or with random bits if there are none; word_of is the word at i. */
void fill(u64 to, u64 bytes, u64 stream, const struct numbers *of);
u32 word_of(u64 stream, u64 i, const struct numbers *of);

void give_nothing(CUstream s, const void *blocks); /* unsigned */
void give_copy(CUstream s, const void *copying);
void give_reduce(CUstream s, const void *reducing);
void give_hold(CUstream s, const void *holding);

/* device_time is what each of so many works takes, one after the other on a stream. */
float device_time(struct work w, int calls);
/* times writes a point: device_time, many times over. The rest says what, as JSON's members. */
void times(struct work w, int calls, const char *key, ...);
/* point writes a point's samples: the median, the 10th and the 90th percentile. */
void point(float *samples, int n, const char *key, ...);
void failed(const char *what, const char *why);
int repetitions(void);

/* FORMAT is a text of what comes behind key, as printf makes it. */
#define FORMAT(text, key) \
	char text[400]; \
	va_list list; \
	va_start(list, key); \
	vsnprintf(text, sizeof text, key, list); \
	va_end(list)

#endif
