// Messages whose time is added up, so that ranks learn who waits for whom.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "kernels/core/ranks/rank_link.h"

namespace parbench {

class TimedLink final : public RankLink {
 public:
  /// In seconds, of all threads of this rank together.
  struct Times {
    double waits = 0;    // in messages and collectives
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
  void all_reduce(const RankSet& set, std::byte* data, std::size_t bytes) override;

 private:
  std::unique_ptr<RankLink> link_;
  std::atomic<std::int64_t> waits_ = 0;  // nanoseconds
  std::atomic<std::int64_t> barrier_ = 0;
};

}  // namespace parbench
