// Compares stages element by element.
#include "scenarios/training/checks/replica_checks.h"

#include <fmt/format.h>

#include <vector>

namespace parbench {
namespace {

std::optional<std::string> difference(CaseData& data, const std::string& what, const Tensor& first,
                                      const Tensor& other) {
  const std::vector<float> want = data.read(first);
  const std::vector<float> got = data.read(other);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (got[i] == want[i]) continue;  // false for NaN
    return fmt::format("{}[{}] is {:.9g} on device {} and {:.9g} on device {}", what, i, got[i],
                       other.device, want[i], first.device);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> unequal_parameters(CaseData& data, const Stage& first,
                                              const Stage& other, bool with_gradients) {
  const std::vector<Stage::TrainedParameter> ours = first.parameters();
  const std::vector<Stage::TrainedParameter> theirs = other.parameters();
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const std::string& name = ours[i].spec.name;
    auto unequal = difference(data, name, ours[i].master, theirs[i].master);
    if (!unequal && with_gradients) {
      unequal = difference(data, gradient_output(name), ours[i].gradient, theirs[i].gradient);
    }
    if (unequal) return unequal;
  }
  return std::nullopt;
}

}  // namespace parbench
