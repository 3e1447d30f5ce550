// Layers of one operation, whose passes follow from its operands.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "scenarios/models/layers/layer_kind.h"
#include "scenarios/models/layers/passes.h"

namespace parbench {

/// A layer that computes one operation; `gradients` returns the operations of the backward pass. An
/// operand with the role of a parameter is that parameter; with "diff_" in front of the role, the
/// parameter's gradient. The other operands that the operation reads are the inputs of the layer,
/// in their order. The first operand that it writes is the output; further ones are kept for the
/// backward pass.
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
  /// Returns the operations of the backward pass. `accumulate`: they add to the gradients of
  /// parameters.
  [[nodiscard]] virtual std::vector<OpDesc> gradients(const LayerWork& work, bool accumulate) const;

  /// Writes the operation of the forward pass. `given`: memory of the operands to which the rules
  /// of the class do not apply.
  void write_operation(ForwardPass& pass, const std::vector<SymbolicBinding>& given = {}) const;
  /// Writes the operations of the backward pass and contributes the gradients of the inputs.
  /// `incoming`: gradient of the output; if the operation computes only `part` of the positions,
  /// the gradient of all positions. Returns the memory of the gradient of the input; empty if it is
  /// not computed.
  SymbolicView write_gradients(BackwardPass& pass, const Gradient& incoming,
                               PositionPart part = {}) const;
};

}  // namespace parbench
