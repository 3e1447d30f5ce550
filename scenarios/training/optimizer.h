// Optimisers: their choice, and memory and calls for the parameters of one stage.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "scenarios/framework/prepared_case.h"

namespace parbench {

enum class OptimizerKind { sgd, momentum, adam, adamw };

/// Throws std::invalid_argument for a name other than sgd, momentum, adam and adamw.
[[nodiscard]] OptimizerKind optimizer_named(std::string_view name);

/// Returns whether it is Adam or AdamW.
[[nodiscard]] inline bool is_adam(OptimizerKind kind) {
  return kind == OptimizerKind::adam || kind == OptimizerKind::adamw;
}

struct Optimizer {
  OptimizerKind kind = OptimizerKind::sgd;
  float learning_rate = 0.001F;
  /// Maximum norm of the gradients of all stages together, to which they are scaled down; 0: no
  /// clipping.
  float max_norm = 0;

  [[nodiscard]] bool clips() const { return max_norm > 0; }
  /// Returns whether a step reads borrowed memory other than the gradients of parameters: the
  /// optimiser's state of the previous step or, for the norm, the padding between gradients.
  [[nodiscard]] bool reads_borrowed_memory() const { return kind != OptimizerKind::sgd || clips(); }
};

/// Returns the factor of all gradients by definition, from the sum of their squares; 1 without
/// clipping.
[[nodiscard]] double naive_clip_factor(const Optimizer& optimizer, double sum_of_squares);

/// Change of a parameter in the first step after a reset, by definition.
struct NaiveUpdate {
  double after = 0;
  double change = 0;
};
/// `gradient`: gradient of the batch; `factor`: clip factor.
[[nodiscard]] NaiveUpdate naive_update(const Optimizer& optimizer, double before, double gradient,
                                       double factor);

/// Parameters and their gradients: flat f32 regions of equal size on one device.
struct TrainedRegion {
  int device = 0;
  BufferView parameters;
  BufferView gradients;
  std::size_t copies = 0;  // bytes at the end that another region's norm includes
};

/// Borrows the optimiser's state for a region, which the case's reset sets to zero, and plans a
/// single operation for the whole region.
class RegionUpdate {
 public:
  RegionUpdate(CaseParts& parts, const Optimizer& optimizer, const TrainedRegion& region);

  // With clipping, return calls for: the region's part of the squared norm, that of a run of its
  // gradients, and the factor from all parts, {parts} f32.
  [[nodiscard]] std::vector<Call> squared_norm(const BufferView& sum) {
    return squared_norm(counted(), sum);
  }
  [[nodiscard]] std::vector<Call> squared_norm(const BufferView& gradients, const BufferView& sum);
  [[nodiscard]] std::vector<Call> clip(const BufferView& squared_norms, int parts);
  /// Returns one f32; empty without clipping.
  [[nodiscard]] const Tensor& factor() const { return factor_; }

  [[nodiscard]] std::vector<Call> update();

  /// Returns the gradients that this region's norm includes.
  [[nodiscard]] BufferView counted() const {
    return region_.gradients.part(0, region_.gradients.bytes - region_.copies);
  }

 private:
  [[nodiscard]] BufferView zeroed_state(std::size_t bytes);
  [[nodiscard]] OpCall descend(Op& op);

  CaseParts& parts_;
  Stream& stream_;
  Optimizer optimizer_;
  TrainedRegion region_;
  Tensor factor_;
  std::vector<Binding> state_;
};

}  // namespace parbench
