// What a layer kind writes its two passes to: memory by purpose, and a list of calls.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "kernels/base/tensor.h"
#include "scenarios/framework/op_set.h"
#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// What both passes give. Memory is relative to a micro-batch, as symbolic.h has it.
class LayerPass {
 public:
  LayerPass() = default;
  LayerPass(const LayerPass&) = delete;
  LayerPass& operator=(const LayerPass&) = delete;
  LayerPass(LayerPass&&) = delete;
  LayerPass& operator=(LayerPass&&) = delete;
  virtual ~LayerPass() = default;

  [[nodiscard]] virtual const LayerWork& work() const = 0;
  /// Plans an operation, whose description has the work's number format.
  [[nodiscard]] virtual Op& prepare(const OpDesc& desc) = 0;
  virtual void emit(Op& op, const std::vector<Binding>& bindings) = 0;

  /// A tensor in the device's layout of activations, in the work's element type.
  [[nodiscard]] virtual TensorDesc activation(const Shape& shape) const = 0;
  /// In the backward pass only what LayerKind::backward_reads_input admits to.
  [[nodiscard]] virtual BufferView input(std::size_t which) const = 0;
  [[nodiscard]] virtual BufferView parameter(std::string_view role, const TensorDesc& wanted) = 0;

  /// Makes the shards of a divided network combine what lies in `data`, in place: behind what has
  /// been emitted, ahead of what follows. Throws std::logic_error where there are no shards.
  virtual void exchange(Collective collective, const BufferView& data);
};

/// The share of a part of the positions in memory that holds all of them.
[[nodiscard]] BufferView part_of(const BufferView& whole, PositionPart part);

class ForwardPass : public LayerPass {
 public:
  /// Memory for the layer's output; called once.
  [[nodiscard]] virtual BufferView place_output(std::size_t bytes) = 0;
  /// Memory that the layer's backward pass finds under the name.
  [[nodiscard]] virtual BufferView keep(std::string_view name, std::size_t bytes) = 0;
  /// Memory that this layer's calls of this pass use alone.
  [[nodiscard]] virtual BufferView scratch(std::size_t bytes) = 0;
  /// What LayerKind::statistics asked for.
  [[nodiscard]] virtual BufferView statistics() const = 0;
};

/// A gradient in memory. Temporaries are counted: one that two layers read must not be overwritten
/// by the first.
struct Gradient {
  BufferView view;
  int temporary = -1;  // its number; -1: memory of a boundary between stages
};

/// A layer takes the gradient of its output, contributes those of its inputs, and releases what it
/// has taken unless it contributes that very memory.
class BackwardPass : public LayerPass {
 public:
  /// Whether gradients of parameters are added to what is there.
  [[nodiscard]] virtual bool accumulates() const = 0;
  [[nodiscard]] virtual BufferView output() const = 0;
  [[nodiscard]] virtual BufferView kept(std::string_view name) const = 0;

  /// The gradient of the output: the sum of what its readers contributed.
  [[nodiscard]] virtual Gradient gradient() = 0;
  /// The same in one or two parts, for an operation that adds them itself.
  [[nodiscard]] virtual std::vector<Gradient> gradient_in_parts() = 0;

  /// Whether anybody wants the gradient of an input: not that of the network's.
  [[nodiscard]] virtual bool is_wanted(std::size_t which) const = 0;
  /// Whether no other layer reads it, so that it may be overwritten.
  [[nodiscard]] virtual bool is_exclusive(const Gradient& gradient) const = 0;
  /// Memory for the gradient of an input.
  [[nodiscard]] virtual Gradient make(std::size_t which, std::size_t bytes) = 0;
  /// The memory of `taken` where the gradient of an input may overwrite it, else new memory.
  [[nodiscard]] virtual Gradient reuse(const Gradient& taken, std::size_t which,
                                       std::size_t bytes) = 0;
  [[nodiscard]] virtual Gradient make_temporary(std::size_t bytes) = 0;
  /// Counts one more reader.
  virtual void share(const Gradient& gradient) = 0;
  virtual void release(const Gradient& gradient) = 0;
  virtual void contribute(std::size_t which, const Gradient& gradient) = 0;
  /// Contributes what was computed from `taken`, and releases that unless it is the same memory.
  void contribute_instead(const Gradient& taken, std::size_t which, const Gradient& result) {
    if (result.temporary != taken.temporary || result.temporary < 0) release(taken);
    contribute(which, result);
  }

  /// Where a parameter's gradient lies in its store, for operations that write canonical ones.
  [[nodiscard]] virtual BufferView parameter_gradient(std::string_view role) = 0;
  /// Emits an operation that computes "diff_<role>" of parameters, into the store; through
  /// temporaries where the operation's layout is not the store's. `overwriting` and `adding`
  /// describe it without and with `accumulate`; the bindings leave the gradients out.
  virtual void emit_parameter_gradients(const OpDesc& overwriting, const OpDesc& adding,
                                        std::vector<Binding> bindings,
                                        const std::vector<std::string_view>& roles) = 0;
};

}  // namespace parbench
