// Many whole numbers as short text, for a page that is to stay small.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace parbench::report {

/// Numbers one after the other, each in groups of five bits, the lowest first; a group is a digit
/// of base64, whose sixth bit says that another one follows (the VLQ of source maps, ECMA-426).
/// Half the length of decimal digits with commas, and none of the characters is escaped in HTML.
/// reports/web/src/timeline/packed.ts reads it.
class PackedNumbers {
 public:
  void add(std::uint64_t number);
  /// The sign is the lowest bit. |number| < 2⁶³.
  void add_signed(std::int64_t number);

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace parbench::report
