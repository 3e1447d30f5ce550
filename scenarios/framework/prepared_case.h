// A case put together from parts, so that scenarios build plans and need no Case class of their
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

/// What is wrong, or nothing.
using CheckResult = std::optional<std::string>;

/// A check beside the comparison with the reference.
struct Check {
  std::string what;  // for Case::checked: "executed tasks counted"
  std::function<CheckResult()> run = nullptr;
};

/// What a scenario fills in. Functions in it may refer to the parts by address.
struct CaseParts {
  explicit CaseParts(Context& with) : context(with), data(with), plan(with.ranks()) {}
  virtual ~CaseParts() = default;  // scenarios add parts of their own

  Context& context;
  OpSet ops;
  CaseData data;
  Plan plan;
  std::vector<Output> outputs;
  std::vector<Check> checks;
  Tolerance tolerance;
  Amount amount;
  std::vector<std::pair<std::string, std::string>> notes;
  /// Whether borrowed memory holds anything that a run reads before it writes it, so that timing
  /// samples need it filled again after another case has run.
  bool reads_borrowed_memory = true;
};

/// Ends the preparation of the data and makes the case.
[[nodiscard]] std::unique_ptr<Case> make_case(std::unique_ptr<CaseParts> parts);

/// Adds a lane on a stream of the context, named "<device>/<kind>", with its share when there are
/// several.
[[nodiscard]] LaneId add_lane(CaseParts& parts, int device, StreamKind kind, int index = 0,
                              int sharers = 1);

/// The stream behind a lane of the plan.
[[nodiscard]] Stream& stream_of(const CaseParts& parts, LaneId lane);

/// Tolerance of a comparison between two computations with these numbers.
[[nodiscard]] Tolerance tolerance_of(NumberFormat format);

/// The relative change of parameters that stands for the errors of all roundings in front of a
/// value: larger than these, so that every value that may come out on either side of zero does.
[[nodiscard]] double perturbation_of(NumberFormat format);

}  // namespace parbench
