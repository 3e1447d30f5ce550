// Optimisers as operations on one flat region, and their definition.
#include "scenarios/training/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace parbench {
namespace {

constexpr float usual_momentum = 0.9F;
// Defaults of torch.optim.Adam and AdamW.
constexpr Adam usual_adam{};
constexpr float adamw_decay = 0.01F;

std::int64_t floats_in(const BufferView& view) {
  return static_cast<std::int64_t>(view.bytes / sizeof(float));
}

float decay_of(OptimizerKind kind) { return kind == OptimizerKind::adamw ? adamw_decay : 0.0F; }

}  // namespace

OptimizerKind optimizer_named(std::string_view name) {
  if (name == "sgd") return OptimizerKind::sgd;
  if (name == "momentum") return OptimizerKind::momentum;
  if (name == "adam") return OptimizerKind::adam;
  if (name == "adamw") return OptimizerKind::adamw;
  throw std::invalid_argument(fmt::format("unknown optimiser '{}'", name));
}

double naive_clip_factor(const Optimizer& optimizer, double sum_of_squares) {
  constexpr double epsilon = 1e-6;  // constant of torch.nn.utils.clip_grad_norm_
  if (!optimizer.clips()) return 1;
  return std::min(1.0, double{optimizer.max_norm} / (std::sqrt(sum_of_squares) + epsilon));
}

NaiveUpdate naive_update(const Optimizer& optimizer, double before, double gradient,
                         double factor) {
  const double rate = optimizer.learning_rate;
  const double direction = factor * gradient;
  if (!is_adam(optimizer.kind)) {
    const double change = rate * direction;  // the velocity is initially zero
    return {before - change, change};
  }
  // Both moments are initially zero: after bias correction they are the gradient and its square.
  const double decay = rate * double{decay_of(optimizer.kind)} * before;
  const double step = rate * direction / (std::abs(direction) + double{usual_adam.epsilon});
  return {before - decay - step, std::abs(decay) + std::abs(step)};
}

RegionUpdate::RegionUpdate(CaseParts& parts, const Optimizer& optimizer,
                           const TrainedRegion& region)
    : parts_(parts),
      stream_(parts.context.stream(region.device, StreamKind::compute)),
      optimizer_(optimizer),
      region_(region) {
  const std::size_t bytes = region_.parameters.bytes;
  switch (optimizer_.kind) {
    case OptimizerKind::sgd:
      break;
    case OptimizerKind::momentum:
      state_ = {{"velocity", zeroed_state(bytes)}};
      break;
    case OptimizerKind::adam:
    case OptimizerKind::adamw:
      state_ = {{"first_moment", zeroed_state(bytes)},
                {"second_moment", zeroed_state(bytes)},
                {"steps", zeroed_state(sizeof(std::uint64_t))}};
      break;
  }
  if (!optimizer_.clips()) return;
  factor_ = parts_.data.tensor(region_.device, canonical({1}));
  parts_.data.poison(factor_);
}

BufferView RegionUpdate::zeroed_state(std::size_t bytes) {
  const auto count = static_cast<std::int64_t>(bytes / sizeof(float));
  const Tensor state = parts_.data.tensor(region_.device, canonical({count}));
  parts_.data.zero(state);
  return state.view;
}

std::vector<Call> RegionUpdate::squared_norm(const BufferView& gradients, const BufferView& sum) {
  Op& op = parts_.ops.prepare(stream_, SquaredNorm{.count = floats_in(gradients)});
  return {bind(op, {{"source", gradients}, {"sum", sum}})};
}

std::vector<Call> RegionUpdate::clip(const BufferView& squared_norms, int parts) {
  Op& op = parts_.ops.prepare(stream_, ClipFactor{.max_norm = optimizer_.max_norm, .parts = parts});
  return {bind(op, {{"squared_norms", squared_norms}, {"factor", factor_.view}})};
}

OpCall RegionUpdate::descend(Op& op) {
  std::vector<Binding> bindings = {{"parameters", region_.parameters},
                                   {"gradients", region_.gradients}};
  bindings.insert(bindings.end(), state_.begin(), state_.end());
  if (optimizer_.clips()) bindings.push_back({"factor", factor_.view});
  return parbench::bind(op, bindings);
}

std::vector<Call> RegionUpdate::update() {
  const std::int64_t count = floats_in(region_.parameters);
  if (!is_adam(optimizer_.kind)) {
    const bool has_velocity = optimizer_.kind == OptimizerKind::momentum;
    return {
        descend(parts_.ops.prepare(stream_, Sgd{.count = count,
                                                .learning_rate = optimizer_.learning_rate,
                                                .momentum = has_velocity ? usual_momentum : 0.0F,
                                                .clipped = optimizer_.clips()}))};
  }
  Adam adam = usual_adam;
  adam.count = count;
  adam.learning_rate = optimizer_.learning_rate;
  adam.weight_decay = decay_of(optimizer_.kind);
  adam.decoupled = optimizer_.kind == OptimizerKind::adamw;
  adam.clipped = optimizer_.clips();
  return {descend(parts_.ops.prepare(stream_, adam))};
}

}  // namespace parbench
