// Which code makes the pages.
#pragma once

#include <string_view>

namespace parbench::report {

/// Hexadecimal digits that differ when any source of reports/ does: what an earlier program made of
/// a report may not be what this one makes of it.
[[nodiscard]] std::string_view sources_id();

}  // namespace parbench::report
