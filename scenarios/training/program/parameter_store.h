// Memory of a stage's parameters, gradients and statistics, and copies of parameters for
// operations.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/tensor.h"
#include "scenarios/framework/op_set.h"
#include "scenarios/framework/symbolic.h"
#include "scenarios/models/network.h"

namespace parbench {

/// Master parameters are f32 in one flat region, each in the layout of its gradient, so that a
/// single update covers all of them. If an operation needs another layout or type, it gets a packed
/// copy, which `packing` refreshes from the master at the start of a step. Copies that differ from
/// their masters only in type are in the same order as the masters, so that one conversion
/// refreshes many copies (`Image`): on a GPU each separate conversion costs a launch.
class ParameterStore {
 public:
  struct Entry {
    ParameterSpec spec;
    TensorDesc master;
    std::size_t offset = 0;  // offset in Space::parameters and Space::gradients
    bool is_copy = false;    // copy of a parameter that belongs to another stage
  };

  /// `is_read_once`: whether the step has only one micro-batch. If so, copies that only the
  /// backward pass reads are temporaries of that pass (BackwardWriter) and not in the store.
  explicit ParameterStore(Stream& stream, bool is_read_once = false)
      : stream_(stream), is_read_once_(is_read_once) {}

  [[nodiscard]] bool is_read_once() const { return is_read_once_; }

  /// Adds a parameter. Throws std::logic_error once `parameter` has made a copy that differs from
  /// its master only in type.
  void add(ParameterSpec spec, TensorDesc master);
  /// Adds a copy of a parameter that belongs to another stage; the norm of that stage includes the
  /// gradient. `spec.layer`: the layer of this stage that reads the copy. All parameters that
  /// belong to this stage must have been added before.
  void add_copy(ParameterSpec spec, TensorDesc master);
  /// Makes a layer read the parameters of another layer, which the store contains.
  void share(int layer, int owner) { owners_[layer] = owner; }

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const Entry& entry(int layer, std::string_view role) const;
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Returns the bytes of the stage's own parameters, which precede the copies of other stages'
  /// parameters.
  [[nodiscard]] std::size_t bytes_of_own() const { return bytes_of_own_; }
  [[nodiscard]] std::size_t packed_bytes() const { return packed_bytes_; }

  [[nodiscard]] SymbolicView gradient(int layer, std::string_view role) const;
  /// Returns the parameter as `wanted` describes it: the master itself, or a packed copy.
  [[nodiscard]] SymbolicView parameter(int layer, std::string_view role, const TensorDesc& wanted);
  /// Like `parameter`, but returns nothing if a copy would have to be made.
  [[nodiscard]] std::optional<SymbolicView> found(int layer, std::string_view role,
                                                  const TensorDesc& wanted) const;
  /// Returns calls that refresh all packed copies.
  [[nodiscard]] const std::vector<SymbolicCall>& packing() const { return packing_; }
  /// Returns the names and layouts of all parameters as a string. Stages of a network with equal
  /// strings have each parameter at the same offset.
  [[nodiscard]] std::string layout_key() const;

 private:
  Stream& stream_;
  bool is_read_once_;
  OpSet ops_;
  std::vector<Entry> entries_;
  std::map<int, int> owners_;  // layer that owns the parameters of a layer, if it is another one
  std::size_t bytes_ = 0;
  std::size_t bytes_of_own_ = 0;
  struct Packed {
    int layer = 0;
    std::string role;
    TensorDesc tensor;
    SymbolicView view;
  };
  std::vector<Packed> packed_;
  [[nodiscard]] SymbolicView converted(const Entry& entry, const TensorDesc& wanted);
  [[nodiscard]] SymbolicView reordered(const Entry& entry, const TensorDesc& wanted);

  /// The bf16 copies of all masters from offset `first` on.
  struct Image {
    std::size_t first = 0;  // offset in Space::parameters
    std::size_t base = 0;   // offset in Space::packed
  };
  std::optional<Image> image_;
  std::size_t packed_bytes_ = 0;
  std::vector<SymbolicCall> packing_;
};

}  // namespace parbench
