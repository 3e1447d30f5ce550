// Short names for content of any length, the same on every machine.
#pragma once

#include <string>
#include <string_view>

namespace parbench::report {

/// 32 hexadecimal digits: those of the name-based UUID (RFC 4122, version 5, SHA-1) of the bytes.
[[nodiscard]] std::string content_id(std::string_view bytes);

/// The name as part of a file's path: lower-case letters, digits and hyphens. Different names have
/// different results, on file systems that ignore case as well; a name that
/// is of such characters already stays as it is.
[[nodiscard]] std::string file_slug(std::string_view name);

}  // namespace parbench::report
