// Adds the parts of a step in the order in which the host submits them.
#include "scenarios/training/step/step_writer.h"

#include <algorithm>

#include "scenarios/training/exchanges/exchanges.h"
#include "scenarios/training/step/update_writer.h"

namespace parbench {

std::optional<UpdatedParameters> StepWriter::write() {
  using enum Exchange::Kind;
  const Exchange::Kind kind = step_.layout.exchange.kind;
  if (kind == zero) return write_zero(tasks_, passes_);
  if (kind == fed_from_first) {
    write_replicate(tasks_);
    return std::nullopt;
  }
  passes_.write_packing();
  write_passes();
  if (kind == server) return write_server(tasks_);
  if (kind == first_device) {
    write_tower(tasks_);
    return std::nullopt;
  }
  shared_.write();
  sums_.write_rest();
  write_updates();
  return std::nullopt;
}

void StepWriter::write_updates() {
  UpdateWriter updates(tasks_, [&](const GridPoint& point) { return sums_.counted(point); });
  for (int replica = 0; replica < step_.layout.grid.replicas; ++replica) updates.write(replica);
}

/// Adds passes of all replicas in turn, so that the last replica does not wait long for its first
/// task, and all-reduces of buckets as soon as all replicas have completed them.
void StepWriter::write_passes() {
  const StepLayout& layout = step_.layout;
  std::vector<std::vector<Action>> orders;
  std::size_t longest = 0;
  for (int replica = 0; replica < layout.grid.replicas; ++replica) {
    orders.push_back(in_dependency_order(
        schedule_named(layout.schedule, layout.stages(), layout.micro_batch_count(replica))));
    longest = std::max(longest, orders.back().size());
  }
  for (std::size_t i = 0; i < longest; ++i) {
    std::vector<StagePass> begun;
    for (std::size_t replica = 0; replica < orders.size(); ++replica) {
      if (i >= orders[replica].size()) continue;
      begun.push_back(passes_.begin(static_cast<int>(replica), orders[replica][i]));
    }
    while (!begun.empty()) {
      for (StagePass& pass : begun) pass.write_piece();
      std::erase_if(begun, [](const StagePass& pass) { return pass.is_written(); });
      sums_.write_complete_buckets();
    }
  }
}

}  // namespace parbench
