// Adds norms, their exchange between stages, and updates.
#include "scenarios/training/step/update_writer.h"

#include <fmt/format.h>

#include <string>

namespace parbench {
namespace {

BufferView norms_in(const BufferView& norms, std::size_t first, std::size_t count = 1) {
  return norms.part(first * sizeof(float), count * sizeof(float));
}

}  // namespace

std::vector<TaskId> UpdateWriter::write(int replica) {
  if (tasks_.step().settings.optimizer.clips()) return write_clipped(replica);
  std::vector<TaskId> updates;
  for (const GridPoint& point : tasks_.step().layout.points_of(replica)) {
    updates.push_back(write_update(point, tasks_.completed(point), {}));
  }
  return updates;
}

/// Adds the task that updates the parameters of a point. `before`: calls at the beginning of the
/// task.
TaskId UpdateWriter::write_update(const GridPoint& point, std::vector<TaskId> after,
                                  std::vector<Call> before) {
  append(before, tasks_.stage(point).update().update());
  return tasks_.step().plan.add(
      {.name = fmt::format("update, {}{}", tasks_.text(point), tasks_.label(point.replica)),
       .lanes = {tasks_.compute_lane(point)},
       .after = std::move(after),
       .cost_key = "update",
       .phase = "update"},
      std::move(before));
}

std::vector<UpdateWriter::Norms> UpdateWriter::norms_of(int replica) const {
  std::vector<Norms> all;
  std::size_t first = 0;
  for (const GridPoint& point : tasks_.step().layout.points_of(replica)) {
    all.push_back({.point = point,
                   .gradients = counted_ ? counted_(point)
                                         : std::vector{tasks_.stage(point).update().counted()},
                   .first = first});
    first += all.back().gradients.size();
  }
  return all;
}

void UpdateWriter::write_norms(Norms& own, const BufferView& norms) {
  own.computed = tasks_.completed(own.point);
  RegionUpdate& update = tasks_.stage(own.point).update();
  std::vector<Call> calls;
  for (std::size_t i = 0; i < own.gradients.size(); ++i) {
    append(calls, update.squared_norm(own.gradients[i], norms_in(norms, own.first + i)));
  }
  if (calls.empty()) return;
  own.computed = {
      tasks_.step().plan.add({.name = fmt::format("squared norm, {}{}", tasks_.text(own.point),
                                                  tasks_.label(own.point.replica)),
                              .lanes = {tasks_.compute_lane(own.point)},
                              .after = std::move(own.computed),
                              .cost_key = "squared norm",
                              .phase = "update"},
                             std::move(calls))};
}

TaskId UpdateWriter::send_norms(const Norms& from, const BufferView& source, const Norms& to,
                                const BufferView& destination) {
  const std::string receiver = tasks_.number(to.point);
  const std::size_t count = from.gradients.size();
  return tasks_.step().plan.add(
      {.name = fmt::format("send squared norm, {} to {}{}", tasks_.text(from.point), receiver,
                           tasks_.label(from.point.replica)),
       .kind = TaskKind::copy,
       .lanes = tasks_.lanes_between(from.point, to.point),
       .after = from.computed,
       .cost_key = "send squared norm to " + receiver,
       .phase = "update"},
      {CopyCall{.destination = norms_in(destination, from.first, count),
                .source = norms_in(source, from.first, count)}});
}

std::vector<TaskId> UpdateWriter::write_clipped(int replica) {
  std::vector<Norms> all = norms_of(replica);
  const std::size_t count = all.back().first + all.back().gradients.size();
  std::vector<BufferView> norms;  // by point: memory for the norms of all points on its device
  for (Norms& own : all) {
    norms.push_back(
        tasks_.step().context.borrow(tasks_.stage(own.point).device(), count * sizeof(float)));
    write_norms(own, norms.back());
  }
  std::vector<std::vector<TaskId>> arrived;
  for (const Norms& own : all) arrived.push_back(own.computed);
  for (std::size_t from = 0; from < all.size(); ++from) {
    for (std::size_t to = 0; to < all.size(); ++to) {
      if (from == to || all[from].gradients.empty()) continue;
      arrived[to].push_back(send_norms(all[from], norms[from], all[to], norms[to]));
    }
  }
  std::vector<TaskId> updates;
  for (std::size_t i = 0; i < all.size(); ++i) {
    RegionUpdate& update = tasks_.stage(all[i].point).update();
    updates.push_back(write_update(all[i].point, std::move(arrived[i]),
                                   update.clip(norms[i], static_cast<int>(count))));
  }
  return updates;
}

}  // namespace parbench
