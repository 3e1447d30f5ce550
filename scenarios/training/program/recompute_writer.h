// Writes the recomputation of a unit before its backward pass, for forward passes that keep only
// tensors that cross units.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "scenarios/models/layers/passes.h"
#include "scenarios/training/program/layer_writer.h"
#include "scenarios/training/program/pass_memory.h"

namespace parbench {

class RecomputeWriter final : public LayerWriter<ForwardPass> {
 public:
  /// `memory`: the allocator of the backward pass.
  RecomputeWriter(const StageParts& parts, PassMemory& memory)
      : LayerWriter(parts), memory_(memory) {}

  /// Writes the calls that compute the tensors that the backward pass of a unit, the layers
  /// [first, last], reads. Layers that do not affect these tensors are skipped; shards exchange
  /// data as in the first forward pass. The tensors are valid until the next `release`.
  [[nodiscard]] SymbolicPass write(int first, int last);
  /// Releases the memory of the unit that was written last.
  void release();

  [[nodiscard]] SymbolicView place_output(std::size_t bytes) override;
  [[nodiscard]] SymbolicView keep(std::string_view name, std::size_t bytes) override;
  [[nodiscard]] SymbolicView scratch(std::size_t bytes) override {
    return transient(bytes, released_after_[index()]);
  }
  /// Returns temporary memory, because the first forward pass has already updated the running
  /// statistics.
  [[nodiscard]] SymbolicView statistics() const override { return unused_statistics_; }

 private:
  void find_wanted(int first, int last);
  [[nodiscard]] bool is_wanted(int index) const { return last_readers_.contains(index); }
  [[nodiscard]] SymbolicView transient(std::size_t bytes, std::vector<SymbolicView>& held);
  void write_one(int index);

  PassMemory& memory_;
  // by recomputed layer: its last reader among the recomputed layers, or itself if there is none
  std::map<int, int> last_readers_;
  std::vector<SymbolicView> held_;  // memory kept until the backward pass has run
  // memory to release, by the layer after which it is released
  std::map<int, std::vector<SymbolicView>> released_after_;
  SymbolicView unused_statistics_;
};

}  // namespace parbench
