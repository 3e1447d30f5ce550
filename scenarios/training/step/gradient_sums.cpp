// All-reduces of gradients and their lanes.
#include "scenarios/training/step/gradient_sums.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace parbench {

GradientSums::GradientSums(StepTasks& tasks) : tasks_(tasks) {
  TrainingStep& step = tasks.step();
  for (const GridPoint& point : step.layout.points()) {
    if (tasks.buckets(point).empty()) continue;
    if (point.replica == 0) written_[{point.stage, point.shard}] = 0;
    const int device = step.layout.device(point);
    if (lanes_.contains(device)) continue;
    lanes_[device] = step.layout.stages() > 1 ? add_lane(step, device, StreamKind::copy, 1, 2)
                                              : add_lane(step, device, StreamKind::copy);
  }
  if (written_.empty()) return;
  std::vector<std::string> counts;
  for (int stage = 0; stage < step.layout.stages(); ++stage) {
    counts.push_back(fmt::format("{}", tasks.buckets({0, stage, 0}).size()));
  }
  step.notes.emplace_back("buckets", fmt::format("{}", fmt::join(counts, " + ")));
}

std::vector<Member> GradientSums::members(const std::vector<GridPoint>& points) const {
  std::vector<Member> all;
  for (const GridPoint& point : points) {
    all.push_back(member_on(tasks_.stage(point).device(), tasks_.compute_lane(point)));
  }
  return all;
}

void GradientSums::add_up(MemberCollectives& collectives, const std::string& name,
                          const std::vector<Part>& parts) {
  std::vector<BufferView> data;
  std::vector<std::vector<TaskId>> ready;
  for (const Part& part : parts) {
    data.push_back(part.data);
    ready.push_back(part.completed);
  }
  const Completion done = collectives.add(name, Collective::all_reduce, data, ready);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    append(tasks_.completed(parts[i].point), done[i]);
  }
}

// --- over replicas ---

void GradientSums::write_complete_buckets() { write_buckets(false); }

void GradientSums::write_buckets(bool all) {
  for (auto& [key, written] : written_) {
    const std::vector<GridPoint> points = tasks_.step().over_replicas(key.first, key.second);
    const std::size_t count = tasks_.buckets(points.front()).size();
    const auto is_complete = [&, next = &written](const GridPoint& point) {
      const Bucket& bucket = tasks_.buckets(point).at(*next);
      return all || (bucket.is_written && !bucket.is_shared);
    };
    for (; written < count && std::ranges::all_of(points, is_complete); ++written) {
      write_bucket(key.first, key.second, written);
    }
  }
}

/// Adds the all-reduce of a bucket. Each all-reduce has its own inboxes, because several may be in
/// progress.
void GradientSums::write_bucket(int stage, int shard, std::size_t bucket) {
  std::vector<Part> parts;
  std::vector<Member> on_copy_lanes;
  for (const GridPoint& point : tasks_.step().over_replicas(stage, shard)) {
    const Bucket& own = tasks_.buckets(point).at(bucket);
    parts.push_back({point, own.gradients, own.completed});
    const int device = tasks_.stage(point).device();
    on_copy_lanes.push_back(member_on(device, lanes_.at(device)));
  }
  MemberCollectives collectives(tasks_.step(), std::move(on_copy_lanes));
  add_up(collectives,
         fmt::format("all-reduce gradients{}, bucket {}", tasks_.divided_text({0, stage, shard}),
                     bucket),
         parts);
}

void GradientSums::write_over_replicas(int stage, int shard) {
  const std::vector<GridPoint> points = tasks_.step().over_replicas(stage, shard);
  std::vector<Part> parts;
  for (const GridPoint& point : points) {
    parts.push_back({point, tasks_.stage(point).region().gradients, tasks_.completed(point)});
  }
  MemberCollectives collectives(tasks_.step(), members(points));
  add_up(collectives, "all-reduce gradients" + tasks_.divided_text(points.front()), parts);
}

void GradientSums::write_rest() {
  const StepLayout& layout = tasks_.step().layout;
  if (layout.shards_positions()) {
    for (int replica = 0; replica < layout.grid.replicas; ++replica) {
      for (int stage = 0; stage < layout.stages(); ++stage) write_repeated(replica, stage);
    }
  }
  if (layout.grid.replicas == 1 || layout.exchange.kind == Exchange::Kind::none) return;
  if (!written_.empty()) return write_buckets(true);
  for (int stage = 0; stage < layout.stages(); ++stage) {
    for (int shard = 0; shard < layout.grid.shards; ++shard) write_over_replicas(stage, shard);
  }
}

// --- over shards ---

/// Adds all-reduces over shards of the gradients of repeated parameters: each shard has computed
/// these gradients from its own positions only. All shards have the same ranges of repeated
/// parameters, possibly at different offsets.
void GradientSums::write_repeated(int replica, int stage) {
  std::vector<GridPoint> points;
  std::vector<std::vector<BufferView>> of_points;
  for (int shard = 0; shard < tasks_.step().layout.grid.shards; ++shard) {
    points.push_back({replica, stage, shard});
    of_points.push_back(runs(points.back(), true));
  }
  MemberCollectives collectives(tasks_.step(), members(points));
  for (std::size_t run = 0; run < of_points.front().size(); ++run) {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < points.size(); ++i) {
      parts.push_back({points[i], of_points[i].at(run), tasks_.completed(points[i])});
    }
    add_up(collectives, fmt::format("all-reduce gradients of all shards {}", run), parts);
  }
}

std::vector<BufferView> GradientSums::counted(const GridPoint& point) const {
  if (point.shard > 0) return runs(point, false);
  return {tasks_.stage(point).update().counted()};
}

/// Returns the ranges of gradients of adjacent parameters at a point: of the parameters that every
/// shard has whole (`repeated`), or of the others.
std::vector<BufferView> GradientSums::runs(const GridPoint& point, bool repeated) const {
  const Stage& stage = tasks_.stage(point);
  const std::vector<Stage::TrainedParameter> parameters = stage.parameters();
  const BufferView gradients = stage.region().gradients;
  std::vector<std::size_t> offsets = stage.gradient_offsets();
  offsets.push_back(gradients.bytes);
  std::vector<BufferView> found;
  bool continues = false;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::size_t bytes = offsets[i + 1] - offsets[i];
    const bool belongs = tasks_.step().division->is_repeated(parameters[i].spec.name) == repeated;
    if (belongs && continues) {
      found.back().bytes += bytes;
    } else if (belongs) {
      found.push_back(gradients.part(offsets[i], bytes));
    }
    continues = belongs;
  }
  return found;
}

}  // namespace parbench
