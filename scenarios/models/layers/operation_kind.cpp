// Determines the memory of operands by their roles.
#include "scenarios/models/layers/operation_kind.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "kernels/ops/gradients.h"
#include "kernels/ops/operands.h"

namespace parbench {
namespace {

constexpr std::string_view gradient_prefix = "diff_";

/// Returns the role of a tensor's gradient, or the role of the tensor if `role` is that of a
/// gradient: a transposed convolution is itself the gradient of a convolution.
std::string paired(std::string_view role) {
  if (role.starts_with(gradient_prefix)) return std::string(role.substr(gradient_prefix.size()));
  return std::string(gradient_prefix) + std::string(role);
}

std::vector<ParameterSpec> parameters_of(const LayerKind& kind, const LayerWork& work) {
  const Shape& input = work.inputs.at(0);
  return kind.parameters({input.begin() + 1, input.end()});
}

bool has_role(const std::vector<ParameterSpec>& parameters, std::string_view role) {
  return std::ranges::find(parameters, role, &ParameterSpec::role) != parameters.end();
}

bool is_source(const Operand& operand, const std::vector<ParameterSpec>& parameters) {
  return operand.access == Access::read && !has_role(parameters, operand.role);
}

enum class Purpose {
  input,
  output,
  kept,
  parameter,
  incoming,        // gradient of the output
  input_gradient,  // gradient of the input
  parameter_gradient,
  dropped,  // gradient of a parameter that the layer does not have
};

struct GradientOperand {
  Purpose purpose;
  std::string_view role;
  TensorDesc tensor;
};

/// The operands of an operation of the backward pass, with their purposes.
class GradientOperands {
 public:
  GradientOperands(const OpDesc& forward, const OpDesc& gradient,
                   const std::vector<ParameterSpec>& parameters)
      : parameters_(parameters) {
    for (const Operand& operand : operands_of(forward)) {
      if (input_.empty() && is_source(operand, parameters)) input_ = operand.role;
      if (output_.empty() && operand.access == Access::write) output_ = operand.role;
    }
    const std::vector<Operand> operands = operands_of(gradient);
    reads_one_ = std::ranges::count_if(operands, [&](const Operand& operand) {
                   return operand.access != Access::write && !trains(operand) &&
                          !has_role(parameters, operand.role);
                 }) == 1;
    for (const Operand& one : operands) {
      all_.push_back({purpose_of(one), one.role, one.tensor});
      const Purpose purpose = all_.back().purpose;
      serves_others_ = serves_others_ || purpose == Purpose::parameter_gradient ||
                       (purpose == Purpose::kept && one.access == Access::read_write);
    }
  }

  [[nodiscard]] const std::vector<GradientOperand>& all() const { return all_; }
  /// Returns whether the operation must run even if no layer needs the gradient of the input: if it
  /// computes the gradient of a parameter, or changes kept memory.
  [[nodiscard]] bool serves_others() const { return serves_others_; }
  [[nodiscard]] bool has(Purpose purpose) const {
    return std::ranges::find(all_, purpose, &GradientOperand::purpose) != all_.end();
  }

 private:
  /// Returns whether the operand is the gradient of a parameter.
  [[nodiscard]] bool trains(const Operand& operand) const {
    return operand.role.starts_with(gradient_prefix) && has_role(parameters_, paired(operand.role));
  }
  [[nodiscard]] Purpose purpose_of(const Operand& operand) const {
    if (trains(operand)) return Purpose::parameter_gradient;
    if (has_role(parameters_, operand.role)) return Purpose::parameter;
    if (reads_one_) {
      return operand.access == Access::write ? Purpose::input_gradient : Purpose::incoming;
    }
    if (operand.role == paired(output_)) return Purpose::incoming;
    if (operand.role == paired(input_)) return Purpose::input_gradient;
    if (operand.role == input_) return Purpose::input;
    if (operand.role == output_) return Purpose::output;
    return operand.role.starts_with(gradient_prefix) ? Purpose::dropped : Purpose::kept;
  }

  const std::vector<ParameterSpec>& parameters_;
  std::string_view input_;
  std::string_view output_;
  // whether the operation reads a single tensor besides parameters: the gradient of the output
  bool reads_one_ = false;
  bool serves_others_ = false;
  std::vector<GradientOperand> all_;
};

/// Writes the operations of a backward pass. `incoming`: the gradient of the output.
class GradientWriter {
 public:
  GradientWriter(BackwardPass& pass, const SymbolicView& incoming)
      : pass_(pass), incoming_(incoming) {}

  /// Writes one operation. `overwriting`, `adding`: its descriptions without and with `accumulate`.
  /// `result`: memory for the gradient of the input.
  void write(const OpDesc& overwriting, const OpDesc& adding, const GradientOperands& operands,
             const SymbolicView& result) {
    Op* const op =
        operands.has(Purpose::parameter_gradient) ? nullptr : &pass_.prepare(overwriting);
    std::vector<SymbolicBinding> bindings;
    std::vector<std::string_view> trained;
    for (const GradientOperand& operand : operands.all()) {
      if (operand.purpose == Purpose::parameter_gradient) {
        trained.push_back(operand.role.substr(gradient_prefix.size()));
      } else {
        const TensorDesc& tensor = op == nullptr ? operand.tensor : op->tensor(operand.role);
        bindings.push_back({operand.role, memory_of(operand, tensor, result)});
      }
    }
    if (op == nullptr) {
      pass_.emit_parameter_gradients(overwriting, adding, std::move(bindings), trained);
    } else {
      pass_.emit(*op, bindings);
    }
    for (const Gradient& one : std::exchange(dropped_, {})) pass_.release(one);
  }

 private:
  SymbolicView memory_of(const GradientOperand& operand, const TensorDesc& tensor,
                         const SymbolicView& result) {
    switch (operand.purpose) {
      case Purpose::input:
        return pass_.input(0);
      case Purpose::output:
        return pass_.output();
      case Purpose::kept:
        return pass_.kept(operand.role);
      case Purpose::parameter:
        return pass_.parameter(operand.role, tensor);
      case Purpose::incoming:
        return incoming_;
      case Purpose::input_gradient:
        return result;
      default:
        dropped_.push_back(pass_.make_temporary(tensor.bytes));
        return dropped_.back().view;
    }
  }

  BackwardPass& pass_;
  SymbolicView incoming_;
  std::vector<Gradient> dropped_;
};

bool any_has(Purpose purpose, const OperationKind& kind, const LayerWork& work,
             const std::vector<OpDesc>& gradients) {
  const std::vector<ParameterSpec> parameters = parameters_of(kind, work);
  return std::ranges::any_of(gradients, [&](const OpDesc& one) {
    return GradientOperands(kind.forward(work), one, parameters).has(purpose);
  });
}

}  // namespace

std::vector<OpDesc> OperationKind::gradients(const LayerWork& work, bool accumulate) const {
  return gradients_of(forward(work), accumulate);
}

std::vector<OpDesc> OperationKind::products(const LayerWork& work, bool with_data_gradient) const {
  const OpDesc product = forward(work);
  if (!std::holds_alternative<ConvolutionForward>(product) &&
      !std::holds_alternative<ConvolutionBackwardData>(product) &&
      !std::holds_alternative<LinearForward>(product)) {
    return {};
  }
  const std::vector<ParameterSpec> parameters = parameters_of(*this, work);
  std::vector<OpDesc> all{product};
  for (const OpDesc& one : gradients_of(product, false)) {
    const GradientOperands operands(product, one, parameters);
    if (with_data_gradient || !operands.has(Purpose::input_gradient)) all.push_back(one);
  }
  return all;
}

std::optional<OpDesc> OperationKind::gradient_of(std::string_view role,
                                                 const LayerWork& work) const {
  for (const OpDesc& one : gradients(work, false)) {
    for (const Operand& operand : operands_of(one)) {
      if (operand.role == paired(role) && operand.placement == Placement::planned) return one;
    }
  }
  return std::nullopt;
}

bool OperationKind::backward_reads_input(std::size_t which, const LayerWork& work) const {
  return which == 0 && any_has(Purpose::input, *this, work, gradients(work, false));
}

bool OperationKind::backward_reads_output(const LayerWork& work) const {
  return any_has(Purpose::output, *this, work, gradients(work, false));
}

void OperationKind::write_operation(ForwardPass& pass,
                                    const std::vector<SymbolicBinding>& given) const {
  const LayerWork& work = pass.work();
  const OpDesc desc = forward(work);
  const std::vector<ParameterSpec> parameters = parameters_of(*this, work);
  Op& op = pass.prepare(desc);
  std::vector<SymbolicBinding> bindings;
  std::size_t inputs = 0;
  bool has_output = false;
  const auto memory_of = [&](const Operand& operand) {
    const bool is_output = operand.access == Access::write && !std::exchange(has_output, true);
    const auto found = std::ranges::find(given, operand.role, &SymbolicBinding::role);
    if (found != given.end()) return found->view;
    const TensorDesc& tensor = op.tensor(operand.role);
    if (has_role(parameters, operand.role)) return pass.parameter(operand.role, tensor);
    if (operand.access == Access::read) return pass.input(inputs++);
    return is_output ? pass.place_output(tensor.bytes) : pass.keep(operand.role, tensor.bytes);
  };
  for (const Operand& operand : operands_of(desc)) {
    bindings.push_back({operand.role, memory_of(operand)});
  }
  pass.emit(op, bindings);
}

SymbolicView OperationKind::write_gradients(BackwardPass& pass, const Gradient& incoming,
                                            PositionPart part) const {
  const LayerWork& work = pass.work();
  const OpDesc product = forward(work);
  const std::vector<ParameterSpec> parameters = parameters_of(*this, work);
  const std::vector<OpDesc> overwriting = gradients(work, false);
  const std::vector<OpDesc> adding = gradients(work, true);
  const bool in_place = part.is_whole() && gradient_may_overwrite(product);
  GradientWriter writer(pass, part_of(incoming.view, part));
  std::optional<Gradient> result;
  bool passes_on = true;
  for (std::size_t i = 0; i < overwriting.size(); ++i) {
    const GradientOperands operands(product, overwriting[i], parameters);
    if (operands.has(Purpose::input_gradient)) {
      passes_on = false;
      if (!pass.is_wanted(0) && !operands.serves_others()) continue;
      const std::size_t bytes = pass.activation(work.inputs.at(0)).bytes;
      result = in_place ? pass.reuse(incoming, 0, bytes) : pass.make(0, bytes);
    }
    writer.write(overwriting[i], adding[i], operands, result ? result->view : SymbolicView());
  }
  if (result) {
    pass.contribute_instead(incoming, 0, *result);
    return result->view;
  }
  const bool reads_tokens = operands_of(product).front().tensor.dtype == DType::i32;
  if (!passes_on || reads_tokens) {
    pass.release(incoming);
    return {};
  }
  for (std::size_t which = 1; which < work.inputs.size(); ++which) pass.share(incoming);
  for (std::size_t which = 0; which < work.inputs.size(); ++which) {
    pass.contribute(which, incoming);
  }
  return incoming.view;
}

}  // namespace parbench
