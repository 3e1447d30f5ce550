// A stream that executes nothing and keeps or refuses the log that it is given.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/core/device.h"
#include "kernels/core/ranks/host_work.h"

namespace parbench::test {

/// Whether a stream can log: always, never, never although it is known only when tried, or with
/// more records than its log holds.
enum class Logging { possible, refused, refused_when_tried, excessive };

/// Notes whether it had a log at each capture, and the tags of copies.
class LoggingStream final : public Stream {
 public:
  explicit LoggingStream(Device& device, Logging logging = Logging::possible)
      : device_(device), logging_(logging) {}
  [[nodiscard]] Device& device() const override { return device_; }
  [[nodiscard]] int threads() const override { return 1; }
  [[nodiscard]] std::size_t scratch_bytes() const override { return 0; }
  void copy(BufferView, BufferView) override {
    copied_tags.push_back(tag());
    if (log != nullptr && logging_ == Logging::excessive) log->lose(1);
  }
  void perform(HostWork& work) override { work.run(); }
  void record(Event&) override {}
  void wait(Event&) override {}
  void synchronize(std::chrono::milliseconds) override {}
  [[nodiscard]] std::unique_ptr<Graph> capture(const std::function<void()>& enqueue) override {
    enqueue();
    logged_captures.push_back(log != nullptr);
    return std::make_unique<NoGraph>();
  }
  void log_activities(ActivityLog* given) override {
    if (given != nullptr) check_activities();
    if (given != nullptr && logging_ == Logging::refused_when_tried) throw Unsupported("no log");
    log = given;
  }
  void check_activities() override {
    if (logging_ == Logging::refused) throw Unsupported("no log");
  }

  using Stream::tag;

  ActivityLog* log = nullptr;
  std::vector<ActivityTag> copied_tags;
  std::vector<bool> logged_captures;

 private:
  struct NoGraph final : Graph {
    void launch() override {}
  };
  void grow_scratch(std::size_t) override {}

  Device& device_;
  Logging logging_;
};

}  // namespace parbench::test
