// Messages lie in queues that all threads see.
#include "tests/bench/ranks/linked_ranks.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace parbench::test {
namespace {

using namespace std::chrono_literals;

/// What all ranks of a test share.
struct Mail {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::tuple<int, int, int>, std::deque<std::string>> messages;  // from, to, tag
  int ended = 0;                                                          // links
  int in_barrier = 0;                                                     // of them
  int barriers = 0;
  std::function<void(int, Awaited)> on_wait;
};

class MemoryLink final : public RankLink {
 public:
  MemoryLink(Mail& mail, int rank, int size) : mail_(mail), rank_(rank), size_(size) {}
  /// Waits for all ranks, as MPI does.
  ~MemoryLink() override {
    std::unique_lock lock(mail_.mutex);
    ++mail_.ended;
    mail_.changed.notify_all();
    mail_.changed.wait(lock, [&] { return mail_.ended == size_; });
  }
  MemoryLink(const MemoryLink&) = delete;
  MemoryLink& operator=(const MemoryLink&) = delete;

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void check_with(std::function<void()> check) override { check_ = std::move(check); }

  void send_message(int to, int tag, const std::byte* data, std::size_t bytes) override {
    const std::lock_guard lock(mail_.mutex);
    mail_.messages[{rank_, to, tag}].emplace_back(reinterpret_cast<const char*>(data), bytes);
    mail_.changed.notify_all();
  }

  void receive_message(int from, int tag, std::byte* data, std::size_t bytes) override {
    std::unique_lock lock(mail_.mutex);
    auto& waiting = mail_.messages[{from, rank_, tag}];
    if (waiting.empty()) mail_.on_wait(rank_, Awaited::message);
    while (!mail_.changed.wait_for(lock, 10ms, [&] { return !waiting.empty(); })) {
      if (check_) check_();
    }
    if (waiting.front().size() != bytes) throw Error("a message of another size");
    if (bytes > 0) std::memcpy(data, waiting.front().data(), bytes);
    waiting.pop_front();
  }

  void wait_for_all() override {
    std::unique_lock lock(mail_.mutex);
    const int own = mail_.barriers;
    if (++mail_.in_barrier == size_) {
      mail_.in_barrier = 0;
      ++mail_.barriers;
      return mail_.changed.notify_all();
    }
    mail_.on_wait(rank_, Awaited::barrier);
    mail_.changed.wait(lock, [&] { return mail_.barriers != own; });
  }
  void run(Collective collective, std::byte* data, std::size_t bytes,
           const std::byte* /*input*/) override {
    if (collective != Collective::all_gather) throw Error("no test needs this collective");
    const std::size_t block = bytes / static_cast<std::size_t>(size_);
    const auto block_of = [&](int rank) { return data + static_cast<std::size_t>(rank) * block; };
    for (int other = 0; other < size_; ++other) {
      if (other != rank_) send_message(other, 0, block_of(rank_), block);
    }
    for (int other = 0; other < size_; ++other) {
      if (other != rank_) receive_message(other, 0, block_of(other), block);
    }
  }
  [[nodiscard]] bool offers(RankAllReduce by, const RankSet& /*set*/,
                            std::size_t /*bytes*/) const override {
    return by == RankAllReduce::library;
  }
  void prepare(const RankSet& /*set*/) override {}
  /// The first of the set adds up what the others send, and sends them the sum.
  void add_up(RankAllReduce /*by*/, const RankSet& set, std::byte* data,
              std::size_t bytes) override {
    const int first = set.ranks.front();
    if (rank_ != first) {
      send(first, set.tag, data, bytes);
      return receive(first, set.tag, data, bytes);
    }
    std::vector<float> other(bytes / sizeof(float));
    auto* const sums = reinterpret_cast<float*>(data);
    for (std::size_t i = 1; i < set.ranks.size(); ++i) {
      receive(set.ranks[i], set.tag, reinterpret_cast<std::byte*>(other.data()), bytes);
      for (std::size_t at = 0; at < other.size(); ++at) sums[at] += other[at];
    }
    for (std::size_t i = 1; i < set.ranks.size(); ++i) send(set.ranks[i], set.tag, data, bytes);
  }

 private:
  Mail& mail_;
  std::function<void()> check_;
  std::string name_ = "memory";
  int rank_;
  int size_;
};

/// Reports an exception at once: the others may wait for this rank until a limit ends the process.
void run_body(RankTeam& team, const std::function<void(RankTeam& team)>& body) {
  try {
    body(team);
  } catch (const RunEnded&) {
    throw;
  } catch (const std::exception& error) {
    ADD_FAILURE() << team.name_of(team.rank()) << ": " << error.what();
    throw;
  }
}

}  // namespace

void run_ranks(int size, const std::function<void(RankTeam& team)>& body,
               const std::function<void(int rank, Awaited what)>& on_wait) {
  Mail mail;
  mail.on_wait = on_wait;
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        RankTeam team(std::make_unique<MemoryLink>(mail, rank, size));
        run_body(team, body);
        if (!team.leads()) team.wait_for_end();
      } catch (const RunEnded&) {  // rank 0 has ended before
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace parbench::test
