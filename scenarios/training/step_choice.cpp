// Optimisers and clipping as parameters of a case.
#include "scenarios/training/step_choice.h"

#include <string>
#include <string_view>
#include <variant>

#include "scenarios/models/model_choice.h"

namespace parbench {
namespace {

constexpr std::string_view default_optimizer = "sgd";

/// 0: gradients are not clipped.
double clip_of(const Parameters& parameters) {
  const Value* clip = parameters.find("clip");
  return clip != nullptr ? std::get<double>(*clip) : 0;
}

}  // namespace

Axis optimizer_axis() {
  return {.name = "optimizer",
          .description = "what updates the parameters: SGD, with momentum 0.9, Adam, or AdamW",
          .kind = AxisKind::choice,
          .quick = {std::string(default_optimizer)},
          .published = {std::string(default_optimizer)},
          .choices = {"sgd", "momentum", "adam", "adamw"}};
}

Axis clip_axis() {
  return {.name = "clip",
          .description = "norm that all gradients together are scaled down to; 0: off",
          .kind = AxisKind::real,
          .quick = {0.0},
          .published = {0.0},
          .min = 0,
          .max = 1e6};
}

void add_optimizer_choice(const Parameters& asked, Parameters& parameters) {
  add_choice(parameters, "optimizer", asked_or(asked, "optimizer", default_optimizer),
             default_optimizer);
}

void add_clip_choice(const Parameters& asked, Parameters& parameters) {
  const double clip = clip_of(asked);
  if (clip > 0) {
    parameters.set("clip", clip);
  } else {
    parameters.imply("clip", clip);
  }
}

Optimizer optimizer_of(const Parameters& parameters) {
  return {.kind = optimizer_named(asked_or(parameters, "optimizer", default_optimizer)),
          .max_norm = static_cast<float>(clip_of(parameters))};
}

}  // namespace parbench
