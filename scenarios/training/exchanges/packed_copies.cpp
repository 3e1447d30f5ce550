// Assigns the calls of packing to buckets.
#include "scenarios/training/exchanges/packed_copies.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "kernels/base/round_up.h"
#include "scenarios/plan/region.h"

namespace parbench {
namespace {

constexpr std::size_t bf16_in_f32 = sizeof(float) / sizeof(std::uint16_t);

const SymbolicView& view_in(const SymbolicCall& call, Space space) {
  const auto found =
      std::ranges::find_if(call.views, [&](const SymbolicView& view) { return view.is_in(space); });
  if (found == call.views.end()) throw std::logic_error("a call of packing reads and writes both");
  return *found;
}

}  // namespace

PackedCopies::PackedCopies(TrainingStep& step, const Stage& stage, const ShardLayout& layout)
    : bytes_(layout.buckets().size(), 0), calls_(layout.buckets().size()) {
  for (const SymbolicCall& call : stage.store().packing()) {
    const SymbolicView& source = view_in(call, Space::parameters);
    const SymbolicView& packed = view_in(call, Space::packed);
    // A reorder reads one parameter, which is in one bucket. A conversion of parameters in several
    // buckets is divided.
    const std::size_t first = layout.bucket_at(source.offset);
    const std::size_t source_end = source.offset + source.bytes;
    if (source_end <= layout.buckets()[first].end) {
      add(first, packed, call);
      continue;
    }
    for (std::size_t b = 0; b < layout.buckets().size(); ++b) {
      const std::size_t begin = std::max(layout.buckets()[b].begin, source.offset);
      const std::size_t end = std::min(layout.buckets()[b].end, source_end);
      if (begin >= end) continue;
      const auto count = static_cast<std::int64_t>((end - begin) / sizeof(float));
      Op& convert = step.ops.prepare(
          step.context.stream(stage.device(), StreamKind::compute),
          Reorder{.source = canonical({count}), .destination = canonical({count}, DType::bf16)});
      const SymbolicView part =
          packed.part((begin - source.offset) / bf16_in_f32, (end - begin) / bf16_in_f32);
      add(b, part,
          bind<SymbolicView>(convert, {{"source", source.part(begin - source.offset, end - begin)},
                                       {"destination", part}}));
    }
  }
}

void PackedCopies::add(std::size_t bucket, const SymbolicView& packed, SymbolicCall call) {
  parts_.push_back({.offset = packed.offset,
                    .bytes = packed.bytes,
                    .bucket = bucket,
                    .in_bucket = bytes_[bucket]});
  bytes_[bucket] += round_up(packed.bytes, RegionPlanner::alignment);
  calls_[bucket].push_back(std::move(call));
}

const PackedCopies::Part& PackedCopies::part_at(std::size_t offset) const {
  const auto found = std::ranges::find_if(parts_, [&](const Part& part) {
    return part.offset <= offset && offset < part.offset + part.bytes;
  });
  if (found == parts_.end()) throw std::logic_error("a packed parameter that is not packed");
  return *found;
}

}  // namespace parbench
