// Collects work that is enqueued on streams into a list of commands for each stream.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/cpu/runtime/command.h"
#include "kernels/cpu/runtime/event.h"

namespace parbench::cpu {

class CpuStream;

/// Result of a capture. The commands refer to the events.
struct CapturedWork {
  struct Lane {
    CpuStream* stream = nullptr;
    CommandList commands;
  };
  std::vector<Lane> lanes;  // the first lane belongs to the capturing stream
  std::vector<std::unique_ptr<CpuEvent>> events;
};

/// A capture in progress. Used by one thread.
class Capture : public std::enable_shared_from_this<Capture> {
 public:
  Capture() = default;
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// Adds a stream; returns the index of its lane.
  std::size_t add(CpuStream& stream);

  void enqueue(std::size_t lane, const Command& command);
  /// Records a new event of the graph. Until `event` is recorded again, waits for `event` become
  /// waits for this new event.
  void record(std::size_t lane, CpuEvent& event);
  void wait(std::size_t lane, const CapturedRecord& record);

  [[nodiscard]] const std::vector<CapturedWork::Lane>& lanes() const { return work_->lanes; }

  /// Ends the capture. Throws std::logic_error if the first lane does not wait for the work of
  /// another lane.
  [[nodiscard]] std::shared_ptr<const CapturedWork> finish();

 private:
  /// For each lane: the number of its operations, copies and host functions that are known to
  /// precede a position.
  using Past = std::vector<std::size_t>;

  struct Mark {
    CpuEvent* event = nullptr;
    Past past;
  };

  std::shared_ptr<CapturedWork> work_ = std::make_shared<CapturedWork>();
  std::vector<Past> pasts_;  // by lane, at the position of its next command
  std::vector<Mark> marks_;  // one for each record
};

}  // namespace parbench::cpu
