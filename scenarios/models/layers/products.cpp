// Weights first: their operation reads the gradient that the data's releases.
#include "scenarios/models/layers/products.h"

#include <optional>
#include <utility>

namespace parbench {

BufferView write_product_backward(BackwardPass& pass, const Gradient& incoming,
                                  const OpDesc& weight_gradient,
                                  const OpDesc& accumulated_weight_gradient,
                                  const OpDesc& data_gradient, BiasGradient bias) {
  std::vector<std::string_view> roles{"weights"};
  if (bias == BiasGradient::wanted) roles.emplace_back("bias");
  std::vector<Binding> bindings{{"source", pass.input(0)}, {"diff_destination", incoming.view}};
  std::optional<Gradient> dropped;
  if (bias == BiasGradient::dropped) {
    dropped = pass.make_temporary(pass.prepare(weight_gradient).tensor("diff_bias").bytes);
    bindings.push_back({"diff_bias", dropped->view});
  }
  pass.emit_parameter_gradients(weight_gradient, accumulated_weight_gradient, std::move(bindings),
                                roles);
  if (dropped) pass.release(*dropped);
  BufferView data;
  if (pass.is_wanted(0)) {
    Op& op = pass.prepare(data_gradient);
    const Gradient result = pass.make(0, op.tensor("diff_source").bytes);
    data = result.view;
    pass.emit(op, {{"diff_destination", incoming.view},
                   {"weights", pass.parameter("weights", op.tensor("weights"))},
                   {"diff_source", result.view}});
    pass.contribute(0, result);
  }
  pass.release(incoming);
  return data;
}

BufferView bias_or_zeros(ForwardPass& pass, bool has_bias, const TensorDesc& wanted) {
  if (has_bias) return pass.parameter("bias", wanted);
  const BufferView zeros = pass.scratch(wanted.bytes);
  Op& fill = pass.prepare(Fill{.count = element_count(wanted.shape),
                               .dtype = wanted.dtype,
                               .distribution = Distribution::constant,
                               .low = 0.0F});
  pass.emit(fill, {{"destination", zeros}});
  return zeros;
}

}  // namespace parbench
