// Communicators of the devices that this machine has: two GPUs where there are, and none elsewhere.
#include "kernels/core/communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/machine/machine.h"
#include "tests/support/cpu_devices.h"
#include "tests/support/required_devices.h"

namespace parbench {
namespace {

TEST(CommunicatorOfCpuDevices, ThereIsNone) {
  if (Machine().find("cpu")->device_limit() < 2) GTEST_SKIP() << "needs two CPU devices";
  const auto devices = test::cpu_devices(2);
  const std::vector<Device*> ranks{devices[0].get(), devices[1].get()};
  EXPECT_EQ(ranks[0]->make_communicator(ranks), nullptr);
}

/// Two whole GPUs with memory of 1024 floats each.
class CommunicatorOfGpus : public ::testing::Test {
 protected:
  static constexpr std::size_t count = 1024;
  static constexpr std::size_t bytes = count * sizeof(float);

  void SetUp() override {
    const Machine machine;
    const Backend* cuda = machine.find("cuda");
    if (cuda == nullptr || cuda->device_count() < 1)
      SKIP_WITHOUT_DEVICES("cuda:0", "needs two GPUs");
    if (cuda->device_count() < 2) GTEST_SKIP() << "needs two GPUs, and there is one";
    devices_ = machine.open("cuda:0,cuda:1");
    for (const auto& device : devices_) {
      ranks_.push_back(device.get());
      owned_.push_back(device->make_stream(StreamKind::copy));
      streams_.push_back(owned_.back().get());
      memory_.push_back(device->allocate(bytes, MemoryKind::device));
      staging_.push_back(device->allocate(bytes, MemoryKind::pinned));
    }
    for (const Buffer& memory : memory_) data_.emplace_back(memory);
    communicator_ = ranks_.front()->make_communicator(ranks_);
    if (communicator_ == nullptr) GTEST_SKIP() << "needs NCCL (libnccl.so.2)";
  }

  void write(std::size_t rank, float value) {
    std::fill_n(reinterpret_cast<float*>(staging_[rank].data()), count, value);
    streams_[rank]->copy(data_[rank], staging_[rank]);
  }

  [[nodiscard]] std::vector<float> read(std::size_t rank) {
    streams_[rank]->copy(staging_[rank], data_[rank]);
    streams_[rank]->synchronize();
    std::vector<float> values(count);
    std::memcpy(values.data(), staging_[rank].data(), bytes);
    return values;
  }

  void expect_sums(float sum) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      EXPECT_THAT(read(rank), ::testing::Each(sum)) << "rank " << rank;
    }
  }

  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<Device*> ranks_;
  std::vector<Buffer> memory_;
  std::vector<Buffer> staging_;
  std::vector<BufferView> data_;
  std::unique_ptr<Communicator> communicator_;
  std::vector<std::unique_ptr<Stream>> owned_;
  std::vector<Stream*> streams_;
};

TEST_F(CommunicatorOfGpus, Sums) {
  EXPECT_THAT(communicator_->name(), ::testing::StartsWith("NCCL 2."));
  write(0, 1);
  write(1, 2);
  communicator_->enqueue(Collective::all_reduce, streams_, data_);
  expect_sums(3);
  EXPECT_NO_THROW(communicator_->check());
}

TEST_F(CommunicatorOfGpus, Gathers) {
  write(0, 1);
  write(1, 2);
  communicator_->enqueue(Collective::all_gather, streams_, data_);
  std::vector<float> expected(count, 1);
  std::fill_n(expected.begin() + count / 2, count / 2, 2.0F);
  for (std::size_t rank = 0; rank < 2; ++rank) EXPECT_EQ(read(rank), expected) << "rank " << rank;
}

TEST_F(CommunicatorOfGpus, ExchangesBlocks) {
  write(0, 1);
  write(1, 2);
  std::vector<Buffer> results;
  std::vector<BufferView> views;
  for (Device* device : ranks_) results.push_back(device->allocate(bytes, MemoryKind::device));
  for (const Buffer& result : results) views.emplace_back(result);
  for (const Collective collective : {Collective::all_to_all, Collective::send_recv}) {
    communicator_->enqueue(collective, streams_, views, data_);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      streams_[rank]->copy(staging_[rank], views[rank]);
      streams_[rank]->synchronize();
      const auto* got = reinterpret_cast<const float*>(staging_[rank].data());
      const float other = rank == 0 ? 2 : 1;
      EXPECT_EQ(got[0], collective == Collective::all_to_all ? 1 : other) << "rank " << rank;
      EXPECT_EQ(got[count - 1], collective == Collective::all_to_all ? 2 : other);
    }
  }
}

TEST_F(CommunicatorOfGpus, CanBeCaptured) {
  communicator_->enqueue(Collective::all_reduce, streams_, data_);  // joins the GPUs
  for (Stream* stream : streams_) stream->synchronize();
  const auto fork = ranks_[0]->make_event(EventKind::ordering);
  const auto join = ranks_[1]->make_event(EventKind::ordering);
  const auto graph = streams_[0]->capture([&] {
    streams_[0]->record(*fork);
    streams_[1]->wait(*fork);
    communicator_->enqueue(Collective::all_reduce, streams_, data_);
    streams_[1]->record(*join);
    streams_[0]->wait(*join);
  });
  for (const float value : {1.0F, 5.0F}) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      write(rank, value);
      streams_[rank]->synchronize();
    }
    graph->launch();
    streams_[0]->synchronize();
    expect_sums(2 * value);
  }
}

TEST_F(CommunicatorOfGpus, RefusesAStreamOfAnotherRank) {
  const std::vector<Stream*> swapped{streams_[1], streams_[0]};
  EXPECT_THROW(communicator_->enqueue(Collective::all_reduce, swapped, data_),
               std::invalid_argument);
}

TEST(CommunicatorOfPartitions, ThereIsNone) {
  const Machine machine;
  const Backend* cuda = machine.find("cuda");
  if (cuda == nullptr || cuda->device_count() < 1) SKIP_WITHOUT_DEVICES("cuda:0", "needs a GPU");
  const auto devices = machine.open("cuda:0/0,cuda:0/1");
  const std::vector<Device*> ranks{devices[0].get(), devices[1].get()};
  EXPECT_EQ(ranks[0]->make_communicator(ranks), nullptr);
}

}  // namespace
}  // namespace parbench
