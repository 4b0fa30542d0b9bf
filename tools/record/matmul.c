/* Matrix products by cuBLASLt: D = A B, A of m x k and B of k x n, each with k along memory, as
   cuBLASLt wants it for 8 bits. Sums are float32. */
#include "matmul.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct type {
	const char *name;
	cudaDataType_t in, out;
	cublasComputeType_t compute;
	u64 width, out_width;
	int numbers;
	signed char fast;
} types[] = {
	{"bfloat16", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2, 2, BFLOAT16, 0},
	{"float16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 2, 2, FLOAT16, 0},
	{"float32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 4, 4, FLOAT32, 0},
	{"tf32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 4, 4, FLOAT32, 0},
	{"float8_e4m3fn", CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1, 2, FLOAT8_E4M3FN, 0},
	{"float8_e4m3fn, sums of fewer bits", CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1, 2,
		FLOAT8_E4M3FN, 1},
};
const char *const matmul_types[] = {types[0].name, types[1].name, types[2].name, types[3].name,
	types[4].name, types[5].name};

struct matmul {
	const struct type *type;
	char name[120];
	u64 m, n, k, a, b, d;
	cublasLtMatmulDesc_t what;
	cublasLtMatrixLayout_t in_a, in_b, out;
	cublasLtMatmulHeuristicResult_t how;
};

enum { WORKSPACE = 32 << 20 };
static cublasLtHandle_t handle;
static u64 workspace;

static void fill_operands(struct matmul *x) {
	const struct type *t = x->type;
	u64 a = x->m * x->k * t->width, b = x->k * x->n * t->width, d = x->m * x->n * t->out_width;
	x->a = arena;
	x->b = x->a + (a + 255) / 256 * 256;
	x->d = x->b + (b + 255) / 256 * 256;
	if (x->d + d > arena + arena_bytes) check(1, "a matmul larger than the arena");
	fill(x->a, a, 1, &number_types[t->numbers]);
	fill(x->b, b, 2, &number_types[t->numbers]);
	CU(cuMemsetD8Async(x->d, 0xff, d, streams[0])); /* a NaN in every type */
	finish(streams[0]);
}

const struct matmul *matmul_of(const char *type, u64 m, u64 n, u64 k) {
	if (!handle) {
		CU(cublasLtCreate(&handle));
		if (!small) CU(cuMemAlloc((void *)&workspace, WORKSPACE));
	}
	const struct type *t = types;
	while (strcmp(t->name, type)) t++;
	struct matmul *x = calloc(1, sizeof *x);
	*x = (struct matmul){.type = t, .m = m, .n = n, .k = k};
	snprintf(x->name, sizeof x->name, "matmul %s %llu %llu %llu", type, m, n, k);
	fill_operands(x);
	int transposed = CUBLAS_OP_T, as_it_is = CUBLAS_OP_N, found = 0;
	size_t most = small ? 0 : WORKSPACE;
	CU(cublasLtMatmulDescCreate(&x->what, t->compute, CUDA_R_32F));
	CU(cublasLtMatmulDescSetAttribute(x->what, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(int)));
	CU(cublasLtMatmulDescSetAttribute(x->what, CUBLASLT_MATMUL_DESC_TRANSB, &as_it_is, sizeof(int)));
	if (t->fast)
		CU(cublasLtMatmulDescSetAttribute(x->what, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &t->fast, 1));
	CU(cublasLtMatrixLayoutCreate(&x->in_a, t->in, k, m, (int64_t)k));
	CU(cublasLtMatrixLayoutCreate(&x->in_b, t->in, k, n, (int64_t)k));
	CU(cublasLtMatrixLayoutCreate(&x->out, t->out, m, n, (int64_t)m));
	cublasLtMatmulPreference_t within;
	CU(cublasLtMatmulPreferenceCreate(&within));
	CU(cublasLtMatmulPreferenceSetAttribute(within, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most,
		sizeof most));
	long code = cublasLtMatmulAlgoGetHeuristic(handle, x->what, x->in_a, x->in_b, x->out, x->out, within,
		1, &x->how, &found);
	if (!code && found) return x;
	char why[80];
	snprintf(why, sizeof why, "cublasLtMatmulAlgoGetHeuristic: %ld, %d found", code, found);
	failed(x->name, why);
	return NULL;
}

float matmul_waves(const struct matmul *x) { return x->how.wavesCount; }

void give_matmul(CUstream s, const void *about) {
	const struct matmul *x = about;
	float one = 1, zero = 0;
	CU(cublasLtMatmul(handle, x->what, &one, (void *)x->a, x->in_a, (void *)x->b, x->in_b, &zero,
		(void *)x->d, x->out, (void *)x->d, x->out, &x->how.algo, (void *)workspace,
		small ? 0 : WORKSPACE, s));
}

/* The number of an operand, of the bits that are there. */
static double number(const struct type *t, u64 stream, u64 i) {
	u32 word = word_of(stream, i * t->width / 4, &number_types[t->numbers]);
	u32 bits = word >> (i * t->width % 4 * 8);
	switch (t->width) {
	case 1: return ldexp((bits & 7) + 8, -4) * (bits & 0x80 ? -1 : 1);
	case 4: return ldexp((bits & 0x7fffff) + 0x800000, -24) * (bits >> 31 ? -1 : 1);
	}
	if (t->in == CUDA_R_16F) return ldexp((bits & 0x3ff) + 0x400, -11) * (bits & 0x8000 ? -1 : 1);
	return ldexp((bits & 0x7f) + 0x80, -8) * (bits & 0x8000 ? -1 : 1);
}

static double result(const struct type *t, const u8 *at) {
	u32 bits = t->out_width == 4 ? *(const u32 *)at : *(const u16 *)at;
	if (t->out == CUDA_R_16BF) bits <<= 16;
	float f;
	memcpy(&f, &bits, 4);
	if (t->out != CUDA_R_16F) return (double)f;
	int exponent = bits >> 10 & 31;
	if (exponent == 31) return NAN;
	double abs = ldexp((bits & 1023) + (exponent ? 1024 : 0), (exponent ? exponent : 1) - 25);
	return bits & 0x8000 ? -abs : abs;
}

/* A few elements, here and there, are the sums that they should be, or it is said which is not. */
void matmul_check(const struct matmul *x) {
	const struct type *t = x->type;
	for (u64 probe = 0; probe < 16; probe++) {
		u64 i = probe * 7919 % x->m, j = probe * 104729 % x->n;
		u8 at[4] = {0};
		CU(cuMemcpyDtoHAsync(at, x->d + (j * x->m + i) * t->out_width, t->out_width, streams[0]));
		finish(streams[0]);
		double want = 0, is = result(t, at);
		for (u64 k = 0; k < x->k; k++) want += number(t, 1, i * x->k + k) * number(t, 2, j * x->k + k);
		/* The result's rounding, and a small share of the terms, as many as do not cancel. */
		double share = t->fast ? 1. / 32 : 1. / 256;
		if (fabs(is - want) <= fabs(want) / 128 + share * sqrt((double)x->k)) continue;
		char why[120];
		snprintf(why, sizeof why, "element %llu, %llu is %g, not %g", i, j, is, want);
		failed(x->name, why);
		return;
	}
}
