// Collects what is enqueued on streams into a list of commands for each of them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/cpu/runtime/command.h"
#include "kernels/cpu/runtime/event.h"

namespace parbench::cpu {

class CpuStream;

/// What a capture has collected. The commands refer to the events.
struct CapturedWork {
  struct Lane {
    CpuStream* stream = nullptr;
    CommandList commands;
  };
  std::vector<Lane> lanes;  // that of the capturing stream first
  std::vector<std::unique_ptr<CpuEvent>> events;
};

/// A capture in progress. Fed by one thread.
class Capture : public std::enable_shared_from_this<Capture> {
 public:
  Capture() = default;
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// Adds a stream; returns its lane.
  std::size_t add(CpuStream& stream);

  void enqueue(std::size_t lane, const Command& command);
  /// Records an event by one of the graph's own, which stands for it until it is recorded again.
  void record(std::size_t lane, CpuEvent& event);
  void wait(std::size_t lane, const CapturedRecord& record);

  /// The streams that take part.
  [[nodiscard]] const std::vector<CapturedWork::Lane>& lanes() const { return work_->lanes; }

  /// Ends it. Throws std::logic_error when work of a lane is not waited for by the first.
  [[nodiscard]] std::shared_ptr<const CapturedWork> finish();

 private:
  /// For each lane: how many of its operations and copies precede a place for certain.
  using Past = std::vector<std::size_t>;

  struct Mark {
    CpuEvent* event = nullptr;
    Past past;
  };

  std::shared_ptr<CapturedWork> work_ = std::make_shared<CapturedWork>();
  std::vector<Past> pasts_;  // of the next command of each lane
  std::vector<Mark> marks_;  // one a record
};

}  // namespace parbench::cpu
