// Calls MPI_Allreduce in a loop, as a program without parbench does, with the line protocol of
// `parbench-peers all-reduce`. Each rank is bound to one of the cores that it may use.
#include <mpi.h>
#include <sched.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Binds this process to one of its cores, chosen by the rank.
void bind_to_one_core(int rank) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  int left = rank % CPU_COUNT(&allowed);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof(one), &one);
    return;
  }
}

/// Returns the mean seconds of one of `calls` consecutive calls, on the slowest rank.
double seconds_of_call(std::vector<float>& numbers, int calls) {
  const auto count = static_cast<int>(numbers.size());
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) {
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
  double seconds = (MPI_Wtime() - begin) / calls;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

/// Returns the mean seconds of a call over `executions` series of `calls` calls; each series
/// follows a barrier.
double seconds_of_sample(std::vector<float>& numbers, int calls, int executions) {
  double seconds = 0;
  for (int i = 0; i < executions; ++i) seconds += seconds_of_call(numbers, calls);
  return seconds / executions;
}

/// Returns whether rank 0 has read a line, false at the end of its input. Meanwhile the other ranks
/// poll with pauses, because a blocking MPI call would keep a core busy that the program under
/// comparison needs.
bool is_wanted(int rank) {
  constexpr auto poll_interval = std::chrono::microseconds(200);
  std::string line;
  int wanted = rank == 0 && std::getline(std::cin, line) ? 1 : 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&wanted, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return wanted != 0;
    std::this_thread::sleep_for(poll_interval);
  }
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count != 4) {
    std::fprintf(stderr,
                 "parbench-mpi-loop: error: give bytes, calls in a row, and rows of a sample\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  bind_to_one_core(rank);
  const std::size_t bytes = std::stoull(words[1]);
  const int calls = std::stoi(words[2]);
  const int executions = std::stoi(words[3]);
  std::vector<float> numbers(bytes / sizeof(float));
  static_cast<void>(seconds_of_sample(numbers, calls, executions));
  if (rank == 0) {
    std::printf("{\"bytes\": %zu, \"ranks\": %d, \"threads\": 1}\n", bytes, ranks);
    std::fflush(stdout);
  }
  while (is_wanted(rank)) {
    const double seconds = seconds_of_sample(numbers, calls, executions);
    if (rank != 0) continue;
    std::printf("%.9g\n", seconds);
    std::fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
