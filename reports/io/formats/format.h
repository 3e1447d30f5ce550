// Formats of other programs: what one of them is, and all there are.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reports/model/report.h"

namespace parbench::report {

struct Format {
  std::string_view name;         // as `--format` takes it
  std::string_view description;  // what reads it
  /// The whole file: UTF-8 that ends with a line break. Numbers are finite; a case without a number
  /// is left out or has no figures, as the reader can take it. Throws UsageError when the format
  /// has no room for anything that the report holds.
  std::string (*write)(const Report& report);
};

/// In the order in which help shows them.
[[nodiscard]] std::span<const Format> formats();

[[nodiscard]] std::string csv_text(const Report& report);
[[nodiscard]] std::string csv_of_calls(const Report& report);
[[nodiscard]] std::string prometheus_text(const Report& report);
[[nodiscard]] std::string markdown_text(const Report& report);

}  // namespace parbench::report
