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

/// The records of an event, counted, with the number of the latest one reached in a word of host
/// memory. Whichever side reaches a record writes the word, a host thread or a device, and streams
/// of every backend can wait for it. Numbers begin at 1 and wrap around; two of them may be
/// compared while they are less than 2³¹ records apart.
class SharedRecords {
 public:
  /// `word`: at least four bytes of host memory, which devices that wait or record can see.
  explicit SharedRecords(Buffer word);

  /// Numbers a record that has been enqueued.
  std::uint32_t announce() { return ++announced_; }
  /// The latest record enqueued; 0 before the first, for which no wait is needed.
  [[nodiscard]] std::uint32_t announced() const { return announced_; }

  /// What a host thread does when a record is reached.
  void reach(std::uint32_t record);
  [[nodiscard]] bool reached(std::uint32_t record) const;

  /// For devices that read or write the word themselves.
  [[nodiscard]] std::uint32_t* word() const { return word_; }

 private:
  Buffer memory_;
  std::uint32_t* word_;
  std::atomic<std::uint32_t> announced_ = 0;
};

/// The shared records of another backend's event. Throws std::invalid_argument, naming the stream
/// that is to wait, for an event that was made for streams of its own backend only.
[[nodiscard]] SharedRecords& shared_records_of(Event& event, std::string_view stream);

/// Sleeps until that record of an event with shared records is reached. False when the limit passes
/// first. Throws what the event's `check` throws.
[[nodiscard]] bool wait_on_host(Event& event, std::uint32_t record,
                                std::chrono::milliseconds limit);

/// Makes an event that is recorded on streams of `recorder` and waited for by streams of `waiters`.
/// An event across backends takes the time in any case.
[[nodiscard]] std::unique_ptr<Event> make_event_for(Device& recorder,
                                                    std::span<Device* const> waiters,
                                                    EventKind kind);

/// Returns whether streams of `device` can copy from and to the memory of `other`.
[[nodiscard]] bool reaches(const Device& device, const Device& other);

}  // namespace parbench
