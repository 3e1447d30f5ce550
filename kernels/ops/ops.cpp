// The operations' names, for reports and messages, and the arithmetic that they need.
#include "kernels/ops/ops.h"

namespace parbench {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace

std::string_view name_of(const OpDesc& desc) {
  using Name = std::string_view;
  constexpr Overloaded names{
      [](const ConvolutionForward&) -> Name { return "convolution_forward"; },
      [](const ConvolutionBackwardData&) -> Name { return "convolution_backward_data"; },
      [](const ConvolutionBackwardWeights&) -> Name { return "convolution_backward_weights"; },
      [](const BatchNormForward&) -> Name { return "batch_norm_forward"; },
      [](const BatchNormBackward&) -> Name { return "batch_norm_backward"; },
      [](const ReluForward&) -> Name { return "relu_forward"; },
      [](const ReluBackward&) -> Name { return "relu_backward"; },
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
      [](const Fill&) -> Name { return "fill"; },
      [](const Reorder&) -> Name { return "reorder"; },
      [](const Spin&) -> Name { return "spin"; },
      [](const Discard&) -> Name { return "discard"; },
  };
  return std::visit(names, desc);
}

std::optional<NumberFormat> format_of(const OpDesc& desc) {
  constexpr Overloaded format{[](const Fill&) { return std::optional<NumberFormat>(); },
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
