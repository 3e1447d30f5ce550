// Patterns are matched from their last node backwards.
#include "scenarios/models/onnx/fusions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "scenarios/models/layers/activation.h"
#include "scenarios/models/layers/attention.h"
#include "scenarios/models/onnx/sequences.h"

namespace parbench::onnx_import {
namespace {

using Permutation = std::vector<std::int64_t>;

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
  const Product inner = group.product_of(erf->inputs.at(0));
  const bool fits = inner.factors.size() == 1 && is_about(inner.scale, 1 / std::numbers::sqrt2);
  return fits ? inner.factors.front() : std::string();
}

/// x of Tanh(√(2/π)·(x + 0.044715·x³)).
std::string inside_of_tanh(Group& group, const std::string& name) {
  constexpr double cubic = 0.044715;
  const Node* tanh = group.take(name, "Tanh");
  if (tanh == nullptr) return {};
  const Product outer = group.product_of(tanh->inputs.at(0));
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
      importer.add(node, Activation(kind), {importer.activation(x)});
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
  return axes == std::vector<std::int64_t>{-1} ? mean->inputs.at(0) : std::string();
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
  const Node* sum = root == nullptr ? nullptr : group.take(root->inputs.at(0), "Add");
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
  const Node* centred = quotient != nullptr ? group.take(quotient->inputs.at(0), "Sub") : nullptr;
  if (centred == nullptr || quotient->inputs.size() != 2 || centred->inputs.size() != 2) {
    return std::nullopt;
  }
  const std::string& x = centred->inputs[0];
  if (inside_of_mean(group, centred->inputs[1]) != x) return std::nullopt;
  const auto epsilon = epsilon_of(group, quotient->inputs[1], centred->outputs.at(0));
  if (!epsilon) return std::nullopt;
  const LayerNormParts parts{scale->first, shift->first, *epsilon};
  return [x, parts](Importer& importer, const Node& node) {
    add_layer_norm(importer, node, importer.activation(x), parts);
  };
}

// --- attention ---

/// One of queries, keys and values: a part of the projections, divided into heads.
struct Heads {
  const Node* split = nullptr;
  std::size_t part = 0;
  std::int64_t sequence = 0;
  std::int64_t heads = 0;
  std::int64_t size = 0;
};

const Node* transposed(Group& group, const std::string& name, const Permutation& wanted) {
  const Node* node = group.take(name, "Transpose");
  if (node == nullptr) return nullptr;
  return group.view(*node).attribute("perm", Permutation()) == wanted ? node : nullptr;
}

/// The samples in front of a shape, as files spell them.
bool is_samples(const Importer& importer, std::int64_t extent) {
  return extent == 0 || extent == -1 || extent == importer.samples();
}

/// Reshape to {samples, sequence, heads, size} of a part.
std::optional<Heads> heads_of(Group& group, const std::string& name) {
  const Node* reshape = group.take(name, "Reshape");
  if (reshape == nullptr) return std::nullopt;
  const std::vector<std::int64_t> shape = group.view(*reshape).integers("shape", 1);
  if (shape.size() != 4 || !is_samples(group.importer(), shape[0])) return std::nullopt;
  constexpr std::int64_t max = 1 << 20;  // of heads, and of their size: the product fits 64 bits
  const auto is_possible = [](std::int64_t extent) { return extent >= 1 && extent <= max; };
  if (!is_possible(shape[2]) || !is_possible(shape[3])) return std::nullopt;
  const std::string& source = reshape->inputs.at(0);
  const Node* split = group.take(source, "Split");
  if (split == nullptr || split->outputs.size() != 3) return std::nullopt;
  const auto part = std::ranges::find(split->outputs, source) - split->outputs.begin();
  return Heads{.split = split,
               .part = static_cast<std::size_t>(part),
               .sequence = shape[1],
               .heads = shape[2],
               .size = shape[3]};
}

/// {samples, heads, sequence, size}.
std::optional<Heads> by_heads(Group& group, const std::string& name) {
  const Node* node = transposed(group, name, {0, 2, 1, 3});
  return node == nullptr ? std::nullopt : heads_of(group, node->inputs.at(0));
}

/// {samples, heads, size, sequence}, by one transposition or two.
std::optional<Heads> keys_of(Group& group, const std::string& name) {
  if (const Node* node = transposed(group, name, {0, 2, 3, 1})) {
    return heads_of(group, node->inputs.at(0));
  }
  const Node* node = transposed(group, name, {0, 1, 3, 2});
  return node == nullptr ? std::nullopt : by_heads(group, node->inputs.at(0));
}

/// Scores, and whether a mask blocks the keys behind each query.
struct Scores {
  std::string name;
  bool causal = false;
};

/// A number that a softmax makes zero of.
bool is_blocking(const std::optional<double>& value) {
  constexpr double low = -1e4;
  return value && *value <= low;
}

std::optional<Scores> without_mask(Group& group, const std::string& name) {
  const auto mask_of = [&](const std::string& mask) {
    const Constant* constant = group.importer().constant(mask);
    if (constant == nullptr || constant->shape.size() < 2) return Mask::none;
    const bool is_square = constant->shape.back() == constant->shape[constant->shape.size() - 2];
    return is_square ? constant->mask : Mask::none;  // it may have been reshaped
  };
  if (const Node* where = group.take(name, "Where");
      where != nullptr && where->inputs.size() == 3) {
    const std::array<std::string, 3> in{where->inputs[0], where->inputs[1], where->inputs[2]};
    if (mask_of(in[0]) == Mask::blocked && is_blocking(group.scalar(in[1])))
      return Scores{in[2], true};
    if (mask_of(in[0]) == Mask::allowed && is_blocking(group.scalar(in[2])))
      return Scores{in[1], true};
    return std::nullopt;
  }
  if (const Node* sum = group.take(name, "Add"); sum != nullptr && sum->inputs.size() == 2) {
    for (std::size_t which = 0; which < 2; ++which) {
      if (mask_of(sum->inputs[which]) == Mask::addend) return Scores{sum->inputs[1 - which], true};
    }
    return std::nullopt;
  }
  return Scores{name, false};
}

/// Queries, keys and values.
struct Attention {
  std::array<Heads, 3> parts;
  bool causal = false;
};

/// One product of scaled operands: its scale, its two factors.
std::optional<std::array<Heads, 2>> queries_and_keys(Group& group, const std::string& scores) {
  const Product outer = group.product_of(scores);
  const Node* product =
      outer.factors.size() == 1 ? group.take(outer.factors.front(), "MatMul") : nullptr;
  if (product == nullptr) return std::nullopt;
  const Product left = group.product_of(product->inputs.at(0));
  const Product right = group.product_of(product->inputs.at(1));
  if (left.factors.size() != 1 || right.factors.size() != 1) return std::nullopt;
  const auto queries = by_heads(group, left.factors.front());
  const auto keys = keys_of(group, right.factors.front());
  if (!queries || !keys || queries->size <= 0) return std::nullopt;
  const double scale = outer.scale * left.scale * right.scale;
  if (!is_about(scale, 1 / std::sqrt(static_cast<double>(queries->size)))) return std::nullopt;
  return std::array{*queries, *keys};
}

std::optional<Attention> attention_of(Group& group, const std::string& name) {
  const Node* product = group.take(name, "MatMul");
  const Node* softmax = product == nullptr ? nullptr : group.take(product->inputs.at(0), "Softmax");
  if (softmax == nullptr) return std::nullopt;
  const auto axis = group.view(*softmax).attribute("axis", std::int64_t{-1});
  if (axis != -1 && axis != 3) return std::nullopt;
  const auto scores = without_mask(group, softmax->inputs.at(0));
  if (!scores) return std::nullopt;
  const auto pair = queries_and_keys(group, scores->name);
  const auto values = by_heads(group, product->inputs.at(1));
  if (!pair || !values) return std::nullopt;
  return Attention{{(*pair)[0], (*pair)[1], *values}, scores->causal};
}

/// Queries, keys and values one after the other, each with the same heads.
bool is_of_one_split(const std::array<Heads, 3>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Heads& part = parts.at(i);
    if (part.split != parts.front().split || part.part != i) return false;
    if (part.sequence != parts.front().sequence || part.heads != parts.front().heads ||
        part.size != parts.front().size) {
      return false;
    }
  }
  return true;
}

/// What the shapes of the file say is what the projections have.
void check_attention(const Importer& importer, const Heads& heads, const Shape& source) {
  const NodeView split(importer, *heads.split);
  const auto axis = split.attribute("axis", std::int64_t{0});
  const std::int64_t width = heads.heads * heads.size;
  if (source.size() != 2 || (axis != 2 && axis != -1)) {
    throw CannotMap("its queries, keys and values are no parts of one sequence");
  }
  const bool has_sizes = heads.split->attributes.contains("split") || split.has_input(1);
  if (has_sizes && split.integers("split", 1) != std::vector<std::int64_t>(3, width)) {
    throw CannotMap("its queries, keys and values are of different widths");
  }
  const bool fits = source[1] == 3 * width && (heads.sequence == source[0] || heads.sequence == -1);
  if (!fits) {
    throw CannotMap(fmt::format("its {} heads of {} for {} positions do not fit projections {}",
                                heads.heads, heads.size, heads.sequence, to_string(source)));
  }
}

/// Softmax(queries·keysᵀ/√size + mask)·values, with the heads beside each other again.
Match match_attention(Group& group, const Node& last) {
  if (last.op != "Reshape" || last.inputs.size() != 2) return std::nullopt;
  const Node* heads_last = transposed(group, last.inputs[0], {0, 2, 1, 3});
  if (heads_last == nullptr) return std::nullopt;
  const auto attention = attention_of(group, heads_last->inputs.at(0));
  if (!attention || !is_of_one_split(attention->parts)) return std::nullopt;
  const std::vector<std::int64_t> shape = group.view(last).integers("shape", 1);
  const Heads heads = attention->parts.front();
  const bool joins = shape.size() == 3 && is_samples(group.importer(), shape[0]) &&
                     (shape[2] == heads.heads * heads.size || shape[2] == -1);
  if (!joins) return std::nullopt;
  return [heads, causal = attention->causal](Importer& importer, const Node& node) {
    const int source = importer.activation(heads.split->inputs.at(0));
    check_attention(importer, heads, importer.shape_of(source));
    importer.add(node, SelfAttention(heads.heads, causal), {source});
  };
}

}  // namespace

void find_fusions(Importer& importer, const std::vector<const Node*>& nodes) {
  for (const Node* node : nodes) {
    if (node->outputs.empty()) continue;
    for (const auto match : {match_gelu, match_layer_norm, match_attention}) {
      Group group(importer);
      Match made;
      try {
        made = match(group, *node);
      } catch (const std::logic_error&) {
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
