// Layers of one operation: their passes follow from its operands.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "scenarios/models/layers/layer_kind.h"
#include "scenarios/models/layers/passes.h"

namespace parbench {

/// A layer that computes one operation; those of its gradients are gradients_of's. Operands with
/// the role of a parameter are that parameter, or with "diff_" in front its gradient. Of the
/// others, the operation reads the layer's inputs in their order, writes the output first, and
/// leaves what else it writes for the backward pass.
class OperationKind : public LayerKind {
 public:
  [[nodiscard]] virtual OpDesc forward(const LayerWork& work) const = 0;

  [[nodiscard]] std::vector<OpDesc> products(const LayerWork& work,
                                             bool with_data_gradient) const override;
  [[nodiscard]] std::optional<OpDesc> gradient_of(std::string_view role,
                                                  const LayerWork& work) const override;
  [[nodiscard]] bool backward_reads_input(std::size_t which, const LayerWork& work) const override;
  [[nodiscard]] bool backward_reads_output(const LayerWork& work) const override;
  void write_forward(ForwardPass& pass) const override { write_operation(pass); }
  void write_backward(BackwardPass& pass) const override {
    (void)write_gradients(pass, pass.gradient());
  }

 protected:
  /// The operations of the backward pass.
  [[nodiscard]] virtual std::vector<OpDesc> gradients(const LayerWork& work, bool accumulate) const;

  /// Writes the operation. `given`: memory of operands that are not as above.
  void write_operation(ForwardPass& pass, const std::vector<Binding>& given = {}) const;
  /// Writes the gradients from `incoming`, that of the output or of all positions of which `part`
  /// is the output's, and contributes that of the input. Returns where it lies; empty where no
  /// layer wants it.
  BufferView write_gradients(BackwardPass& pass, const Gradient& incoming,
                             PositionPart part = {}) const;
};

}  // namespace parbench
