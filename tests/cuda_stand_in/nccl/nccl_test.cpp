// NCCL's stand-in: results of each operation, communicators of subsets and of two processes, and
// the faults that it reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nccl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/cuda_stand_in/stand_in.h"

namespace parbench::stand_in {
namespace {

using testing::Each;
using testing::HasSubstr;

const int four_devices = setenv("PARBENCH_STAND_IN_DEVICES", "4", 0);

/// A device with a stream and memory, and its member of a communicator.
class Gpu {
 public:
  static constexpr std::size_t capacity = std::size_t{1} << 20U;  // floats

  explicit Gpu(int device) : device_(device) {
    use();
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    for (float** memory : {&data, &input}) {
      void* address = nullptr;
      EXPECT_EQ(cudaMalloc(&address, capacity * sizeof(float)), cudaSuccess);
      *memory = static_cast<float*>(address);
    }
  }
  ~Gpu() {
    use();
    for (float* memory : {data, input}) EXPECT_EQ(cudaFree(memory), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  void use() const { EXPECT_EQ(cudaSetDevice(device_), cudaSuccess); }
  void synchronize() const { EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess); }

  cudaStream_t stream = nullptr;
  float* data = nullptr;
  float* input = nullptr;
  ncclComm_t member = nullptr;

 private:
  int device_;
};

ncclResult_t error_of(ncclComm_t member) {
  ncclResult_t error = ncclSuccess;
  EXPECT_EQ(ncclCommGetAsyncError(member, &error), ncclSuccess);
  return error;
}

/// The members of a communicator in this process.
class Clique {
 public:
  explicit Clique(int size) {
    std::vector<ncclComm_t> made(static_cast<std::size_t>(size));
    EXPECT_EQ(ncclCommInitAll(made.data(), size, nullptr), ncclSuccess);
    for (int rank = 0; rank < size; ++rank) {
      gpus_.push_back(std::make_unique<Gpu>(rank));
      gpus_.back()->member = made[static_cast<std::size_t>(rank)];
    }
  }
  ~Clique() {
    for (const auto& gpu : gpus_) {
      if (gpu->member == nullptr) continue;
      EXPECT_EQ(ncclCommDestroy(gpu->member), ncclSuccess);
    }
  }
  Clique(const Clique&) = delete;
  Clique& operator=(const Clique&) = delete;

  [[nodiscard]] Gpu& gpu(std::size_t rank) const { return *gpus_.at(rank); }
  [[nodiscard]] std::size_t size() const { return gpus_.size(); }

  /// Calls `enqueue` for all members in a group, and waits.
  void run(const std::function<ncclResult_t(Gpu&, std::size_t rank)>& enqueue) const {
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    for (std::size_t rank = 0; rank < size(); ++rank) {
      EXPECT_EQ(enqueue(gpu(rank), rank), ncclSuccess);
    }
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    synchronize();
  }
  void synchronize() const {
    for (const auto& each : gpus_) each->synchronize();
  }
  void abort() const {
    for (const auto& each : gpus_) EXPECT_EQ(ncclCommAbort(each->member), ncclSuccess);
    for (const auto& each : gpus_) each->member = nullptr;
  }

 private:
  std::vector<std::unique_ptr<Gpu>> gpus_;
};

/// Values that differ at each place of each member, and whose sums are exact.
float value_of(std::size_t rank, std::size_t place) {
  return static_cast<float>((rank + 1) * 1000 + place % 997);
}

float sum_of(std::size_t members, std::size_t place) {
  float sum = 0;
  for (std::size_t rank = 0; rank < members; ++rank) sum += value_of(rank, place);
  return sum;
}

/// The number of members, and the elements of a block.
class NcclOperations : public testing::TestWithParam<std::tuple<int, std::size_t>> {
 protected:
  NcclOperations() {
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      for (std::size_t i = 0; i < count * all.size(); ++i) {
        all.gpu(rank).input[i] = value_of(rank, i);
        all.gpu(rank).data[i] = -1;
      }
    }
  }

  /// `expected`: of a member at a place, of the first `places`.
  void expect(std::size_t places,
              const std::function<float(std::size_t rank, std::size_t place)>& expected) const {
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < places; ++i) {
        if (all.gpu(rank).data[i] != expected(rank, i)) ++wrong;
      }
      EXPECT_EQ(wrong, 0U) << "places of member " << rank;
    }
  }

  const std::size_t count = std::get<1>(GetParam());
  const Clique all{std::get<0>(GetParam())};
  const int root = std::get<0>(GetParam()) - 1;
};

TEST_P(NcclOperations, AllReduce) {
  all.run([&](Gpu& gpu, std::size_t /*rank*/) {
    return ncclAllReduce(gpu.input, gpu.data, count, ncclFloat32, ncclSum, gpu.member, gpu.stream);
  });
  expect(count, [&](std::size_t, std::size_t i) { return sum_of(all.size(), i); });
}

TEST_P(NcclOperations, ReduceScatterInPlace) {
  all.run([&](Gpu& gpu, std::size_t rank) {
    return ncclReduceScatter(gpu.input, gpu.input + rank * count, count, ncclFloat32, ncclSum,
                             gpu.member, gpu.stream);
  });
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    for (const std::size_t i : {std::size_t{0}, count - 1}) {
      const std::size_t place = rank * count + i;
      EXPECT_EQ(all.gpu(rank).input[place], sum_of(all.size(), place)) << rank;
    }
  }
}

TEST_P(NcclOperations, AllGatherOfBytes) {
  all.run([&](Gpu& gpu, std::size_t /*rank*/) {
    return ncclAllGather(gpu.input, gpu.data, count * sizeof(float), ncclUint8, gpu.member,
                         gpu.stream);
  });
  expect(count * all.size(),
         [&](std::size_t, std::size_t i) { return value_of(i / count, i % count); });
}

TEST_P(NcclOperations, BroadcastAndReduce) {
  all.run([&](Gpu& gpu, std::size_t /*rank*/) {
    return ncclBroadcast(gpu.input, gpu.data, count, ncclFloat32, root, gpu.member, gpu.stream);
  });
  expect(count, [&](std::size_t, std::size_t i) { return value_of(all.size() - 1, i); });
  all.run([&](Gpu& gpu, std::size_t /*rank*/) {
    return ncclReduce(gpu.input, gpu.data, count, ncclFloat32, ncclSum, root, gpu.member,
                      gpu.stream);
  });
  expect(count, [&](std::size_t rank, std::size_t i) {
    return rank == all.size() - 1 ? sum_of(all.size(), i) : value_of(all.size() - 1, i);
  });
}

TEST_P(NcclOperations, MessagesOfAGroupPassEachOther) {
  all.run([&](Gpu& gpu, std::size_t rank) {
    for (std::size_t peer = 0; peer < all.size(); ++peer) {
      const auto number = static_cast<int>(peer);
      (void)ncclSend(gpu.input + peer * count, count, ncclFloat32, number, gpu.member, gpu.stream);
      (void)ncclRecv(gpu.data + peer * count, count, ncclFloat32, number, gpu.member, gpu.stream);
    }
    return rank < all.size() ? ncclSuccess : ncclInternalError;
  });
  expect(count * all.size(), [&](std::size_t rank, std::size_t i) {
    return value_of(i / count, rank * count + i % count);
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, NcclOperations,
                         testing::Combine(testing::Values(2, 4), testing::Values(1, 1000)));
INSTANTIATE_TEST_SUITE_P(Large, NcclOperations,
                         testing::Combine(testing::Values(2), testing::Values(300000)));

/// Waits for what a call on each member's thread returns.
void on_threads(const Clique& all, const std::function<void(Gpu&, int rank)>& work) {
  std::vector<std::jthread> threads;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    threads.emplace_back([&, rank] {
      all.gpu(rank).use();
      work(all.gpu(rank), static_cast<int>(rank));
    });
  }
}

TEST(NcclStandIn, SplitsByColourAndKey) {
  const Clique all(4);
  std::vector<ncclComm_t> made(4);
  on_threads(all, [&](Gpu& gpu, int rank) {
    const int color = rank == 2 ? NCCL_SPLIT_NOCOLOR : rank == 3 ? 7 : 0;
    ncclComm_t* place = &made[static_cast<std::size_t>(rank)];
    EXPECT_EQ(ncclCommSplit(gpu.member, color, -rank, place, nullptr), ncclSuccess);
  });
  EXPECT_EQ(made[2], nullptr);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (const std::size_t rank : {0U, 1U, 3U}) {
    Gpu& gpu = all.gpu(rank);
    gpu.input[0] = static_cast<float>(rank);
    EXPECT_EQ(ncclAllGather(gpu.input, gpu.data, 1, ncclFloat32, made[rank], gpu.stream),
              ncclSuccess);
  }
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  all.synchronize();
  for (const std::size_t rank : {0U, 1U}) {
    EXPECT_EQ(all.gpu(rank).data[0], 1.0F) << "the lower key";
    EXPECT_EQ(all.gpu(rank).data[1], 0.0F);
  }
  EXPECT_EQ(all.gpu(3).data[0], 3.0F);
  for (const std::size_t rank : {0U, 1U, 3U}) {
    EXPECT_EQ(ncclCommDestroy(made[rank]), ncclSuccess);
  }
}

TEST(NcclStandIn, ReportsUnequalOrder) {
  using Call = std::function<ncclResult_t(Gpu&)>;
  const auto sum = [](std::size_t count) -> Call {
    return [count](Gpu& gpu) {
      return ncclAllReduce(gpu.data, gpu.data, count, ncclFloat32, ncclSum, gpu.member, gpu.stream);
    };
  };
  const auto broadcast = [](int root) -> Call {
    return [root](Gpu& gpu) {
      return ncclBroadcast(gpu.data, gpu.data, 4, ncclFloat32, root, gpu.member, gpu.stream);
    };
  };
  const auto send = [](std::size_t count) -> Call {
    return [count](Gpu& gpu) {
      return ncclSend(gpu.data, count, ncclUint8, 1, gpu.member, gpu.stream);
    };
  };
  const Call receive = [](Gpu& gpu) {
    return ncclRecv(gpu.data, 4, ncclUint8, 0, gpu.member, gpu.stream);
  };
  const std::vector<std::pair<Call, Call>> pairs{{sum(4), broadcast(0)},
                                                 {sum(4), sum(5)},
                                                 {broadcast(0), broadcast(1)},
                                                 {send(5), receive},
                                                 {sum(4), receive}};
  for (const auto& [first, second] : pairs) {
    const Clique all(2);
    EXPECT_EQ(first(all.gpu(0)), ncclSuccess);
    EXPECT_EQ(second(all.gpu(1)), ncclSuccess);
    all.synchronize();
    EXPECT_EQ(error_of(all.gpu(0).member), ncclInvalidUsage);
    EXPECT_EQ(error_of(all.gpu(1).member), ncclInvalidUsage);
    EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr("unequal order: member"));
    all.abort();
  }
}

TEST(NcclStandIn, ReportsMembersThatWaitForEachOther) {
  const Clique all(2);
  std::vector<ncclComm_t> others(2);
  EXPECT_EQ(ncclCommInitAll(others.data(), 2, nullptr), ncclSuccess);
  const auto sum = [](Gpu& gpu, ncclComm_t member) {
    EXPECT_EQ(ncclAllReduce(gpu.data, gpu.data, 1, ncclFloat32, ncclSum, member, gpu.stream),
              ncclSuccess);
  };
  EXPECT_EQ(setenv("PARBENCH_STAND_IN_NCCL_SECONDS", "1", 1), 0);
  sum(all.gpu(0), all.gpu(0).member);
  sum(all.gpu(0), others[0]);
  sum(all.gpu(1), others[1]);
  sum(all.gpu(1), all.gpu(1).member);
  all.synchronize();
  EXPECT_EQ(unsetenv("PARBENCH_STAND_IN_NCCL_SECONDS"), 0);
  EXPECT_THAT((std::array{error_of(all.gpu(0).member), error_of(others[0])}),
              testing::Contains(ncclRemoteError))
      << "of the one whose limit is first";
  EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr("waits for member"));
  for (ncclComm_t other : others) EXPECT_EQ(ncclCommAbort(other), ncclSuccess);
  all.abort();
}

TEST(NcclStandIn, AnAbortEndsWhatWaits) {
  const Clique all(2);
  Gpu& gpu = all.gpu(0);
  for (int i = 0; i < 2; ++i) {
    (void)ncclBroadcast(gpu.data, gpu.data, 1, ncclFloat32, 1, gpu.member, gpu.stream);
  }
  EXPECT_EQ(cudaStreamQuery(gpu.stream), cudaErrorNotReady);
  all.abort();
  all.synchronize();
}

/// The graph of an all-reduce of both members, which has joined the second stream.
cudaGraphExec_t capture(const Clique& all) {
  std::array<cudaEvent_t, 2> events{};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    all.gpu(rank).use();
    EXPECT_EQ(cudaEventCreateWithFlags(&events[rank], cudaEventDisableTiming), cudaSuccess);
  }
  cudaStream_t first = all.gpu(0).stream;
  cudaStream_t second = all.gpu(1).stream;
  EXPECT_EQ(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(events[0], first), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(second, events[0], 0), cudaSuccess);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    Gpu& gpu = all.gpu(rank);
    (void)ncclAllReduce(gpu.data, gpu.data, 1, ncclFloat32, ncclSum, gpu.member, gpu.stream);
  }
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  EXPECT_EQ(cudaEventRecord(events[1], second), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(first, events[1], 0), cudaSuccess);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(first, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  for (cudaEvent_t event : events) EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  return executable;
}

TEST(NcclStandIn, MembersMeetInAGraph) {
  const Clique all(2);
  for (std::size_t rank = 0; rank < 2; ++rank) *all.gpu(rank).data = 1;
  cudaGraphExec_t graph = capture(all);
  EXPECT_EQ(*all.gpu(0).data, 1.0F);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(cudaGraphLaunch(graph, all.gpu(0).stream), cudaSuccess);
  }
  all.synchronize();
  for (std::size_t rank = 0; rank < 2; ++rank) EXPECT_EQ(*all.gpu(rank).data, 8.0F);
  EXPECT_EQ(cudaGraphExecDestroy(graph), cudaSuccess);
}

TEST(NcclStandIn, CanBeUsedOnceAllHaveJoined) {
  const Gpu second(1);
  const Gpu first(0);
  ncclUniqueId id;
  EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  std::array<ncclComm_t, 2> made{};
  EXPECT_EQ(ncclCommInitRankConfig(&made[0], 2, id, 0, &config), ncclInProgress);
  EXPECT_EQ(error_of(made[0]), ncclInProgress);
  second.use();
  EXPECT_EQ(ncclCommInitRankConfig(&made[1], 2, id, 1, &config), ncclSuccess);
  EXPECT_EQ(ncclBroadcast(first.data, first.data, 1, ncclUint8, 0, made[0], first.stream),
            ncclInvalidArgument)
      << "before the caller has asked again";
  EXPECT_EQ(error_of(made[0]), ncclSuccess);
  ncclComm_t child = nullptr;
  EXPECT_EQ(ncclCommSplit(made[0], 0, 0, &child, &config), ncclInProgress);
  EXPECT_EQ(ncclCommSplit(made[0], 0, 0, &child, &config), ncclInvalidArgument);
  EXPECT_EQ(child, nullptr);
  for (ncclComm_t member : made) EXPECT_EQ(ncclCommAbort(member), ncclSuccess);
  ASSERT_NE(child, nullptr) << "to be aborted as well";
  EXPECT_EQ(ncclCommAbort(child), ncclSuccess);
}

TEST(NcclStandIn, RefusesWhatTheLibraryRefuses) {
  std::array<ncclComm_t, 2> made{};
  const std::array<int, 2> one_gpu{1, 1};
  EXPECT_EQ(ncclCommInitAll(made.data(), 2, one_gpu.data()), ncclInvalidUsage);
  ncclUniqueId id;
  EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  EXPECT_EQ(ncclCommInitRankConfig(&made[0], 2, id, 0, &config), ncclInProgress);
  EXPECT_EQ(ncclCommInitRankConfig(&made[1], 2, id, 1, &config), ncclInvalidUsage);
  EXPECT_EQ(error_of(made[0]), ncclInvalidUsage);
  for (ncclComm_t member : made) EXPECT_EQ(ncclCommAbort(member), ncclSuccess);

  const Clique all(2);
  const Gpu& gpu = all.gpu(0);
  const Gpu& other = all.gpu(1);
  const auto broadcast = [&](float* data, int root, cudaStream_t stream) {
    return ncclBroadcast(data, data, 1, ncclFloat32, root, gpu.member, stream);
  };
  EXPECT_EQ(broadcast(gpu.data, 0, other.stream), ncclInvalidArgument);
  EXPECT_EQ(broadcast(other.data, 0, gpu.stream), ncclInvalidArgument);
  EXPECT_EQ(broadcast(gpu.data, 2, gpu.stream), ncclInvalidArgument);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(broadcast(gpu.data, 2, gpu.stream), ncclInvalidArgument);
  EXPECT_EQ(broadcast(gpu.data, 0, gpu.stream), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument) << "and enqueues nothing";
  EXPECT_EQ(cudaStreamQuery(gpu.stream), cudaSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
}

TEST(NcclStandInDeathTest, EndsAtUsesAfterDestroy) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const Clique all(2);
  cudaGraphExec_t graph = capture(all);
  EXPECT_DEATH((void)ncclCommDestroy(all.gpu(0).member), "a graph has operations of it");
  EXPECT_EQ(cudaGraphExecDestroy(graph), cudaSuccess);
  ncclComm_t gone = std::exchange(all.gpu(0).member, nullptr);
  EXPECT_EQ(ncclCommDestroy(gone), ncclSuccess);
  EXPECT_DEATH((void)error_of(gone), "the NCCL communicator was destroyed");
}

/// A member of two, each in a process of its own: all-reduces before and after a split.
void take_part(const ncclUniqueId& id, int rank) {
  Gpu gpu(rank);
  ASSERT_EQ(ncclCommInitRankConfig(&gpu.member, 2, id, rank, nullptr), ncclSuccess);
  ncclComm_t reversed = nullptr;
  ASSERT_EQ(ncclCommSplit(gpu.member, 3, -rank, &reversed, nullptr), ncclSuccess);
  constexpr std::size_t count = 100000;
  for (std::size_t i = 0; i < count; ++i)
    gpu.input[i] = value_of(static_cast<std::size_t>(rank), i);
  (void)ncclAllReduce(gpu.input, gpu.data, count, ncclFloat32, ncclSum, gpu.member, gpu.stream);
  (void)ncclAllGather(gpu.input, gpu.input, 1, ncclFloat32, reversed, gpu.stream);
  gpu.synchronize();
  EXPECT_EQ(gpu.data[count - 1], sum_of(2, count - 1));
  EXPECT_EQ(gpu.input[0], value_of(1, 0));
  for (ncclComm_t member : {reversed, gpu.member}) {
    EXPECT_EQ(error_of(member), ncclSuccess);
    EXPECT_EQ(ncclCommDestroy(member), ncclSuccess);
  }
}

constexpr const char* id_variable = "PARBENCH_TEST_NCCL_ID";

/// The second process of the next test.
TEST(NcclProcess, DISABLED_TakesPart) {
  ncclUniqueId id{};
  std::string(std::getenv(id_variable)).copy(id.internal, sizeof id.internal - 1);
  take_part(id, 1);
}

TEST(NcclProcess, MeetsOneOfAnotherProcess) {
  ncclUniqueId id;
  EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  EXPECT_EQ(setenv(id_variable, id.internal, 1), 0);
  std::array<std::string, 3> words{"test", "--gtest_filter=NcclProcess.DISABLED_TakesPart",
                                   "--gtest_also_run_disabled_tests"};
  std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = 0;
  ASSERT_EQ(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ), 0);
  take_part(id, 0);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  for (const auto& file : std::filesystem::directory_iterator("/dev/shm")) {
    EXPECT_THAT(file.path().string(), testing::Not(HasSubstr(id.internal)));
  }
}

}  // namespace
}  // namespace parbench::stand_in
