// Where a stage's parameters, gradients and statistics lie, and the copies that operations prefer.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/tensor.h"
#include "scenarios/framework/op_set.h"
#include "scenarios/models/network.h"
#include "scenarios/training/program/symbolic.h"

namespace parbench {

/// Master parameters are f32 in one flat region, each in the layout in which its gradient is
/// computed, so that a single update covers them all. Where an operation wants another layout or
/// type, it gets a packed copy, which `packing` refreshes from the master at the start of a step.
/// Copies that differ in the type alone lie as their masters do, so that one conversion of the
/// whole region refreshes them all: a model has dozens, and on a GPU each by itself costs a launch.
class ParameterStore {
 public:
  struct Entry {
    ParameterSpec spec;
    TensorDesc master;
    std::size_t offset = 0;  // in Space::parameters and Space::gradients
    bool is_copy = false;    // of a parameter that belongs to another stage
  };

  /// `is_read_once`: the step has one micro-batch, whose backward pass makes the copies that it
  /// alone reads where it needs them.
  explicit ParameterStore(Stream& stream, bool is_read_once = false)
      : stream_(stream), is_read_once_(is_read_once) {}

  [[nodiscard]] bool is_read_once() const { return is_read_once_; }

  /// Throws std::logic_error once a parameter has been asked for in another element type.
  void add(ParameterSpec spec, TensorDesc master);
  /// Adds a copy of what belongs to a layer of another stage, behind all that belongs to this one:
  /// its gradient counts there. The specification has the layer that reads it here.
  void add_copy(ParameterSpec spec, TensorDesc master);
  /// Makes a layer read the parameters of another, which the store has.
  void share(int layer, int owner) { owners_[layer] = owner; }

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const Entry& entry(int layer, std::string_view role) const;
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Without copies, which come last.
  [[nodiscard]] std::size_t bytes_of_own() const { return bytes_of_own_; }
  [[nodiscard]] std::size_t packed_bytes() const { return packed_bytes_; }

  [[nodiscard]] BufferView gradient(int layer, std::string_view role) const;
  /// The parameter as `wanted` describes it: the master itself, or a packed copy.
  [[nodiscard]] BufferView parameter(int layer, std::string_view role, const TensorDesc& wanted);
  /// The same where no further copy is needed, else nothing.
  [[nodiscard]] std::optional<BufferView> found(int layer, std::string_view role,
                                                const TensorDesc& wanted) const;
  /// Brings all packed copies up to date.
  [[nodiscard]] const std::vector<OpCall>& packing() const { return packing_; }
  /// All layouts in one string: stages with the same one can share parameters.
  [[nodiscard]] std::string layout_key() const;

 private:
  Stream& stream_;
  bool is_read_once_;
  OpSet ops_;
  std::vector<Entry> entries_;
  std::map<int, int> owners_;  // by layer, where it is another
  std::size_t bytes_ = 0;
  std::size_t bytes_of_own_ = 0;
  struct Packed {
    int layer = 0;
    std::string role;
    TensorDesc tensor;
    BufferView view;
  };
  std::vector<Packed> packed_;
  [[nodiscard]] BufferView converted(const Entry& entry, const TensorDesc& wanted);
  [[nodiscard]] BufferView reordered(const Entry& entry, const TensorDesc& wanted);

  /// The masters from one on in bf16.
  struct Image {
    std::size_t first = 0;  // where the masters begin
    std::size_t base = 0;   // where it begins in Space::packed
  };
  std::optional<Image> image_;
  std::size_t packed_bytes_ = 0;
  std::vector<OpCall> packing_;
};

}  // namespace parbench
