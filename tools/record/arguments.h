// What the kernels of kernels.cu are given: gpu.h includes it, and gpu.c puts it before them.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

struct nothing { u64 none; };

// Word i of 32 bits is the lower half of mix(mix(mix(seed) + stream) + i), with bits cleared and set.
struct fill { u64 to, words, seed, stream; u32 keep, set; };

// Quads of 16 bytes.
struct copy { u64 to, from, quads; };

struct reduce { u64 to, quads, from[8]; };

// A block waits so long; what it is on goes to an array, if there is one.
struct hold { u64 nanoseconds, processors; };
