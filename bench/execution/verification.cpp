// Tensor by tensor, in double precision, against the tolerance of the case.
#include "bench/execution/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/base/simd.h"

namespace parbench {
namespace {

constexpr std::size_t block_size = 1024;  // elements compared at a time

/// With a sum for each lane, because the order of additions is not the compiler's to change.
PARBENCH_SIMD double sum_of_squares(const float* values, std::size_t count) {
  constexpr std::size_t lanes = 16;
  double sums[lanes] = {};  // NOLINT(modernize-avoid-c-arrays): std::array keeps it from vectors
  const std::size_t whole = count - count % lanes;
  for (std::size_t i = 0; i < whole; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double value = values[i + lane];
      sums[lane] += value * value;
    }
  }
  double sum = 0;
  for (const double lane : sums) sum += lane;
  for (std::size_t i = whole; i < count; ++i) sum += static_cast<double>(values[i]) * values[i];
  return sum;
}

double root_mean_square(const std::vector<float>& values) {
  if (values.empty()) return 0;
  return std::sqrt(sum_of_squares(values.data(), values.size()) /
                   static_cast<double>(values.size()));
}

/// How far an element may be off.
struct Allowance {
  Tolerance tolerance;
  double scale = 0;  // of the tensor; not finite when an element is not
};

/// Whether an element is further off than `worst` times its allowance (Tolerance::allowed, spelled
/// out without branches), or is no number. All elements of the reference are finite.
PARBENCH_SIMD bool any_beyond(const float* got, const float* want, std::size_t count,
                              Allowance allowance, double worst) {
  int beyond = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double expected = want[i];
    const double error = std::abs(got[i] - expected);
    const double size = std::abs(expected);
    const double allowed =
        allowance.tolerance.absolute +
        allowance.tolerance.relative * (size > allowance.scale ? size : allowance.scale);
    beyond |= error <= worst * allowed ? 0 : 1;
  }
  return beyond != 0;
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

/// Element by element, from `first` on.
void compare_block(const std::string& name, std::span<const float> got, std::span<const float> want,
                   std::size_t first, const Allowance& allowance, Findings& findings) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!std::isfinite(got[i]) || !std::isfinite(want[i])) {
      if (!findings.problem) findings.problem = element(name, first + i, got[i], want[i]);
      continue;
    }
    const double expected = want[i];
    const double error = std::abs(got[i] - expected);
    const double allowed = allowance.tolerance.allowed(expected, allowance.scale);
    if (error <= findings.largest_error * allowed) continue;
    findings.largest_error = allowed > 0 ? error / allowed : std::numeric_limits<double>::max();
    findings.where = element(name, first + i, got[i], want[i]);
  }
}

bool is_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

/// By the norm of the error.
void compare_norms(const std::string& name, std::span<const float> got,
                   const std::vector<float>& want, const Tolerance& tolerance, Findings& findings) {
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double expected = want[i];
    error += (got[i] - expected) * (got[i] - expected);
    size += expected * expected;
  }
  const double allowed = tolerance.of_norm * std::sqrt(size) +
                         tolerance.absolute * std::sqrt(static_cast<double>(want.size()));
  findings.values += want.size();
  if (std::sqrt(error) <= findings.largest_error * allowed) return;
  findings.largest_error =
      allowed > 0 ? std::sqrt(error) / allowed : std::numeric_limits<double>::max();
  findings.where = fmt::format("the error of {} has a norm of {:.3g}, the reference one of {:.3g}",
                               name, std::sqrt(error), std::sqrt(size));
}

/// Most blocks hold no error larger than the largest so far, which needs no test of each
/// element.
void compare_tensor(const std::string& name, std::span<const float> got,
                    const std::vector<float>& want, const Tolerance& tolerance,
                    Findings& findings) {
  const bool is_tensor = want.size() > 1;  // a loss is compared as a value
  if (tolerance.of_norm > 0 && is_tensor && is_finite(got) && is_finite(want)) {
    return compare_norms(name, got, want, tolerance, findings);
  }
  const Allowance allowance{tolerance, root_mean_square(want)};
  const bool finite = std::isfinite(allowance.scale);
  for (std::size_t first = 0; first < want.size(); first += block_size) {
    const std::size_t count = std::min(block_size, want.size() - first);
    if (finite && !any_beyond(&got[first], &want[first], count, allowance, findings.largest_error))
      continue;
    compare_block(name, got.subspan(first, count), std::span(want).subspan(first, count), first,
                  allowance, findings);
  }
  findings.values += want.size();
}

std::string two_of(const std::string& name) {
  return fmt::format(
      "two outputs are named '{}', so one of them would not be compared; names must differ", name);
}

void compare_output(const Output& output, const OutputValues& reference, const Tolerance& tolerance,
                    Findings& findings) {
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
    compare_tensor(output.name, got, want->second, tolerance, findings);
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

report::Verification compare(const std::vector<Output>& outputs, const OutputValues& want,
                             const Tolerance& tolerance) {
  Findings findings;
  std::set<std::string> names;
  for (const Output& output : outputs) {
    const bool first = names.insert(output.name).second;
    if (!first && !findings.problem) findings.problem = two_of(output.name);
    compare_output(output, want, tolerance, findings);
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
  return fmt::format("cannot be verified, its reference {}: {}", reference, reason);
}

}  // namespace parbench
