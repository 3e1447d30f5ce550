// Copies between stages, with reorders where layouts differ.
#include "scenarios/training/step/boundary.h"

#include <fmt/format.h>

#include <algorithm>

namespace parbench {

std::int64_t Boundaries::samples(const Crossing& crossing, int micro_batch) const {
  const auto& all = tasks_.step().layout.micro_batches;
  return all.at(static_cast<std::size_t>(crossing.from.replica))
      .at(static_cast<std::size_t>(micro_batch));
}

/// Returns memory at one end for the canonical form of the next tensor of a transfer. Micro-batches
/// with the same slot share it.
BufferView Boundaries::packed_memory(const End& end, const Crossing& crossing) {
  const int slot = slot_of(end.packed, crossing.micro_batch);
  std::int64_t largest = 0;
  const int count = tasks_.step().layout.micro_batch_count(crossing.from.replica);
  for (int i = 0; i < count; ++i) {
    if (slot_of(end.packed, i) == slot) largest = std::max(largest, samples(crossing, i));
  }
  Shape shape = end.desc.shape;
  const std::size_t bytes = canonical(shape, end.desc.dtype).bytes;
  shape.front() = shape.front() / samples(crossing, crossing.micro_batch) * largest;
  const auto [known, is_new] =
      packed_.try_emplace({&end.packed, slot, crossing.copies.size()}, BufferView());
  if (is_new) {
    known->second =
        tasks_.step().context.borrow(end.stage.device(), canonical(shape, end.desc.dtype).bytes);
  }
  return known->second.part(0, bytes);
}

/// Returns memory for a tensor in canonical order at one end, and adds the reorder to it (`sends`)
/// or from it. Returns the tensor's own memory if the tensor is canonical.
BufferView Boundaries::canonical_end(const End& end, bool sends, Crossing& crossing) {
  const TensorDesc plain = canonical(end.desc.shape, end.desc.dtype);
  if (end.desc == plain) return end.view;
  const BufferView staging = packed_memory(end, crossing);
  TrainingStep& step = tasks_.step();
  Stream& stream = step.context.stream(end.stage.device(), StreamKind::compute);
  Op& op = step.ops.prepare(stream, sends ? Reorder{.source = end.desc, .destination = plain}
                                          : Reorder{.source = plain, .destination = end.desc});
  (sends ? crossing.pack : crossing.unpack)
      .emplace_back(bind(op, {{"source", sends ? end.view : staging},
                              {"destination", sends ? staging : end.view}}));
  return staging;
}

void Boundaries::cross(const End& from, const End& to, Crossing& crossing) {
  const bool alike = from.desc == to.desc;
  CopyCall copy;
  copy.source = alike ? from.view : canonical_end(from, true, crossing);
  copy.destination = alike ? to.view : canonical_end(to, false, crossing);
  crossing.bytes += copy.source.bytes;
  crossing.copies.emplace_back(copy);
}

Crossing Boundaries::forward_from(const GridPoint& point, int micro_batch) {
  Crossing crossing{.from = point,
                    .to = {point.replica, point.stage + 1, point.shard},
                    .micro_batch = micro_batch};
  const Stage& stage = tasks_.stage(crossing.from);
  const Stage& next = tasks_.stage(crossing.to);
  const std::vector<Stage::Passing> to = next.inputs(micro_batch);
  for (std::size_t i = 0; const Stage::Passing& from : stage.outputs(micro_batch)) {
    cross({stage, from.desc, from.values, stage.slots().packed_outputs},
          {next, to[i].desc, to[i].values, next.slots().packed_inputs}, crossing);
    ++i;
  }
  return crossing;
}

Crossing Boundaries::backward_from(const GridPoint& point, int micro_batch) {
  Crossing crossing{.from = point,
                    .to = {point.replica, point.stage - 1, point.shard},
                    .micro_batch = micro_batch};
  const Stage& stage = tasks_.stage(crossing.from);
  const Stage& previous = tasks_.stage(crossing.to);
  const std::vector<Stage::Passing> to = previous.outputs(micro_batch);
  for (std::size_t i = 0; const Stage::Passing& from : stage.inputs(micro_batch)) {
    if (from.gradient.bytes > 0) {
      cross({stage, from.desc, from.gradient, stage.slots().input_gradients},
            {previous, to[i].desc, to[i].gradient, previous.slots().output_gradients}, crossing);
    }
    ++i;
  }
  return crossing;
}

void Boundaries::send(const char* what, const Crossing& crossing, std::vector<TaskId> produced) {
  const auto& [from, to, micro_batch, pack, copies, unpack, bytes] = crossing;
  const TaskId task = tasks_.step().plan.add(
      {.name = fmt::format("send {}, micro-batch {}, {} to {}{}", what, micro_batch,
                           tasks_.text(from), to.stage, tasks_.label(from.replica)),
       .kind = TaskKind::copy,
       .lanes = tasks_.lanes_between(from, to),
       .after = std::move(produced),
       .cost_key = fmt::format("send {} {} to {}", what, bytes, to.stage),
       .micro_batch = micro_batch},
      copies);
  arrivals_[{to, micro_batch}] = {task, unpack};
}

}  // namespace parbench
