// Weights first: their operation reads the gradient that the data's releases.
#include "scenarios/models/layers/products.h"

#include <optional>
#include <utility>

namespace parbench {

void write_product_backward(BackwardPass& pass, const OpDesc& weight_gradient,
                            const OpDesc& accumulated_weight_gradient, const OpDesc& data_gradient,
                            BiasGradient bias) {
  const Gradient incoming = pass.gradient();
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
  if (pass.is_wanted(0)) {
    Op& op = pass.prepare(data_gradient);
    const Gradient result = pass.make(0, op.tensor("diff_source").bytes);
    pass.emit(op, {{"diff_destination", incoming.view},
                   {"weights", pass.parameter("weights", op.tensor("weights"))},
                   {"diff_source", result.view}});
    pass.contribute(0, result);
  }
  pass.release(incoming);
}

}  // namespace parbench
