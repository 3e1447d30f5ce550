// Messages whose time is added up, so that ranks learn who waits for whom.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "kernels/core/ranks/rank_link.h"

namespace parbench {

class TimedLink final : public RankLink {
 public:
  /// In seconds.
  struct Times {
    double waits = 0;    // while a thread of this rank, or several, was in messages or collectives
    double barrier = 0;  // until all ranks had come
  };

  explicit TimedLink(std::unique_ptr<RankLink> link) : link_(std::move(link)) {}

  /// Returns the times since the last call.
  [[nodiscard]] Times take();

  [[nodiscard]] const std::string& name() const override { return link_->name(); }
  [[nodiscard]] int rank() const override { return link_->rank(); }
  [[nodiscard]] int size() const override { return link_->size(); }
  [[nodiscard]] bool reaches_gpus() const override { return link_->reaches_gpus(); }
  void check_with(std::function<void()> check) override { link_->check_with(std::move(check)); }
  void send(int to, int tag, const std::byte* data, std::size_t bytes) override;
  void receive(int from, int tag, std::byte* data, std::size_t bytes) override;
  void barrier() override;
  void collective(Collective collective, std::byte* data, std::size_t bytes,
                  const std::byte* input) override;
  [[nodiscard]] bool offers(RankAllReduce by, const RankSet& set,
                            std::size_t bytes) const override {
    return link_->offers(by, set, bytes);
  }
  void prepare(const RankSet& set) override { link_->prepare(set); }
  void all_reduce(RankAllReduce by, const RankSet& set, std::byte* data,
                  std::size_t bytes) override;

 private:
  /// Adds up the time in which threads are inside, however many at once.
  class Occupancy {
   public:
    void enter();
    void leave();
    [[nodiscard]] double take();

   private:
    std::mutex mutex_;
    int threads_ = 0;
    std::chrono::steady_clock::time_point begin_;
    std::chrono::duration<double> sum_{0};
  };
  class Inside;

  std::unique_ptr<RankLink> link_;
  Occupancy waits_;
  Occupancy barrier_;
};

}  // namespace parbench
