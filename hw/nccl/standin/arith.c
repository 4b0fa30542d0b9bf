/* Arithmetic of elements. Every format of at most 32 bits is computed in double and rounded once
 * more, which gives the bits of one rounding: 53 >= 2*24 + 2 (Figueroa, "When is double rounding
 * innocuous?", 1995). NaNs are those that CUDA's operations give. */
#include "standin.h"

#include <math.h>
#include <string.h>

size_t standin_width(int type) {
  static const size_t width[TYPES] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return width[type];
}

int standin_is_float(int type) { return type >= FLOAT16; }

/* A float format of at most 16 bits. */
struct format {
  int precision, bias;
  unsigned sign, max, inf, nan; /* inf is 0 where there is none */
  int saturates;
};

static const struct format *format_of(int type) {
  static const struct format half = {11, 15, 0x8000, 0x7bff, 0x7c00, 0x7fff, 0};
  static const struct format brain = {8, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fff, 0};
  static const struct format e4m3 = {4, 7, 0x80, 0x7e, 0, 0x7f, 1};
  static const struct format e5m2 = {3, 15, 0x80, 0x7b, 0x7c, 0x7f, 1};
  switch (type) {
  case FLOAT16: return &half;
  case BFLOAT16: return &brain;
  case E4M3: return &e4m3;
  default: return &e5m2;
  }
}

static double decode(const struct format *f, unsigned bits) {
  unsigned abs = bits & (f->sign - 1), fraction = abs & ((1u << (f->precision - 1)) - 1);
  int exponent = (int)(abs >> (f->precision - 1));
  double x;
  if (abs > f->max) {
    if (abs != f->inf || !f->inf) return NAN;
    x = INFINITY;
  } else if (exponent == 0) {
    x = ldexp(fraction, 2 - f->bias - f->precision);
  } else {
    x = ldexp(fraction + (1u << (f->precision - 1)), exponent - f->bias - f->precision + 1);
  }
  return bits & f->sign ? -x : x;
}

static unsigned encode(const struct format *f, double x) {
  if (isnan(x)) return f->nan;
  unsigned sign = signbit(x) ? f->sign : 0, over = f->saturates ? f->max : f->inf;
  double abs = fabs(x);
  if (isinf(abs)) return sign | over;
  if (abs == 0) return sign;
  int exponent;
  frexp(abs, &exponent);
  int least = 2 - f->bias - f->precision; /* exponent of the unit in the last place */
  int unit = exponent - f->precision > least ? exponent - f->precision : least;
  double units = nearbyint(ldexp(abs, -unit)); /* ties to even, the default mode */
  /* units of 2^unit: a carry into the next power of two is a carry into the exponent. */
  double field = unit == least ? units
                               : units + (double)(unit - least) * (1u << (f->precision - 1));
  return field > f->max ? sign | over : sign | (unsigned)field;
}

static double load(int type, const void *p) {
  if (type == FLOAT64) {
    double x;
    memcpy(&x, p, 8);
    return x;
  }
  if (type == FLOAT32) {
    float x;
    memcpy(&x, p, 4);
    return x;
  }
  uint16_t bits = 0;
  memcpy(&bits, p, standin_width(type));
  return decode(format_of(type), bits);
}

static void store(int type, void *p, double x) {
  if (type == FLOAT64) {
    uint64_t nan = 0xFFF8000000000000;
    memcpy(p, isnan(x) ? (void *)&nan : (void *)&x, 8);
  } else if (type == FLOAT32) {
    uint32_t nan = 0x7FFFFFFF;
    float y = (float)x;
    memcpy(p, isnan(x) ? (void *)&nan : (void *)&y, 4);
  } else {
    uint16_t bits = (uint16_t)encode(format_of(type), x);
    memcpy(p, &bits, standin_width(type));
  }
}

static int is_signed(int type) { return type == INT8 || type == INT32 || type == INT64; }

/* An integer element, extended to 64 bits. */
static uint64_t integer(int type, const void *p) {
  uint64_t x = 0;
  size_t width = standin_width(type);
  memcpy(&x, p, width);
  int shift = 64 - 8 * (int)width;
  return is_signed(type) ? (uint64_t)((int64_t)(x << shift) >> shift) : x;
}

static int less(double a, double b) { return a < b || (a == b && signbit(a) && !signbit(b)); }

static double floats(int op, double a, double b) {
  switch (op) {
  case SUM: return a + b;
  case PROD: return a * b;
  }
  if (isnan(a) || isnan(b)) return isnan(a) ? b : a; /* a number is taken before a NaN */
  return less(a, b) == (op == MIN) ? a : b;
}

static uint64_t integers(int type, int op, uint64_t a, uint64_t b) {
  switch (op) {
  case SUM: return a + b;
  case PROD: return a * b;
  }
  int is_less = is_signed(type) ? (int64_t)a < (int64_t)b : a < b;
  return is_less == (op == MIN) ? a : b;
}

static void apply(int type, int op, unsigned char *dst, const unsigned char *src, size_t stride,
                  size_t count) {
  size_t width = standin_width(type);
  for (size_t i = 0; i < count; i++, dst += width, src += stride) {
    if (standin_is_float(type)) {
      store(type, dst, floats(op, load(type, dst), load(type, src)));
    } else {
      uint64_t x = integers(type, op, integer(type, dst), integer(type, src));
      memcpy(dst, &x, width);
    }
  }
}

void standin_combine(int type, int op, void *dst, const void *src, size_t count) {
  apply(type, op, dst, src, standin_width(type), count);
}

void standin_scale(int type, void *dst, const void *factor, size_t count) {
  apply(type, PROD, dst, factor, 0, count);
}

void standin_divide(int type, void *dst, int n, size_t count) {
  unsigned char *p = dst;
  for (size_t i = 0; i < count; i++, p += standin_width(type)) {
    uint64_t x = integer(type, p);
    x = is_signed(type) ? (uint64_t)((int64_t)x / n) : x / (uint64_t)n;
    memcpy(p, &x, standin_width(type));
  }
}

void standin_reciprocal(int type, void *element, int n) {
  double x = 1.0 / n;
  store(type, element, type == FLOAT64 ? x : (float)x);
}
