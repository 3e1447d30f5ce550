// One overload per operation, so that a new operation without operands does not compile.
#include "kernels/ops/operands.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

namespace parbench {
namespace {

using Operands = std::vector<Operand>;

Operand activation(std::string_view role, Access access, const Shape& shape, DType dtype) {
  return {role, access, Placement::activation, canonical(shape, dtype)};
}
Operand source(const Shape& shape, DType dtype) {
  return activation("source", Access::read, shape, dtype);
}
Operand destination(const Shape& shape, DType dtype, Access access = Access::write) {
  return activation("destination", access, shape, dtype);
}
Operand diff_source(const Shape& shape, DType dtype) {
  return activation("diff_source", Access::write, shape, dtype);
}
Operand diff_destination(const Shape& shape, DType dtype) {
  return activation("diff_destination", Access::read, shape, dtype);
}

Operand weights(const Shape& shape, DType dtype) {
  return {"weights", Access::read, Placement::planned, canonical(shape, dtype)};
}
Operand exact(std::string_view role, Access access, TensorDesc tensor) {
  return {role, access, Placement::exact, std::move(tensor)};
}
/// Returns an operand of `count` numbers in f32, such as one per channel.
Operand channels(std::string_view role, Access access, std::int64_t count) {
  return exact(role, access, canonical({count}));
}
Operand opaque(std::string_view role, Access access) {
  return {role, access, Placement::opaque, {}};
}

Access added_to(bool accumulate) { return accumulate ? Access::read_write : Access::write; }

std::int64_t outputs(const ConvolutionShape& shape) { return shape.out_channels; }
std::int64_t outputs(const LinearShape& shape) { return shape.out_features; }

/// Returns the operands of the forward pass of a convolution or a linear layer.
template <class Desc>
Operands forward_operands(const Desc& desc) {
  Operands all{source(desc.shape.source(), desc.dtype), weights(desc.shape.weights(), desc.dtype)};
  if (desc.bias) all.push_back(channels("bias", Access::read, outputs(desc.shape)));
  all.push_back(destination(desc.shape.destination(), desc.dtype));
  return all;
}

template <class Desc>
Operands data_operands(const Desc& desc) {
  return {diff_destination(desc.shape.destination(), desc.dtype),
          weights(desc.shape.weights(), desc.dtype), diff_source(desc.shape.source(), desc.dtype)};
}

template <class Desc>
Operands weights_operands(const Desc& desc) {
  const Access access = added_to(desc.accumulate);
  Operands all{source(desc.shape.source(), desc.dtype),
               diff_destination(desc.shape.destination(), desc.dtype),
               {"diff_weights", access, Placement::planned, canonical(desc.shape.weights())}};
  if (desc.bias) all.push_back(channels("diff_bias", access, outputs(desc.shape)));
  return all;
}

Operands operands(const ConvolutionForward& desc) { return forward_operands(desc); }
Operands operands(const ConvolutionBackwardData& desc) { return data_operands(desc); }
Operands operands(const ConvolutionBackwardWeights& desc) { return weights_operands(desc); }
Operands operands(const LinearForward& desc) { return forward_operands(desc); }
Operands operands(const LinearBackwardData& desc) { return data_operands(desc); }
Operands operands(const LinearBackwardWeights& desc) { return weights_operands(desc); }

Operands operands(const BatchNormForward& desc) {
  const std::int64_t count = desc.shape[1];
  Operands all{source(desc.shape, desc.dtype),
               channels("scale", Access::read, count),
               channels("shift", Access::read, count),
               channels("running_mean", Access::read_write, count),
               channels("running_variance", Access::read_write, count),
               destination(desc.shape, desc.dtype),
               channels("mean", Access::write, count),
               channels("variance", Access::write, count)};
  if (desc.relu) all.push_back(opaque("mask", Access::write));
  if (desc.add) all.push_back(activation("addend", Access::read, desc.shape, desc.dtype));
  return all;
}

Operands operands(const BatchNormBackward& desc) {
  const std::int64_t count = desc.shape[1];
  const Access gradient = added_to(desc.accumulate);
  Operands all{source(desc.shape, desc.dtype),         diff_destination(desc.shape, desc.dtype),
               channels("mean", Access::read, count),  channels("variance", Access::read, count),
               channels("scale", Access::read, count), channels("shift", Access::read, count)};
  if (desc.relu) all.push_back(opaque("mask", Access::read));
  all.push_back(diff_source(desc.shape, desc.dtype));
  all.push_back(channels("diff_scale", gradient, count));
  all.push_back(channels("diff_shift", gradient, count));
  return all;
}

Operands operands(const ActivationForward& desc) {
  return {source(desc.shape, desc.dtype), destination(desc.shape, desc.dtype)};
}

Operands operands(const ActivationBackward& desc) {
  return {backward_reads_source(desc.kind) ? source(desc.shape, desc.dtype)
                                           : destination(desc.shape, desc.dtype, Access::read),
          diff_destination(desc.shape, desc.dtype), diff_source(desc.shape, desc.dtype)};
}

Operands operands(const Add& desc) {
  return {activation("a", Access::read, desc.shape, desc.dtype),
          activation("b", Access::read, desc.shape, desc.dtype),
          destination(desc.shape, desc.dtype)};
}

Operands operands(const AddReluBackward& desc) {
  Operands all{opaque("mask", Access::read), activation("a", Access::read, desc.shape, desc.dtype)};
  if (desc.two_gradients) all.push_back(activation("b", Access::read, desc.shape, desc.dtype));
  all.push_back(diff_source(desc.shape, desc.dtype));
  return all;
}

Operands operands(const MaxPoolForward& desc) {
  return {source(desc.shape.source, desc.dtype), destination(desc.shape.destination(), desc.dtype),
          opaque("indices", Access::write)};
}

Operands operands(const MaxPoolBackward& desc) {
  return {diff_destination(desc.shape.destination(), desc.dtype), opaque("indices", Access::read),
          diff_source(desc.shape.source, desc.dtype)};
}

Operands operands(const GlobalAveragePoolForward& desc) {
  return {source(desc.source, desc.dtype), destination(shape_of_means(desc.source), desc.dtype)};
}

Operands operands(const GlobalAveragePoolBackward& desc) {
  return {diff_destination(shape_of_means(desc.source), desc.dtype),
          diff_source(desc.source, desc.dtype)};
}

/// Returns the tensor of a Gemm operand as it is stored: `batch` matrices, possibly transposed.
TensorDesc stored(const Gemm& desc, std::int64_t rows, std::int64_t columns, bool transposed) {
  Shape shape = transposed ? Shape{columns, rows} : Shape{rows, columns};
  if (desc.batch > 1) shape.insert(shape.begin(), desc.batch);
  return canonical(std::move(shape), desc.dtype);
}

Operands operands(const Gemm& desc) {
  return {exact("a", Access::read, stored(desc, desc.m, desc.k, desc.transpose_a)),
          exact("b", Access::read, stored(desc, desc.k, desc.n, desc.transpose_b)),
          exact("c", added_to(desc.accumulate), stored(desc, desc.m, desc.n, false))};
}

Operands operands(const MseLoss& desc) {
  return {activation("prediction", Access::read, desc.shape, desc.dtype),
          activation("target", Access::read, desc.shape, desc.dtype),
          exact("loss", added_to(desc.accumulate), canonical({1})),
          activation("diff_prediction", Access::write, desc.shape, desc.dtype)};
}

Operands operands(const Sgd& desc) {
  Operands all{exact("parameters", Access::read_write, canonical({desc.count})),
               exact("gradients", Access::read, canonical({desc.count}))};
  if (desc.momentum > 0) {
    all.push_back(exact("velocity", Access::read_write, canonical({desc.count})));
  }
  if (desc.clipped) all.push_back(exact("factor", Access::read, canonical({1})));
  return all;
}

Operands operands(const Accumulate& desc) {
  return {exact("source", Access::read, canonical({desc.count})),
          exact("destination", Access::read_write, canonical({desc.count}))};
}

Operands operands(const AddRepeated& desc) {
  const Shape table{desc.repeats, desc.count};
  return {exact("source", Access::read, canonical(table, desc.dtype)),
          exact("addend", Access::read, canonical({desc.count}, desc.dtype)),
          exact("destination", Access::write, canonical(table, desc.dtype))};
}

Operands operands(const SumRepeats& desc) {
  return {
      exact("diff_destination", Access::read, canonical({desc.repeats, desc.count}, desc.dtype)),
      exact("diff_addend", added_to(desc.accumulate), canonical({desc.count}))};
}

Operands operands(const Fill& desc) {
  return {exact("destination", Access::write, canonical({desc.count}, desc.dtype))};
}

Operands operands(const Reorder& desc) {
  return {exact("source", Access::read, desc.source),
          exact("destination", Access::write, desc.destination)};
}

Operands operands(const Spin& /*desc*/) {
  return {exact("counter", Access::read_write, parbench::opaque(sizeof(std::uint64_t)))};
}

Operands operands(const Discard& desc) {
  return {exact("memory", Access::write, parbench::opaque(static_cast<std::size_t>(desc.bytes)))};
}

// Normalisation, dropout and scaling of transformers.

/// Returns an operand of one f32 per row; a row is the last dimension.
Operand row_statistics(std::string_view role, Access access, const Shape& shape) {
  return channels(role, access, element_count(shape) / shape.back());
}

Operands operands(const LayerNormForward& desc) {
  const std::int64_t columns = desc.shape.back();
  return {exact("source", Access::read, canonical(desc.shape, desc.dtype)),
          channels("scale", Access::read, columns),
          channels("shift", Access::read, columns),
          exact("destination", Access::write, canonical(desc.shape, desc.dtype)),
          row_statistics("mean", Access::write, desc.shape),
          row_statistics("variance", Access::write, desc.shape)};
}

Operands operands(const LayerNormBackward& desc) {
  const std::int64_t columns = desc.shape.back();
  const Access gradient = added_to(desc.accumulate);
  return {exact("source", Access::read, canonical(desc.shape, desc.dtype)),
          exact("diff_destination", Access::read, canonical(desc.shape, desc.dtype)),
          row_statistics("mean", Access::read, desc.shape),
          row_statistics("variance", Access::read, desc.shape),
          channels("scale", Access::read, columns),
          exact("diff_source", Access::write, canonical(desc.shape, desc.dtype)),
          channels("diff_scale", gradient, columns),
          channels("diff_shift", gradient, columns)};
}

Operands operands(const Dropout& desc) {
  if (desc.shape.size() == 4) {
    return {source(desc.shape, desc.dtype), destination(desc.shape, desc.dtype)};
  }
  return {exact("source", Access::read, canonical(desc.shape, desc.dtype)),
          exact("destination", Access::write, canonical(desc.shape, desc.dtype))};
}

Operands operands(const Scale& desc) {
  return {source(desc.shape, desc.dtype), destination(desc.shape, desc.dtype)};
}

// Optimisers and gradient clipping.

Operands operands(const Adam& desc) {
  const TensorDesc region = canonical({desc.count});
  Operands all{exact("parameters", Access::read_write, region),
               exact("gradients", Access::read, region),
               exact("first_moment", Access::read_write, region),
               exact("second_moment", Access::read_write, region),
               exact("steps", Access::read_write, parbench::opaque(sizeof(std::uint64_t)))};
  if (desc.clipped) all.push_back(exact("factor", Access::read, canonical({1})));
  return all;
}

Operands operands(const SquaredNorm& desc) {
  return {exact("source", Access::read, canonical({desc.count})),
          exact("sum", Access::write, canonical({1}))};
}

Operands operands(const ClipFactor& desc) {
  return {exact("squared_norms", Access::read, canonical({desc.parts})),
          exact("factor", Access::write, canonical({1}))};
}

// Language models.

Operand indices(std::string_view role, std::int64_t count) {
  return exact(role, Access::read, canonical({count}, DType::i32));
}

Operands operands(const EmbeddingForward& desc) {
  return {indices("indices", desc.count), weights({desc.vocabulary, desc.width}, desc.dtype),
          destination({desc.count, desc.width}, desc.dtype)};
}

Operands operands(const EmbeddingBackward& desc) {
  return {indices("indices", desc.count),
          diff_destination({desc.count, desc.width}, desc.dtype),
          {"diff_weights", added_to(desc.accumulate), Placement::planned,
           canonical({desc.vocabulary, desc.width})}};
}

Operands operands(const SoftmaxCrossEntropy& desc) {
  const Shape shape{desc.rows, desc.classes};
  return {activation("logits", Access::read, shape, desc.dtype), indices("target", desc.rows),
          exact("loss", added_to(desc.accumulate), canonical({1})),
          activation("diff_logits", Access::write, shape, desc.dtype)};
}

/// Returns an operand of attention with `vectors` vectors for each head and position of the
/// sequence.
template <class Desc>
Operand attention_tensor(std::string_view role, Access access, const Desc& desc,
                         std::int64_t vectors) {
  const Shape shape{desc.batch, desc.sequence, vectors * desc.heads * desc.head_size};
  return exact(role, access, canonical(shape, desc.dtype));
}

Operands operands(const AttentionForward& desc) {
  return {attention_tensor("projections", Access::read, desc, 3),
          attention_tensor("destination", Access::write, desc, 1), opaque("saved", Access::write)};
}

Operands operands(const AttentionBackward& desc) {
  return {attention_tensor("projections", Access::read, desc, 3),
          attention_tensor("destination", Access::read, desc, 1),
          attention_tensor("diff_destination", Access::read, desc, 1),
          opaque("saved", Access::read),
          attention_tensor("diff_projections", Access::write, desc, 3)};
}

Operand planned(std::string_view role, Access access, const Shape& shape, DType dtype) {
  return {role, access, Placement::planned, canonical(shape, dtype)};
}

Operands operands(const LstmForward& desc) {
  const LstmShape& shape = desc.shape;
  return {exact("source", Access::read, canonical(shape.source(), desc.dtype)),
          weights(shape.weights(), desc.dtype),
          planned("recurrent_weights", Access::read, shape.recurrent_weights(), desc.dtype),
          channels("bias", Access::read, shape.gates()),
          exact("destination", Access::write, canonical(shape.destination(), desc.dtype)),
          opaque("saved", Access::write)};
}

Operands operands(const LstmBackwardData& desc) {
  const LstmShape& shape = desc.shape;
  return {exact("destination", Access::read, canonical(shape.destination(), desc.dtype)),
          exact("diff_destination", Access::read, canonical(shape.destination(), desc.dtype)),
          weights(shape.weights(), desc.dtype),
          planned("recurrent_weights", Access::read, shape.recurrent_weights(), desc.dtype),
          opaque("saved", Access::read_write),
          exact("diff_source", Access::write, canonical(shape.source(), desc.dtype))};
}

Operands operands(const LstmBackwardWeights& desc) {
  const LstmShape& shape = desc.shape;
  const Access gradient = added_to(desc.accumulate);
  return {exact("source", Access::read, canonical(shape.source(), desc.dtype)),
          exact("destination", Access::read, canonical(shape.destination(), desc.dtype)),
          opaque("saved", Access::read),
          planned("diff_weights", gradient, shape.weights(), DType::f32),
          planned("diff_recurrent_weights", gradient, shape.recurrent_weights(), DType::f32),
          channels("diff_bias", gradient, shape.gates())};
}

// Images.

Operands operands(const AveragePoolForward& desc) {
  return {source(desc.shape.source, desc.dtype), destination(desc.shape.destination(), desc.dtype)};
}

Operands operands(const AveragePoolBackward& desc) {
  return {diff_destination(desc.shape.destination(), desc.dtype),
          diff_source(desc.shape.source, desc.dtype)};
}

Operands operands(const LocalResponseNormForward& desc) {
  return {source(desc.shape, desc.dtype), destination(desc.shape, desc.dtype),
          opaque("saved", Access::write)};
}

Operands operands(const LocalResponseNormBackward& desc) {
  return {source(desc.shape, desc.dtype), diff_destination(desc.shape, desc.dtype),
          opaque("saved", Access::read), diff_source(desc.shape, desc.dtype)};
}

Operands operands(const SliceChannels& desc) {
  return {source(desc.range.whole, desc.dtype), destination(desc.range.part(), desc.dtype)};
}

Operands operands(const InsertChannels& desc) {
  return {source(desc.range.part(), desc.dtype),
          destination(desc.range.whole, desc.dtype, Access::read_write)};
}

Operands operands(const ShuffleChannels& desc) {
  return {source(desc.shape, desc.dtype), destination(desc.shape, desc.dtype)};
}

Operands operands(const AddChannelBias& desc) {
  return {source(desc.shape, desc.dtype), channels("bias", Access::read, desc.shape[1]),
          destination(desc.shape, desc.dtype)};
}

Operands operands(const SumChannels& desc) {
  return {diff_destination(desc.shape, desc.dtype),
          channels("diff_bias", added_to(desc.accumulate), desc.shape[1])};
}

Operands operands(const PadImage& desc) {
  return {source(desc.source, desc.dtype), destination(desc.destination(), desc.dtype)};
}

// Programs over strided tensors.

/// Returns the operand of a buffer of which `elements` elements are accessed `accesses` times each.
Operand strided(std::string_view role, Access access, const StridedTensor& tensor,
                std::int64_t elements, int accesses) {
  Operand operand = exact(role, access, canonical({tensor.count}, tensor.dtype));
  operand.traffic =
      static_cast<double>(elements) * static_cast<double>(size_of(tensor.dtype)) * accesses;
  return operand;
}

Operands operands(const Map& desc) {
  constexpr std::array<std::string_view, Map::max_inputs> sources{
      "source0", "source1", "source2", "source3", "source4", "source5", "source6", "source7"};
  Operands all;
  for (std::size_t i = 0; i < desc.inputs.size(); ++i) {
    const StridedTensor& input = desc.inputs[i];
    if (input.values != nullptr) continue;
    all.push_back(
        strided(sources.at(i), Access::read, input, named_elements(desc.extents, input), 1));
  }
  const std::int64_t written = element_count(kept_extents(desc));
  const bool keeps = desc.accumulate || written < desc.output.count;
  all.push_back(strided("destination", keeps ? Access::read_write : Access::write, desc.output,
                        written, desc.accumulate ? 2 : 1));
  return all;
}

}  // namespace

std::vector<Operand> operands_of(const OpDesc& desc) {
  return std::visit([](const auto& one) { return operands(one); }, desc);
}

std::size_t hash_of(const OpDesc& desc) {
  constexpr std::size_t factor = 0x100000001b3;
  std::size_t hash = desc.index();
  for (const Operand& operand : operands_of(desc)) {
    for (const std::int64_t extent : operand.tensor.shape) {
      hash = hash * factor + static_cast<std::size_t>(extent);
    }
  }
  return hash;
}

}  // namespace parbench
