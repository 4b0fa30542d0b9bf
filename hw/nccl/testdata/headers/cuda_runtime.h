/* What nccl.h takes of the runtime's header: names for the driver's handles. The real one needs
 * headers of nvcc. */
#include <cuda.h>
typedef CUstream cudaStream_t;
typedef CUevent cudaEvent_t;
