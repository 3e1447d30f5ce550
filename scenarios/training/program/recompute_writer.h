// Writes the forward pass of a unit again, ahead of its backward pass, where only what crosses
// units is kept from the first one.
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
  /// Takes its memory from the backward pass's.
  RecomputeWriter(const StageParts& parts, PassMemory& memory)
      : LayerWriter(parts), memory_(memory) {}

  struct Recomputed {
    std::vector<OpCall> calls;
    std::vector<ExchangePoint> exchanges;  // of shards, as in the first forward pass
  };
  /// Computes what the backward pass of the layers [first, last], a unit, reads, and leaves out
  /// layers that nothing of it depends on. The layers' memory is that of these calls until the next
  /// `release`.
  [[nodiscard]] Recomputed write(int first, int last);
  /// Gives back the memory of the unit that was written last.
  void release();

  [[nodiscard]] BufferView place_output(std::size_t bytes) override;
  [[nodiscard]] BufferView keep(std::string_view name, std::size_t bytes) override;
  [[nodiscard]] BufferView scratch(std::size_t bytes) override {
    return transient(bytes, released_behind_[index()]);
  }
  /// Memory for numbers that are not used: the first forward pass has updated the statistics.
  [[nodiscard]] BufferView statistics() const override { return unused_statistics_; }

 private:
  void find_wanted(int first, int last);
  [[nodiscard]] bool is_wanted(int index) const { return last_readers_.contains(index); }
  [[nodiscard]] BufferView transient(std::size_t bytes, std::vector<BufferView>& held);
  void write_one(int index);

  PassMemory& memory_;
  std::map<int, int> last_readers_;  // of this pass, by layer that is written; itself: none
  std::vector<BufferView> held_;     // until the backward pass has run
  std::map<int, std::vector<BufferView>> released_behind_;  // layers
  BufferView unused_statistics_;
};

}  // namespace parbench
