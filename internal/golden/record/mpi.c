// Records the bits of an MPI library's reductions, on 2 ranks to all there are (9 at most):
// mpi KIND LEAST. Vectors have LEAST elements for each rank at least: 0, or 1 for an algorithm that
// takes no fewer. Which algorithm plays is said to the library, in the environment.
#include <mpi.h>

#include "inputs.h"

static MPI_Datatype datatype(const char *name) {
  if (!strcmp(name, "float32"))
    return MPI_FLOAT;
  if (!strcmp(name, "float64"))
    return MPI_DOUBLE;
  if (!strcmp(name, "int32"))
    return MPI_INT32_T;
#ifdef MPIX_C_FLOAT16
  if (!strcmp(name, "float16"))
    return MPIX_C_FLOAT16;
#endif
#ifdef MPIX_BFLOAT16
  if (!strcmp(name, "bfloat16"))
    return MPIX_BFLOAT16;
#endif
#ifdef MPIX_C_BF16
  if (!strcmp(name, "bfloat16"))
    return MPIX_C_BF16;
#endif
  return MPI_DATATYPE_NULL;
}

// split is how many elements a rank gets of an uneven reduce_scatter: some get none.
static int split(int rank, int count) { return (rank * 5 + count) % (count / 2 + 3); }

static void record(MPI_Comm comm, const char *kind, int root, int c) {
  const type *t = type_of(cases[c].type);
  MPI_Datatype d = datatype(t->name);
  MPI_Op op = !strcmp(cases[c].op, "sum")    ? MPI_SUM
              : !strcmp(cases[c].op, "prod") ? MPI_PROD
                                             : MPI_MAX;
  int ranks, rank, count = cases[c].count, counts[9], at[9], bytes[9], in = count, out;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank);
  if (d == MPI_DATATYPE_NULL)
    return;
  int scatters = !strncmp(kind, "reduce_scatter", 14), uneven = !strcmp(kind, "reduce_scatterv");
  if (scatters)
    in = 0;
  for (int r = 0; r < ranks; r++) {
    counts[r] = uneven ? split(r, count) : count;
    if (scatters)
      in += counts[r];
  }
  out = scatters ? counts[rank] : in;
  for (int r = 0, sum = 0; r < ranks; r++) {
    bytes[r] = (scatters ? counts[r] : in) * t->width;
    at[r] = sum;
    sum += bytes[r];
  }
  size_t total = at[ranks - 1] + bytes[ranks - 1];
  unsigned char *from = malloc((size_t)in * t->width + 1), *to = malloc((size_t)out * t->width + 1),
                *all = malloc(total + 1);
  fill(from, t, op == MPI_PROD, rank, in);
  memset(to, 0xa5, (size_t)out * t->width);
  if (!strcmp(kind, "all_reduce"))
    MPI_Allreduce(from, to, count, d, op, comm);
  else if (!strcmp(kind, "reduce"))
    MPI_Reduce(from, to, count, d, op, root, comm);
  else if (!strcmp(kind, "reduce_scatter_block"))
    MPI_Reduce_scatter_block(from, to, count, d, op, comm);
  else
    MPI_Reduce_scatter(from, to, counts, d, op, comm);
  MPI_Gatherv(to, bytes[rank], MPI_BYTE, all, bytes, at, MPI_BYTE, 0, comm);
  if (rank == 0) {
    printf("case %s %d %d %d %s %s ", kind, ranks, count, root, t->name, cases[c].op);
    if (!strcmp(kind, "reduce"))
      print_hex(all + at[root], bytes[root]);
    else
      print_hex(all, total);
    fflush(stdout);
  }
  free(from), free(to), free(all);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int world, me, least = atoi(argv[2]);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 0) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n;
    MPI_Get_library_version(text, &n);
    printf("library %.*s\n", (int)strcspn(text, "\n"), text);
  }
  for (int ranks = 2; ranks <= world; ranks++) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, me < ranks ? 0 : MPI_UNDEFINED, me, &comm);
    if (comm == MPI_COMM_NULL)
      continue;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
      if ((cases[c].few && !is_few(ranks)) || cases[c].count < least * ranks)
        continue;
      record(comm, argv[1], strcmp(argv[1], "reduce") ? 0 : c % ranks, c);
      if (!strcmp(argv[1], "reduce_scatter") && !cases[c].few)
        record(comm, "reduce_scatterv", 0, c);
    }
    MPI_Comm_free(&comm);
  }
  MPI_Finalize();
}
