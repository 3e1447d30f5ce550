// Finds the dimension with the samples in the result of a reshape: the stride of the samples, in
// elements, does not change.
#include "scenarios/models/onnx/general/indexing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

class Reshaping {
 public:
  Reshaping(const Extents& from, Integers wanted, std::int64_t samples_of_file)
      : from_(from),
        count_(general::count_of(from)),
        wanted_(std::move(wanted)),
        samples_of_file_(samples_of_file) {}

  [[nodiscard]] Extents extents(bool keeps_zeros) {
    for (std::size_t d = 0; d < wanted_.size(); ++d) {
      Extent extent{.size = wanted_[d]};
      if (wanted_[d] == 0 && !keeps_zeros && d < from_.size()) extent = from_[d];
      if (wanted_[d] > 0 && wanted_[d] % samples_prime == 0) {
        extent = {.size = wanted_[d] / samples_prime, .samples = true};
      }
      result_.push_back(extent);
    }
    check_sizes();
    if (count_.samples && !has_samples() && samples_of_file_ > 1) name_samples();
    complete();
    if (count_.samples) locate_samples();
    return result_;
  }

 private:
  void check_sizes() const {
    Extents sizes;
    for (const Extent& one : result_) {
      refuse_if(one.size < -1, "its shape has a negative extent");
      refuse_if(one.size == 0 && count_.samples, "its result has no elements");
      sizes.push_back({.size = one.size == -1 ? 1 : one.size});
    }
    static_cast<void>(general::count_of(sizes));  // throws if the shape exceeds any memory
  }

  [[nodiscard]] bool has_samples() const { return std::ranges::any_of(result_, &Extent::samples); }

  /// Returns the number of elements in all dimensions except the one given as −1.
  [[nodiscard]] std::int64_t known_elements() const {
    std::int64_t count = 1;
    for (const Extent& one : result_) count *= one.size == -1 ? 1 : one.size;
    return count;
  }

  /// Finds the extent that contains the samples of the exported file, and divides it by the number
  /// of samples. Changes nothing if there is no such extent.
  void name_samples() {
    const std::int64_t all = count_.size * samples_of_file_;
    Extents whole = result_;
    const std::int64_t others = known_elements();
    const auto open = std::ranges::find(whole, -1, &Extent::size);
    if (others < 1 || all < 1 || all % others != 0 || (open == whole.end() && others != all))
      return;
    if (open != whole.end()) open->size = all / others;
    const std::int64_t inside = count_.size / count_.outer;
    std::int64_t inner = 1;
    for (std::size_t d = whole.size(); d-- > 0; inner *= whole[d].size) {
      if (inside % inner != 0) return;
      const std::int64_t per_sample = inside / inner * samples_of_file_;
      if (whole[d].size % per_sample != 0) continue;
      whole[d] = {.size = whole[d].size / samples_of_file_, .samples = true};
      result_ = whole;
      return;
    }
  }

  /// Computes the extent given as −1.
  void complete() {
    const auto open = std::ranges::find(result_, -1, &Extent::size);
    if (open == result_.end()) return;
    const std::int64_t others = known_elements();
    refuse_if(others == 0 || count_.size % others != 0,
              "its shape does not divide the elements of its input");
    *open = {.size = count_.size / others, .samples = count_.samples && !has_samples()};
  }

  /// Finds the dimension with the samples, and its Extent::outer.
  void locate_samples() {
    const std::int64_t inside = count_.size / count_.outer;
    std::int64_t later = 1;  // elements of the later dimensions
    std::size_t dimension = result_.size();
    for (std::size_t d = result_.size(); d-- > 0;) {
      if (fits(d, later, inside)) {
        dimension = d;
        if (result_[d].samples || (result_[d].size == 1 && later == inside)) break;
      }
      later *= result_[d].size;
    }
    refuse_if(dimension == result_.size(),
              fmt::format("dividing the batch dimension of {} is not supported", to_string(from_)));
    later = 1;
    for (std::size_t d = result_.size(); d-- > 0;) {
      Extent& extent = result_[d];
      extent.samples = d == dimension;
      if (extent.samples) extent.outer = extent.size * later / inside;
      later *= extent.size;
    }
  }

  /// Returns whether the samples may be in a dimension that is followed by `later` elements.
  [[nodiscard]] bool fits(std::size_t d, std::int64_t later, std::int64_t inside) const {
    if (has_samples() && !result_[d].samples) return false;
    return later > 0 && inside > 0 && inside % later == 0 &&
           result_[d].size % (inside / later) == 0;
  }

  const Extents& from_;
  Extent count_;
  Integers wanted_;
  std::int64_t samples_of_file_;
  Extents result_;
};

}  // namespace

general::Extents reshaped_extents(const general::Extents& from, const Integers& wanted,
                                  std::int64_t samples_of_file, bool keeps_zeros) {
  return Reshaping(from, wanted, samples_of_file).extents(keeps_zeros);
}

}  // namespace parbench::onnx_import
