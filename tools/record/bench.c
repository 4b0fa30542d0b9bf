/* What a GPU takes for launches, events, graphs, copies, reductions and matmuls, alone and beside each
   other:

     bench FOLDER [small]

   with the kernels in FOLDER. It writes a line of JSON for every point; bench.py runs it twice. */
#include "matmul.h"

#include <stdlib.h>
#include <string.h>

static const unsigned one = 1;

/* What works take on the device; what the host takes to give a stream so many, and for one until it
   sees the end. */
static void both(struct work w, int calls, const char *key, ...) {
	FORMAT(text, key);
	times(w, calls, "%s", text);
	float giving[100], ending[100];
	for (int i = -1; i < repetitions(); i++) {
		double begin = host_now();
		for (int c = 0; c < calls; c++) w.give(streams[0], w.about);
		float took = (float)(host_now() - begin) / (float)calls;
		finish(streams[0]);
		begin = host_now();
		w.give(streams[0], w.about);
		finish(streams[0]);
		if (i >= 0) giving[i] = took, ending[i] = (float)(host_now() - begin);
	}
	point(giving, repetitions(), "%s, \"of\": \"host\", \"calls\": %d", text, calls);
	point(ending, repetitions(), "%s, \"of\": \"host until the end\", \"calls\": 1", text);
}

static void launches(void) {
	unsigned blocks[] = {1, (unsigned)processors};
	for (int i = 0; i < 2; i++)
		both((struct work){give_nothing, &blocks[i], 1}, small ? 5 : 200,
			"\"experiment\": \"launch\", \"blocks\": %u", blocks[i]);
}

/* Kernels that follow each other from stream to stream, and back. */
static void give_hops(CUstream s, const void *pairs) {
	CUstream other = streams[1];
	for (int i = 0; i < *(const int *)pairs; i++) {
		CUevent there = events[10 + 2 * i], back = events[11 + 2 * i];
		give_nothing(s, &one);
		CU(cuEventRecord(there, s));
		CU(cuStreamWaitEvent(other, there, 0));
		give_nothing(other, &one);
		CU(cuEventRecord(back, other));
		CU(cuStreamWaitEvent(s, back, 0));
	}
}

/* As many kernels on one stream, each with an event behind it. */
static void give_events(CUstream s, const void *pairs) {
	for (int i = 0; i < 2 * *(const int *)pairs; i++) {
		give_nothing(s, &one);
		CU(cuEventRecord(events[10 + i], s));
	}
}

/* And without. */
static void give_kernels(CUstream s, const void *pairs) {
	for (int i = 0; i < 2 * *(const int *)pairs; i++) give_nothing(s, &one);
}

static void hops(void) {
	int pairs = small ? 3 : 100;
	both((struct work){give_hops, &pairs, 6 * pairs}, 1,
		"\"experiment\": \"event\", \"way\": \"to another stream and back\", \"pairs\": %d", pairs);
	both((struct work){give_events, &pairs, 4 * pairs}, 1,
		"\"experiment\": \"event\", \"way\": \"on one stream\", \"pairs\": %d", pairs);
	both((struct work){give_kernels, &pairs, 2 * pairs}, 1,
		"\"experiment\": \"event\", \"way\": \"without events\", \"pairs\": %d", pairs);
}

static void give_graph(CUstream s, const void *graph) { CU(cuGraphLaunch((CUgraphExec)graph, s)); }

/* Graphs of kernels that follow each other. */
static void graphs(void) {
	for (int kernels = 1; kernels <= 100; kernels *= 10) {
		CUgraph captured;
		CUgraphExec graph;
		CU(cuStreamBeginCapture(streams[0], CU_STREAM_CAPTURE_MODE_RELAXED));
		for (int i = 0; i < kernels; i++) give_nothing(streams[0], &one);
		CU(cuStreamEndCapture(streams[0], &captured));
		CU(cuGraphInstantiateWithFlags(&graph, captured, 0));
		both((struct work){give_graph, graph, 1 + kernels / 10}, small ? 2 : 20,
			"\"experiment\": \"graph\", \"kernels\": %d", kernels);
	}
}

static void matmuls(void) {
	static const u64 shapes[][3] = {{1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096},
		{8192, 8192, 8192}, {128, 8192, 8192}, {4096, 14336, 4096}, {16384, 1280, 8192},
		{8192, 8192, 128}};
	for (int t = 0; t < MATMUL_TYPES; t++) {
		for (int i = 0; i < (small ? 2 : 8); i++) {
			u64 m = shapes[i][0], n = shapes[i][1], k = shapes[i][2];
			if (small) m /= 32, n /= 64, k /= 16;
			const struct matmul *x = matmul_of(matmul_types[t], m, n, k);
			if (!x) continue;
			times((struct work){give_matmul, x, 2}, 3, "\"experiment\": \"matmul\", \"dtype\": \"%s\", "
				"\"m\": %llu, \"n\": %llu, \"k\": %llu, \"waves\": %.4g", matmul_types[t], m, n, k,
				(double)matmul_waves(x));
			matmul_check(x);
		}
	}
}

/* What a copy has left is what it was to, or it is said that it is not. */
static void check_copy(const struct copying *c) {
	enum { PROBE = 64 };
	int wrong = 0;
	for (u64 at = 0; at + PROBE <= c->bytes; at += (c->bytes - PROBE) / 3 / 4 * 4) {
		u32 is[PROBE / 4];
		CU(cuMemcpyDtoHAsync(is, c->to + at, PROBE, streams[0]));
		finish(streams[0]);
		for (u64 i = 0; i < PROBE / 4; i++)
			wrong += is[i] != word_of(3, (c->from - arena + at) / 4 + i, NULL);
	}
	char what[80];
	snprintf(what, sizeof what, "copy of %llu bytes by %u blocks", c->bytes, c->blocks);
	if (wrong) failed(what, "its result is another");
}

static void copies(void) {
	static const unsigned blocks[] = {0, 1, 2, 4, 8, 16, 32, 64, 132, 264};
	fill(arena, arena_bytes, 3, NULL);
	for (u64 bytes = 4 << 10; bytes <= (small ? 64ull << 10 : 1ull << 30); bytes *= 4) {
		for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
			struct copying c = {arena + arena_bytes / 2, arena, bytes, blocks[i]};
			if (c.blocks && bytes / c.blocks > 64 << 20) continue;
			if (c.blocks > 16 && small) continue;
			CU(cuMemsetD8Async(c.to, 0xa5, bytes, streams[0]));
			times((struct work){give_copy, &c, 1}, bytes < 16 << 20 ? 10 : 3,
				"\"experiment\": \"copy\", \"by\": \"%s\", \"blocks\": %u, \"bytes\": %llu",
				c.blocks ? "kernel" : "memcpy", c.blocks, bytes);
			check_copy(&c);
		}
	}
}

/* So many copies at once, each on a stream of its own. */
static void copies_at_once(int copies, unsigned blocks) {
	enum { TURNS = 4 };
	u64 bytes = small ? 16 << 10 : 256 << 20;
	float samples[100];
	for (int i = -1; i < repetitions(); i++) {
		struct holding h = {small ? 1000 : 500000, 0, 1, 0};
		give_hold(streams[0], &h);
		CU(cuEventRecord(events[0], streams[0]));
		for (int c = 0; c < copies; c++) {
			u64 at = arena + 2 * (u64)c * bytes;
			struct copying about = {at, at + bytes, bytes, blocks};
			CUstream s = streams[1 + c];
			CU(cuStreamWaitEvent(s, events[0], 0));
			for (int turn = 0; turn < TURNS; turn++) give_copy(s, &about);
			CU(cuEventRecord(events[2 + c], s));
		}
		for (int c = 0; c < copies; c++) CU(cuStreamWaitEvent(streams[0], events[2 + c], 0));
		CU(cuEventRecord(events[1], streams[0]));
		float took = between(events[0], events[1]) / TURNS;
		if (i >= 0) samples[i] = took;
	}
	point(samples, repetitions(), "\"experiment\": \"copies at once\", \"by\": \"%s\", \"blocks\": %u, "
		"\"bytes\": %llu, \"copies\": %d, \"of\": \"device\"", blocks ? "kernel" : "memcpy", blocks, bytes,
		copies);
}

/* Of float32, the last element is the sum of the sources; the other types are of the same code. */
static void check_reduce(const struct reducing *r, const struct numbers *t) {
	u64 words = r->bytes / 4;
	float sum = 0, is;
	for (int s = 0; s < r->sources; s++) {
		u32 word = word_of(4, (u64)s * words + words - 1, t);
		float x;
		memcpy(&x, &word, 4);
		sum += x;
	}
	CU(cuMemcpyDtoHAsync(&is, r->to + 4 * (words - 1), 4, streams[0]));
	finish(streams[0]);
	char what[80];
	snprintf(what, sizeof what, "sum of %d sources by %u blocks", r->sources, r->blocks);
	if (is != sum) failed(what, "its result is another");
}

static void reductions(void) {
	static const int sources[] = {2, 3, 4, 8};
	static const unsigned blocks[] = {1, 8, 32, 132, 264};
	u64 bytes = small ? 16 << 10 : 64 << 20;
	for (int i = 0; i < 3 * 4 * 5; i++) {
		const struct numbers *t = &number_types[i / 20];
		if (i % 20 == 0) fill(arena, 8 * bytes, 4, t);
		if (blocks[i % 5] > 16 && small) continue;
		char name[40];
		snprintf(name, sizeof name, "reduce_%s_%d", t->dtype, sources[i / 5 % 4]);
		struct reducing r = {arena + 8 * bytes, arena, bytes, blocks[i % 5], sources[i / 5 % 4], kernel(name)};
		CU(cuMemsetD8Async(r.to, 0xff, bytes, streams[0]));
		times((struct work){give_reduce, &r, 1}, 3, "\"experiment\": \"reduce\", \"dtype\": \"%s\", "
			"\"sources\": %d, \"blocks\": %u, \"bytes\": %llu", t->dtype, r.sources, r.blocks, bytes);
		if (t == &number_types[FLOAT32]) check_reduce(&r, t);
	}
}

/* A work in front of others in the background, which begin before it and end after it: as many as last
   three times as long, or one that lasts by itself. */
struct named { struct work work; char name[80]; };

enum { FRONTS = 4, FRONT = 2, FRONT_END = 3, BACK = 100 /* events */ };

/* What the front takes; how long one of those in the background that lie within it takes, 0 if none
   does; and whether the last of them ended after the front. */
static float in_front(const struct named *front, const struct named *back, int backs, float *within,
		int *covered) {
	CU(cuEventRecord(events[BACK], streams[1]));
	for (int n = 0; n < backs; n++) {
		back->work.give(streams[1], back->work.about);
		CU(cuEventRecord(events[BACK + 1 + n], streams[1]));
	}
	CU(cuStreamWaitEvent(streams[0], events[backs > 1 ? BACK + 1 : BACK], 0));
	struct holding h = {small ? 1000 : 30000, 0, 1, 0}; /* until what holds processors has them */
	if (backs == 1) give_hold(streams[0], &h);
	CU(cuEventRecord(events[FRONT], streams[0]));
	for (int n = 0; n < FRONTS; n++) front->work.give(streams[0], front->work.about);
	CU(cuEventRecord(events[FRONT_END], streams[0]));
	float took = between(events[FRONT], events[FRONT_END]) / FRONTS, sum = 0;
	finish(streams[1]);
	*covered = between(events[FRONT_END], events[BACK + backs]) > 0;
	int count = 0;
	for (int n = 1; n < backs; n++) {
		CUevent begin = events[BACK + n], end = events[BACK + n + 1];
		if (between(events[FRONT], begin) < 0 || between(end, events[FRONT_END]) < 0) continue;
		sum += between(begin, end);
		count++;
	}
	*within = count ? sum / (float)count : 0;
	return took;
}

static void beside(const struct named *front, const struct named *back, int lasts) {
	float alone = device_time(front->work, FRONTS), back_alone = device_time(back->work, 1);
	int backs = lasts ? 1 : (int)(3 * FRONTS * alone / back_alone) + 4;
	if (backs > (small ? 12 : 400)) backs = small ? 12 : 400;
	float fronts[100], backings[100], fronts_alone[100], backs_alone[100], within;
	int covered = 0, seen = 0;
	for (int i = -1; i < repetitions(); i++) {
		int longer;
		float took = in_front(front, back, backs, &within, &longer);
		if (i < 0) continue;
		covered += longer;
		fronts[i] = took;
		if (within > 0) backings[seen++] = within;
		fronts_alone[i] = device_time(front->work, FRONTS);
		backs_alone[i] = device_time(back->work, lasts ? 1 : 3);
	}
	char key[300];
	snprintf(key, sizeof key, "\"experiment\": \"beside\", \"front\": \"%s\", \"back\": \"%s\", \"of\":",
		front->name, back->name);
	point(fronts, repetitions(), "%s \"front\", \"covered\": %d", key, covered);
	point(fronts_alone, repetitions(), "%s \"front alone\"", key);
	if (seen) point(backings, seen, "%s \"back\"", key);
	point(backs_alone, repetitions(), "%s \"back alone\"", key);
}

/* A matmul beside a kernel that holds multiprocessors, one a block, and ends by itself. */
static void held(const struct named *matmul, unsigned blocks) {
	float alone = device_time(matmul->work, FRONTS);
	u64 at = arena + arena_bytes - 4096;
	struct holding h = {(u64)(small ? 20 : 16 * alone) * 1000, at, blocks, 1};
	struct named back = {{give_hold, &h, 1}, ""};
	snprintf(back.name, sizeof back.name, "%u multiprocessors held", blocks);
	beside(matmul, &back, 1);
	u32 on[64] = {0};
	CU(cuMemcpyDtoHAsync(on, at, 4 * blocks, streams[0]));
	finish(streams[0]);
	for (unsigned i = 0; i < blocks; i++)
		for (unsigned j = 0; j < i; j++)
			if (on[i] == on[j]) failed(back.name, "two blocks were on one multiprocessor");
}

static void pairs(void) {
	static const unsigned blocks[] = {0, 8, 16, 32, 132};
	enum { WAYS = 5 };
	u64 size = small ? 64 : 8192, bytes = small ? 16 << 10 : 256 << 20;
	u64 at = arena + (small ? 8ull << 20 : 4ull << 30);
	struct copying c[2][WAYS];
	struct named copy[2][WAYS];
	for (int i = 0; i < 2 * WAYS; i++) {
		u64 to = at + 2 * (u64)(i % 2) * bytes;
		unsigned n = blocks[i / 2] / (small ? 8 : 1);
		c[i % 2][i / 2] = (struct copying){to, to + bytes, bytes, n};
		struct named *x = &copy[i % 2][i / 2];
		x->work = (struct work){give_copy, &c[i % 2][i / 2], 1};
		snprintf(x->name, sizeof x->name, n ? "copy by %u blocks" : "copy by memcpy", n);
	}
	for (int i = 0; i < WAYS; i++)
		for (int j = 0; j < WAYS; j += 2) beside(&copy[0][i], &copy[1][j], 0);
	struct reducing r = {at, at + bytes, bytes, small ? 8 : 264, 2, kernel("reduce_float32_2")};
	struct named memory = {{give_reduce, &r, 1}, "sum of 2 float32 by 264 blocks"};
	struct named matmul = {{give_matmul, matmul_of("bfloat16", size, size, size), 2}, "matmul bfloat16"};
	if (!matmul.work.about) return;
	for (int i = 0; i < WAYS; i++) {
		beside(&matmul, &copy[0][i], 0);
		beside(&copy[0][i], &matmul, 0);
	}
	beside(&matmul, &memory, 0);
	beside(&memory, &matmul, 0);
	for (unsigned n = 1; n <= 32; n = n == 1 ? 8 : 2 * n) held(&matmul, n);
}

int main(int count, char **list) {
	if (count < 2) {
		fprintf(stderr, "usage: bench FOLDER [small]\n");
		return 2;
	}
	small = count > 2 && !strcmp(list[2], "small");
	start(list[1]);
	launches();
	hops();
	graphs();
	copies();
	for (int n = 1; n <= 8; n *= 2) {
		copies_at_once(n, 0);
		copies_at_once(n, 16);
		copies_at_once(n, 66);
	}
	reductions();
	matmuls();
	pairs();
	return 0;
}
