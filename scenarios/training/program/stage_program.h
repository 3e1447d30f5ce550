// Forward and backward passes of a range of layers for one micro-batch size, as symbolic calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/framework/op_set.h"
#include "scenarios/framework/symbolic.h"
#include "scenarios/models/network.h"
#include "scenarios/training/program/parameter_store.h"

namespace parbench {

/// The layers [first, last] of a network, on one stream, in one number format.
struct StageRange {
  const Network* network = nullptr;
  int first = 0;
  int last = 0;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;
  std::int64_t batch = 0;  // samples of the whole batch, over which the loss is a mean
  /// Keep only tensors that cross units; a unit's forward pass is repeated before its backward
  /// pass.
  bool recompute = false;

  [[nodiscard]] bool is_first() const { return first == 0; }
  [[nodiscard]] bool is_last() const {
    return last == static_cast<int>(network->layers.size()) - 1;
  }
  [[nodiscard]] LayerWork work_of(int layer, std::int64_t samples) const {
    return network->work_of(network->layer(layer), samples, {dtype, math});
  }
};

/// Returns the description of the output of the layer with index `tensor`, or of the network's
/// input (`network_input`), which may be tokens.
[[nodiscard]] TensorDesc tensor_of(const Device& device, const StageRange& range, int tensor,
                                   std::int64_t samples);
[[nodiscard]] TensorDesc target_tensor(const Device& device, const StageRange& range,
                                       std::int64_t samples);

/// The operation of the loss, and the roles of its operands for the prediction and its gradient.
struct LossOperation {
  OpDesc desc;
  std::string_view prediction;
  std::string_view diff_prediction;
};
/// Returns the loss operation for `samples` samples of the batch. `accumulate`: add the loss to the
/// existing value.
[[nodiscard]] LossOperation loss_of(const StageRange& range, std::int64_t samples, bool accumulate);

/// Returns the offset of a layer's statistics in Space::statistics, the same for all stages of a
/// network; for the index after the last layer, the total size.
[[nodiscard]] std::size_t statistics_offset(const Network& network, int layer);
[[nodiscard]] std::size_t statistics_bytes(const Network& network);

/// A tensor that crosses a boundary between stages.
struct BoundaryTensor {
  int tensor = network_input;  // index of a layer, whose output it is, or `network_input`
  TensorDesc desc;
  std::size_t offset = 0;  // offset in the boundary's memory, for activations and for gradients
};

/// All tensors that cross one boundary, in the order of Network::crossing, as laid out on the
/// device of one side.
class Boundary {
 public:
  Boundary() = default;
  Boundary(const Device& device, const StageRange& range, const std::vector<int>& tensors,
           std::int64_t samples);

  [[nodiscard]] const std::vector<BoundaryTensor>& tensors() const { return tensors_; }
  /// Returns the bytes of all tensors, which equal those of their gradients.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Throws std::logic_error for a tensor that does not cross.
  [[nodiscard]] SymbolicView view(Space space, int tensor) const;
  [[nodiscard]] bool has(int tensor) const;

 private:
  std::vector<BoundaryTensor> tensors_;
  std::size_t bytes_ = 0;
};

/// Position at which the shards of a divided network combine `data`: before the call with index
/// `call`, or after all calls if there is no such call.
struct ExchangePoint {
  std::size_t call = 0;
  Collective collective = Collective::all_reduce;
  SymbolicView data;
};

/// The calls of a pass, and the points in them at which the shards of a divided network exchange
/// data.
struct SymbolicPass {
  std::vector<SymbolicCall> calls = {};
  std::vector<ExchangePoint> exchanges = {};
};

/// Memory of a layer for its backward pass and its readers.
struct LayerMemory {
  SymbolicView output;
  std::map<std::string, SymbolicView, std::less<>> kept;  // by name (ForwardPass::keep)
};

/// The passes of a stage for one micro-batch size. The constructor plans all operations. Data for
/// the backward pass is in Space::activations; data that is not needed later, or is recomputed, is
/// in Space::transient.
class StageProgram {
 public:
  StageProgram(Stream& stream, const StageRange& range, std::int64_t samples,
               ParameterStore& store);

  /// Returns the convolutions and products in all passes of a range for micro-batches of `samples`:
  /// the operations whose kernels devices tune.
  [[nodiscard]] static std::vector<OpDesc> products(const StageRange& range, std::int64_t samples);

  /// Adds the parameters of a range to a store, in the layouts that the backward pass prefers for
  /// micro-batches of `samples`. Parameters to which other layers are tied are canonical. If a
  /// layer of the range is tied to a layer before the range, a copy of the parameters is added
  /// (`add_copy`).
  static void add_parameters(Stream& stream, const StageRange& range, std::int64_t samples,
                             ParameterStore& store);

  [[nodiscard]] const SymbolicPass& forward() const { return forward_; }
  /// `accumulate`: add parameter gradients and the loss to existing values.
  [[nodiscard]] const SymbolicPass& backward(bool accumulate) const {
    return accumulate ? backward_accumulate_ : backward_;
  }
  /// For the last stage: returns the memory in which the loss, the first call of `backward(false)`,
  /// writes the gradient of the prediction.
  [[nodiscard]] const SymbolicView& prediction_gradient_view() const {
    return prediction_gradient_;
  }

  [[nodiscard]] std::int64_t samples() const { return samples_; }
  /// Returns the tensors that this and later stages read from earlier stages or from the network's
  /// input.
  [[nodiscard]] const Boundary& inputs() const { return inputs_; }
  /// Returns the tensors that later stages read; empty for the last stage.
  [[nodiscard]] const Boundary& outputs() const { return outputs_; }
  /// Return the description and the memory of a tensor: one of `inputs` or `outputs`, or the input
  /// or output of the network's last layer. The memory is kept until the micro-batch's backward
  /// pass. A tensor that only passes through stays where it was received.
  [[nodiscard]] TensorDesc desc_of(int tensor) const;
  [[nodiscard]] SymbolicView view_of(int tensor) const;
  /// Returns the memory of the gradient of a tensor of `inputs` after the backward pass. If no
  /// layer of this stage reads the tensor, it is the memory in which the gradient was received.
  [[nodiscard]] SymbolicView input_gradient_view(int tensor) const;
  [[nodiscard]] std::size_t activation_bytes() const { return activation_bytes_; }
  [[nodiscard]] std::size_t transient_bytes() const { return transient_bytes_; }
  /// Returns BackwardWriter::gradients_begin, for a step with one micro-batch, whose gradients
  /// replace activations that are no longer read.
  [[nodiscard]] std::size_t gradients_begin() const { return gradients_begin_; }
  /// Returns the bytes that a layer of the range keeps for backward passes (without recomputation).
  [[nodiscard]] std::size_t activation_bytes_of(int layer) const;

 private:
  Stream& stream_;
  StageRange range_;
  std::int64_t samples_;
  OpSet ops_;
  Boundary inputs_;
  Boundary outputs_;
  std::vector<LayerMemory> memory_;  // by layer of the range
  SymbolicPass forward_;
  SymbolicPass backward_;
  SymbolicPass backward_accumulate_;
  SymbolicView prediction_gradient_;
  std::size_t activation_bytes_ = 0;
  std::size_t transient_bytes_ = 0;
  std::size_t gradients_begin_ = 0;
};

}  // namespace parbench
