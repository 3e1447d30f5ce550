// Checks of the first update after a reset, wherever parameters and gradients are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/training/stage.h"

namespace parbench {

/// Returns the message of a failed check, such as "the loss is 2.5, computed naively 2.4".
[[nodiscard]] std::string naive_difference(const std::string& what, double got, double want);

/// Returns the value of a parameter's element after a reset. `index`: in canonical order.
[[nodiscard]] float initial_value(const Stage::TrainedParameter& parameter, std::int64_t index);

/// Parameters at the first update after a reset, wherever they and their gradients are stored.
struct UpdatedParameters {
  struct One {
    Stage::TrainedParameter parameter;               // name and initial values
    std::function<std::vector<float>()> gradient{};  // gradient of the batch
    std::function<std::vector<float>()> after{};
    std::size_t factor = 0;  // index in `clip_factors` of the factor that clips the gradient
  };
  Optimizer optimizer;
  std::vector<Tensor> clip_factors;  // one for each RegionUpdate; empty without clipping
  std::vector<One> all;
};

/// Returns the parameters of `stages`, each of which updates its own parameters.
[[nodiscard]] UpdatedParameters updated_in(CaseData& data, const Stages& stages);

/// Adds a check of sampled values of every parameter after the first update, from its initial value
/// and its gradient. Keeps a reference to the parts.
void add_update_check(CaseParts& parts, UpdatedParameters updated);

/// Adds the clip factor, if there is one, and the gradients as outputs, except gradients of copies.
void add_step_outputs(CaseParts& parts, const UpdatedParameters& updated);

}  // namespace parbench
