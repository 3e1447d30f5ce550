// Names and number formats of the operations, for reports and messages.
#include "kernels/ops/ops.h"

#include <algorithm>

namespace parbench {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

bool has_bf16(const Map& map) {
  constexpr auto is_bf16 = [](const StridedTensor& one) { return one.dtype == DType::bf16; };
  return is_bf16(map.output) || std::ranges::any_of(map.inputs, is_bf16);
}

}  // namespace

std::string_view name_of(const OpDesc& desc) {
  using Name = std::string_view;
  constexpr Overloaded names{
      [](const ConvolutionForward&) -> Name { return "convolution_forward"; },
      [](const ConvolutionBackwardData&) -> Name { return "convolution_backward_data"; },
      [](const ConvolutionBackwardWeights&) -> Name { return "convolution_backward_weights"; },
      [](const BatchNormForward&) -> Name { return "batch_norm_forward"; },
      [](const BatchNormBackward&) -> Name { return "batch_norm_backward"; },
      [](const ActivationForward&) -> Name { return "activation_forward"; },
      [](const ActivationBackward&) -> Name { return "activation_backward"; },
      [](const Add&) -> Name { return "add"; },
      [](const AddReluBackward&) -> Name { return "add_relu_backward"; },
      [](const MaxPoolForward&) -> Name { return "max_pool_forward"; },
      [](const MaxPoolBackward&) -> Name { return "max_pool_backward"; },
      [](const GlobalAveragePoolForward&) -> Name { return "global_average_pool_forward"; },
      [](const GlobalAveragePoolBackward&) -> Name { return "global_average_pool_backward"; },
      [](const LinearForward&) -> Name { return "linear_forward"; },
      [](const LinearBackwardData&) -> Name { return "linear_backward_data"; },
      [](const LinearBackwardWeights&) -> Name { return "linear_backward_weights"; },
      [](const Gemm&) -> Name { return "gemm"; },
      [](const MseLoss&) -> Name { return "mse_loss"; },
      [](const Sgd&) -> Name { return "sgd"; },
      [](const Accumulate&) -> Name { return "accumulate"; },
      [](const AddRepeated&) -> Name { return "add_repeated"; },
      [](const SumRepeats&) -> Name { return "sum_repeats"; },
      [](const Fill&) -> Name { return "fill"; },
      [](const Reorder&) -> Name { return "reorder"; },
      [](const Spin&) -> Name { return "spin"; },
      [](const Discard&) -> Name { return "discard"; },
      // Transformers, optimisers and gradient clipping.
      [](const LayerNormForward&) -> Name { return "layer_norm_forward"; },
      [](const LayerNormBackward&) -> Name { return "layer_norm_backward"; },
      [](const Dropout&) -> Name { return "dropout"; },
      [](const Scale&) -> Name { return "scale"; },
      [](const Adam&) -> Name { return "adam"; },
      [](const SquaredNorm&) -> Name { return "squared_norm"; },
      [](const ClipFactor&) -> Name { return "clip_factor"; },

      // Language models.
      [](const EmbeddingForward&) -> Name { return "embedding_forward"; },
      [](const EmbeddingBackward&) -> Name { return "embedding_backward"; },
      [](const SoftmaxCrossEntropy&) -> Name { return "softmax_cross_entropy"; },
      [](const AttentionForward&) -> Name { return "attention_forward"; },
      [](const AttentionBackward&) -> Name { return "attention_backward"; },
      [](const LstmForward&) -> Name { return "lstm_forward"; },
      [](const LstmBackwardData&) -> Name { return "lstm_backward_data"; },
      [](const LstmBackwardWeights&) -> Name { return "lstm_backward_weights"; },
      // Images.
      [](const AveragePoolForward&) -> Name { return "average_pool_forward"; },
      [](const AveragePoolBackward&) -> Name { return "average_pool_backward"; },
      [](const LocalResponseNormForward&) -> Name { return "local_response_norm_forward"; },
      [](const LocalResponseNormBackward&) -> Name { return "local_response_norm_backward"; },
      [](const SliceChannels&) -> Name { return "slice_channels"; },
      [](const InsertChannels&) -> Name { return "insert_channels"; },
      [](const ShuffleChannels&) -> Name { return "shuffle_channels"; },
      [](const AddChannelBias&) -> Name { return "add_channel_bias"; },
      [](const SumChannels&) -> Name { return "sum_channels"; },
      [](const PadImage&) -> Name { return "pad_image"; },
      [](const Map&) -> Name { return "map"; },
  };
  return std::visit(names, desc);
}

std::optional<NumberFormat> format_of(const OpDesc& desc) {
  constexpr Overloaded format{[](const Fill&) { return std::optional<NumberFormat>(); },
                              [](const Map& map) -> std::optional<NumberFormat> {
                                return NumberFormat{has_bf16(map) ? DType::bf16 : DType::f32};
                              },
                              [](const auto& one) -> std::optional<NumberFormat> {
                                if constexpr (requires { one.math; }) {
                                  return NumberFormat{one.dtype, one.math};
                                } else if constexpr (requires { one.dtype; }) {
                                  return NumberFormat{one.dtype};
                                } else {
                                  return std::nullopt;
                                }
                              }};
  return std::visit(format, desc);
}

}  // namespace parbench
