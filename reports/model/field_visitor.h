// What lists of the fields of structs have in common.
#pragma once

#include <concepts>
#include <type_traits>

namespace parbench::report {

/// T, or const T for the writer.
template <class T, class U>
concept MaybeConst = std::same_as<std::remove_const_t<T>, U>;

/// Whether an optional field is left out: no value, an empty container, or zero.
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

// A visitor is called as `visit(name, field)` for what is always there and as
// `visit.optional(name, field)` for what is left out when it is empty.

}  // namespace parbench::report
