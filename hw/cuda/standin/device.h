/* What makes a C compiler take the kernels for a processor: a kernel becomes a function that runs one
   thread of the grid, and beside it stands how large its arguments are. */

#define KERNEL(name, arguments) \
	const unsigned long name##_size = sizeof(arguments); \
	static void name##_body(const arguments a); \
	void name(const void *p) { name##_body(*(const arguments *)p); } \
	static void name##_body(const arguments a)
#define FUNCTION static inline __attribute__((unused))

typedef struct { unsigned x, y, z; } standin_dim;
__thread standin_dim standin_grid, standin_block, standin_block_index, standin_thread_index;
#define gridDim standin_grid
#define blockDim standin_block
#define blockIdx standin_block_index
#define threadIdx standin_thread_index

/* Runs a whole grid, in which threads have nothing to do with each other. */
void standin_launch(void (*f)(const void *), unsigned grid, unsigned block, const void *a) {
	gridDim = (standin_dim){grid, 1, 1};
	blockDim = (standin_dim){block, 1, 1};
	for (unsigned b = 0; b < grid; b++) {
		for (unsigned t = 0; t < block; t++) {
			blockIdx = (standin_dim){b, 0, 0};
			threadIdx = (standin_dim){t, 0, 0};
			f(a);
		}
	}
}

/* The intrinsics: C rounds each operation once if nothing is contracted. */
static inline __attribute__((unused)) float __fadd_rn(float x, float y) { return x + y; }
static inline __attribute__((unused)) float __fmul_rn(float x, float y) { return x * y; }
static inline __attribute__((unused)) double __dadd_rn(double x, double y) { return x + y; }
static inline __attribute__((unused)) double __dmul_rn(double x, double y) { return x * y; }
static inline __attribute__((unused)) double __ddiv_rn(double x, double y) { return x / y; }
static inline __attribute__((unused)) float __double2float_rn(double x) { return (float)x; }

/* A clock. */
#include <time.h>
static inline __attribute__((unused)) unsigned long long standin_nanoseconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}
#define NANOSECONDS standin_nanoseconds()
