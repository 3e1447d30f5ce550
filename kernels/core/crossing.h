// Events and copies between the backends of a run.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "kernels/core/buffer.h"
#include "kernels/core/device.h"
#include "kernels/core/stream.h"

namespace parbench {

/// Counts the records of an event. A word of host memory holds the number of the latest record that
/// has been reached. A host thread or a device writes the word, and streams of every backend can
/// wait for it. Numbers begin at 1 and wrap around; two of them may be compared while they are less
/// than 2³¹ records apart.
class SharedRecords {
 public:
  /// `word`: at least four bytes of host memory that waiting and recording devices can access.
  explicit SharedRecords(Buffer word);

  /// Counts a record that has just been enqueued, and returns its number.
  std::uint32_t announce() { return ++announced_; }
  /// Returns the number of the latest record enqueued; 0, which counts as reached, before the
  /// first.
  [[nodiscard]] std::uint32_t announced() const { return announced_; }

  /// Marks a record as reached. Called by a host thread.
  void reach(std::uint32_t record);
  [[nodiscard]] bool reached(std::uint32_t record) const;

  /// Returns the word, for devices that access it themselves.
  [[nodiscard]] std::uint32_t* word() const { return word_; }

 private:
  Buffer memory_;
  std::uint32_t* word_;
  std::atomic<std::uint32_t> announced_ = 0;
};

/// Returns the shared records of another backend's event. Throws std::invalid_argument, with the
/// name of the waiting stream, if the event was made for streams of its own backend only.
[[nodiscard]] SharedRecords& shared_records_of(Event& event, std::string_view stream);

/// Sleeps until that record of an event with shared records is reached. Returns false if the limit
/// passes first. Throws what the event's `check` throws.
[[nodiscard]] bool wait_on_host(Event& event, std::uint32_t record,
                                std::chrono::milliseconds limit);

/// Makes an event that is recorded on streams of `recorder` and waited for by streams of `waiters`.
/// Events across backends record their time even if `kind` is `ordering`.
[[nodiscard]] std::unique_ptr<Event> make_event_for(Device& recorder,
                                                    std::span<Device* const> waiters,
                                                    EventKind kind);

/// Returns whether streams of `device` can copy from and to the memory of `other`.
[[nodiscard]] bool reaches(const Device& device, const Device& other);

}  // namespace parbench
