// Interface through which a layer kind writes its two passes: memory by purpose, and a list of
// calls.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "kernels/base/tensor.h"
#include "scenarios/framework/symbolic.h"
#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// Common part of both passes. Views of memory may be relative to a micro-batch (SymbolicView).
class LayerPass {
 public:
  LayerPass() = default;
  LayerPass(const LayerPass&) = delete;
  LayerPass& operator=(const LayerPass&) = delete;
  LayerPass(LayerPass&&) = delete;
  LayerPass& operator=(LayerPass&&) = delete;
  virtual ~LayerPass() = default;

  [[nodiscard]] virtual const LayerWork& work() const = 0;
  /// Plans an operation. Its format, if it has one (`format_of`), must be that of `work()`.
  [[nodiscard]] virtual Op& prepare(const OpDesc& desc) = 0;
  virtual void emit(Op& op, const std::vector<SymbolicBinding>& bindings) = 0;

  /// Returns the description of a tensor in the device's layout of activations, with the element
  /// type of `work()`.
  [[nodiscard]] virtual TensorDesc activation(const Shape& shape) const = 0;
  /// Returns the memory of an input. In the backward pass, only for inputs for which
  /// LayerKind::backward_reads_input is true.
  [[nodiscard]] virtual SymbolicView input(std::size_t which) const = 0;
  [[nodiscard]] virtual SymbolicView parameter(std::string_view role, const TensorDesc& wanted) = 0;

  /// Emits a collective of the shards of a divided network on `data`, in place, after the calls
  /// emitted so far. Throws std::logic_error without shards.
  virtual void exchange(Collective collective, const SymbolicView& data);
};

/// Returns the range of `part` in memory that holds all positions.
template <class View>
[[nodiscard]] View part_of(const View& whole, PositionPart part) {
  const std::size_t bytes = whole.bytes / static_cast<std::size_t>(part.count);
  return whole.part(static_cast<std::size_t>(part.index) * bytes, bytes);
}

class ForwardPass : public LayerPass {
 public:
  /// Returns memory for the layer's output; called once.
  [[nodiscard]] virtual SymbolicView place_output(std::size_t bytes) = 0;
  /// Returns memory whose content the backward pass reads with `kept` and the same name.
  [[nodiscard]] virtual SymbolicView keep(std::string_view name, std::size_t bytes) = 0;
  /// Returns memory that only the calls of this pass use.
  [[nodiscard]] virtual SymbolicView scratch(std::size_t bytes) = 0;
  /// Returns the memory that LayerKind::statistics requested.
  [[nodiscard]] virtual SymbolicView statistics() const = 0;
};

/// A gradient in memory. Temporaries are reference-counted: a gradient that two layers read must
/// not be overwritten by the first.
struct Gradient {
  SymbolicView view;
  int temporary = -1;  // index of the temporary; -1: memory of a boundary between stages
};

/// The backward pass takes the gradient of the layer's output, contributes the gradients of the
/// layer's inputs, and releases the taken gradient unless it contributes the same memory.
class BackwardPass : public LayerPass {
 public:
  /// Returns whether the pass adds to stored gradients of parameters instead of overwriting them.
  [[nodiscard]] virtual bool accumulates() const = 0;
  [[nodiscard]] virtual SymbolicView output() const = 0;
  [[nodiscard]] virtual SymbolicView kept(std::string_view name) const = 0;

  /// Returns the gradient of the output: the sum of the contributions of all layers that read the
  /// output.
  [[nodiscard]] virtual Gradient gradient() = 0;
  /// Returns the gradient of the output as one or two summands, for operations that add them.
  [[nodiscard]] virtual std::vector<Gradient> gradient_in_parts() = 0;

  /// Returns whether the gradient of an input is needed; the gradient of the network's input is
  /// not.
  [[nodiscard]] virtual bool is_wanted(std::size_t which) const = 0;
  /// Returns whether the gradient is a temporary that no other layer reads and may be overwritten.
  [[nodiscard]] virtual bool is_exclusive(const Gradient& gradient) const = 0;
  /// Returns memory for the gradient of an input.
  [[nodiscard]] virtual Gradient make(std::size_t which, std::size_t bytes) = 0;
  /// Returns the memory of `taken` if the gradient of an input may overwrite it, otherwise new
  /// memory.
  [[nodiscard]] virtual Gradient reuse(const Gradient& taken, std::size_t which,
                                       std::size_t bytes) = 0;
  [[nodiscard]] virtual Gradient make_temporary(std::size_t bytes) = 0;
  /// Adds a reader of the gradient.
  virtual void share(const Gradient& gradient) = 0;
  virtual void release(const Gradient& gradient) = 0;
  virtual void contribute(std::size_t which, const Gradient& gradient) = 0;
  /// Contributes a result computed from `taken`, and releases `taken` unless both are the same
  /// memory.
  void contribute_instead(const Gradient& taken, std::size_t which, const Gradient& result) {
    if (result.temporary != taken.temporary || result.temporary < 0) release(taken);
    contribute(which, result);
  }

  /// Returns the stored gradient of a parameter, for operations that write canonical gradients.
  [[nodiscard]] virtual SymbolicView parameter_gradient(std::string_view role) = 0;
  /// Emits an operation that computes the gradients "diff_<role>" of `roles` into the stored
  /// gradients, through temporaries if the layout of the operation differs from the stored one.
  /// `overwriting` and `adding`: descriptions without and with `accumulate`. `bindings` exclude the
  /// gradients.
  virtual void emit_parameter_gradients(const OpDesc& overwriting, const OpDesc& adding,
                                        std::vector<SymbolicBinding> bindings,
                                        const std::vector<std::string_view>& roles) = 0;
};

}  // namespace parbench
