// The use of NCCL against a stand-in: how it is found or not, which calls a collective is, and how
// communicators end.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/cuda/collectives/nccl.h"
#include "kernels/cuda/collectives/nccl_clique.h"
#include "kernels/cuda/collectives/nccl_member.h"
#include "tests/kernels/cuda/nccl_stand_in.h"
#include "tests/kernels/cuda/stand_ins.h"

namespace parbench::cuda {
namespace {

using test::NcclCall;
using test::NcclScript;
using ::testing::AllOf;
using ::testing::HasSubstr;

class NcclTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(library_, nullptr) << dlerror();
    script_ = static_cast<NcclScript*>(dlsym(library_, "nccl_script"));
    *script_ = {};
  }
  ~NcclTest() override {
    if (library_ != nullptr) dlclose(library_);
  }

  [[nodiscard]] NcclScript& script() const { return *script_; }

  static std::string message_of(const std::function<void()>& failing) {
    try {
      failing();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  /// A call that sends or receives bytes, in a group on the stream of its rank.
  void expect_message(const NcclCall& call, std::size_t rank, int peer, std::size_t bytes) const {
    EXPECT_EQ(call.rank, static_cast<int>(rank));
    EXPECT_EQ(call.peer, peer);
    EXPECT_EQ(call.count, bytes);
    EXPECT_EQ(call.type, 1) << "ncclUint8";
    EXPECT_EQ(call.stream, parts_[rank].stream);
    EXPECT_TRUE(call.in_group);
  }

  std::array<std::byte, 64> memory_{};
  std::array<std::byte, 64> inputs_{};
  std::array<NcclPart, 2> parts_{
      NcclPart{memory_.data(), inputs_.data(), reinterpret_cast<cudaStream_t>(&memory_[0])},
      NcclPart{memory_.data() + 32, inputs_.data() + 32,
               reinterpret_cast<cudaStream_t>(&memory_[1])}};

 private:
  void* library_ = dlopen(test::stand_in("nccl_stand_in").c_str(), RTLD_NOW | RTLD_LOCAL);
  NcclScript* script_ = nullptr;
};

/// Threads of the library may run longer than what uses it.
TEST(NcclLibrary, StaysLoaded) {
  const std::string path = test::stand_in("nccl_old_stand_in");
  (void)Nccl::load(path);
  EXPECT_NE(dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr);
}

TEST_F(NcclTest, ReportsItsVersion) {
  const auto nccl = Nccl::load(test::stand_in("nccl_stand_in"));
  EXPECT_EQ(nccl->absence(), "");
  EXPECT_EQ(nccl->version(), "2.28.9");
}

TEST_F(NcclTest, OldVersionsAreRefusedByTheirNumber) {
  script().version = 21212;
  const auto older = Nccl::load(test::stand_in("nccl_stand_in"));
  EXPECT_THAT(older->absence(), AllOf(HasSubstr("is version 2.12.12"), HasSubstr("install 2.13")));
  EXPECT_EQ(older->version(), "");
  script().version = 2708;  // numbered as before 2.9
  EXPECT_THAT(Nccl::load(test::stand_in("nccl_stand_in"))->absence(),
              HasSubstr("is version 2.7.8"));
}

TEST(NcclAbsence, ALibraryThatIsNotWholeIsNotUsed) {
  EXPECT_THAT(Nccl::load(test::stand_in("nccl_old_stand_in"))->absence(),
              HasSubstr("install 2.13 or newer"));
}

TEST(NcclAbsence, NamesWhatWouldMendIt) {
  const auto nccl = Nccl::load("libnccl-that-is-not-there.so.2");
  EXPECT_THAT(nccl->absence(), AllOf(HasSubstr("libnccl-that-is-not-there.so.2"),
                                     HasSubstr("install NCCL 2.13 or newer")));
  EXPECT_EQ(nccl->version(), "");
}

TEST_F(NcclTest, AllReduceIsOneGroupOfCallsInPlace) {
  NcclClique clique(Nccl::load(test::stand_in("nccl_stand_in")), {3, 1});
  EXPECT_EQ(script().devices[0], 3);
  EXPECT_EQ(script().devices[1], 1);
  clique.enqueue(Collective::all_reduce, parts_, 32);
  EXPECT_EQ(script().groups, 1);
  EXPECT_EQ(script().open_groups, 0);
  ASSERT_EQ(script().call_count, 2U);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const NcclCall& call = script().calls[rank];
    EXPECT_EQ(call.send, parts_[rank].data);
    EXPECT_EQ(call.receive, parts_[rank].data);
    EXPECT_EQ(call.count, 8U) << "numbers";
    EXPECT_EQ(call.type, 7) << "ncclFloat32";
    EXPECT_EQ(call.reduction, 0) << "ncclSum";
    EXPECT_EQ(call.rank, static_cast<int>(rank));
    EXPECT_EQ(call.stream, parts_[rank].stream);
    EXPECT_TRUE(call.in_group);
  }
}

TEST_F(NcclTest, AllGatherSendsEachRanksOwnBlock) {
  NcclClique clique(Nccl::load(test::stand_in("nccl_stand_in")), {0, 1});
  clique.enqueue(Collective::all_gather, parts_, 32);
  ASSERT_EQ(script().call_count, 2U);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const NcclCall& call = script().calls[rank];
    EXPECT_EQ(call.send, parts_[rank].data + rank * 16);
    EXPECT_EQ(call.receive, parts_[rank].data);
    EXPECT_EQ(call.count, 16U) << "bytes of a block";
    EXPECT_EQ(call.type, 1) << "ncclUint8";
    EXPECT_EQ(call.reduction, -1);
  }
}

TEST_F(NcclTest, ReduceScatterEndsInEachRanksOwnBlock) {
  NcclClique clique(Nccl::load(test::stand_in("nccl_stand_in")), {0, 1});
  clique.enqueue(Collective::reduce_scatter, parts_, 32);
  ASSERT_EQ(script().call_count, 2U);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const NcclCall& call = script().calls[rank];
    EXPECT_EQ(call.send, parts_[rank].data);
    EXPECT_EQ(call.receive, parts_[rank].data + rank * 16);
    EXPECT_EQ(call.count, 4U) << "numbers of a block";
    EXPECT_EQ(call.type, 7) << "ncclFloat32";
    EXPECT_EQ(call.reduction, 0) << "ncclSum";
  }
}

TEST_F(NcclTest, BroadcastAndReduceHaveTheFirstRankAsRoot) {
  NcclClique clique(Nccl::load(test::stand_in("nccl_stand_in")), {0, 1});
  clique.enqueue(Collective::broadcast, parts_, 32);
  EXPECT_EQ(script().root, 0);
  script().root = -1;
  clique.enqueue(Collective::reduce, parts_, 32);
  EXPECT_EQ(script().root, 0);
  ASSERT_EQ(script().call_count, 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const NcclCall& call = script().calls[i];
    const bool reduces = i >= 2;
    EXPECT_EQ(call.send, parts_[i % 2].data);
    EXPECT_EQ(call.receive, parts_[i % 2].data);
    EXPECT_EQ(call.count, reduces ? 8U : 32U) << "numbers, and bytes";
    EXPECT_EQ(call.type, reduces ? 7 : 1);
    EXPECT_EQ(call.reduction, reduces ? 0 : -1);
  }
}

TEST_F(NcclTest, AllToAllSendsABlockToEachRankAndReceivesOneFromIt) {
  NcclClique clique(Nccl::load(test::stand_in("nccl_stand_in")), {0, 1});
  clique.enqueue(Collective::all_to_all, parts_, 32);
  EXPECT_EQ(script().groups, 1);
  ASSERT_EQ(script().call_count, 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    const NcclCall& call = script().calls[i];
    const std::size_t rank = i / 4;
    const std::size_t peer = i / 2 % 2;
    expect_message(call, rank, static_cast<int>(peer), 16);
    const bool sends = i % 2 == 0;
    EXPECT_EQ(call.send, sends ? parts_[rank].input + peer * 16 : nullptr);
    EXPECT_EQ(call.receive, sends ? nullptr : parts_[rank].data + peer * 16);
  }
}

TEST_F(NcclTest, SendRecvSendsToTheNextRankAndReceivesFromTheOneBefore) {
  NcclClique clique(Nccl::load(test::stand_in("nccl_stand_in")), {0, 1, 2});
  const std::array<NcclPart, 3> parts{parts_[0], parts_[1], parts_[0]};
  clique.enqueue(Collective::send_recv, parts, 32);
  EXPECT_EQ(script().groups, 1);
  ASSERT_EQ(script().call_count, 6U);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const NcclCall& sent = script().calls[2 * rank];
    const NcclCall& received = script().calls[2 * rank + 1];
    EXPECT_EQ(sent.send, parts[rank].input);
    EXPECT_EQ(sent.peer, static_cast<int>((rank + 1) % 3));
    EXPECT_EQ(received.receive, parts[rank].data);
    EXPECT_EQ(received.peer, static_cast<int>((rank + 2) % 3));
    EXPECT_EQ(sent.count, 32U);
    EXPECT_EQ(received.count, 32U);
  }
}

TEST_F(NcclTest, AFailedMessageEndsItsCollective) {
  NcclClique clique(Nccl::load(test::stand_in("nccl_stand_in")), {0, 1});
  script().failing_rank = 0;
  for (const Collective collective : {Collective::all_to_all, Collective::send_recv}) {
    script().call_count = 0;
    EXPECT_THAT(message_of([&] { clique.enqueue(collective, parts_, 32); }),
                HasSubstr("invalid usage"));
    EXPECT_EQ(script().call_count, 1U);
    EXPECT_EQ(script().open_groups, 0);
  }
}

TEST_F(NcclTest, AFailedCallClosesItsGroupAndSaysWhatAndWhere) {
  NcclClique clique(Nccl::load(test::stand_in("nccl_stand_in")), {0, 1});
  script().failing_rank = 0;
  const std::string message =
      message_of([&] { clique.enqueue(Collective::all_reduce, parts_, 32); });
  EXPECT_THAT(message, AllOf(HasSubstr("nccl_clique.cpp"), HasSubstr("invalid usage"),
                             HasSubstr("the words of the last error"), HasSubstr("NCCL_DEBUG")));
  EXPECT_EQ(script().call_count, 1U);
  EXPECT_EQ(script().open_groups, 0);
}

TEST_F(NcclTest, FailsToBeMade) {
  script().init = 2;
  EXPECT_THAT(message_of([] {
                const NcclClique clique(Nccl::load(test::stand_in("nccl_stand_in")), {0, 1});
              }),
              HasSubstr("comm_init_all"));
  EXPECT_EQ(script().destroyed + script().aborted, 0);
}

TEST_F(NcclTest, EndsAllRanks) {
  { const NcclClique clique(Nccl::load(test::stand_in("nccl_stand_in")), {0, 1}); }
  EXPECT_EQ(script().alive, 0);
  EXPECT_EQ(script().destroyed, 2);
}

TEST_F(NcclTest, AnErrorBesideTheCallsIsMetByTheNextAndAbortsAtTheEnd) {
  {
    NcclClique clique(Nccl::load(test::stand_in("nccl_stand_in")), {0, 1});
    script().asynchronous = 7;  // still at work
    EXPECT_NO_THROW(clique.check());
    script().asynchronous = 6;
    EXPECT_THROW(clique.check(), Error);
    EXPECT_THROW(clique.enqueue(Collective::all_reduce, parts_, 32), Error);
    EXPECT_EQ(script().call_count, 0U);
  }
  EXPECT_EQ(script().aborted, 2);
  EXPECT_EQ(script().destroyed, 0);
}

/// A rank that is joined with those of other processes.
class NcclMemberTest : public NcclTest {
 protected:
  using Seconds = std::chrono::duration<double>;

  [[nodiscard]] std::unique_ptr<NcclMember> join(int ranks = 2,
                                                 Seconds leaving = Seconds(60)) const {
    return std::make_unique<NcclMember>(
        nccl_, Joining{.id = make_nccl_id(*nccl_), .rank = 1, .size = ranks, .check = check}, [] {},
        NcclMember::Limits{
            .joining = Seconds(0.02), .between_checks = Seconds(0.001), .leaving = leaving});
  }

  void lose_rank() {
    check = [this] {
      if (is_lost) throw Error("rank 0 is lost");
    };
  }
  static bool has_found_loss(const NcclMember& member) {
    return message_of([&] { member.check(); }) == "rank 0 is lost";
  }
  [[nodiscard]] int aborted() const { return std::atomic_ref(script().aborted).load(); }

  std::function<void()> check = [] {};
  std::atomic<bool> is_lost = false;  // after `lose_rank`

 private:
  std::shared_ptr<const Nccl> nccl_ = Nccl::load(test::stand_in("nccl_stand_in"));
};

TEST_F(NcclMemberTest, IsJoinedByTheIdAndEnqueuesItsOwnPart) {
  {
    const auto member = join();
    EXPECT_EQ(script().id, 'i');
    EXPECT_EQ(script().ranks, 2);
    member->enqueue(member->all(), Collective::all_gather, parts_[1], 32);
    ASSERT_EQ(script().call_count, 1U);
    EXPECT_EQ(script().calls[0].rank, 1);
    EXPECT_EQ(script().calls[0].send, parts_[1].data + 16) << "its own block";
    EXPECT_EQ(script().groups, 1);
  }
  EXPECT_EQ(script().alive, 0);
}

TEST_F(NcclMemberTest, GivesUpWhereOthersDoNotCome) {
  script().init = script().asynchronous = 7;  // ncclInProgress
  EXPECT_THAT(
      message_of([&] { (void)join(); }),
      AllOf(HasSubstr("has not connected the GPUs of 2 ranks"), HasSubstr("NCCL_SOCKET_IFNAME")));
  EXPECT_EQ(script().alive, 0);
  check = [] { throw Error("rank 0 is lost"); };
  EXPECT_EQ(message_of([&] { (void)join(); }), "rank 0 is lost");
}

TEST_F(NcclMemberTest, IsAbortedWhenARankIsLost) {
  lose_rank();
  const auto member = join();
  EXPECT_NO_THROW(member->check());
  is_lost = true;
  while (!has_found_loss(*member)) std::this_thread::yield();
  const auto enqueue = [&] {
    member->enqueue(member->all(), Collective::all_reduce, parts_[1], 32);
  };
  EXPECT_EQ(message_of(enqueue), "rank 0 is lost");
  EXPECT_EQ(script().call_count, 0U);
  const std::array ranks{0, 1};
  EXPECT_EQ(message_of([&] { (void)member->split(ranks); }), "rank 0 is lost");
}

TEST_F(NcclMemberTest, SplitsOffSomeRanksInTheirOrder) {
  {
    const auto member = join(3);
    EXPECT_EQ(script().splits, 1) << "for all ranks";
    EXPECT_EQ(script().key, 1);
    const NcclMembership& group = member->split(std::array{2, 1});
    EXPECT_EQ(script().splits, 2);
    EXPECT_EQ(script().color, 0);
    EXPECT_EQ(script().key, 1) << "the second of them";
    EXPECT_EQ(group.member, 1U);
    EXPECT_EQ(group.size, 2U);
    EXPECT_NE(group.communicator, member->all().communicator);
    member->enqueue(group, Collective::all_gather, parts_[1], 32);
    EXPECT_EQ(script().calls[0].send, parts_[1].data + 16) << "the second of two blocks";
    EXPECT_EQ(member->split(std::array{1, 0}).member, 0U);
    EXPECT_EQ(script().key, 0);
    EXPECT_EQ(script().alive, 4);
  }
  EXPECT_EQ(script().alive, 0);
}

TEST_F(NcclMemberTest, TakesPartInSplittingOffOtherRanks) {
  {
    const auto member = join(3);
    EXPECT_EQ(member->split(std::array{0, 2}).communicator, nullptr);
    EXPECT_EQ(script().splits, 2);
    EXPECT_EQ(script().color, -1) << "NCCL_SPLIT_NOCOLOR";
    EXPECT_EQ(script().alive, 2);
  }
  EXPECT_EQ(script().alive, 0);
}

TEST_F(NcclMemberTest, LetsACallReturnBeforeItFreesTheCommunicator) {
  lose_rank();
  const auto member = join();
  int aborted_during_call = -1;
  script().at_group_end = [&] {
    is_lost = true;
    while (!has_found_loss(*member)) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // for a thread that does not wait
    aborted_during_call = aborted();
  };
  member->enqueue(member->all(), Collective::all_reduce, parts_[1], 32);
  EXPECT_EQ(aborted_during_call, 0);
  while (aborted() < 2) std::this_thread::yield();
}

TEST_F(NcclMemberTest, LetsTheCallsOfAllThreadsReturnBeforeItFreesTheCommunicator) {
  lose_rank();
  const auto member = join();
  const auto enqueue = [&] {
    member->enqueue(member->all(), Collective::all_reduce, parts_[1], 32);
  };
  bool is_outer = true;
  int aborted_during_call = -1;
  script().at_group_end = [&] {
    if (!std::exchange(is_outer, false)) return;
    std::thread(enqueue).join();
    is_lost = true;
    while (!has_found_loss(*member)) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // for a thread that does not wait
    aborted_during_call = aborted();
  };
  enqueue();
  EXPECT_EQ(aborted_during_call, 0);
}

TEST_F(NcclMemberTest, AbortsTheCommunicatorThatIsBeingSplit) {
  {
    const auto member = join();
    script().split = script().asynchronous = 7;  // ncclInProgress
    EXPECT_THAT(message_of([&] {
                  (void)member->split(std::array{0, 1});
                }),
                HasSubstr("has not connected the GPUs of 2 ranks"));
    EXPECT_EQ(script().alive, 3);
  }
  EXPECT_EQ(script().alive, 0);
}

TEST_F(NcclMemberTest, AbortsACallThatWaitsForALostRank) {
  lose_rank();
  const auto member = join(2, Seconds(0.001));
  script().at_group_end = [&] {
    is_lost = true;
    while (aborted() < 2) std::this_thread::yield();
  };
  member->enqueue(member->all(), Collective::all_reduce, parts_[1], 32);
  EXPECT_TRUE(has_found_loss(*member));
}

}  // namespace
}  // namespace parbench::cuda
