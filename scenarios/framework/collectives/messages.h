// Messages between the members of a collective, as plain data that knows no devices.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace parbench {

/// Elements of one member's array that another member, or itself, copies into its array or adds to
/// it. What is sent and what is received lie at the same offset, except where `from_input` is set.
struct Message {
  int from = 0;  // members
  int to = 0;
  std::int64_t first = 0;  // element of the receiver's array
  std::int64_t count = 0;
  bool adds = false;
  /// Of an array that no message writes; `source_first` is its first element that is sent.
  bool from_input = false;
  std::int64_t source_first = 0;
  int block = 0;  // that the elements belong to, for names
  int chunk = 0;  // of so many into which the message was divided, from 0
  int chunks = 1;
  std::string_view phase = {};  // "scatter", "gather": for names
  friend bool operator==(const Message&, const Message&) = default;
};

/// In an order in which one after the other gives the right result. Of messages that touch the same
/// elements of a member, at least one of them writing, that order matters; others may run at once.
using Messages = std::vector<Message>;

/// Splits `total` elements into `parts` consecutive runs whose lengths differ by at most one.
[[nodiscard]] std::vector<std::int64_t> split_evenly(std::int64_t total, int parts);

/// Returns the first element of each block.
[[nodiscard]] std::vector<std::int64_t> first_elements(const std::vector<std::int64_t>& blocks);

/// Divides the messages of every round into chunks of at most `chunk` elements (0: leaves them
/// whole), and begins a round with a chunk while later chunks are still in the rounds before.
/// Messages of different rounds with common elements belong to one block and cover all of it.
[[nodiscard]] Messages pipelined(const std::vector<Messages>& rounds, std::int64_t chunk);

}  // namespace parbench
