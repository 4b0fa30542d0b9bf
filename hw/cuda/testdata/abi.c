/* What hw/cuda assumes of cuda.h and nvrtc.h: the test compiles this against the headers and compares
 * what it prints. The calls are those of device.go, gpu.go, tape.go, graph.go and kernels.go, by the
 * names that are looked up, their arguments in that order; they are compiled and never made. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <nvrtc.h>
#include <stdio.h>

#define NUMBER(name) printf("%s %lld\n", #name, (long long)(name))
#define CODE(call)                                                                                 \
  if ((call) != 0) return

void gpus(CUdevice *device, CUdevice from, CUdevice to, CUcontext *context, CUcontext one, int *number,
          char *name, int n, unsigned flags, const char **text, CUresult code, size_t *bytes) {
  CODE(cuInit(flags));
  CODE(cuDriverGetVersion(number));
  CODE(cuDeviceGetCount(number));
  CODE(cuDeviceGet(device, n));
  CODE(cuDeviceGetName(name, n, from));
  CODE(cuDeviceGetAttribute(number, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, from));
  CODE(cuGetErrorName(code, text));
  CODE(cuGetErrorString(code, text));
  CODE(cuCtxCreate_v2(context, flags, from));
  CODE(cuCtxSetCurrent(one));
  CODE(cuCtxDestroy_v2(one));
  CODE(cuCtxGetStreamPriorityRange(number, number));
  CODE(cuDeviceCanAccessPeer(number, from, to));
  CODE(cuCtxEnablePeerAccess(one, flags));
  CODE(cuMemGetInfo_v2(bytes, bytes));
}

void work(CUdeviceptr *memory, CUdeviceptr to, CUdeviceptr from, CUcontext context, CUstream *streams,
          CUstream stream, CUevent *events, CUevent event, CUevent other, float *milliseconds, void *host,
          size_t n, CUmodule *module, CUmodule loaded, CUfunction *function, CUfunction kernel,
          void **parameters, unsigned count) {
  CODE(cuMemAlloc_v2(memory, n));
  CODE(cuMemFree_v2(to));
  CODE(cuMemHostAlloc(&host, n, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  CODE(cuMemFreeHost(host));
  CODE(cuStreamWaitValue32_v2(stream, to, count, CU_STREAM_WAIT_VALUE_GEQ));
  CODE(cuStreamCreateWithPriority(streams, CU_STREAM_NON_BLOCKING, -1));
  CODE(cuStreamWaitEvent(stream, event, 0));
  CODE(cuEventCreate(events, 0));
  CODE(cuEventRecord(event, stream));
  CODE(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
  CODE(cuEventQuery(event));
  CODE(cuEventElapsedTime(milliseconds, event, other));
  CODE(cuMemcpyHtoDAsync_v2(to, host, n, stream));
  CODE(cuMemcpyDtoHAsync_v2(host, from, n, stream));
  CODE(cuMemcpyDtoDAsync_v2(to, from, n, stream));
  CODE(cuMemcpyPeerAsync(to, context, from, context, n, stream));
  CODE(cuModuleLoadData(module, host));
  CODE(cuModuleGetFunction(function, loaded, "name"));
  CODE(cuLaunchKernel(kernel, count, 1, 1, count, 1, 1, 0, stream, parameters, 0));
}

void graphs(CUstream stream, CUgraph *captive, CUgraph graph, CUgraphExec *executable, CUgraphExec one) {
  CODE(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  CODE(cuStreamEndCapture(stream, captive));
  CODE(cuGraphInstantiateWithFlags(executable, graph, 0));
  CODE(cuGraphDestroy(graph));
  CODE(cuGraphLaunch(one, stream));
  CODE(cuGraphExecDestroy(one));
}

void compiler(int *number, nvrtcProgram *programs, nvrtcProgram program, const char *source, int n,
              const char *const *options, size_t *bytes, char *text) {
  text = (char *)nvrtcGetErrorString(NVRTC_SUCCESS);
  CODE(nvrtcVersion(number, number));
  CODE(nvrtcGetNumSupportedArchs(number));
  CODE(nvrtcGetSupportedArchs(number));
  CODE(nvrtcCreateProgram(programs, source, 0, 0, 0, 0));
  CODE(nvrtcCompileProgram(program, n, options));
  CODE(nvrtcGetProgramLogSize(program, bytes));
  CODE(nvrtcGetProgramLog(program, text));
  CODE(nvrtcGetCUBINSize(program, bytes));
  CODE(nvrtcGetCUBIN(program, text));
  CODE(nvrtcGetPTXSize(program, bytes));
  CODE(nvrtcGetPTX(program, text));
  CODE(nvrtcDestroyProgram(programs));
}

int main(void) {
  NUMBER(CUDA_ERROR_NOT_READY);
  NUMBER(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  NUMBER(CU_STREAM_NON_BLOCKING);
  NUMBER(CU_STREAM_CAPTURE_MODE_RELAXED);
  NUMBER(CU_EVENT_RECORD_EXTERNAL);
  NUMBER(CU_STREAM_WAIT_VALUE_GEQ);
  NUMBER(CU_MEMHOSTALLOC_PORTABLE);
  NUMBER(CU_MEMHOSTALLOC_DEVICEMAP);
  NUMBER(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  NUMBER(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  NUMBER(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  NUMBER(sizeof(CUdevice));
  NUMBER(sizeof(CUdeviceptr));
  NUMBER(sizeof(CUresult));
  NUMBER(sizeof(CUcontext));
  NUMBER(sizeof(CUgraphExec));
  NUMBER(sizeof(nvrtcProgram));
  NUMBER(sizeof(nvrtcResult));
  /* What the stand-in returns, which tests expect by name. */
  NUMBER(CUDA_ERROR_OUT_OF_MEMORY);
  NUMBER(CUDA_ERROR_DEVICE_UNAVAILABLE);
  NUMBER(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  NUMBER(CUDA_ERROR_ILLEGAL_ADDRESS);
  NUMBER(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  NUMBER(CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  NUMBER(CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  NUMBER(CUDA_ERROR_CAPTURED_EVENT);
  NUMBER(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  return 0;
}
