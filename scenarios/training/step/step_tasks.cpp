// Lanes and buckets of a step.
#include "scenarios/training/step/step_tasks.h"

#include <fmt/format.h>

#include <iterator>

#include "scenarios/plan/schedules/data_parallel.h"
#include "scenarios/training/completion.h"

namespace parbench {

void append(std::vector<Call>& to, std::vector<Call> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void append(std::vector<TaskId>& to, const std::vector<TaskId>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

StepTasks::StepTasks(TrainingStep& step) : step_(step) {
  const StepLayout& layout = step.layout;
  const bool exchange_copies =
      layout.exchange.copies() && (layout.grid.replicas > 1 || layout.exchange.server > 0);
  for (int replica = 0; replica < layout.grid.replicas; ++replica) {
    const auto add_lanes = [&](std::map<int, LaneId>& lanes, StreamKind kind) {
      for (const GridPoint& point : layout.points_of(replica)) {
        const int device = layout.device(point);
        if (!lanes.contains(device)) lanes[device] = add_lane(step, device, kind);
      }
    };
    add_lanes(compute_, StreamKind::compute);
    if (layout.stages() > 1 || exchange_copies) add_lanes(copy_, StreamKind::copy);
  }
  const bool has_buckets =
      layout.exchange.kind == Exchange::Kind::all_reduce && layout.exchange.bucket_bytes > 0;
  if (!has_buckets || layout.grid.replicas == 1) return;
  for (const GridPoint& point : layout.points()) {
    const BufferView all = stage(point).region().gradients;
    for (const GradientBucket& one : gradient_buckets(stage(point).gradient_offsets(), all.bytes,
                                                      layout.exchange.bucket_bytes)) {
      buckets_[point].push_back({.gradients = all.part(one.begin, one.end - one.begin)});
    }
  }
}

std::vector<LaneId> StepTasks::lanes_between(const GridPoint& from, const GridPoint& to) const {
  return copying_lanes(step_.plan, copy_lane(from), copy_lane(to));
}

std::vector<TaskId> StepTasks::completed(const GridPoint& point, const BufferView& gradient) {
  std::vector<TaskId> tasks;
  for (const Bucket& bucket : buckets_[point]) {
    if (overlap(bucket.gradients, gradient)) append(tasks, bucket.completed);
  }
  return buckets_[point].empty() ? completed_[point] : tasks;
}

std::string StepTasks::number(const GridPoint& point) const {
  const bool has_shards = step_.layout.grid.shards > 1;
  return fmt::format("{}{}", point.stage, has_shards ? fmt::format(", shard {}", point.shard) : "");
}

std::string StepTasks::text(const GridPoint& point) const { return "stage " + number(point); }

std::string StepTasks::divided_text(const GridPoint& point) const {
  const StepLayout& layout = step_.layout;
  return (layout.stages() > 1 ? fmt::format(", stage {}", point.stage) : "") +
         (layout.grid.shards > 1 ? fmt::format(", shard {}", point.shard) : "");
}

std::string StepTasks::label(int replica) const {
  return step_.layout.grid.replicas > 1 ? fmt::format(", replica {}", replica) : "";
}

}  // namespace parbench
