// Patterns are matched from their last node backwards.
#include "scenarios/models/onnx/fusions.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "scenarios/models/layers/activation.h"
#include "scenarios/models/onnx/operators/sequences.h"

namespace parbench::onnx_import {
namespace {

/// Constants of formulas are rounded to f32, or written with few digits.
bool is_about(double value, double wanted) {
  constexpr double tolerance = 1e-3;
  return std::abs(value - wanted) <= tolerance * std::abs(wanted);
}

/// A product as its factors, in any order and nesting.
struct Product {
  double scale = 1;
  std::vector<std::string> factors;
};

/// The nodes of one group, which grow while a pattern is followed.
class Group {
 public:
  explicit Group(const Importer& importer) : importer_(importer) {}

  /// The node that makes a name, as a member; null where it has another operator.
  const Node* take(const std::string& name, std::string_view op) {
    const Node* node = importer_.maker(name);
    if (node == nullptr || node->op != op || importer_.is_absorbed(*node)) return nullptr;
    members_.insert(node);
    return node;
  }

  [[nodiscard]] std::optional<double> scalar(const std::string& name) const {
    const Constant* constant = importer_.constant(name);
    if (constant == nullptr) return std::nullopt;
    return constant->scalar;
  }

  [[nodiscard]] const Importer& importer() const { return importer_; }
  [[nodiscard]] NodeView view(const Node& node) const { return {importer_, node}; }

  Product product_of(const std::string& name) {
    Product product;
    expand(name, product, max_depth);
    return product;
  }

  /// The operand of a sum beside the constant number; empty where it has no such number.
  [[nodiscard]] std::string beside(const Node& sum, double number) const {
    for (std::size_t which = 0; which < 2 && sum.inputs.size() == 2; ++which) {
      const auto value = scalar(sum.inputs[which]);
      if (value && is_about(*value, number)) return sum.inputs[1 - which];
    }
    return {};
  }

  /// Whether only members and the last node read what members make.
  [[nodiscard]] bool is_closed(const Node& last) const {
    return std::ranges::all_of(members_, [&](const Node* member) {
      return std::ranges::all_of(member->outputs, [&](const std::string& output) {
        if (member != &last && importer_.is_output(output)) return false;
        return member == &last ||
               std::ranges::all_of(importer_.readers_of(output), [&](const Node* reader) {
                 return reader == &last || members_.contains(reader);
               });
      });
    });
  }

  [[nodiscard]] const std::set<const Node*>& members() const { return members_; }

 private:
  /// Of nested products: files may nest them as deep as they like.
  static constexpr int max_depth = 4;

  void expand(const std::string& name, Product& product, int depth) {
    if (const auto value = scalar(name)) {
      product.scale *= *value;
      return;
    }
    const Node* node = importer_.maker(name);
    const bool is_binary = node != nullptr && node->inputs.size() == 2 && depth > 0;
    const auto second = is_binary ? scalar(node->inputs[1]) : std::nullopt;
    if (is_binary && node->op == "Mul") {
      members_.insert(node);
      expand(node->inputs[0], product, depth - 1);
      expand(node->inputs[1], product, depth - 1);
    } else if (second && node->op == "Div") {
      members_.insert(node);
      product.scale /= *second;
      expand(node->inputs[0], product, depth - 1);
    } else if (second && node->op == "Pow" && (*second == 2 || *second == 3)) {
      members_.insert(node);
      product.factors.insert(product.factors.end(), static_cast<std::size_t>(*second),
                             node->inputs[0]);
    } else {
      product.factors.push_back(name);
    }
  }

  const Importer& importer_;
  std::set<const Node*> members_;
};

/// What a group becomes; nothing where the pattern does not match.
using Match = std::optional<MakeLayer>;

// --- GELU ---

/// x of Erf(x/√2).
std::string inside_of_erf(Group& group, const std::string& name) {
  const Node* erf = group.take(name, "Erf");
  if (erf == nullptr) return {};
  const Product inner = group.product_of(group.view(*erf).input(0));
  const bool fits = inner.factors.size() == 1 && is_about(inner.scale, 1 / std::numbers::sqrt2);
  return fits ? inner.factors.front() : std::string();
}

/// x of Tanh(√(2/π)·(x + 0.044715·x³)).
std::string inside_of_tanh(Group& group, const std::string& name) {
  constexpr double cubic = 0.044715;
  const Node* tanh = group.take(name, "Tanh");
  if (tanh == nullptr) return {};
  const Product outer = group.product_of(group.view(*tanh).input(0));
  if (outer.factors.size() != 1 || !is_about(outer.scale, std::sqrt(2 / std::numbers::pi)))
    return {};
  const Node* sum = group.take(outer.factors.front(), "Add");
  if (sum == nullptr || sum->inputs.size() != 2) return {};
  for (std::size_t which = 0; which < 2; ++which) {
    const std::string& x = sum->inputs[which];
    const Product power = group.product_of(sum->inputs[1 - which]);
    if (is_about(power.scale, cubic) && power.factors == std::vector<std::string>(3, x)) return x;
  }
  return {};
}

/// 0.5·x·(1 + Erf(…)), or Tanh in place of Erf.
Match match_gelu(Group& group, const Node& last) {
  if (last.op != "Mul") return std::nullopt;
  const Product product = group.product_of(last.outputs.at(0));
  if (product.factors.size() != 2 || !is_about(product.scale, 0.5)) return std::nullopt;
  for (std::size_t which = 0; which < 2; ++which) {
    const std::string& x = product.factors[which];
    const Node* sum = group.importer().maker(product.factors[1 - which]);
    if (sum == nullptr || sum->op != "Add") continue;
    const std::string function = group.beside(*sum, 1);
    if (function.empty()) continue;
    (void)group.take(product.factors[1 - which], "Add");
    ActivationKind kind = ActivationKind::gelu;
    std::string inside = inside_of_erf(group, function);
    if (inside.empty()) {
      kind = ActivationKind::gelu_tanh;
      inside = inside_of_tanh(group, function);
    }
    if (inside != x) return std::nullopt;
    return [x, kind](Importer& importer, const Node& node) {
      importer.add_elementwise(node, Activation(kind), importer.view(x));
    };
  }
  return std::nullopt;
}

// --- layer normalisation ---

/// x of ReduceMean(x) over the last dimension.
std::string inside_of_mean(Group& group, const std::string& name) {
  const Node* mean = group.take(name, "ReduceMean");
  if (mean == nullptr) return {};
  const NodeView view = group.view(*mean);
  if (view.attribute("keepdims", std::int64_t{1}) != 1) return {};
  const std::vector<std::int64_t> axes = view.integers("axes", 1);
  return axes == std::vector<std::int64_t>{-1} ? view.input(0) : std::string();
}

/// The factor that is a constant, and the other one.
std::optional<std::pair<std::string, std::string>> constant_and_other(const Group& group,
                                                                      const Node& node) {
  for (std::size_t which = 0; which < 2 && node.inputs.size() == 2; ++which) {
    const Constant* constant = group.importer().constant(node.inputs[which]);
    if (constant != nullptr && constant->shape.size() == 1) {
      return std::pair(node.inputs[which], node.inputs[1 - which]);
    }
  }
  return std::nullopt;
}

/// The epsilon of Sqrt(mean of centred² + epsilon).
std::optional<double> epsilon_of(Group& group, const std::string& deviation,
                                 const std::string& centred) {
  const Node* root = group.take(deviation, "Sqrt");
  const Node* sum = root == nullptr ? nullptr : group.take(group.view(*root).input(0), "Add");
  if (sum == nullptr || sum->inputs.size() != 2) return std::nullopt;
  for (std::size_t which = 0; which < 2; ++which) {
    const auto epsilon = group.scalar(sum->inputs[which]);
    if (!epsilon) continue;
    const std::string square = inside_of_mean(group, sum->inputs[1 - which]);
    const Product product = group.product_of(square);
    const bool fits = product.scale == 1 && product.factors == std::vector<std::string>(2, centred);
    return fits ? epsilon : std::nullopt;
  }
  return std::nullopt;
}

/// (x − mean)/deviation·scale + shift.
Match match_layer_norm(Group& group, const Node& last) {
  if (last.op != "Add") return std::nullopt;
  const auto shift = constant_and_other(group, last);
  const Node* scaled = shift ? group.take(shift->second, "Mul") : nullptr;
  const auto scale = scaled != nullptr ? constant_and_other(group, *scaled) : std::nullopt;
  const Node* quotient = scale ? group.take(scale->second, "Div") : nullptr;
  const Node* centred =
      quotient != nullptr ? group.take(group.view(*quotient).input(0), "Sub") : nullptr;
  if (centred == nullptr || quotient->inputs.size() != 2 || centred->inputs.size() != 2) {
    return std::nullopt;
  }
  const std::string& x = centred->inputs[0];
  if (inside_of_mean(group, centred->inputs[1]) != x) return std::nullopt;
  const auto epsilon = epsilon_of(group, quotient->inputs[1], centred->outputs.at(0));
  if (!epsilon) return std::nullopt;
  const LayerNormParts parts{scale->first, shift->first, *epsilon};
  return [x, parts](Importer& importer, const Node& node) {
    add_layer_norm(importer, node, importer.view(x), parts);
  };
}

}  // namespace

void find_fusions(Importer& importer, const std::vector<const Node*>& nodes) {
  for (const Node* node : nodes) {
    if (node->outputs.empty()) continue;
    for (const auto match : {match_gelu, match_layer_norm}) {
      Group group(importer);
      Match made;
      try {
        made = match(group, *node);
      } catch (const CannotMap&) {
        continue;  // an input that is missing, an attribute of another type, a computed shape
      }
      if (!made || !group.is_closed(*node)) continue;
      for (const Node* member : group.members()) {
        if (member != node) importer.absorb(*member);
      }
      importer.fuse(*node, std::move(*made));
      break;
    }
  }
}

}  // namespace parbench::onnx_import
