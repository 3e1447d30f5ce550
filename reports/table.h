// The report as text: what stands at the end of a run, and what a later command shows again.
#pragma once

#include <cstddef>
#include <string>

#include "reports/report.h"

namespace parbench::report {

struct TextStyle {
  std::size_t width = 110;  // columns for running text; a table is as wide as its content
  bool color = false;       // bold and dim by ANSI escape sequences
};

/// The machine, then for each scenario its question, a table of its cases, the reasons of cases
/// without a number, and its answer; then how many cases were measured in which time. UTF-8, every
/// line ended by a line break. It depends on nothing but the report, and holds no control
/// characters but line breaks and those of the style, whatever the report says.
[[nodiscard]] std::string to_table(const Report& report, const TextStyle& style = {});

}  // namespace parbench::report
