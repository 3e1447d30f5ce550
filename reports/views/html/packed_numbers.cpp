// Converts numbers to base64 digits.
#include "reports/views/html/packed_numbers.h"

#include <string_view>

namespace parbench::report {
namespace {

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr unsigned group_bits = 5;
constexpr std::uint64_t follows = 1U << group_bits;

}  // namespace

void PackedNumbers::add(std::uint64_t number) {
  for (; number >= follows; number >>= group_bits) {
    text_ += digits[number % follows + follows];
  }
  text_ += digits[number];
}

void PackedNumbers::add_signed(std::int64_t number) {
  const bool negative = number < 0;
  const auto size = static_cast<std::uint64_t>(negative ? -number : number);
  add(size * 2 + (negative ? 1 : 0));
}

}  // namespace parbench::report
