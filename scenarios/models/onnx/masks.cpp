// A mask is known by how it is made, not by its elements.
#include "scenarios/models/onnx/masks.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace parbench::onnx_import {
namespace {

Mask inverse(Mask mask) {
  if (mask == Mask::allowed) return Mask::blocked;
  if (mask == Mask::blocked) return Mask::allowed;
  throw CannotMap("only masks of later positions are supported");
}

}  // namespace

std::optional<double> value_of(const Constant& constant) {
  return constant.scalar ? constant.scalar : constant.filled;
}

bool is_blocking(const std::optional<double>& value) {
  constexpr double low = -1e4;
  return value && *value <= low;
}

/// Of one number: that, and zeros above or below the diagonal.
void fold_triangle(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const Constant& constant = *view.constant(0);
  const bool upper = view.attribute("upper", std::int64_t{1}) != 0;
  std::int64_t diagonal = 0;
  if (view.has_input(1)) {
    const std::vector<std::int64_t>& number = view.constant(1)->integers;
    diagonal = number.size() == 1 ? number.front() : std::numeric_limits<std::int64_t>::max();
  }
  const std::optional<double> value = value_of(constant);
  Constant made{.shape = constant.shape};
  if (value && !upper && diagonal == 0 && *value != 0) made.mask = Mask::allowed;
  if (value && upper && diagonal == 1 && *value != 0) {
    made.mask = is_blocking(value) ? Mask::addend : Mask::blocked;
  }
  if (made.mask == Mask::none) throw CannotMap("only masks of later positions are supported");
  importer.fold(node, std::move(made));
}

void fold_equal(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  Constant made = *view.constant(0);
  if (view.weights(1, "second operand").scalar != 0.0)
    throw CannotMap("it compares with other than 0");
  made.mask = inverse(made.mask);
  importer.fold(node, std::move(made));
}

void fold_not(Importer& importer, const Node& node) {
  Constant made = *NodeView(importer, node).constant(0);
  made.mask = inverse(made.mask);
  importer.fold(node, std::move(made));
}

void fold_where(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const Constant& mask = view.weights(0, "mask");
  const auto set = value_of(view.weights(1, "numbers"));
  const auto unset = value_of(view.weights(2, "numbers"));
  const bool blocks = mask.mask == Mask::blocked && is_blocking(set) && unset == 0.0;
  const bool allows = mask.mask == Mask::allowed && set == 0.0 && is_blocking(unset);
  if (!blocks && !allows) throw CannotMap("only masks of later positions are supported");
  importer.fold(node, {.shape = mask.shape, .mask = Mask::addend});
}

}  // namespace parbench::onnx_import
