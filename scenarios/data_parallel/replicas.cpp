// Stages that are whole networks, one for each part of the batch.
#include "scenarios/data_parallel/replicas.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "kernels/base/error.h"
#include "scenarios/training/checks/replica_checks.h"

namespace parbench {
namespace {

std::optional<std::string> unequal_replicas(DataParallelParts& parts, bool with_gradients) {
  for (const auto& other : parts.others) {
    if (auto unequal = unequal_parameters(parts.data, parts.replica(0), *other, with_gradients)) {
      return unequal;
    }
  }
  return std::nullopt;
}

std::string samples_text(const DataParallelParts& parts, std::size_t r, int micro_batch) {
  return std::to_string(parts.micro_batches[r][static_cast<std::size_t>(micro_batch)]);
}

}  // namespace

std::int64_t DataParallelParts::share(std::size_t r) const {
  return std::accumulate(micro_batches[r].begin(), micro_batches[r].end(), std::int64_t{0});
}

void append_calls(std::vector<Call>& to, std::vector<Call> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void add_replicas(DataParallelParts& parts, const ReplicaSettings& settings) {
  std::int64_t first_sample = 0;
  const bool sends = parts.micro_batches.size() > 1 || parts.server > 0;
  for (std::size_t r = 0; r < parts.micro_batches.size(); ++r) {
    const int device = static_cast<int>(r);
    auto stage = std::make_unique<Stage>(
        parts, Stage::Options{.device = device,
                              .range = parts.whole,
                              .micro_batches = parts.micro_batches[r],
                              .first_sample = first_sample,
                              .optimizer = r == 0 ? settings.first : settings.others,
                              .layout_samples = parts.micro_batches.front().front(),
                              .is_fed = r > 0 && settings.others_are_fed,
                              .has_norm = settings.has_norm,
                              .gradients_elsewhere = settings.gradients_elsewhere,
                              .parameters_elsewhere = settings.parameters_elsewhere});
    (r == 0 ? parts.lead : parts.others).push_back(std::move(stage));
    parts.compute.push_back(add_lane(parts, device, StreamKind::compute));
    if (sends) parts.copies.push_back(add_lane(parts, device, StreamKind::copy));
    first_sample += parts.share(r);
    if (parts.replica(r).layouts() == parts.replica(0).layouts()) continue;
    throw Unsupported(
        fmt::format("{} and {} have parameters in different layouts, so that their gradients "
                    "cannot be added; use devices of one kind and size",
                    parts.context.device(0).info().name, parts.context.device(device).info().name));
  }
}

Peer peer_of(const DataParallelParts& parts, std::size_t r) {
  return {.name = fmt::format("replica {}", r),
          .device = parts.replica(r).device(),
          .compute = parts.compute[r],
          .copies = parts.copies.empty() ? parts.compute[r] : parts.copies[r]};
}

TaskId add_transfer(DataParallelParts& parts, const std::string& what, const Peer& from,
                    const Peer& to, std::vector<TaskId> after, const CopyCall& copy) {
  const bool within = from.device == to.device;
  std::vector<LaneId> lanes{from.compute};
  if (!within) lanes = copying_lanes(parts.plan, from.copies, to.copies);
  const std::string name = fmt::format("{}, {} to {}", what, from.name, to.name);
  return parts.plan.add({.name = name,
                         .kind = within ? TaskKind::copy : TaskKind::communication,
                         .lanes = std::move(lanes),
                         .after = std::move(after),
                         .cost_key = name,
                         .sent = within ? 0 : static_cast<double>(copy.source.bytes)},
                        {copy});
}

TaskId add_backward(DataParallelParts& parts, std::size_t r, std::vector<TaskId> after,
                    std::vector<Call> calls) {
  return parts.plan.add({.name = fmt::format("backward, replica {}", r),
                         .lanes = {parts.compute[r]},
                         .after = std::move(after),
                         .cost_key = "backward",
                         .phase = "backward"},
                        std::move(calls));
}

TaskId add_forward_of(DataParallelParts& parts, std::size_t r, int micro_batch,
                      std::vector<TaskId> after) {
  const Stage& stage = parts.replica(r);
  std::vector<Call> calls;
  if (micro_batch == 0) calls = stage.pack();
  append_calls(calls, stage.forward(micro_batch));
  const bool is_only = parts.last_micro_batch(r) == 0;
  return parts.plan.add(
      {.name = fmt::format("forward, replica {}{}", r,
                           is_only ? "" : fmt::format(", micro-batch {}", micro_batch)),
       .lanes = {parts.compute[r]},
       .after = std::move(after),
       .cost_key = micro_batch == 0 ? "packing and forward"
                                    : "forward " + samples_text(parts, r, micro_batch),
       .phase = "forward"},
      std::move(calls));
}

TaskId add_forward(DataParallelParts& parts, std::size_t r, std::vector<TaskId> after) {
  const int last = parts.last_micro_batch(r);
  for (int micro_batch = 0; micro_batch < last; ++micro_batch) {
    const TaskId forward = add_forward_of(parts, r, micro_batch, std::exchange(after, {}));
    const bool is_first = micro_batch == 0;
    const std::string samples = samples_text(parts, r, micro_batch);
    parts.plan.add({.name = fmt::format("backward, replica {}, micro-batch {}", r, micro_batch),
                    .lanes = {parts.compute[r]},
                    .after = {forward},
                    .cost_key = is_first ? "first backward" : "backward " + samples,
                    .phase = "backward"},
                   parts.replica(r).backward(micro_batch, is_first));
  }
  return add_forward_of(parts, r, last, std::move(after));
}

std::vector<Call> last_backward(const DataParallelParts& parts, std::size_t r) {
  const int last = parts.last_micro_batch(r);
  return parts.replica(r).backward(last, last == 0);
}

TaskId add_update(DataParallelParts& parts, std::size_t r, std::vector<TaskId> after) {
  Stage& stage = parts.replica(r);
  std::vector<Call> calls;
  if (stage.optimizer().clips()) {
    const BufferView norm = parts.context.borrow(stage.device(), sizeof(float));
    append_calls(calls, stage.update().squared_norm(norm));
    append_calls(calls, stage.update().clip(norm, 1));
  }
  append_calls(calls, stage.update().update());
  return parts.plan.add({.name = fmt::format("update, replica {}", r),
                         .lanes = {parts.compute[r]},
                         .after = std::move(after),
                         .cost_key = "update",
                         .phase = "update"},
                        std::move(calls));
}

std::vector<float> sum_of_losses(DataParallelParts& parts) {
  std::vector<float> sum = parts.data.read(parts.replica(0).loss());
  for (const auto& other : parts.others) sum[0] += parts.data.read(other->loss())[0];
  return sum;
}

void add_replica_outputs(DataParallelParts& parts, bool adds_losses) {
  parts.replica(0).add_outputs(parts.outputs);
  if (!adds_losses) return;
  const auto loss = std::ranges::find(parts.outputs, loss_output, &Output::name);
  loss->read = [&parts] { return sum_of_losses(parts); };
}

void add_equality_of_replicas(DataParallelParts& parts, bool hold_sums) {
  if (parts.others.empty()) return;
  parts.checks.push_back({hold_sums ? "gradients and parameters of all replicas equal"
                                    : "parameters of all replicas equal",
                          [&parts, hold_sums] { return unequal_replicas(parts, hold_sums); }});
}

}  // namespace parbench
