// An index in canonical order is a mixed-radix number whose digits are the coordinates of the
// layout's parts. A dimension of a Map must advance along a single digit; a dimension that extends
// over several digits is divided.
#include "scenarios/models/general/relayout.h"

#include <algorithm>
#include <cstdint>

namespace parbench::general {
namespace {

/// A part of a layout, or several contiguous parts.
struct Digit {
  std::int64_t unit;    // distance of neighbours in canonical order
  std::int64_t extent;  // number of values
  std::int64_t stride;  // distance of neighbours in memory
};

/// Returns the digits, starting with the lowest; empty if strides do not describe the layout, and
/// for a single element.
std::vector<Digit> digits_of(const TensorDesc& tensor) {
  const std::vector<LayoutPart> parts = parts_of(tensor);
  std::vector<Digit> digits;
  std::int64_t unit = 1;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->extent == 1) continue;
    if (!digits.empty() && part->stride == digits.back().stride * digits.back().extent) {
      digits.back().extent *= part->extent;
    } else {
      digits.push_back({unit, part->extent, part->stride});
    }
    unit *= part->extent;
  }
  return digits;
}

/// Converts one operand of a Map from canonical order to a layout.
class Relayout {
 public:
  Relayout(Map& map, StridedTensor& operand, const std::vector<Digit>& digits)
      : map_(map), operand_(operand), digits_(digits), reach_(digits.size()) {}

  [[nodiscard]] bool run() {
    if (digits_.empty()) return false;
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < digits_.size(); ++i) {
      reach_[i] = operand_.offset / digits_[i].unit % digits_[i].extent;
      offset += reach_[i] * digits_[i].stride;
    }
    for (std::size_t d = 0; d < operand_.strides.size(); ++d) {
      if (!divide_along(d)) return false;
    }
    for (std::size_t i = 0; i < digits_.size(); ++i) {
      if (reach_[i] >= digits_[i].extent) return false;
    }
    operand_.offset = offset;
    return true;
  }

 private:
  /// Makes dimension `d` advance along a digit. If the dimension extends beyond the digit, divides
  /// the dimension: the outer part becomes a new dimension in front, which is processed next, and
  /// `d` becomes the index of the inner part. Returns false if the dimension does not match the
  /// digits, or cannot be divided.
  [[nodiscard]] bool divide_along(std::size_t& d) {
    std::int64_t& stride = operand_.strides[d];
    if (stride == 0 || map_.extents[d] == 1) return true;
    const auto next = std::ranges::find_if(
        digits_, [&](const Digit& one) { return stride < one.unit * one.extent; });
    if (stride < 0 || next == digits_.end() || stride % next->unit != 0) return false;
    const std::int64_t multiple = stride / next->unit;
    if (multiple * (map_.extents[d] - 1) >= next->extent) {
      const std::int64_t inner = next->extent / multiple;
      if (next->extent % multiple != 0 || map_.extents[d] % inner != 0 || !divide(d, inner)) {
        return false;
      }
      // The inner part is now dimension d + 1.
      add(next, multiple, inner, operand_.strides[d + 1]);
      if (!divide_along(d)) return false;
      ++d;
      return true;
    }
    add(next, multiple, map_.extents[d], stride);
    return true;
  }

  void add(std::vector<Digit>::const_iterator digit, std::int64_t multiple, std::int64_t extent,
           std::int64_t& stride) {
    reach_[static_cast<std::size_t>(digit - digits_.begin())] += multiple * (extent - 1);
    stride = multiple * digit->stride;
  }

  /// Divides a dimension into two, the inner one with extent `inner`. Returns false if the Map
  /// already has the maximum number of dimensions, or reads coordinates in the dimension.
  [[nodiscard]] bool divide(std::size_t d, std::int64_t inner) {
    if (map_.extents.size() >= Map::max_dimensions) return false;
    for (ElementInstruction& one : map_.program) {
      if (one.op != ElementOp::coordinate) continue;
      if (one.from[0] == d) return false;
      if (one.from[0] > d) ++one.from[0];
    }
    const std::size_t kept = map_.extents.size() - static_cast<std::size_t>(map_.reduced);
    const auto dimension = static_cast<std::ptrdiff_t>(d);
    for (StridedTensor& input : map_.inputs) divide(input.strides, dimension, inner);
    if (d < kept) {
      divide(map_.output.strides, dimension, inner);
    } else {
      ++map_.reduced;
    }
    map_.extents.insert(map_.extents.begin() + dimension, map_.extents[d] / inner);
    map_.extents[d + 1] = inner;
    return true;
  }

  static void divide(Shape& strides, std::ptrdiff_t dimension, std::int64_t inner) {
    const std::int64_t stride = strides[static_cast<std::size_t>(dimension)];
    strides.insert(strides.begin() + dimension, stride * inner);
  }

  Map& map_;
  StridedTensor& operand_;
  const std::vector<Digit>& digits_;
  std::vector<std::int64_t> reach_;  // highest value that each digit takes
};

/// Converts the operands of a call that are in the memory `name` to a layout; returns false if the
/// call cannot access this memory in that layout.
bool relayout(LoweredCall& call, int name, const std::vector<Digit>& digits) {
  auto* map = std::get_if<Map>(&call.desc);
  if (map == nullptr) return false;
  auto argument = call.arguments.begin();
  for (StridedTensor& input : map->inputs) {
    if (input.values != nullptr) continue;
    if ((argument++)->second == name && !Relayout(*map, input, digits).run()) return false;
  }
  return argument->second != name || Relayout(*map, map->output, digits).run();
}

}  // namespace

std::optional<std::vector<LoweredCall>> in_layout(const std::vector<LoweredCall>& calls, int name,
                                                  const TensorDesc& tensor) {
  const std::vector<Digit> digits = digits_of(tensor);
  std::vector<LoweredCall> changed = calls;
  for (LoweredCall& call : changed) {
    const bool is_named = std::ranges::any_of(
        call.arguments, [&](const auto& argument) { return argument.second == name; });
    if (is_named && !relayout(call, name, digits)) return std::nullopt;
  }
  return changed;
}

}  // namespace parbench::general
