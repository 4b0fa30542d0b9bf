/* A stand-in for libcuda and libnccl in one library, which executes on the CPU: it proves how they
 * are called, not what CUDA and NCCL do nor how long that takes. "Device" memory is the process's,
 * a stream is a thread, ranks talk through a file that they map.
 *
 * What the environment can ask for:
 *   COLLSIM_STANDIN_DEVICES=n      devices that there are (8)
 *   COLLSIM_STANDIN_MEMORY=bytes   of each process (unlimited)
 *   COLLSIM_STANDIN_DIR=path       of the files of communicators (/tmp)
 *   COLLSIM_STANDIN_SLOW=us        what a collective takes at least (0)
 *   COLLSIM_STANDIN_SCHEDULES=file what calls are played by (schedule.c has what stands in it); those
 *     that it has not are played by a ring or a chain. NCCL_ALGO says which algorithms it may take
 *   COLLSIM_STANDIN_FAIL=call=code the function of that name returns the code; "async=code@rank":
 *     that rank's first collective but the barrier's sets an asynchronous error and never ends;
 *     "hang=0@rank": it never begins; "die=signal@rank": it ends the process;
 *     "behind=1@rank": its reduce_scatters change a byte behind their output
 */
#ifndef COLLSIM_STANDIN_H
#define COLLSIM_STANDIN_H

#include <stddef.h>
#include <stdint.h>

/* failure is the code that a call is asked to return, 0 if none; for a rank, -1 for any. */
int standin_failure(const char *call, int rank);

/* standin_enqueue has a stream do something after what it was given before. */
typedef void (*standin_work)(void *);
int standin_enqueue(void *stream, standin_work work, void *argument);

/* What elements are: the numbers of ncclDataType_t and ncclRedOp_t. */
enum { INT8, UINT8, INT32, UINT32, INT64, UINT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16, E4M3, E5M2,
       TYPES };
enum { SUM, PROD, MAX, MIN, AVG, OPS };

size_t standin_width(int type);
int standin_is_float(int type);
/* dst[i] = dst[i] op src[i], rounded once; op is SUM, PROD, MAX or MIN. */
void standin_combine(int type, int op, void *dst, const void *src, size_t count);
/* dst[i] *= *factor, an element of the type. */
void standin_scale(int type, void *dst, const void *factor, size_t count);
/* dst[i] /= n, of integers, towards zero. */
void standin_divide(int type, void *dst, int n, size_t count);
/* the element 1/n, as NCCL rounds it. */
void standin_reciprocal(int type, void *element, int n);

#endif
