// Writes the forward pass of a stage. Tensors that leave the stage or that the backward pass reads
// are kept; with recomputation, only tensors that leave their unit. The memory of other tensors is
// reused once their last reader has run.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "scenarios/models/layers/passes.h"
#include "scenarios/plan/region.h"
#include "scenarios/training/program/layer_writer.h"

namespace parbench {

class ForwardWriter final : public LayerWriter<ForwardPass> {
 public:
  using LayerWriter::LayerWriter;

  [[nodiscard]] SymbolicPass write();
  /// Return the allocator of Space::activations and the bytes of Space::transient; valid after
  /// `write`.
  [[nodiscard]] const RegionPlanner& activations() const { return activations_; }
  [[nodiscard]] std::size_t transient_bytes() const { return region_.peak(); }

  [[nodiscard]] SymbolicView place_output(std::size_t bytes) override;
  [[nodiscard]] SymbolicView keep(std::string_view name, std::size_t bytes) override;
  [[nodiscard]] SymbolicView scratch(std::size_t bytes) override {
    return transient_memory(bytes, index());
  }
  [[nodiscard]] SymbolicView statistics() const override { return parts().statistics_of(index()); }

 private:
  void place_what_leaves();
  [[nodiscard]] SymbolicView kept_memory(std::size_t bytes);
  [[nodiscard]] SymbolicView transient_memory(std::size_t bytes, int last_reader);
  [[nodiscard]] bool is_kept(int index) const;
  [[nodiscard]] int last_reader(int index) const;
  void release_what_was_read_last_by(int reader);

  RegionPlanner activations_;
  RegionPlanner region_;                       // allocator of Space::transient
  std::multimap<int, std::size_t> transient_;  // offsets in Space::transient, by last reader
  std::map<int, SymbolicView> leaving_;        // outputs that leave the stage, by layer
};

}  // namespace parbench
