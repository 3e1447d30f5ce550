// Packs many whole numbers into short text, to keep pages small.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace parbench::report {

/// Consecutive numbers in groups of five bits, the lowest first. A group is a base64 digit whose
/// sixth bit is set if another group follows (the VLQ of source maps, ECMA-426). Shorter than
/// decimal digits with commas, and no character needs escapes in HTML. Read by
/// reports/web/src/timeline/packed.ts.
class PackedNumbers {
 public:
  void add(std::uint64_t number);
  /// Adds a number with its sign as an additional lowest bit. |number| < 2⁶³.
  void add_signed(std::int64_t number);

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace parbench::report
