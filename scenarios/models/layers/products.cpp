// The gradient of the weights comes first: it reads the gradient that the data's operation
// releases.
#include "scenarios/models/layers/products.h"

#include <utility>

namespace parbench {

BufferView write_product_backward(BackwardPass& pass, const Gradient& incoming,
                                  const OpDesc& weight_gradient,
                                  const OpDesc& accumulated_weight_gradient,
                                  const OpDesc& data_gradient, bool has_bias) {
  std::vector<std::string_view> roles{"weights"};
  if (has_bias) roles.emplace_back("bias");
  std::vector<Binding> bindings{{"source", pass.input(0)}, {"diff_destination", incoming.view}};
  pass.emit_parameter_gradients(weight_gradient, accumulated_weight_gradient, std::move(bindings),
                                roles);
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

}  // namespace parbench
