/* What hw/nccl assumes of nccl.h and cuda.h: the test compiles this against the headers and compares
 * what it prints. The calls are those of part.go, driver.go and player.go, their arguments in that
 * order; they are compiled and never made. */
#include <cuda.h>
#include <nccl.h>
#include <stddef.h>
#include <stdio.h>

#define NUMBER(name) printf("%s %lld\n", #name, (long long)(name))
#define CODE(call)                                                                                 \
  if ((call) != 0) return

void calls(ncclComm_t comm, ncclComm_t *comms, ncclUniqueId *id, cudaStream_t stream, void *in,
           void *out, size_t n, int root, int number, const int *devices, void *scalar) {
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t op = ncclSum;
  ncclResult_t code;
  const char *text;
  CODE(ncclGetVersion(&number));
  CODE(ncclGetUniqueId(id));
  text = ncclGetErrorString(ncclSuccess);
  text = ncclGetLastError(comm);
  (void)text;
  CODE(ncclGroupStart());
  CODE(ncclGroupEnd());
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  CODE(ncclGroupSimulateEnd(&info));
  CODE(ncclCommInitRank(comms, number, *id, number));
  CODE(ncclCommInitAll(comms, number, devices));
  CODE(ncclCommDestroy(comm));
  CODE(ncclCommGetAsyncError(comm, &code));
  CODE(ncclRedOpCreatePreMulSum(&op, scalar, type, ncclScalarHostImmediate, comm));
  CODE(ncclRedOpDestroy(op, comm));
  CODE(ncclAllReduce(in, out, n, type, op, comm, stream));
  CODE(ncclReduceScatter(in, out, n, type, op, comm, stream));
  CODE(ncclReduce(in, out, n, type, op, root, comm, stream));
  CODE(ncclAllGather(in, out, n, type, comm, stream));
  CODE(ncclAlltoAll(in, out, n, type, comm, stream));
  CODE(ncclBroadcast(in, out, n, type, root, comm, stream));
  CODE(ncclGather(in, out, n, type, root, comm, stream));
  CODE(ncclScatter(in, out, n, type, root, comm, stream));
  CODE(ncclSend(in, n, type, root, comm, stream));
  CODE(ncclRecv(out, n, type, root, comm, stream));
}

void driver(CUdevice device, CUcontext context, CUstream stream, CUdeviceptr at, void *host,
            size_t bytes, int number, char *name) {
  const char *text;
  CODE(cuInit(0));
  CODE(cuDriverGetVersion(&number));
  CODE(cuDeviceGetCount(&number));
  CODE(cuDeviceGet(&device, number));
  CODE(cuDeviceGetName(name, number, device));
  CODE(cuDevicePrimaryCtxRetain(&context, device));
  CODE(cuDevicePrimaryCtxRelease_v2(device));
  CODE(cuCtxSetCurrent(context));
  CODE(cuCtxSynchronize());
  CODE(cuMemAlloc_v2(&at, bytes));
  CODE(cuMemFree_v2(at));
  CODE(cuMemcpyHtoD_v2(at, host, bytes));
  CODE(cuMemcpyDtoH_v2(host, at, bytes));
  CODE(cuMemcpyDtoDAsync_v2(at, at, bytes, stream));
  CODE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CODE(cuStreamQuery(stream));
  CODE(cuStreamDestroy_v2(stream));
  CODE(cuGetErrorName(CUDA_SUCCESS, &text));
  CODE(cuGetErrorString(CUDA_SUCCESS, &text));
}

int main(void) {
  NUMBER(NCCL_VERSION_CODE);
  NUMBER(ncclSuccess);
  NUMBER(ncclUnhandledCudaError);
  NUMBER(ncclSystemError);
  NUMBER(ncclInternalError);
  NUMBER(ncclInvalidArgument);
  NUMBER(ncclInvalidUsage);
  NUMBER(ncclRemoteError);
  NUMBER(ncclInProgress);
#if NCCL_VERSION_CODE >= 23000
  NUMBER(ncclTimeout);
#endif
  NUMBER(ncclInt8);
  NUMBER(ncclUint8);
  NUMBER(ncclInt32);
  NUMBER(ncclUint32);
  NUMBER(ncclInt64);
  NUMBER(ncclUint64);
  NUMBER(ncclFloat16);
  NUMBER(ncclFloat32);
  NUMBER(ncclFloat64);
  NUMBER(ncclBfloat16);
  NUMBER(ncclFloat8e4m3);
  NUMBER(ncclFloat8e5m2);
  NUMBER(ncclSum);
  NUMBER(ncclProd);
  NUMBER(ncclMax);
  NUMBER(ncclMin);
  NUMBER(ncclAvg);
  NUMBER(ncclScalarHostImmediate);
  NUMBER(CUDA_ERROR_NO_DEVICE);
  NUMBER(CUDA_ERROR_NOT_READY);
  NUMBER(CU_STREAM_NON_BLOCKING);
  NUMBER(sizeof(ncclUniqueId));
  NUMBER(_Alignof(ncclUniqueId));
  NUMBER(sizeof(ncclResult_t));
  NUMBER(sizeof(ncclRedOp_t));
  NUMBER(sizeof(ncclDataType_t));
  NUMBER(sizeof(ncclComm_t));
  NUMBER(sizeof(size_t));
  ncclSimInfo_t sim = NCCL_SIM_INFO_INITIALIZER;
  NUMBER(sim.size);
  NUMBER(sim.magic);
  size_t version = offsetof(ncclSimInfo_t, version), estimate = offsetof(ncclSimInfo_t, estimatedTime);
  NUMBER(version);
  NUMBER(estimate);
  NUMBER(sizeof(CUdevice));
  NUMBER(sizeof(CUdeviceptr));
  NUMBER(sizeof(CUresult));
  return 0;
}
