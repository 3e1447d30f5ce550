// Prepares and verifies the cases of a session, one after the other, before anything is timed.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/plan_runner.h"
#include "bench/verification.h"
#include "reports/report.h"
#include "scenarios/context.h"
#include "scenarios/scenario.h"

namespace parbench {

/// A case that is ready to be sampled: its verification run was its first warm-up.
struct PreparedCase {
  std::unique_ptr<Case> subject;
  std::unique_ptr<PlanRunner> runner;
  double execution_seconds = 0;
  double warm_up_seconds = 0;  // wall time of the verification run
  report::Verification verification;
};

/// Outputs of a reference are computed once and kept only while cases still to be prepared need
/// them. A reference that is itself a case of the sweep gives its outputs at its own verification.
class Preparation {
 public:
  Preparation(const Scenario& scenario, Context& context, const std::vector<CaseSpec>& specs,
              MakePlanRunner make_runner, std::function<double()> now);

  /// Indices of the specs in the order in which they are to be prepared: those with the same
  /// reference together, the reference itself first.
  [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }

  /// Prepares, runs and verifies one case; a result that is wrong is told by `verification`.
  /// Throws what preparing, running or the reference threw.
  [[nodiscard]] PreparedCase prepare(std::size_t index);

  /// Tells that a case has been dealt with, prepared or not: its reference may be forgotten.
  void release_reference(std::size_t index);

 private:
  void find_order();
  [[nodiscard]] PreparedCase run_once(const CaseSpec& spec);
  [[nodiscard]] PreparedCase run_and_verify(std::size_t index);
  [[nodiscard]] OutputValues run_reference(const CaseSpec& reference);
  [[nodiscard]] const OutputValues& reference_outputs(const CaseSpec& reference);
  [[nodiscard]] std::optional<std::string> reference_name(std::size_t index) const;

  const Scenario& scenario_;
  Context& context_;
  const std::vector<CaseSpec>& specs_;
  MakePlanRunner make_runner_;
  std::function<double()> now_;
  std::vector<std::size_t> order_;
  std::vector<std::optional<CaseSpec>> references_;  // of each spec; none: verified by its check
  std::map<std::string, int> uses_left_;             // of each reference
  std::map<std::string, OutputValues> outputs_;      // of references that are still needed
  std::map<std::string, std::string> failures_;      // why a reference could not be computed
};

}  // namespace parbench
