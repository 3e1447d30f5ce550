// Packed copies of parameters that are divided into buckets (ZeRO 3).
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/plan/schedules/sharding.h"
#include "scenarios/training/step/training_step.h"

namespace parbench {

/// The calls that pack the parameters of a stage, divided such that each reads one bucket. The
/// packed copies of a bucket are consecutive in memory.
class PackedCopies {
 public:
  PackedCopies(TrainingStep& step, const Stage& stage, const ShardLayout& layout);

  /// The part of Space::packed that one call writes.
  struct Part {
    std::size_t offset = 0;  // offset in Space::packed
    std::size_t bytes = 0;
    std::size_t bucket = 0;
    std::size_t in_bucket = 0;  // offset among the copies of its bucket
  };
  /// Returns the part that contains this offset in Space::packed. Throws std::logic_error if there
  /// is none.
  [[nodiscard]] const Part& part_at(std::size_t offset) const;

  /// Return the bytes of all copies of a bucket, and the calls that refresh them.
  [[nodiscard]] std::size_t bytes(std::size_t bucket) const { return bytes_[bucket]; }
  [[nodiscard]] const std::vector<SymbolicCall>& calls(std::size_t bucket) const {
    return calls_[bucket];
  }

 private:
  void add(std::size_t bucket, const SymbolicView& packed, SymbolicCall call);

  std::vector<Part> parts_;
  std::vector<std::size_t> bytes_;                // by bucket
  std::vector<std::vector<SymbolicCall>> calls_;  // by bucket
};

}  // namespace parbench
