/* A stand-in for cuBLASLt, beside that for CUDA: products with k along the memory of both operands,
   which are computed when they are given to a stream, after all that it was given before. With
   COLLSIM_STANDIN_PRODUCT=wrong, they are wrong. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID = 7, UNSUPPORTED = 15 };
enum { F32 = 0, F16 = 2, BF16 = 14, E4M3 = 28 };

typedef struct { int compute, scale, transposed[2], fast; } description;
typedef struct { int type; uint64_t rows, columns; int64_t leading; } layout;
typedef struct { uint64_t algo[8]; size_t workspace; int state; float waves; int reserved[4]; } heuristic;

int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuEventQuery(void *event);

size_t cublasLtGetVersion(void) { return 130000; }
int cublasLtCreate(void **handle) { return (*handle = malloc(1)) ? OK : INVALID; }

int cublasLtMatmulDescCreate(description **d, int compute, int scale) {
	*d = calloc(1, sizeof **d);
	**d = (description){compute, scale, {0, 0}, 0};
	return (compute == 68 || compute == 77) && scale == F32 ? OK : INVALID;
}

int cublasLtMatmulDescSetAttribute(description *d, int attribute, const void *value, size_t n) {
	if ((attribute == 3 || attribute == 4) && n == 4) {
		memcpy(&d->transposed[attribute - 3], value, 4);
		return OK;
	}
	if (attribute != 25 || n != 1) return INVALID;
	d->fast = *(const signed char *)value;
	return OK;
}

int cublasLtMatrixLayoutCreate(layout **l, int type, uint64_t rows, uint64_t columns, int64_t leading) {
	*l = malloc(sizeof **l);
	**l = (layout){type, rows, columns, leading};
	return leading >= (int64_t)rows ? OK : INVALID;
}

int cublasLtMatmulPreferenceCreate(void **p) { return (*p = calloc(1, 8)) ? OK : INVALID; }
int cublasLtMatmulPreferenceSetAttribute(size_t *p, int attribute, const size_t *value, size_t n) {
	if (attribute != 1 || n != 8) return INVALID;
	*p = *value;
	return OK;
}

static int fits(const description *d, const layout *a, const layout *b, const layout *out) {
	return d->transposed[0] == 1 && d->transposed[1] == 0 && a->rows == b->rows && a->type == b->type &&
		out->rows == a->columns && out->columns == b->columns;
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, const description *d, const layout *a, const layout *b,
		const layout *c, const layout *out, const size_t *most, int wanted, heuristic *h, int *found) {
	(void)handle, (void)c, (void)most;
	*found = 0;
	if (wanted < 1 || !fits(d, a, b, out)) return UNSUPPORTED;
	*h = (heuristic){.algo = {1}, .waves = (float)(out->rows * out->columns) / 4096};
	*found = 1;
	return OK;
}

static float get(int type, const void *at, uint64_t i) {
	float f;
	switch (type) {
	case F32: return ((const float *)at)[i];
	case F16: return (float)((const _Float16 *)at)[i];
	case BF16: {
		uint32_t u = (uint32_t)((const uint16_t *)at)[i] << 16;
		memcpy(&f, &u, 4);
		return f;
	}
	}
	unsigned byte = ((const uint8_t *)at)[i], exponent = byte >> 3 & 15;
	f = (float)((byte & 7) + (exponent ? 8 : 0));
	for (unsigned e = exponent ? exponent : 1; e < 10; e++) f /= 2;
	return byte & 0x80 ? -f : f;
}

static void put(int type, void *at, uint64_t i, float x) {
	uint32_t u;
	memcpy(&u, &x, 4);
	if (type == F32) ((float *)at)[i] = x;
	if (type == F16) ((_Float16 *)at)[i] = (_Float16)x;
	if (type == BF16) ((uint16_t *)at)[i] = (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

int cublasLtMatmul(void *handle, const description *d, const float *alpha, const void *a,
		const layout *in_a, const void *b, const layout *in_b, const float *beta, const void *c,
		const layout *in_c, void *to, const layout *out, const uint64_t *algo, void *workspace, size_t n,
		void *stream) {
	(void)handle, (void)c, (void)in_c, (void)workspace, (void)n;
	if (!fits(d, in_a, in_b, out) || *algo != 1 || *alpha != 1 || *beta != 0) return INVALID;
	static void *before;
	if (!before && cuEventCreate(&before, 0)) return INVALID;
	int code = cuEventRecord(before, stream);
	if (!code)
		while ((code = cuEventQuery(before)) == 600) {}
	if (code) return INVALID;
	const char *asked = getenv("COLLSIM_STANDIN_PRODUCT");
	float off = asked && !strcmp(asked, "wrong") ? 100 : 0;
	for (uint64_t j = 0; j < out->columns; j++) {
		for (uint64_t i = 0; i < out->rows; i++) {
			float sum = off;
			for (uint64_t k = 0; k < in_a->rows; k++)
				sum += get(in_a->type, a, i * (uint64_t)in_a->leading + k) *
					get(in_b->type, b, j * (uint64_t)in_b->leading + k);
			put(out->type, to, j * (uint64_t)out->leading + i, sum);
		}
	}
	return OK;
}
