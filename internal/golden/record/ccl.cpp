// Records the bits of oneCCL's reductions on the processor: ccl KIND LEAST RANKS. It starts that many
// ranks itself, which meet in oneCCL's own key-value store. LEAST and the environment as in mpi.c.
#include <oneapi/ccl.hpp>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "inputs.h"

static ccl::datatype datatype(const std::string &name) {
  return name == "float32"    ? ccl::datatype::float32
         : name == "float64"  ? ccl::datatype::float64
         : name == "float16"  ? ccl::datatype::float16
         : name == "bfloat16" ? ccl::datatype::bfloat16
                              : ccl::datatype::int32;
}

// shared is what the ranks, which are processes, have in common: where the store is, and outputs.
struct shared {
  volatile int ready;
  ccl::kvs::address_type address;
  unsigned char outputs[9 << 16];
};

static void play(shared *s, const std::string &kind, int least, int ranks, int rank) {
  ccl::init();
  ccl::shared_ptr_class<ccl::kvs> kvs;
  if (rank == 0) {
    kvs = ccl::create_main_kvs();
    s->address = kvs->get_address();
    s->ready = 1;
    auto v = ccl::get_library_version();
    printf("library oneCCL %d.%d.%d, %s\n", v.major, v.minor, v.update, v.cl_backend_name.c_str());
  } else {
    while (!s->ready)
      usleep(1000);
    kvs = ccl::create_kvs(s->address);
  }
  auto comm = ccl::create_communicator(ranks, rank, kvs);
  for (auto &c : cases) {
    if ((c.few && !is_few(ranks)) || c.count < least * ranks)
      continue;
    const type *t = type_of(c.type);
    std::string name = c.op;
    auto op = name == "sum"    ? ccl::reduction::sum
              : name == "prod" ? ccl::reduction::prod
                               : ccl::reduction::max;
    bool scatters = kind == "reduce_scatter_block";
    int root = kind == "reduce" ? (&c - cases) % ranks : 0, in = scatters ? c.count * ranks : c.count;
    std::vector<unsigned char> from(in * t->width), to(c.count * t->width, 0xa5);
    fill(from.data(), t, name == "prod", rank, in);
    auto d = datatype(c.type);
    if (kind == "all_reduce")
      ccl::allreduce(from.data(), to.data(), c.count, d, op, comm).wait();
    else if (kind == "reduce")
      ccl::reduce(from.data(), to.data(), c.count, d, op, root, comm).wait();
    else
      ccl::reduce_scatter(from.data(), to.data(), c.count, d, op, comm).wait();
    memcpy(s->outputs + rank * to.size(), to.data(), to.size());
    ccl::barrier(comm);
    if (rank == 0) {
      printf("case %s %d %d %d %s %s ", kind.c_str(), ranks, c.count, root, c.type, c.op);
      bool one = kind == "reduce";
      print_hex(s->outputs + (one ? root * to.size() : 0), to.size() * (one ? 1 : ranks));
      fflush(stdout);
    }
    ccl::barrier(comm);
  }
}

int main(int, char **argv) {
  int least = atoi(argv[2]), ranks = atoi(argv[3]), failed = 0;
  auto s = static_cast<shared *>(mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  setenv("CCL_PROCESS_LAUNCHER", "none", 1);
  setenv("CCL_LOCAL_SIZE", argv[3], 1);
  for (int rank = 0; rank < ranks; rank++)
    if (fork() == 0) {
      setenv("CCL_LOCAL_RANK", std::to_string(rank).c_str(), 1);
      try {
        play(s, argv[1], least, ranks, rank);
      } catch (const std::exception &e) {
        fprintf(stderr, "rank %d: %s\n", rank, e.what());
        _exit(1);
      }
      fflush(stdout);
      _exit(0);
    }
  for (int status; wait(&status) > 0;)
    failed |= status;
  return failed != 0;
}
