// Memory of shards, and reading of values that are distributed over them.
#include "scenarios/training/exchanges/zero_shards.h"

#include <cstdint>
#include <functional>
#include <utility>

#include "scenarios/training/stage_memory.h"

namespace parbench {
namespace {

std::int64_t floats_in(std::size_t bytes) {
  return static_cast<std::int64_t>(bytes / sizeof(float));
}

/// Returns the offset of a parameter and its gradient in the region of a replica.
std::size_t offset_of(const Stage& stage, const Stage::TrainedParameter& one) {
  return one.gradient.view.offset - stage.region().gradients.offset;
}

}  // namespace

Shards::Shards(TrainingStep& step, ShardLayout layout)
    : step_(step), layout_(std::move(layout)), optimizer_(step.settings.optimizer) {
  for (std::size_t r = 0; r < layout_.devices(); ++r) {
    const int device = step_.replica(r).device();
    const TensorDesc shard = canonical({floats_in(layout_.shard_bytes(r))});
    if (step_.layout.exchange.divides_gradients()) {
      gradient_shards_.push_back(step_.data.tensor(device, shard));
      step_.data.poison(gradient_shards_.back());
    }
    if (step_.layout.exchange.divides_parameters()) {
      parameter_shards_.push_back(step_.data.tensor(device, shard));
      step_.data.zero(parameter_shards_.back());  // for the padding between parameters
    }
    auto& updates = updates_.emplace_back();
    for (std::size_t b = 0; b < layout_.buckets().size(); ++b) {
      auto& update = updates.emplace_back();
      if (layout_.block(r, b).bytes == 0) continue;
      update = std::make_unique<RegionUpdate>(
          step_, optimizer_,
          TrainedRegion{
              .device = device, .parameters = parameters(r, b), .gradients = gradients(r, b)});
    }
  }
}

/// Returns a replica's block of a bucket: in its shard or, if `shards` is empty, in `whole`.
BufferView Shards::block_in(const std::vector<Tensor>& shards, const BufferView& whole,
                            std::size_t r, std::size_t bucket) const {
  const ShardLayout::Block& block = layout_.block(r, bucket);
  if (!shards.empty()) return shards[r].view.part(block.in_shard, block.bytes);
  return whole.part(layout_.buckets()[bucket].begin + block.begin, block.bytes);
}

BufferView Shards::gradients(std::size_t r, std::size_t bucket) const {
  return block_in(gradient_shards_, step_.replica(r).region().gradients, r, bucket);
}

BufferView Shards::parameters(std::size_t r, std::size_t bucket) const {
  return block_in(parameter_shards_, step_.replica(r).region().parameters, r, bucket);
}

void Shards::initialize_at_reset(std::size_t r, const BufferView& scratch) {
  initialize_parameters_at_reset(
      step_, step_.replica(r), scratch,
      [layout = layout_, r, scratch, shard = parameter_shards_[r].view](
          Stream& stream, const BufferView& parameter) {
        for (const ShardLayout::Block& part : layout.parts_of(parameter.offset, parameter.bytes)) {
          if (part.device != r) continue;
          const std::size_t begin = layout.buckets()[part.bucket].begin + part.begin;
          stream.copy(shard.part(part.in_shard, part.bytes),
                      scratch.part(begin - parameter.offset, part.bytes));
        }
      });
}

std::vector<CaseData::MemoryPiece> Shards::pieces(const std::vector<Tensor>& shards,
                                                  const Stage::TrainedParameter& one) const {
  std::vector<CaseData::MemoryPiece> pieces;
  const std::size_t offset = offset_of(step_.replica(0), one);
  for (const ShardLayout::Block& part : layout_.parts_of(offset, one.gradient.desc.bytes)) {
    const Tensor& shard = shards[part.device];
    pieces.push_back({.device = shard.device, .view = shard.view.part(part.in_shard, part.bytes)});
  }
  return pieces;
}

UpdatedParameters Shards::results() const {
  UpdatedParameters results{.optimizer = optimizer_, .clip_factors = {}, .all = {}};
  for (const auto& updates : updates_) {
    for (const auto& update : updates) {
      if (update && optimizer_.clips()) results.clip_factors.push_back(update->factor());
    }
  }
  const auto reader = [&](const std::vector<Tensor>& shards, const Stage::TrainedParameter& one,
                          const Tensor& whole) -> std::function<std::vector<float>()> {
    CaseData& data = step_.data;
    if (shards.empty()) return [&data, whole] { return data.read(whole); };
    return [&data, whole, pieces = pieces(shards, one)] {
      return data.read_pieces(whole.device, whole.desc, pieces);
    };
  };
  for (const Stage::TrainedParameter& one : step_.replica(0).parameters()) {
    results.all.push_back({.parameter = one,
                           .gradient = reader(gradient_shards_, one, one.gradient),
                           .after = reader(parameter_shards_, one, one.master)});
  }
  return results;
}

Shards::Kept Shards::kept(std::size_t r) const {
  const std::size_t whole = step_.replica(r).region().parameters.bytes;
  const std::size_t shard = layout_.shard_bytes(r);
  std::size_t moments = 0;
  if (optimizer_.kind != OptimizerKind::sgd) moments = is_adam(optimizer_.kind) ? 2 : 1;
  return {.parameters = step_.layout.exchange.divides_parameters() ? shard : whole,
          .gradients = step_.layout.exchange.divides_gradients() ? shard : whole,
          .state = moments * shard};
}

}  // namespace parbench
