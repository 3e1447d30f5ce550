// A case assembled from parts, so that scenarios only build plans and need no Case class of their
// own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/framework/case_data.h"
#include "scenarios/framework/op_set.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// An error message, or nothing.
using CheckResult = std::optional<std::string>;

/// A check in addition to the comparison with the reference.
struct Check {
  std::string what;  // description for Case::checked: "executed tasks counted"
  std::function<CheckResult()> run = nullptr;
};

/// Parts of a case, which a scenario fills in. They are never moved, so functions in them may keep
/// references to them.
struct CaseParts {
  explicit CaseParts(Context& with) : context(with), data(with), plan(with.ranks()) {}
  virtual ~CaseParts() = default;  // scenarios derive parts with further members

  Context& context;
  OpSet ops;
  CaseData data;
  Plan plan;
  std::vector<Output> outputs;
  std::vector<Check> checks;
  Tolerance tolerance;
  Amount amount;
  std::vector<std::pair<std::string, std::string>> notes;
  /// Whether a run reads borrowed memory before writing it. If so, the memory must be filled again
  /// before timing samples after another case has run.
  bool reads_borrowed_memory = true;
};

/// Ends the preparation of the data and makes the case.
[[nodiscard]] std::unique_ptr<Case> make_case(std::unique_ptr<CaseParts> parts);

/// Adds a lane on a stream of the context, named "<device>/<kind>", with the index of its share if
/// there are several.
[[nodiscard]] LaneId add_lane(CaseParts& parts, int device, StreamKind kind, int index = 0,
                              int sharers = 1);

[[nodiscard]] Stream& stream_of(const CaseParts& parts, LaneId lane);

/// Returns the tolerance for comparing two computations in this format.
[[nodiscard]] Tolerance tolerance_of(NumberFormat format);

/// Returns the relative change of parameters that imitates the errors of all roundings before a
/// value. The change is larger than these errors, to reach every value whose sign roundings may
/// change.
[[nodiscard]] double perturbation_of(NumberFormat format);

}  // namespace parbench
