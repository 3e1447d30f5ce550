// Failures of one rank that all ranks throw, so that all of them end a case in the same way.
#pragma once

#include <exception>
#include <string>

namespace parbench {

/// Returns a failure as text for other ranks: of which type it is, and what it says.
[[nodiscard]] std::string encoded_failure(const std::exception_ptr& failure);

/// Throws the failure again. `by`: the rank, which the message then begins with; empty: this one.
[[noreturn]] void throw_failure(const std::string& encoded, const std::string& by);

/// What a failure says.
[[nodiscard]] std::string text_of_failure(const std::exception_ptr& failure);

}  // namespace parbench
