// Parameters, statistics and batches that cases share, and their values after a reset.
#include "scenarios/training/stage_memory.h"

#include <fmt/format.h>

#include <numeric>
#include <string>

#include "scenarios/training/batch_data.h"

namespace parbench {
namespace {

Stream& stream_of(CaseParts& parts, const Stage::Options& options) {
  return parts.context.stream(options.device, StreamKind::compute);
}

std::string key_of(const Stage::Options& options, const StagePlan& plan) {
  const Network& network = *options.range.network;
  return fmt::format("{} {} {}-{} {}", network.name, to_string(network.input), options.range.first,
                     options.range.last, plan.store.layout_key());
}

/// Returns the part of a key that names a part of the batch's positions; empty for all positions.
std::string part_key(const Network& network) {
  if (network.part.is_whole()) return {};
  return fmt::format(" part {} of {}", network.part.index, network.part.count);
}

BufferView shared_statistics(CaseParts& parts, const Stage::Options& options,
                             const StagePlan& plan) {
  const BufferView statistics =
      parts.context.shared(options.device, "statistics " + key_of(options, plan),
                           statistics_bytes(*options.range.network), [](BufferView) {});
  if (statistics.bytes > 0) zero_at_reset(parts, options.device, statistics);
  return statistics;
}

/// Returns all samples of the batch in memory that cases with the same `key` share. `write` is
/// called once for all of them.
Samples shared_samples(CaseParts& parts, const Stage::Options& options, const TensorDesc& whole,
                       const std::string& key, const std::function<void(BufferView)>& write) {
  const BufferView view = parts.context.shared(
      options.device, fmt::format("{} {}", key, to_string(whole.dtype)), whole.bytes, write);
  return {.tensor = {.device = options.device, .desc = whole, .view = view},
          .count = options.range.batch};
}

Samples shared_images(CaseParts& parts, const Stage::Options& options) {
  const StageRange& range = options.range;
  const Network& network = *range.network;
  Stream& stream = stream_of(parts, options);
  const TensorDesc whole = tensor_of(stream.device(), range, network_input, range.batch);
  return shared_samples(parts, options, whole,
                        fmt::format("images {} {} {}{}", to_string(whole.shape), network.vocabulary,
                                    network.min_length, part_key(network)),
                        writer_of_inputs(stream, range, parts.context.options().seed));
}

Samples shared_target(CaseParts& parts, const Stage::Options& options) {
  Stream& stream = stream_of(parts, options);
  const TensorDesc whole = target_tensor(stream.device(), options.range, options.range.batch);
  return shared_samples(
      parts, options, whole,
      fmt::format("target {} {}", options.range.network->name, to_string(whole.shape)),
      writer_of_target(stream, options.range, parts.context.options().seed));
}

Tensor poisoned(CaseParts& parts, const Stage::Options& options, const TensorDesc& desc) {
  const Tensor tensor = parts.data.tensor(options.device, desc);
  if (desc.dtype != DType::i32) parts.data.poison(tensor);
  return tensor;
}

/// Returns a function that writes the initial values of a parameter to the staging memory.
CaseData::ResetFunction filling(CaseParts& parts, Stream& stream,
                                const Stage::TrainedParameter& parameter) {
  if (parameter.stored) {
    return [stored = parameter.stored](Stream& on, BufferView staging) {
      copy_values(on, *stored, staging);
    };
  }
  Op& draw = parts.ops.prepare(stream, parameter.initial);
  return [&draw](Stream& on, BufferView staging) {
    draw.enqueue(on, bind(draw, {{"destination", staging}}).views);
  };
}

/// Makes the case's reset write the initial values of one parameter after the other: to the
/// parameter's own memory if `memory` is null, otherwise to the beginning of `memory`. Then the
/// reset calls `keep`, unless it is null.
void initialize(CaseParts& parts, const Stage& stage, const BufferView* memory,
                const KeepParameter& keep) {
  const int device = stage.device();
  Stream& stream = parts.context.stream(device, StreamKind::compute);
  const NumberFormat format{stage.range().dtype, stage.range().math};
  for (const Stage::TrainedParameter& one : stage.parameters()) {
    const TensorDesc plain = canonical(one.spec.shape);
    if (parts.context.is_remote(device)) {  // another rank initialises it
      parts.data.at_reset(device, plain.bytes, [](Stream&, BufferView) {});
      continue;
    }
    const BufferView own = one.master.view;
    Op& reorder =
        parts.ops.prepare(stream, Reorder{.source = plain, .destination = one.master.desc});
    parts.data.at_reset(
        device, plain.bytes,
        [&context = parts.context, format, fill = filling(parts, stream, one), &reorder, keep, own,
         target = memory == nullptr ? own : memory->part(0, own.bytes),
         bytes = plain.bytes](Stream& on, BufferView staging) {
          fill(on, staging);
          if (const int number = context.perturbation(); number != 0) {
            perturb(on, staging.part(0, bytes), number, perturbation_of(format));
          }
          const OpCall call = bind(reorder, {{"source", staging}, {"destination", target}});
          reorder.enqueue(on, call.views);
          if (keep) keep(on, own);
        });
  }
}

}  // namespace

StageMemory memory_without_parameters(CaseParts& parts, const Stage::Options& options,
                                      const StagePlan& plan) {
  StageMemory memory{.parameters = elsewhere(plan.store.bytes()),
                     .packed = elsewhere(plan.store.packed_bytes()),
                     .gradients = {},
                     .statistics = shared_statistics(parts, options, plan),
                     .images = {},
                     .target = {}};
  if (options.range.is_first()) memory.images = shared_images(parts, options);
  if (options.range.is_last()) memory.target = shared_target(parts, options);
  return memory;
}

StageMemory shared_memory(CaseParts& parts, const Stage::Options& options, const StagePlan& plan) {
  StageMemory memory = memory_without_parameters(parts, options, plan);
  memory.parameters =  // written by the case's reset
      parts.context.shared(options.device, "parameters " + key_of(options, plan),
                           plan.store.bytes(), [](BufferView) {});
  memory.packed = parts.context.borrow(options.device, plan.store.packed_bytes());
  return memory;
}

StageMemory fed_memory(CaseParts& parts, const Stage::Options& options, const StagePlan& plan) {
  const auto floats = static_cast<std::int64_t>(plan.store.bytes() / sizeof(float));
  const std::int64_t samples =
      std::reduce(options.micro_batches.begin(), options.micro_batches.end());
  const TensorDesc images =
      tensor_of(stream_of(parts, options).device(), options.range, network_input, samples);
  return {.parameters = poisoned(parts, options, canonical({floats})).view,
          .packed = parts.context.borrow(options.device, plan.store.packed_bytes()),
          .gradients = {},
          .statistics = shared_statistics(parts, options, plan),
          .images = {.tensor = poisoned(parts, options, images),
                     .first = options.first_sample,
                     .count = samples},
          .target = {}};
}

void initialize_parameters_at_reset(CaseParts& parts, const Stage& stage) {
  initialize(parts, stage, nullptr, nullptr);
}

void initialize_parameters_at_reset(CaseParts& parts, const Stage& stage, const BufferView& memory,
                                    const KeepParameter& keep) {
  initialize(parts, stage, &memory, keep);
}

void zero_at_reset(CaseParts& parts, int device, const BufferView& memory) {
  if (parts.context.is_remote(device)) return;
  Op& zero =
      parts.ops.prepare(parts.context.stream(device, StreamKind::compute),
                        Fill{.count = static_cast<std::int64_t>(memory.bytes / sizeof(float)),
                             .distribution = Distribution::constant,
                             .low = 0.0F});
  parts.data.at_reset(device, 0, [&zero, memory](Stream& stream, BufferView) {
    zero.enqueue(stream, bind(zero, {{"destination", memory}}).views);
  });
}

}  // namespace parbench
