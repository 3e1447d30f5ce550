// Common parts of the lists of struct fields.
#pragma once

#include <concepts>
#include <type_traits>

namespace parbench::report {

/// T is U (to read a report into its fields) or const U (to write them).
template <class T, class U>
concept MaybeConst = std::same_as<std::remove_const_t<T>, U>;

/// Returns whether an optional field is left out: no value, an empty container, or zero.
template <class T>
bool is_absent(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return value == T{};
  } else if constexpr (requires { value.has_value(); }) {
    return !value.has_value();
  } else {
    return value.empty();
  }
}

// A visitor is called as `visit(name, field)` for required fields and as `visit.optional(name,
// field)` for fields that are left out if absent (`is_absent`).

}  // namespace parbench::report
