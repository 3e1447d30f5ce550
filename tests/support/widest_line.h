// How wide text is on a terminal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>

#include "reports/text/text.h"

namespace parbench::test {

/// Returns the columns that the widest line takes.
[[nodiscard]] inline std::size_t widest_line(const std::string& text) {
  std::size_t width = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    width = std::max(width, report::display_width(line));
  }
  return width;
}

}  // namespace parbench::test
