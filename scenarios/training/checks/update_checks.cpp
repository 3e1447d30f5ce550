// Computes expected parameters from initial values and gradients.
#include "scenarios/training/checks/update_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "kernels/base/random.h"
#include "scenarios/framework/checks/spot_check.h"

namespace parbench {
namespace {

constexpr int update_positions = 4;  // random positions checked per parameter

/// Returns the number that a Fill writes at this index.
float drawn(const Fill& fill, std::int64_t index) {
  constexpr std::int64_t block = 4;  // numbers that the generator draws at a time
  if (fill.distribution == Distribution::constant) return fill.low;
  const auto generate =
      fill.distribution == Distribution::normal ? generate_normal : generate_uniform;
  std::array<float, block> values{};
  generate(values, static_cast<std::uint64_t>(index / block * block), {fill.seed, fill.subsequence},
           fill.low, fill.high);
  return values.at(static_cast<std::size_t>(index % block));
}

/// Returns spread positions and the position of the largest gradient. At other positions, an update
/// with a small learning rate may be below the resolution of f32.
std::vector<std::int64_t> checked_indices(const std::vector<float>& gradient) {
  std::vector<std::int64_t> indices;
  const auto count = static_cast<std::int64_t>(gradient.size());
  for (const Shape& position : spot_positions({count}, update_positions)) {
    indices.push_back(position.front());
  }
  const auto largest =
      std::ranges::max_element(gradient, {}, [](float value) { return std::abs(value); });
  indices.push_back(largest - gradient.begin());
  return indices;
}

/// Numbers of f32 roundings of an update, at the magnitude of the new value (`result`) and at that
/// of the change.
struct Roundings {
  double result = 1;
  double change = 1;
};

Roundings roundings_of(const Optimizer& optimizer) {
  Roundings roundings;
  // Adam: both moments and their weights, a root, a quotient. AdamW: also the decay.
  if (is_adam(optimizer.kind)) roundings.change = 12;
  if (optimizer.kind == OptimizerKind::adamw) roundings.result = 2;
  if (optimizer.clips()) ++roundings.change;
  return roundings;
}

struct UpdatedValues {
  std::vector<float> gradient;
  std::vector<float> after;
};

CheckResult check_update(const Stage::TrainedParameter& parameter, const UpdatedValues& values,
                         const Optimizer& optimizer, double factor) {
  const auto& [gradient, after] = values;
  for (const std::int64_t index : checked_indices(gradient)) {
    const auto i = static_cast<std::size_t>(index);
    const auto [want, change] =
        naive_update(optimizer, initial_value(parameter, index), gradient[i], factor);
    const Roundings roundings = roundings_of(optimizer);
    const double allowed =
        0x1p-23 * (roundings.result * std::abs(want) + roundings.change * std::abs(change));
    if (std::abs(after[i] - want) <= allowed) continue;  // false for NaN
    return naive_difference(fmt::format("{}[{}] after the update", parameter.spec.name, index),
                            after[i], want);
  }
  return std::nullopt;
}

/// Checks that every computed clip factor equals `want`, the factor for the norm of all gradients.
CheckResult check_factors(CaseData& data, const std::vector<Tensor>& factors, double want) {
  constexpr double allowed = 1e-5;  // the norms are sums in f32
  for (const Tensor& factor : factors) {
    const float got = data.read(factor).front();
    if (std::abs(got - want) <= allowed * want) continue;  // false for NaN
    return naive_difference(fmt::format("the clip factor on device {}", factor.device), got, want);
  }
  return std::nullopt;
}

/// Checks that two stages that share a parameter have equal gradients of it.
CheckResult check_copies(const std::vector<UpdatedParameters::One>& all) {
  std::map<std::string, const UpdatedParameters::One*> owned;
  for (const UpdatedParameters::One& one : all) {
    if (!one.parameter.is_copy) owned[one.parameter.spec.name] = &one;
  }
  for (const UpdatedParameters::One& one : all) {
    const std::string& name = one.parameter.spec.name;
    if (!one.parameter.is_copy || one.gradient() == owned.at(name)->gradient()) continue;
    return fmt::format("the gradient of {} differs between the stages that share it", name);
  }
  return std::nullopt;
}

/// Checks the clip factors, the gradients of copies, and the updated parameters. The expected
/// values depend on the clip factor as computed by the device that updates them.
CheckResult check_updates(CaseData& data, const UpdatedParameters& updated,
                          const std::vector<Output>& outputs) {
  std::vector<double> factors;
  if (updated.optimizer.clips()) {
    const double want = naive_clip_factor(updated.optimizer, sum_of_squared_gradients(outputs));
    if (auto wrong = check_factors(data, updated.clip_factors, want)) return wrong;
    for (const Tensor& one : updated.clip_factors) factors.push_back(data.read(one).front());
  }
  if (auto wrong = check_copies(updated.all)) return wrong;
  for (const UpdatedParameters::One& one : updated.all) {
    const UpdatedValues values{one.gradient(), one.after()};
    const double factor = factors.empty() ? 1 : factors.at(one.factor);
    if (auto wrong = check_update(one.parameter, values, updated.optimizer, factor)) return wrong;
  }
  return std::nullopt;
}

}  // namespace

std::string naive_difference(const std::string& what, double got, double want) {
  return fmt::format("{} is {:.9g}, computed naively {:.9g}", what, got, want);
}

float initial_value(const Stage::TrainedParameter& parameter, std::int64_t index) {
  if (parameter.stored) return parameter.stored->at(static_cast<std::size_t>(index));
  return drawn(parameter.initial, index);
}

UpdatedParameters updated_in(CaseData& data, const Stages& stages) {
  UpdatedParameters updated{
      .optimizer = stages.front()->optimizer(), .clip_factors = {}, .all = {}};
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (updated.optimizer.clips()) updated.clip_factors.push_back(stages[i]->update().factor());
    for (const Stage::TrainedParameter& one : stages[i]->parameters()) {
      updated.all.push_back(
          {.parameter = one,
           .gradient = [&data, gradient = one.gradient] { return data.read(gradient); },
           .after = [&data, master = one.master] { return data.read(master); },
           .factor = i});
    }
  }
  return updated;
}

void add_update_check(CaseParts& parts, UpdatedParameters updated) {
  parts.checks.push_back(
      {"sampled parameters after the update",
       [&data = parts.data, &outputs = parts.outputs, updated = std::move(updated)] {
         return check_updates(data, updated, outputs);
       }});
}

void add_step_outputs(CaseParts& parts, const UpdatedParameters& updated) {
  if (!updated.clip_factors.empty()) {
    parts.outputs.push_back(
        {clip_factor_output, [&data = parts.data, factor = updated.clip_factors.front()] {
           return data.read(factor);
         }});
  }
  for (const UpdatedParameters::One& one : updated.all) {
    if (one.parameter.is_copy) continue;
    parts.outputs.push_back({gradient_output(one.parameter.spec.name), one.gradient});
  }
}

}  // namespace parbench
