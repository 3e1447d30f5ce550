// Converts tensors to a form with the samples as first dimension, and back.
#pragma once

#include <algorithm>
#include <utility>

#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {

/// Converts a tensor between its shape in the graph and the form in which layers exchange it, with
/// the samples first.
class Exchanged {
 public:
  /// Throws CannotTranslate for a shape without samples.
  explicit Exchanged(Extents shape) : shape_(std::move(shape)) {
    const auto found = std::ranges::find_if(shape_, &Extent::samples);
    if (found == shape_.end()) throw CannotTranslate("a tensor between layers has no samples");
    samples_ = static_cast<std::size_t>(found - shape_.begin());
    is_plain_ = samples_ == 0 && found->size == 1 && shape_.size() >= 2 && shape_.size() <= 4;
    divided_ =
        general::joined({general::part_of(shape_, 0, samples_),
                         {{.size = found->outer}, {1, true}, {.size = found->size / found->outer}},
                         general::part_of(shape_, samples_ + 1, shape_.size())});
  }

  [[nodiscard]] Extents front() const {
    return is_plain_ ? shape_ : Extents{{1, true}, {.size = general::count_of(shape_).size}};
  }
  [[nodiscard]] Term to_front(Term x) const { return is_plain_ ? x : moved(x).reshape(front()); }
  [[nodiscard]] Term from_front(Term x) const { return is_plain_ ? x : restored(x); }

  /// Moves the samples before all other dimensions. Dimensions joined with the samples become
  /// separate.
  [[nodiscard]] Term moved(Term x) const { return x.reshape(divided_).move_axis(samples_ + 1, 0); }
  /// Inverts `moved`; the dimensions of `x` after the samples may be joined.
  [[nodiscard]] Term restored(Term x) const {
    Extents front = divided_;
    front.erase(front.begin() + static_cast<std::ptrdiff_t>(samples_) + 1);
    front.insert(front.begin(), {1, true});
    return x.reshape(std::move(front)).move_axis(0, samples_ + 1).reshape(shape_);
  }

 private:
  Extents shape_;
  Extents divided_;  // shape_ with the samples as a separate dimension
  std::size_t samples_ = 0;
  bool is_plain_ = false;
};

}  // namespace parbench::onnx_import
