// One overload per operation, so that a new operation without a count does not compile.
#include "kernels/ops/flops.h"

#include <algorithm>
#include <variant>

namespace parbench {
namespace {

double count(const Shape& shape) { return static_cast<double>(element_count(shape)); }

double product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

// FLOPs of the forward pass, and of each of the two backward passes: 2·N·OC·OH·OW·IC/g·K·K.
double product(const ConvolutionShape& shape) {
  const std::int64_t group_channels = shape.in_channels / shape.groups;
  const auto inputs = static_cast<double>(group_channels * shape.kernel * shape.kernel);
  return 2 * count(shape.destination()) * inputs;
}

double product(const LinearShape& shape) {
  return product(shape.batch, shape.in_features, shape.out_features);
}

double bias(const ConvolutionShape& shape) { return count(shape.destination()); }
double bias(const LinearShape& shape) { return count({shape.batch, shape.out_features}); }

double flops(const ConvolutionForward& desc) {
  const double elements = count(desc.shape.destination());
  return product(desc.shape) + (desc.bias ? bias(desc.shape) : 0) + (desc.relu ? elements : 0);
}
double flops(const ConvolutionBackwardData& desc) { return product(desc.shape); }
double flops(const ConvolutionBackwardWeights& desc) {
  return product(desc.shape) + (desc.bias ? bias(desc.shape) : 0);
}
double flops(const LinearForward& desc) {
  return product(desc.shape) + (desc.bias ? bias(desc.shape) : 0);
}
double flops(const LinearBackwardData& desc) { return product(desc.shape); }
double flops(const LinearBackwardWeights& desc) {
  return product(desc.shape) + (desc.bias ? bias(desc.shape) : 0);
}
double flops(const Gemm& desc) {
  return static_cast<double>(desc.batch) * product(desc.m, desc.n, desc.k);
}

// Per element: mean 1, variance 3 (subtract, square, add), normalise 2, scale and shift 2, ReLU 1,
// addend 1.
double flops(const BatchNormForward& desc) {
  return count(desc.shape) * (8 + (desc.relu ? 1 : 0) + (desc.add ? 1 : 0));
}
// Per element: diff_shift 1, diff_scale 4 (centre, normalise, multiply, add), diff_source 6,
// ReLU 1.
double flops(const BatchNormBackward& desc) { return count(desc.shape) * (desc.relu ? 12 : 11); }

// FLOPs per element; a negation, exp, erf or tanh counts as one.
double flops_of_forward(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::relu:
    case ActivationKind::tanh:
      return 1;
    case ActivationKind::clip:
      return 2;
    case ActivationKind::sigmoid:
      return 4;
    case ActivationKind::gelu:
      return 5;
    case ActivationKind::gelu_tanh:
      return 9;
  }
  return 0;
}
double flops_of_backward(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::relu:
      return 1;
    case ActivationKind::clip:
      return 2;
    case ActivationKind::sigmoid:
    case ActivationKind::tanh:
      return 3;
    case ActivationKind::gelu:
      return 11;
    case ActivationKind::gelu_tanh:
      return 18;
  }
  return 0;
}
double flops(const ActivationForward& desc) {
  return flops_of_forward(desc.kind) * count(desc.shape);
}
double flops(const ActivationBackward& desc) {
  return flops_of_backward(desc.kind) * count(desc.shape);
}
double flops(const Add& desc) { return count(desc.shape); }
double flops(const AddReluBackward& desc) {
  return count(desc.shape) * (desc.two_gradients ? 2 : 1);
}

// A comparison for each element of every window; in the backward pass an addition for each window.
double flops(const MaxPoolForward& desc) {
  return count(desc.shape.destination()) *
         static_cast<double>(desc.shape.kernel * desc.shape.kernel);
}
double flops(const MaxPoolBackward& desc) { return count(desc.shape.destination()); }
double flops(const GlobalAveragePoolForward& desc) { return count(desc.source); }
double flops(const GlobalAveragePoolBackward& desc) { return count(desc.source); }

double flops(const MseLoss& desc) { return 4 * count(desc.shape); }  // subtract, square, add, scale
double flops(const Sgd& desc) {  // momentum: multiply and add; clipping: multiply
  const int each = 2 + (desc.momentum > 0 ? 2 : 0) + (desc.clipped ? 1 : 0);
  return each * static_cast<double>(desc.count);
}
double flops(const Accumulate& desc) { return static_cast<double>(desc.count); }

double flops(const AddRepeated& desc) { return count({desc.repeats, desc.count}); }
double flops(const SumRepeats& desc) { return count({desc.repeats, desc.count}); }

double flops(const Fill& /*desc*/) { return 0; }
double flops(const Reorder& /*desc*/) { return 0; }
double flops(const Spin& /*desc*/) { return 0; }
double flops(const Discard& /*desc*/) { return 0; }

// Per element: mean 1, variance 3 (subtract, square, add), normalise 2, scale and shift 2.
double flops(const LayerNormForward& desc) { return 8 * count(desc.shape); }
// Per element: diff_shift 1, diff_scale 4 (centre, normalise, multiply, add), the row's two sums 4,
// diff_source 5.
double flops(const LayerNormBackward& desc) { return 14 * count(desc.shape); }
double flops(const Dropout& desc) { return count(desc.shape); }  // random numbers count as 0
double flops(const Scale& desc) { return (desc.addend == 0 ? 1 : 2) * count(desc.shape); }

// Per element: first moment 3, second moment 4, update 6 (two of them a square root and a
// division); weight decay 2, clipping 1.
double flops(const Adam& desc) {
  const int each = 13 + (desc.weight_decay != 0 ? 2 : 0) + (desc.clipped ? 1 : 0);
  return each * static_cast<double>(desc.count);
}
double flops(const SquaredNorm& desc) { return 2 * static_cast<double>(desc.count); }
double flops(const ClipFactor& desc) { return desc.parts + 4; }  // sum, root, add, divide, minimum

// Language models.

double flops(const EmbeddingForward& /*desc*/) { return 0; }
double flops(const EmbeddingBackward& desc) { return count({desc.count, desc.width}); }
// Per element: maximum 1, subtract 1, exponential 1, sum 1, scale 1.
double flops(const SoftmaxCrossEntropy& desc) { return 5 * count({desc.rows, desc.classes}); }

// FLOPs of one product of attention: a multiply-add for every element of a head's vectors and every
// pair of a query and a key that it attends to. With `causal` these are the pairs up to the
// diagonal, whether or not a backend computes more. The softmax is not counted.
template <class Desc>
double attention_product(const Desc& desc) {
  const auto length = static_cast<double>(desc.sequence);
  const double pairs = desc.causal ? length * (length + 1) / 2 : length * length;
  return 2 * count({desc.batch, desc.heads, desc.head_size}) * pairs;
}
double flops(const AttentionForward& desc) { return 2 * attention_product(desc); }
// Four products: gradients of queries, keys, values and probabilities. Recomputing the scores is
// not counted.
double flops(const AttentionBackward& desc) { return 4 * attention_product(desc); }

// FLOPs of the matrix products of each pass: weights times source, and recurrent weights times the
// states of all positions except the last.
double product(const LstmShape& shape) {
  const std::int64_t positions = shape.batch * shape.sequence;
  return product(positions, shape.in_features, shape.gates()) +
         product(positions - shape.batch, shape.hidden, shape.gates());
}
// Per element of the state: bias and sum of the products 8, gates 13, cell 3, output 2.
double flops(const LstmForward& desc) {
  return product(desc.shape) + 26 * count(desc.shape.destination());
}
// Per element of the state, for the gradients of the state 1, the cell 7, the outputs of the gates
// 3, the inputs of the gates 12.
double flops(const LstmBackwardData& desc) {
  return product(desc.shape) + 23 * count(desc.shape.destination());
}
double flops(const LstmBackwardWeights& desc) {
  return product(desc.shape) + count({desc.shape.batch, desc.shape.sequence, desc.shape.gates()});
}

// Images.

// FLOPs of window sums: an addition for each element of every window, and a division; the same in
// the backward pass.
double window_sums(const PoolingShape& shape) {
  return count(shape.destination()) * static_cast<double>(shape.kernel * shape.kernel + 1);
}
double flops(const AveragePoolForward& desc) { return window_sums(desc.shape); }
double flops(const AveragePoolBackward& desc) { return window_sums(desc.shape); }

// Per element: square 1, sum over the window (one addition per channel), scale and offset 2, power
// and product 2.
double flops(const LocalResponseNormForward& desc) {
  return static_cast<double>(desc.size + 5) * count(desc.shape);
}
// Per element: power and product with the gradient 2, the product that is summed over windows 3,
// the sum (one addition per channel), scale and product with the source 2, difference 1.
double flops(const LocalResponseNormBackward& desc) {
  return static_cast<double>(desc.size + 8) * count(desc.shape);
}
double flops(const SliceChannels& /*desc*/) { return 0; }
double flops(const InsertChannels& /*desc*/) { return 0; }
double flops(const ShuffleChannels& /*desc*/) { return 0; }
double flops(const AddChannelBias& desc) { return count(desc.shape); }
double flops(const SumChannels& desc) { return count(desc.shape); }
double flops(const PadImage& /*desc*/) { return 0; }

// Per element: each instruction that computes, and the reduction.
double flops(const Map& desc) {
  const auto instructions = std::ranges::count_if(
      desc.program,
      [](const ElementInstruction& instruction) { return operand_count(instruction.op) > 0; });
  const int reduction = desc.reduction == Reduction::none ? 0 : 1;
  return static_cast<double>(instructions + reduction) * count(desc.extents);
}

}  // namespace

double flops_of(const OpDesc& desc) {
  return std::visit([](const auto& one) { return flops(one); }, desc);
}

}  // namespace parbench
