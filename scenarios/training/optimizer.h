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

[[nodiscard]] inline bool is_adam(OptimizerKind kind) {
  return kind == OptimizerKind::adam || kind == OptimizerKind::adamw;
}

struct Optimizer {
  OptimizerKind kind = OptimizerKind::sgd;
  float learning_rate = 0.001F;
  /// Maximum norm of the gradients of all stages together. If the norm is larger, all gradients are
  /// scaled down to it. 0: no clipping.
  float max_norm = 0;

  [[nodiscard]] bool clips() const { return max_norm > 0; }
  /// Returns whether a step reads borrowed memory before writing it: the optimiser's state of the
  /// previous step or, for the norm, the padding between gradients.
  [[nodiscard]] bool reads_borrowed_memory() const { return kind != OptimizerKind::sgd || clips(); }
};

/// Returns the factor by which clipping scales gradients, by definition, from the sum of the
/// squares of all gradients; 1 without clipping.
[[nodiscard]] double naive_clip_factor(const Optimizer& optimizer, double sum_of_squares);

/// Result of the first update of a parameter element after a reset, by definition.
struct NaiveUpdate {
  double after = 0;
  double change = 0;  // signed difference; for Adam and AdamW, |decay| + |step|
};
/// `before`: value before the update; `gradient`: gradient of the batch; `factor`: clip factor.
[[nodiscard]] NaiveUpdate naive_update(const Optimizer& optimizer, double before, double gradient,
                                       double factor);

/// Parameters and their gradients: flat f32 regions of equal size on one device.
struct TrainedRegion {
  int device = 0;
  BufferView parameters;
  BufferView gradients;
  /// Bytes of the gradients of copies of other stages' parameters, at the end of `gradients`. The
  /// norm of the region that owns these parameters includes their gradients.
  std::size_t copies = 0;
};

/// Update of a region by a single operation. The constructor borrows the optimiser's state, which
/// the case's reset sets to zero.
class RegionUpdate {
 public:
  RegionUpdate(CaseParts& parts, const Optimizer& optimizer, const TrainedRegion& region);

  /// With clipping: returns calls that write the sum of squares of gradients (by default `counted`)
  /// to `sum`, one f32.
  [[nodiscard]] std::vector<Call> squared_norm(const BufferView& sum) {
    return squared_norm(counted(), sum);
  }
  [[nodiscard]] std::vector<Call> squared_norm(const BufferView& gradients, const BufferView& sum);
  /// With clipping: returns calls that compute the factor from `squared_norms`, {parts} f32, the
  /// sums of squares of all parts of the gradients.
  [[nodiscard]] std::vector<Call> clip(const BufferView& squared_norms, int parts);
  /// Returns the clip factor, one f32; empty without clipping.
  [[nodiscard]] const Tensor& factor() const { return factor_; }

  [[nodiscard]] std::vector<Call> update();

  /// Returns the gradients that this region's norm includes: all except the gradients of copies.
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
