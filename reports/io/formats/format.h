// The output formats for other programs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reports/model/report.h"

namespace parbench::report {

struct Format {
  std::string_view name;         // value of `--format`
  std::string_view description;  // contents, and programs that read them
  /// Returns the whole file: UTF-8 text that ends with a line break. Numbers are finite. A case
  /// without a number is left out or has no figures, whichever the reader accepts. Throws
  /// UsageError if the format can represent no part of the report.
  std::string (*write)(const Report& report);
};

/// Returns the formats in the order of the help text.
[[nodiscard]] std::span<const Format> formats();

[[nodiscard]] std::string csv_text(const Report& report);
[[nodiscard]] std::string csv_of_calls(const Report& report);
[[nodiscard]] std::string prometheus_text(const Report& report);
[[nodiscard]] std::string markdown_text(const Report& report);

}  // namespace parbench::report
