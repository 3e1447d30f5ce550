// Assigns micro-batches to devices.
#include "scenarios/training/question/in_turn.h"

#include <numeric>

namespace parbench {
namespace {

/// Divides the batch into equal parts, one for each device, and assigns each micro-batch to the
/// device in whose part it begins. Omits devices without a micro-batch.
std::vector<std::vector<std::int64_t>> divided(const std::vector<std::int64_t>& micro_batches,
                                               std::int64_t devices) {
  const std::int64_t batch =
      std::accumulate(micro_batches.begin(), micro_batches.end(), std::int64_t{0});
  std::vector<std::vector<std::int64_t>> shares;
  std::int64_t sample = 0;
  std::int64_t last = -1;
  for (const std::int64_t count : micro_batches) {
    const std::int64_t device = devices * sample / batch;
    if (device != last) shares.emplace_back();
    last = device;
    shares.back().push_back(count);
    sample += count;
  }
  return shares;
}

}  // namespace

StepLayout in_turn(const Context& context,
                   const std::vector<std::vector<std::int64_t>>& by_replica) {
  std::vector<std::int64_t> micro_batches;  // in the order of their samples
  for (const auto& one : by_replica) {
    micro_batches.insert(micro_batches.end(), one.begin(), one.end());
  }
  const bool has_two =
      context.device_count() > 1 && alike(context.device(0).info(), context.device(1).info());
  StepLayout layout{.micro_batches = divided(micro_batches, has_two ? 2 : 1),
                    .exchange = {.kind = Exchange::Kind::none}};
  layout.grid.replicas = static_cast<int>(layout.micro_batches.size());
  return layout;
}

}  // namespace parbench
