// The kernels that bench.c times, behind arguments.h. They are written in what C and CUDA C++ have in
// common, so that they can be tried without a GPU.

#ifdef __CUDACC__
#define KERNEL(name, arguments) extern "C" __global__ void name(const arguments a)
#define FUNCTION static __device__ __forceinline__
FUNCTION u64 now(void) { u64 t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); return t; }
FUNCTION u32 processor(void) { u32 i; asm("mov.u32 %0, %%smid;" : "=r"(i)); return i; }
FUNCTION float float_of(u32 bits) { return __uint_as_float(bits); }
FUNCTION u32 bits_of(float x) { return __float_as_uint(x); }
FUNCTION float wide_float16(u32 x) {
	float y;
	asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"((u16)x));
	return y;
}
FUNCTION u32 narrow_float16(float x) {
	u16 y;
	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
	return y;
}
FUNCTION u32 narrow_bfloat16(float x) {
	u16 y;
	asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
	return y;
}
#else
FUNCTION u64 now(void) { return NANOSECONDS; }
FUNCTION u32 processor(void) { return blockIdx.x; }
typedef union { float f; u32 u; _Float16 h; u16 s; } bits;
FUNCTION float float_of(u32 u) { return ((bits){.u = u}).f; }
FUNCTION u32 bits_of(float f) { return ((bits){.f = f}).u; }
FUNCTION float wide_float16(u32 x) { return (float)((bits){.s = (u16)x}).h; }
FUNCTION u32 narrow_float16(float x) { return ((bits){.h = (_Float16)x}).s; }
FUNCTION u32 narrow_bfloat16(float x) {
	u32 u = bits_of(x);
	return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}
#endif
FUNCTION float wide_bfloat16(u32 x) { return float_of(x << 16); }

typedef struct __attribute__((aligned(16))) { u32 w[4]; } quad;

#define FIRST ((u64)blockIdx.x * blockDim.x + threadIdx.x)
#define STRIDE ((u64)gridDim.x * blockDim.x)

KERNEL(nothing, struct nothing) { (void)a; }

KERNEL(hold, struct hold) {
	u64 begin = now();
	if (threadIdx.x == 0 && a.processors) ((u32 *)a.processors)[blockIdx.x] = processor();
	while (now() - begin < a.nanoseconds) {}
}

FUNCTION u64 mix(u64 x) {
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

KERNEL(fill, struct fill) {
	u64 of = mix(mix(a.seed) + a.stream);
	for (u64 i = FIRST; i < a.words; i += STRIDE) {
		((u32 *)a.to)[i] = ((u32)mix(of + i) & a.keep) | a.set;
	}
}

// Four loads are on their way at once.
KERNEL(copy, struct copy) {
	const quad *from = (const quad *)a.from;
	quad *to = (quad *)a.to;
	u64 i = FIRST, stride = STRIDE;
	for (; i + 3 * stride < a.quads; i += 4 * stride) {
		quad p = from[i], q = from[i + stride], r = from[i + 2 * stride], s = from[i + 3 * stride];
		to[i] = p, to[i + stride] = q, to[i + 2 * stride] = r, to[i + 3 * stride] = s;
	}
	for (; i < a.quads; i += stride) to[i] = from[i];
}

FUNCTION u32 add_float32(const quad *x, int n, int w) {
	float sum = float_of(x[0].w[w]);
	for (int s = 1; s < n; s++) sum += float_of(x[s].w[w]);
	return bits_of(sum);
}
#define ADD_PAIR(type) \
	FUNCTION u32 add_##type(const quad *x, int n, int w) { \
		float low = wide_##type(x[0].w[w] & 0xffff), high = wide_##type(x[0].w[w] >> 16); \
		for (int s = 1; s < n; s++) { \
			low += wide_##type(x[s].w[w] & 0xffff); \
			high += wide_##type(x[s].w[w] >> 16); \
		} \
		return narrow_##type(low) | narrow_##type(high) << 16; \
	}
ADD_PAIR(float16)
ADD_PAIR(bfloat16)

// The sum of n sources in float32, from left to right, rounded once.
#define REDUCE(type, n) \
	KERNEL(reduce_##type##_##n, struct reduce) { \
		for (u64 i = FIRST; i < a.quads; i += STRIDE) { \
			quad x[n], sum; \
			for (int s = 0; s < n; s++) x[s] = ((const quad *)a.from[s])[i]; \
			for (int w = 0; w < 4; w++) sum.w[w] = add_##type(x, n, w); \
			((quad *)a.to)[i] = sum; \
		} \
	}
#define REDUCES(type) REDUCE(type, 2) REDUCE(type, 3) REDUCE(type, 4) REDUCE(type, 8)
REDUCES(float32)
REDUCES(float16)
REDUCES(bfloat16)
