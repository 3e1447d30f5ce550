// Prepares and verifies the cases of a session, one after the other, before any are timed.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/execution/plan_runner.h"
#include "bench/execution/verification.h"
#include "reports/model/report.h"
#include "scenarios/framework/context.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Thrown between the parts of a preparation if the session has no time left.
struct OutOfTime : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "out of time"; }
};

/// A case that is ready to be sampled: its verification run was its first warm-up.
struct PreparedCase {
  std::unique_ptr<Case> subject;
  std::unique_ptr<PlanRunner> runner;
  double execution_seconds = 0;
  double warm_up_seconds = 0;       // wall time of the verification run
  double verification_seconds = 0;  // wall time of the reference's execution and of comparisons
  report::Verification verification;
};

/// Prepares cases. Outputs of a reference are computed once and kept only while further cases need
/// them. A reference that is a case of the sweep provides its outputs when it is verified.
class Preparation {
 public:
  Preparation(const Scenario& scenario, Context& context, const std::vector<CaseSpec>& specs,
              MakePlanRunner make_runner, std::function<double()> now,
              std::function<void()> check_end);

  /// Returns the indices of the specs in the order of preparation: cases with the same reference
  /// together; the reference first, unless `sort_by` moves it.
  [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }

  /// Sorts cases with the same reference by a key, and these groups by their lowest key.
  void sort_by(const std::function<int(std::size_t)>& key);

  /// Sorts groups of cases with the same reference by the key of their first case.
  void sort_groups_by(const std::function<std::size_t(std::size_t)>& key);

  /// Prepares, runs and verifies one case; `verification` reports a wrong result. Throws exceptions
  /// of preparing and running, and those of `check_end` between these parts (Interrupted or
  /// OutOfTime). If a reference failed, every case that needs it ends in the same way, skipped or
  /// failed, with an exception that names the reference.
  [[nodiscard]] PreparedCase prepare(std::size_t index);

  /// Marks a case as done, whether prepared or not: its reference may be released.
  void release_reference(std::size_t index);

 private:
  void find_groups();
  void find_order();
  void run_once(const CaseSpec& spec);
  [[nodiscard]] bool compares(std::size_t index, const std::vector<Output>& outputs) const;
  [[nodiscard]] report::Verification verify(std::size_t index);
  [[nodiscard]] bool may_be_rounding(std::size_t index,
                                     const report::Verification& comparison) const;
  void measure_sensitivity(const CaseSpec& reference);
  void throw_away(const std::string& reference, const std::string& reason);
  [[nodiscard]] OutputValues run_reference(const CaseSpec& reference);
  [[nodiscard]] const OutputValues& reference_outputs(const CaseSpec& reference);
  [[nodiscard]] std::optional<std::string> reference_name(std::size_t index) const;

  const Scenario& scenario_;
  Context& context_;
  const std::vector<CaseSpec>& specs_;
  MakePlanRunner make_runner_;
  std::function<double()> now_;
  std::function<void()> check_end_;
  std::vector<std::vector<std::size_t>> groups_;  // specs with the same reference
  std::vector<std::size_t> order_;
  std::vector<std::optional<CaseSpec>> references_;  // by spec; empty: the case has none
  std::map<std::string, int> uses_left_;             // number of cases that still need a reference
  std::map<std::string, OutputValues> outputs_;      // outputs of references that are still needed
  /// Effect of roundings on the outputs of a reference, and the number of runs that measured it.
  struct MeasuredSensitivity {
    Sensitivities outputs;
    int runs = 0;
  };
  std::map<std::string, MeasuredSensitivity> sensitivities_;
  std::map<std::string, std::exception_ptr> failures_;  // failed references, by name
  OutputValues spare_;  // memory for the next outputs: new pages are slow
  /// The case being prepared. It is a member, because after TimedOut a stream still uses it and
  /// unwinding would free it.
  std::optional<PreparedCase> current_;
};

}  // namespace parbench
