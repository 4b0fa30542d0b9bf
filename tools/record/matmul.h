/* Matrix products, as work for a stream. */
#include "gpu.h"

struct matmul;

extern const char *const matmul_types[];
enum { MATMUL_TYPES = 6 };

/* matmul_of prepares one, or says why not, in which case it returns NULL. Operands are at the arena's
   beginning. */
const struct matmul *matmul_of(const char *type, u64 m, u64 n, u64 k);
void give_matmul(CUstream s, const void *matmul);
/* matmul_waves is how often cuBLASLt expects it to fill the GPU. */
float matmul_waves(const struct matmul *x);
/* matmul_check says which element is wrong, if one is that it looks at. */
void matmul_check(const struct matmul *x);
