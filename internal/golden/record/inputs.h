// The inputs of all recordings, as README.md defines them: the bits of an element are a pure
// function of rank, index, type and operator.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 14 };

typedef struct {
  const char *name;
  int width, mantissa, bias; // bytes; bits of the mantissa, 0 of an integer; bias of the exponent
} type;

static const type types[] = {
    {"float32", 4, 23, 127}, {"float64", 8, 52, 1023}, {"float16", 2, 10, 15},
    {"bfloat16", 2, 7, 127}, {"int32", 4, 0, 0},
};

static uint64_t draw(uint64_t rank, uint64_t index) {
  uint64_t z = 0x9e3779b97f4a7c15u * (1 + index + (rank << 32) + ((uint64_t)SEED << 40));
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// element is the bits of an input: of a float ±1.m · 2^e with e in −4…3, or −1…0 for products.
static uint64_t element(const type *t, int product, int rank, int index) {
  uint64_t h = draw(rank, index), e = h >> 52;
  if (t->mantissa == 0)
    return (uint32_t)h;
  e = product ? (e & 1) - 1 : (e & 7) - 4;
  return (h >> 63) << (8 * t->width - 1) | (t->bias + e) << t->mantissa |
         (h & (((uint64_t)1 << t->mantissa) - 1));
}

// fill writes a rank's inputs, on a machine whose bytes go from the lowest up.
static void fill(unsigned char *to, const type *t, int product, int rank, int count) {
  for (int i = 0; i < count; i++) {
    uint64_t bits = element(t, product, rank, i);
    memcpy(to + (size_t)i * t->width, &bits, t->width);
  }
}

static void print_hex(const unsigned char *bytes, size_t n) {
  for (size_t i = 0; i < n; i++)
    printf("%02x", bytes[i]);
  printf("\n");
}

// The cases of each algorithm: uneven chunks in float32, and a count of the other types and
// operators on a few numbers of ranks.
static const struct {
  const char *type, *op;
  int count, few;
} cases[] = {
    {"float32", "sum", 1, 0},  {"float32", "sum", 7, 0},   {"float32", "sum", 67, 0},
    {"float32", "sum", 500, 0}, {"float64", "sum", 67, 1},  {"float16", "sum", 67, 1},
    {"bfloat16", "sum", 67, 1}, {"int32", "sum", 67, 1},    {"float32", "prod", 67, 1},
    {"float32", "max", 67, 1},
};

static int is_few(int ranks) { return ranks == 4 || ranks == 5 || ranks == 7; }

static const type *type_of(const char *name) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (!strcmp(types[i].name, name))
      return &types[i];
  abort();
}
