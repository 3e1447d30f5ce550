// Compares tensor by tensor, with the tolerance of the case.
#include "bench/execution/verification.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "kernels/base/error.h"

namespace parbench {
namespace {

struct Findings {
  double largest_error = 0;  // relative to the tolerance
  std::string where;         // element with the largest error
  std::size_t values = 0;
  std::optional<std::string> problem;  // first problem
};

std::string element(const std::string& name, std::size_t index, float got, float want) {
  return fmt::format("{}[{}] is {}, the reference has {}", name, index, got, want);
}

void compare_tensor(const std::string& name, std::span<const float> got,
                    std::span<const float> want, const Tolerance& tolerance,
                    const Sensitivity& sensitivity, Findings& findings) {
  const Agreement found = agreement(got, want, tolerance, sensitivity, findings.largest_error);
  const auto element_at = [&](std::size_t index) {
    return element(name, index, got[index], want[index]);
  };
  if (found.not_finite && !findings.problem) findings.problem = element_at(*found.not_finite);
  if (found.largest_error > findings.largest_error) {
    findings.largest_error = found.largest_error;
    findings.where = element_at(found.where);
  }
  findings.values += want.size();
}

std::string two_of(const std::string& name) {
  return fmt::format(
      "two outputs are named '{}', so one of them would not be compared; names must differ", name);
}

void compare_output(const Output& output, const OutputValues& reference, const Tolerance& tolerance,
                    const Sensitivities& sensitivities, Findings& findings) {
  const std::vector<float> got = output.read();
  const auto want = reference.find(output.name);
  std::optional<std::string> problem;
  if (want == reference.end()) {
    problem = fmt::format("output {} is not in the reference", output.name);
  } else if (want->second.empty()) {
    problem = fmt::format("output {} has no values, so there is nothing to compare", output.name);
  } else if (got.size() != want->second.size()) {
    problem = fmt::format("output {} has {} values, the reference has {}", output.name, got.size(),
                          want->second.size());
  } else {
    const auto sensitivity = sensitivities.find(output.name);
    compare_tensor(output.name, got, want->second, tolerance,
                   sensitivity == sensitivities.end() ? Sensitivity() : sensitivity->second,
                   findings);
  }
  if (problem && !findings.problem) findings.problem = std::move(problem);
}

}  // namespace

OutputValues read_outputs(Case& subject, OutputValues memory) {
  OutputValues values;
  for (const Output& output : subject.outputs()) {
    if (values.contains(output.name)) throw Error(two_of(output.name));
    std::vector<float> read = output.read();
    std::vector<float>& kept = values[output.name] = std::move(memory[output.name]);
    if (kept.capacity() < read.size()) {
      kept = std::move(read);
    } else {
      kept.assign(read.begin(), read.end());
    }
  }
  return values;
}

std::vector<Output> as_outputs(const OutputValues& values) {
  std::vector<Output> outputs;
  for (const auto& [name, tensor] : values) {
    outputs.push_back({name, [&tensor = tensor] { return tensor; }});
  }
  return outputs;
}

void add_changes(Sensitivities& sensitivities, Case& changed, const OutputValues& values) {
  for (const Output& output : changed.outputs()) {
    const auto found = values.find(output.name);
    if (found == values.end()) continue;
    const std::vector<float> read = output.read();
    if (read.size() != found->second.size()) continue;
    sensitivities[output.name].add(read, found->second);
  }
}

report::Verification compare(const std::vector<Output>& outputs, const OutputValues& want,
                             const Tolerance& tolerance, const Sensitivities& sensitivities) {
  Findings findings;
  std::set<std::string> names;
  for (const Output& output : outputs) {
    const bool first = names.insert(output.name).second;
    if (!first && !findings.problem) findings.problem = two_of(output.name);
    compare_output(output, want, tolerance, sensitivities, findings);
  }
  for (const auto& [name, values] : want) {
    if (!names.contains(name) && !findings.problem) {
      findings.problem = fmt::format("output {} is missing", name);
    }
  }
  if (want.empty() && !findings.problem) findings.problem = "the reference has no outputs";
  report::Verification result;
  result.largest_error = findings.largest_error;
  result.passed = !findings.problem && findings.largest_error <= 1;
  if (findings.problem) {
    result.detail = *findings.problem;
  } else if (!result.passed && tolerance.is_exact()) {
    result.detail = findings.where + "; both must be equal";
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

std::string unverified_text(std::string_view reference, std::string_view reason) {
  return fmt::format("cannot be verified without its reference {}: {}", reference, reason);
}

}  // namespace parbench
