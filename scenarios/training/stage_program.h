// Forward and backward of a range of layers for one micro-batch size, as symbolic calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "scenarios/framework/op_set.h"
#include "scenarios/models/network.h"
#include "scenarios/training/parameter_store.h"
#include "scenarios/training/region.h"
#include "scenarios/training/symbolic.h"

namespace parbench {

/// The layers [first, last] of a network, on one stream, in one number format.
struct StageRange {
  const Network* network = nullptr;
  int first = 0;
  int last = 0;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;
  std::int64_t batch = 0;  // samples of the whole batch: what the loss is a mean over

  [[nodiscard]] bool is_first() const { return first == 0; }
  [[nodiscard]] bool is_last() const {
    return last == static_cast<int>(network->layers.size()) - 1;
  }
};

/// Where the running statistics of a batch normalisation lie in Space::statistics: the mean's
/// offset, the variance follows. All stages of a network use the same offsets.
[[nodiscard]] std::size_t statistics_offset(const Network& network, int layer);
[[nodiscard]] std::size_t statistics_bytes(const Network& network);

/// Plans all operations in its constructor. What backward needs is kept in Space::activations, what
/// is not needed later in Space::transient; gradients are overwritten in place where the operation
/// allows it.
class StageProgram {
 public:
  StageProgram(Stream& stream, const StageRange& range, std::int64_t samples,
               ParameterStore& store);

  /// The convolutions and products of a range for micro-batches of `samples`, all passes: the
  /// operations whose kernels devices tune.
  [[nodiscard]] static std::vector<OpDesc> products(const StageRange& range, std::int64_t samples);

  /// Adds the parameters of a range to a store, in the layouts that backward prefers for
  /// micro-batches of `samples`.
  static void add_parameters(Stream& stream, const StageRange& range, std::int64_t samples,
                             ParameterStore& store);

  [[nodiscard]] const std::vector<OpCall>& forward() const { return forward_; }
  /// `accumulate`: parameter gradients and the loss are added to what is there.
  [[nodiscard]] const std::vector<OpCall>& backward(bool accumulate) const {
    return accumulate ? backward_accumulate_ : backward_;
  }

  [[nodiscard]] const TensorDesc& input() const { return input_; }
  [[nodiscard]] const TensorDesc& output() const { return output_; }
  [[nodiscard]] BufferView output_view() const { return outputs_.back(); }
  /// What the last layer reads, kept like its output until the micro-batch's backward.
  [[nodiscard]] TensorDesc last_source() const;
  [[nodiscard]] BufferView last_source_view() const { return input_of(range_.last); }
  [[nodiscard]] std::size_t activation_bytes() const { return activation_bytes_; }
  [[nodiscard]] std::size_t transient_bytes() const { return transient_bytes_; }

 private:
  friend class BackwardWriter;

  /// What a layer leaves for its backward besides its output.
  struct Saved {
    BufferView mean;
    BufferView variance;
    BufferView mask;     // batch normalisation with ReLU, and its addition where it has one
    BufferView indices;  // pooling
  };

  [[nodiscard]] const Layer& layer(int index) const {
    return range_.network->layers[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::size_t local(int index) const {
    return static_cast<std::size_t>(index - range_.first);
  }
  [[nodiscard]] BufferView input_of(int index, std::size_t which = 0) const;
  [[nodiscard]] BufferView keep(std::size_t bytes);
  [[nodiscard]] BufferView place_output(int index, std::size_t bytes);
  [[nodiscard]] bool only_feeds_an_addend(int index) const;

  void write_forward(int index);
  void write_convolution(int index);
  void write_batch_norm(int index);
  void write_linear(int index);

  Stream& stream_;
  StageRange range_;
  std::int64_t samples_;
  ParameterStore& store_;
  OpSet ops_;
  TensorDesc input_;
  TensorDesc output_;
  std::vector<BufferView> outputs_;  // by local index
  std::vector<Saved> saved_;         // by local index
  std::vector<OpCall> forward_;
  std::vector<OpCall> backward_;
  std::vector<OpCall> backward_accumulate_;
  std::size_t activation_bytes_ = 0;
  std::size_t transient_bytes_ = 0;
};

/// Notes the layer of the calls from `begin` on.
void name_layer(std::vector<OpCall>& calls, std::size_t begin, const Layer& layer);

/// A shape of one sample with the number of samples in front.
[[nodiscard]] Shape with_samples(std::int64_t samples, const Shape& sample);

/// The convolution of a layer for a micro-batch.
[[nodiscard]] ConvolutionShape convolution_of(const Network& network, const Layer& layer,
                                              std::int64_t samples);
[[nodiscard]] LinearShape linear_of(const Network& network, const Layer& layer,
                                    std::int64_t samples);

}  // namespace parbench
