/* The GPU that bench.c measures: its kernels, its memory, what is given to a stream and how long that
   takes. Every return code is checked. */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int small, processors;
CUstream streams[9];
CUevent events[600];
u64 arena, arena_bytes;
static CUmodule module;
static CUfunction nothing, hold, copy, filling;

enum { SEED = 20261128 };

const struct numbers number_types[] = {
	[FLOAT32] = {"float32", 0x807fffff, 0x3f000000},
	[FLOAT16] = {"float16", 0x83ff83ff, 0x38003800},
	[BFLOAT16] = {"bfloat16", 0x807f807f, 0x3f003f00},
	[FLOAT8_E4M3FN] = {"float8_e4m3fn", 0x87878787, 0x30303030},
};
static const struct numbers any = {"any bits", ~0u, 0};

void check(long code, const char *what) {
	if (!code) return;
	const char *name = NULL;
	if (!strncmp(what, "cu", 2) && strncmp(what, "cublas", 6)) cuGetErrorName((CUresult)code, &name);
	fprintf(stderr, "%s: %ld %s\n", what, code, name ? name : "");
	exit(1);
}

static char *text_of(const char *folder, const char *name) {
	char path[1024];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "rb");
	if (!f) check(1, path);
	char *text = calloc(1, 1 << 16);
	if (!fread(text, 1, (1 << 16) - 1, f)) check(1, path);
	fclose(f);
	return text;
}

/* Compiles the kernels for the GPU that there is. */
static void compile(const char *folder, CUdevice device) {
	char *source = calloc(1, 1 << 17), target[64];
	strcat(source, text_of(folder, "arguments.h"));
	strcat(source, text_of(folder, "kernels.cu"));
	int major, minor;
	CU(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
	CU(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
	snprintf(target, sizeof target, "--gpu-architecture=sm_%d%d", major, minor);
	nvrtcProgram program;
	const char *options[] = {target};
	CU(nvrtcCreateProgram(&program, source, "kernels.cu", 0, NULL, NULL));
	long code = nvrtcCompileProgram(program, 1, options);
	size_t n;
	CU(nvrtcGetProgramLogSize(program, &n));
	char *log = calloc(1, n + 1);
	CU(nvrtcGetProgramLog(program, log));
	if (code) fputs(log, stderr);
	check(code, "nvrtcCompileProgram");
	CU(nvrtcGetCUBINSize(program, &n));
	char *image = malloc(n);
	CU(nvrtcGetCUBIN(program, image));
	CU(cuModuleLoadData(&module, image));
}

void start(const char *folder) {
	CUdevice device;
	CUcontext context;
	CU(cuInit(0));
	CU(cuDeviceGet(&device, 0));
	CU(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
	CU(cuDevicePrimaryCtxRetain(&context, device));
	CU(cuCtxSetCurrent(context));
	compile(folder, device);
	for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
		CU(cuStreamCreateWithPriority(&streams[i], CU_STREAM_NON_BLOCKING, 0));
	for (size_t i = 0; i < sizeof events / sizeof *events; i++) CU(cuEventCreate(&events[i], 0));
	arena_bytes = small ? 32u << 20 : 16ull << 30;
	CU(cuMemAlloc((void *)&arena, arena_bytes));
	nothing = kernel("nothing"), hold = kernel("hold"), copy = kernel("copy"), filling = kernel("fill");
	CU(cuFuncSetAttribute(hold, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, WHOLE));
}

CUfunction kernel(const char *name) {
	CUfunction f;
	check(cuModuleGetFunction(&f, module, name), name);
	return f;
}

static void launch(CUstream s, CUfunction f, unsigned blocks, unsigned threads, unsigned shared_bytes,
		const void *arguments) {
	void *parameters[] = {(void *)arguments};
	CU(cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, shared_bytes, s, parameters, NULL));
}

static void wait_for(CUevent e) {
	CUresult code;
	while ((code = cuEventQuery(e)) == CUDA_ERROR_NOT_READY) {}
	check(code, "cuEventQuery");
}

void finish(CUstream s) {
	CU(cuEventRecord(events[599], s));
	wait_for(events[599]);
}

float between(CUevent from, CUevent to) {
	float ms;
	wait_for(to);
	CU(cuEventElapsedTime(&ms, from, to));
	return ms * 1000;
}

double host_now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static u64 mix(u64 x) {
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

u32 word_of(u64 stream, u64 i, const struct numbers *of) {
	if (!of) of = &any;
	return ((u32)mix(mix(mix(SEED) + stream) + i) & of->keep) | of->set;
}

void fill(u64 to, u64 bytes, u64 stream, const struct numbers *of) {
	if (!of) of = &any;
	struct fill a = {to, bytes / 4, SEED, stream, of->keep, of->set};
	launch(streams[0], filling, 8 * (unsigned)processors, THREADS, 0, &a);
	finish(streams[0]);
}

void give_nothing(CUstream s, const void *about) {
	struct nothing a = {0};
	launch(s, nothing, *(const unsigned *)about, 32, 0, &a);
}

void give_copy(CUstream s, const void *about) {
	const struct copying *c = about;
	struct copy a = {c->to, c->from, c->bytes / 16};
	if (c->blocks)
		launch(s, copy, c->blocks, THREADS, 0, &a);
	else
		CU(cuMemcpyDtoDAsync(c->to, c->from, c->bytes, s));
}

void give_reduce(CUstream s, const void *about) {
	const struct reducing *r = about;
	struct reduce a = {r->to, r->bytes / 16, {0}};
	for (int i = 0; i < r->sources; i++) a.from[i] = r->from + (u64)i * r->bytes;
	launch(s, r->kernel, r->blocks, THREADS, 0, &a);
}

void give_hold(CUstream s, const void *about) {
	const struct holding *h = about;
	struct hold a = {h->nanoseconds, h->processors};
	launch(s, hold, h->blocks, 32, h->whole ? WHOLE : 0, &a);
}

int repetitions(void) { return small ? 3 : 50; }

float device_time(struct work w, int calls) {
	/* The stream has something to do until all is given to it: what follows comes without gaps. */
	u64 each = 8000ull * (u64)(w.host_calls ? w.host_calls : 1);
	struct holding h = {small ? 1000 : 20000 + each * (u64)calls, 0, 1, 0};
	give_hold(streams[0], &h);
	CU(cuEventRecord(events[0], streams[0]));
	for (int i = 0; i < calls; i++) w.give(streams[0], w.about);
	CU(cuEventRecord(events[1], streams[0]));
	return between(events[0], events[1]) / (float)calls;
}

void times(struct work w, int calls, const char *key, ...) {
	FORMAT(text, key);
	float samples[100];
	device_time(w, calls);
	for (int i = 0; i < repetitions(); i++) samples[i] = device_time(w, calls);
	point(samples, repetitions(), "%s, \"of\": \"device\", \"calls\": %d", text, calls);
}

static int ascending(const void *a, const void *b) {
	float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

void point(float *samples, int n, const char *key, ...) {
	FORMAT(text, key);
	qsort(samples, (size_t)n, sizeof *samples, ascending);
	printf("{%s, \"unit\": \"us\", \"samples\": %d, \"run\": [%.7g, %.7g, %.7g]}\n", text, n,
		(double)samples[n / 2], (double)samples[n / 10], (double)samples[n - 1 - n / 10]);
	fflush(stdout);
}

void failed(const char *what, const char *why) {
	printf("{\"what\": \"%s\", \"error\": \"%s\"}\n", what, why);
	fflush(stdout);
}
