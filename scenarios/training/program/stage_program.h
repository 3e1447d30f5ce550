// Forward and backward of a range of layers for one micro-batch size, as symbolic calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/framework/op_set.h"
#include "scenarios/models/network.h"
#include "scenarios/training/program/parameter_store.h"
#include "scenarios/training/program/symbolic.h"

namespace parbench {

/// The layers [first, last] of a network, on one stream, in one number format.
struct StageRange {
  const Network* network = nullptr;
  int first = 0;
  int last = 0;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;
  std::int64_t batch = 0;  // samples of the whole batch: what the loss is a mean over
  /// Only what crosses units is kept; a unit's forward pass runs again ahead of its backward pass.
  bool recompute = false;

  [[nodiscard]] bool is_first() const { return first == 0; }
  [[nodiscard]] bool is_last() const {
    return last == static_cast<int>(network->layers.size()) - 1;
  }
  [[nodiscard]] LayerWork work_of(int layer, std::int64_t samples) const {
    return network->work_of(network->layer(layer), samples, {dtype, math});
  }
};

/// A tensor of the network (Network::crossing): tokens where that is its input and begins with
/// them, else an activation.
[[nodiscard]] TensorDesc tensor_of(const Device& device, const StageRange& range, int tensor,
                                   std::int64_t samples);
/// What the network's prediction is held to.
[[nodiscard]] TensorDesc target_tensor(const Device& device, const StageRange& range,
                                       std::int64_t samples);

/// The operation of the loss, and its names of the prediction and of the prediction's gradient.
struct LossOperation {
  OpDesc desc;
  std::string_view prediction;
  std::string_view diff_prediction;
};
/// The share of `samples` in the loss of the whole batch and in its gradient. `accumulate`: the
/// loss is added to what is there.
[[nodiscard]] LossOperation loss_of(const StageRange& range, std::int64_t samples, bool accumulate);

/// Where the statistics of a layer lie in Space::statistics. All stages of a network use the same
/// offsets; past the last layer it is the size of all.
[[nodiscard]] std::size_t statistics_offset(const Network& network, int layer);
[[nodiscard]] std::size_t statistics_bytes(const Network& network);

/// A tensor that crosses a boundary between stages.
struct BoundaryTensor {
  int tensor = network_input;  // of the network: Network::crossing
  TensorDesc desc;
  std::size_t offset = 0;  // in the boundary's spaces
};

/// All that cross one boundary, in the order of Network::crossing: both of its sides have the same.
class Boundary {
 public:
  Boundary() = default;
  Boundary(const Device& device, const StageRange& range, const std::vector<int>& tensors,
           std::int64_t samples);

  [[nodiscard]] const std::vector<BoundaryTensor>& tensors() const { return tensors_; }
  /// In each of the boundary's spaces.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Throws std::logic_error for a tensor that does not cross.
  [[nodiscard]] BufferView view(Space space, int tensor) const;
  [[nodiscard]] bool has(int tensor) const;

 private:
  std::vector<BoundaryTensor> tensors_;
  std::size_t bytes_ = 0;
};

/// What a layer leaves for its backward pass and its readers.
struct LayerMemory {
  BufferView output;
  std::map<std::string, BufferView, std::less<>> kept;  // by the name that the layer's kind gave
};

/// Plans all operations in its constructor. What backward needs is kept in Space::activations, what
/// is not needed later or is recomputed in Space::transient; gradients are overwritten in place
/// where the operation allows it.
class StageProgram {
 public:
  StageProgram(Stream& stream, const StageRange& range, std::int64_t samples,
               ParameterStore& store);

  /// The convolutions and products of a range for micro-batches of `samples`, all passes: the
  /// operations whose kernels devices tune.
  [[nodiscard]] static std::vector<OpDesc> products(const StageRange& range, std::int64_t samples);

  /// Adds the parameters of a range to a store, in the layouts that backward prefers for
  /// micro-batches of `samples`; those that layers are tied to canonically, and as copies where
  /// they belong to another range.
  static void add_parameters(Stream& stream, const StageRange& range, std::int64_t samples,
                             ParameterStore& store);

  [[nodiscard]] const std::vector<OpCall>& forward() const { return forward_; }
  /// `accumulate`: parameter gradients and the loss are added to what is there.
  [[nodiscard]] const std::vector<OpCall>& backward(bool accumulate) const {
    return accumulate ? backward_accumulate_ : backward_;
  }
  /// Where the shards of a divided network combine something in these calls.
  [[nodiscard]] const std::vector<ExchangePoint>& forward_exchanges() const {
    return forward_exchanges_;
  }
  [[nodiscard]] const std::vector<ExchangePoint>& backward_exchanges(bool accumulate) const {
    return accumulate ? backward_accumulate_exchanges_ : backward_exchanges_;
  }
  /// Where the first call of `backward(false)`, the loss, writes the gradient of the prediction; of
  /// the last stage.
  [[nodiscard]] const BufferView& prediction_gradient_view() const { return prediction_gradient_; }

  [[nodiscard]] std::int64_t samples() const { return samples_; }
  /// What stages before have made, or the network's input; also what only stages behind read.
  [[nodiscard]] const Boundary& inputs() const { return inputs_; }
  /// What stages behind read; empty of the last stage.
  [[nodiscard]] const Boundary& outputs() const { return outputs_; }
  /// Where a tensor of `inputs` or `outputs` lies: one that only passes stays where it has come in.
  [[nodiscard]] BufferView view_of(int tensor) const;
  /// Where the gradient of a tensor of `inputs` lies after backward: one that this stage does not
  /// read goes back as it has come.
  [[nodiscard]] BufferView input_gradient_view(int tensor) const;
  /// Of the last layer.
  [[nodiscard]] const TensorDesc& output() const { return output_; }
  [[nodiscard]] BufferView output_view() const { return memory_.back().output; }
  /// What the last layer reads, kept like its output until the micro-batch's backward.
  [[nodiscard]] TensorDesc last_source() const;
  [[nodiscard]] BufferView last_source_view() const;
  [[nodiscard]] std::size_t activation_bytes() const { return activation_bytes_; }
  [[nodiscard]] std::size_t transient_bytes() const { return transient_bytes_; }
  /// Where Space::gradients may begin in Space::activations and what is behind it, if no other
  /// micro-batch adds to them: each gradient takes the place of activations that are no longer
  /// read.
  [[nodiscard]] std::size_t gradients_begin() const { return gradients_begin_; }
  /// The part of the activations that a layer of the range keeps for backward passes.
  [[nodiscard]] std::size_t activation_bytes_of(int layer) const;

 private:
  Stream& stream_;
  StageRange range_;
  std::int64_t samples_;
  OpSet ops_;
  Boundary inputs_;
  Boundary outputs_;
  TensorDesc output_;
  std::vector<LayerMemory> memory_;  // of the range's layers
  std::vector<OpCall> forward_;
  std::vector<OpCall> backward_;
  std::vector<OpCall> backward_accumulate_;
  std::vector<ExchangePoint> forward_exchanges_;
  std::vector<ExchangePoint> backward_exchanges_;
  std::vector<ExchangePoint> backward_accumulate_exchanges_;
  BufferView prediction_gradient_;
  std::size_t activation_bytes_ = 0;
  std::size_t transient_bytes_ = 0;
  std::size_t gradients_begin_ = 0;
};

}  // namespace parbench
