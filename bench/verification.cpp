// Tensor by tensor, in double precision, against the tolerance of the case.
#include "bench/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "kernels/error.h"

namespace parbench {
namespace {

double root_mean_square(const std::vector<float>& values) {
  if (values.empty()) return 0;
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

/// What the comparison of one or more tensors has found.
struct Findings {
  double largest_error = 0;  // over what is allowed
  std::string where;         // of the largest error
  std::size_t values = 0;
  std::optional<std::string> problem;  // the first
};

std::string element(const std::string& name, std::size_t index, float got, float want) {
  return fmt::format("{}[{}] is {}, the reference has {}", name, index, got, want);
}

void compare_tensor(const std::string& name, const std::vector<float>& got,
                    const std::vector<float>& want, const Tolerance& tolerance,
                    Findings& findings) {
  const double scale = root_mean_square(want);
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!std::isfinite(got[i]) || !std::isfinite(want[i])) {
      if (!findings.problem) findings.problem = element(name, i, got[i], want[i]);
      continue;
    }
    const double expected = want[i];
    const double error = std::abs(got[i] - expected);
    const double allowed = tolerance.allowed(expected, scale);
    if (error <= findings.largest_error * allowed) continue;
    findings.largest_error = allowed > 0 ? error / allowed : std::numeric_limits<double>::max();
    worst = i;
  }
  findings.values += want.size();
  if (worst) findings.where = element(name, *worst, got[*worst], want[*worst]);
}

void compare_named(const std::string& name, const std::vector<float>& want, const OutputValues& got,
                   const Tolerance& tolerance, Findings& findings) {
  const auto found = got.find(name);
  std::optional<std::string> problem;
  if (found == got.end()) {
    problem = fmt::format("output {} is missing", name);
  } else if (want.empty()) {
    problem = fmt::format("output {} has no values, so there is nothing to compare", name);
  } else if (found->second.size() != want.size()) {
    problem = fmt::format("output {} has {} values, the reference has {}", name,
                          found->second.size(), want.size());
  } else {
    compare_tensor(name, found->second, want, tolerance, findings);
  }
  if (problem && !findings.problem) findings.problem = problem;
}

}  // namespace

OutputValues read_outputs(Case& subject) {
  OutputValues values;
  for (const Output& output : subject.outputs()) {
    if (values.contains(output.name)) {
      throw Error(fmt::format(
          "two outputs are named '{}', so one of them would not be compared; names must differ",
          output.name));
    }
    values[output.name] = output.read();
  }
  return values;
}

report::Verification compare(const OutputValues& got, const OutputValues& want,
                             const Tolerance& tolerance) {
  Findings findings;
  for (const auto& [name, values] : want) compare_named(name, values, got, tolerance, findings);
  for (const auto& [name, values] : got) {
    if (!want.contains(name) && !findings.problem) {
      findings.problem = fmt::format("output {} is not in the reference", name);
    }
  }
  if (want.empty() && !findings.problem) findings.problem = "the reference has no outputs";
  report::Verification result;
  result.largest_error = findings.largest_error;
  result.passed = !findings.problem && findings.largest_error <= 1;
  if (findings.problem) {
    result.detail = *findings.problem;
  } else if (!result.passed) {
    result.detail =
        fmt::format("{}: {:.3g} times the tolerance", findings.where, findings.largest_error);
  } else {
    result.detail = fmt::format("{} values of {} outputs compared", findings.values, want.size());
  }
  return result;
}

report::Verification with_check(Case& subject, report::Verification comparison) {
  const std::optional<std::string> problem = subject.check();
  const std::string checked = subject.checked();
  if (comparison.against.empty()) {
    if (checked.empty()) {
      return {"nothing", false, 0, "the case has neither a reference nor a check of its own"};
    }
    return {checked, !problem, 0, problem.value_or("no reference case; the check found no error")};
  }
  if (!comparison.passed) return comparison;
  if (problem) {
    comparison.passed = false;
    comparison.detail = *problem;
  } else if (!checked.empty()) {
    comparison.detail += "; also checked: " + checked;
  }
  return comparison;
}

}  // namespace parbench
