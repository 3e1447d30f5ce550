// Times work of one stream by the clock of its device, outside of plans.
#pragma once

#include <exception>
#include <memory>

#include "kernels/core/device.h"

namespace parbench {

/// Work of a stream between two events, for which other streams may wait.
class TimedSpan {
 public:
  explicit TimedSpan(Stream& stream)
      : stream_(&stream),
        begin_(stream.device().make_event()),
        end_(stream.device().make_event()) {}

  /// Records the events before and after the work that `enqueue` enqueues.
  template <typename Enqueue>
  void record(Enqueue&& enqueue) {
    stream_->record(*begin_);
    enqueue();
    stream_->record(*end_);
  }

  /// Returns the seconds of the latest record. The stream must have been synchronised since.
  [[nodiscard]] double seconds() const { return end_->seconds_since(*begin_); }
  [[nodiscard]] Event& begin() const { return *begin_; }
  [[nodiscard]] Event& end() const { return *end_; }

 private:
  Stream* stream_;
  std::unique_ptr<Event> begin_;
  std::unique_ptr<Event> end_;
};

/// Synchronises a stream in its destructor, before memory that the stream's work uses is released.
/// Ignores errors of that work: only after an exception is there work that is not yet synchronised.
class StreamRest {
 public:
  explicit StreamRest(Stream& stream) : stream_(stream) {}
  StreamRest(const StreamRest&) = delete;
  StreamRest& operator=(const StreamRest&) = delete;
  ~StreamRest() {
    try {
      stream_.synchronize();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    }
  }

 private:
  Stream& stream_;
};

}  // namespace parbench
