// Short names for content of any length, equal on all machines.
#pragma once

#include <string>
#include <string_view>

namespace parbench::report {

/// Returns 32 hexadecimal digits: the name-based UUID (RFC 4122, version 5, SHA-1) of the bytes.
[[nodiscard]] std::string content_id(std::string_view bytes);

/// Returns the name as a path component of lower-case letters, digits, hyphens and at most one
/// underscore. Different names give different results, also on file systems that ignore case. A
/// name of 1 to 40 lower-case letters, digits and hyphens is returned unchanged.
[[nodiscard]] std::string file_slug(std::string_view name);

}  // namespace parbench::report
