// The parameters of a table's cases: which of them tell the rows apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/report.h"

namespace parbench::report {

using Cases = std::vector<const Case*>;

/// One parameter over the cases of a table; nothing where it does not apply.
struct ParameterColumn {
  std::string name;
  std::vector<std::optional<std::string>> values;
  /// The value of all cases of every strategy that has the parameter: it tells no rows apart that
  /// the strategy does not. Nothing where values differ.
  std::optional<std::string> common = {};
  /// To which strategies a common value applies: "pipeline", "all but single"; empty: to all.
  std::string applies_to = {};
};

/// In the order in which the cases name them, dtype first.
[[nodiscard]] std::vector<ParameterColumn> parameter_columns(const Cases& cases);

}  // namespace parbench::report
