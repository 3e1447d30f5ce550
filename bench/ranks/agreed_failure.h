// Failures of one rank that all ranks throw, so that all of them end a case in the same way.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "bench/ranks/payload.h"

namespace parbench {

/// A failure of one of the types that sessions distinguish, or none.
struct AgreedFailure {
  enum class Type : std::uint8_t {
    none,
    error,
    usage,
    unsupported,
    out_of_memory,
    device_lost,
    interrupted,
    out_of_time
  };
  Type type = Type::none;
  std::string text;
  std::string backend = {};  // backend of a lost device
  std::string by = {};       // name of the rank that failed; empty: rank 0

  void fields(Archive& archive) { archive(type, text, backend, by); }
};

/// Returns the type and message of an exception.
[[nodiscard]] AgreedFailure described(const std::exception_ptr& failure);

/// Throws the described exception. Requires a type other than `none`.
[[noreturn]] void throw_failure(const AgreedFailure& failure);

}  // namespace parbench
