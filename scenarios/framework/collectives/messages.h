// Messages between the members of a collective, as data without devices.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace parbench {

/// Elements of a member's array that are copied into or added to the array of another member or of
/// the same one. Source and destination have the same position in the arrays, unless `from_input`
/// is set.
struct Message {
  int from = 0;            // index of the sending member
  int to = 0;              // index of the receiving member
  std::int64_t first = 0;  // first element in the receiver's array
  std::int64_t count = 0;
  bool adds = false;
  /// Whether the source is `Member::input`, which no message writes; `source_first` is the first
  /// element sent.
  bool from_input = false;
  std::int64_t source_first = 0;
  int block = 0;  // index of the elements' block, for names
  int chunk = 0;  // index of the chunk within the divided message
  int chunks = 1;
  std::string_view phase = {};  // "scatter", "gather": for names
  friend bool operator==(const Message&, const Message&) = default;
};

/// Messages in an order in which executing one after the other is correct. The order matters
/// between messages that access the same elements of a member if one of them writes; other messages
/// may run at the same time.
using Messages = std::vector<Message>;

/// Splits `total` elements into `parts` consecutive ranges whose lengths differ by at most one.
[[nodiscard]] std::vector<std::int64_t> split_evenly(std::int64_t total, int parts);

/// Returns the first element of each block.
[[nodiscard]] std::vector<std::int64_t> first_elements(const std::vector<std::int64_t>& blocks);

/// Divides the messages of every round into chunks of at most `chunk` elements (0: not at all), and
/// starts a round with its first chunk while earlier rounds still process later chunks. Messages of
/// different rounds that have common elements must cover the same range.
[[nodiscard]] Messages pipelined(const std::vector<Messages>& rounds, std::int64_t chunk);

}  // namespace parbench
