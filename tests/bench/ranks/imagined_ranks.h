// Ranks that are planned for and never started.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/core/device.h"
#include "scenarios/framework/ranks/rank_group.h"

namespace parbench::test {

/// Rank 0 of so many, alone: plans may refer to the others, and nothing may be sent.
class ImaginedRanks final : public RankGroup {
 public:
  explicit ImaginedRanks(int size) : link_(size) {}

  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return link_.size(); }
  [[nodiscard]] RankLink& link() override { return link_; }
  void check() const override {}
  void share(int /*owner*/, void* /*data*/, std::size_t /*bytes*/) override {}
  [[nodiscard]] std::vector<double> largest(std::vector<double> values) override { return values; }
  void exchange(const std::function<void()>& work) override { work(); }

 private:
  class Link final : public RankLink {
   public:
    explicit Link(int size) : size_(size) {}
    [[nodiscard]] const std::string& name() const override { return name_; }
    [[nodiscard]] int rank() const override { return 0; }
    [[nodiscard]] int size() const override { return size_; }
    void check_with(std::function<void()> /*check*/) override {}
    void send_message(int /*to*/, int /*tag*/, const std::byte* /*data*/,
                      std::size_t /*bytes*/) override {
      refuse();
    }
    void receive_message(int /*from*/, int /*tag*/, std::byte* /*data*/,
                         std::size_t /*bytes*/) override {
      refuse();
    }
    void wait_for_all() override { refuse(); }
    void run(Collective /*collective*/, std::byte* /*data*/, std::size_t /*bytes*/,
             const std::byte* /*input*/) override {
      refuse();
    }
    [[nodiscard]] bool offers(RankAllReduce /*by*/, const RankSet& /*set*/,
                              std::size_t /*bytes*/) const override {
      return true;
    }
    void prepare(const RankSet& /*set*/) override {}
    void add_up(RankAllReduce /*by*/, const RankSet& /*set*/, std::byte* /*data*/,
                std::size_t /*bytes*/) override {
      refuse();
    }

   private:
    [[noreturn]] static void refuse() { throw Error("nothing is sent between imagined ranks"); }
    std::string name_ = "imagined";
    int size_;
  };

  Link link_;
};

/// One device of each rank: a core of this machine, and what stands for those of the others.
[[nodiscard]] std::vector<std::unique_ptr<Device>> imagined_devices(int ranks);

}  // namespace parbench::test
