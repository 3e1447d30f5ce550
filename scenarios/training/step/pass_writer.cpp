// Adds the tasks of passes.
#include "scenarios/training/step/pass_writer.h"

#include <fmt/format.h>

#include <stdexcept>

namespace parbench {

// --- a pass ---

void StagePass::write_until(Shard& shard, std::size_t end, const std::string& piece) {
  if (end <= shard.written) return;
  StepTasks& tasks = writer_->tasks_;
  Task task = common_;
  task.name += tasks.text(shard.point) + piece + tasks.label(shard.point.replica);
  task.lanes = {tasks.compute_lane(shard.point)};
  task.after = std::move(shard.after);
  task.cost_key += piece;
  const auto begin = shard.parts[part_].calls.begin();
  shard.after = {
      tasks.step().plan.add(std::move(task), {begin + static_cast<std::ptrdiff_t>(shard.written),
                                              begin + static_cast<std::ptrdiff_t>(end)})};
  shard.written = end;
}

/// Adds the next task of a shard. Returns whether the shard's current part is complete.
bool StagePass::write_next(Shard& shard) {
  const std::string part = shard.parts.size() > 1 ? fmt::format(", part {}", part_) : "";
  const std::size_t end = shard.parts[part_].calls.size();
  if (shard.completions.empty()) {
    write_until(shard, end, part);
    return true;
  }
  std::vector<Bucket>& buckets = writer_->tasks_.buckets(shard.point);
  if (shard.bucket == buckets.size()) {
    write_until(shard, end, part + ", rest");
    return true;
  }
  const std::string of_bucket = fmt::format("{}, bucket {}", part, shard.bucket);
  const PassPosition& position = shard.completions[shard.bucket];
  if (position.part != part_) {
    write_until(shard, end, of_bucket);
    return true;
  }
  write_until(shard, position.calls, of_bucket);
  Bucket& bucket = buckets[shard.bucket++];
  bucket.completed = shard.after;
  bucket.is_written = true;
  return false;
}

void StagePass::write_piece() {
  bool is_part_written = true;
  for (Shard& shard : shards_) is_part_written &= write_next(shard);
  if (!is_part_written) return;
  if (part_ + 1 < shards_.front().parts.size()) {
    combine();
  } else {
    writer_->end(*this);
  }
  ++part_;
  for (Shard& shard : shards_) shard.written = 0;
}

/// Adds the collective of the shards after the current part.
void StagePass::combine() {
  StepTasks& tasks = writer_->tasks_;
  const GridPoint& point = shards_.front().point;
  const Collective collective = shards_.front().parts[part_].collective;
  std::vector<BufferView> data;
  std::vector<std::vector<TaskId>> ready;
  for (Shard& shard : shards_) {
    data.push_back(shard.parts.at(part_).combined);
    ready.push_back(std::move(shard.after));
  }
  const Completion done =
      writer_->collectives_.at({point.replica, point.stage})
          .add(fmt::format("{}, {}stage {}, part {}{}", name_of(collective), common_.name,
                           point.stage, part_, tasks.label(point.replica)),
               collective, data, ready);
  for (std::size_t i = 0; i < shards_.size(); ++i) shards_[i].after = done[i];
}

// --- passes of a step ---

PassWriter::PassWriter(StepTasks& tasks) : tasks_(tasks), boundaries_(tasks) {
  const StepLayout& layout = tasks.step().layout;
  if (layout.grid.shards == 1) return;
  for (int replica = 0; replica < layout.grid.replicas; ++replica) {
    for (int stage = 0; stage < layout.stages(); ++stage) {
      std::vector<Member> members;
      for (int shard = 0; shard < layout.grid.shards; ++shard) {
        const GridPoint point{replica, stage, shard};
        members.push_back(member_on(layout.device(point), tasks.compute_lane(point)));
      }
      collectives_.emplace(std::pair(replica, stage),
                           MemberCollectives(tasks.step(), std::move(members)));
    }
  }
}

void PassWriter::write_packing() {
  for (const GridPoint& point : tasks_.step().layout.points()) {
    std::vector<Call> calls = tasks_.stage(point).pack();
    if (calls.empty()) continue;
    tasks_.step().plan.add({.name = fmt::format("pack parameters, {}{}", tasks_.text(point),
                                                tasks_.label(point.replica)),
                            .lanes = {tasks_.compute_lane(point)},
                            .cost_key = "pack"},
                           std::move(calls));
  }
}

StagePass PassWriter::begin(int replica, const Action& action) {
  StagePass pass(*this);
  if (action.pass == Pass::forward) {
    begin_forward(pass, replica, action);
  } else if (action.pass == Pass::backward) {
    begin_backward(pass, replica, action);
  } else {
    throw std::logic_error("a step has forward and backward passes only");
  }
  return pass;
}

void PassWriter::write(int replica, const Action& action) {
  StagePass pass = begin(replica, action);
  while (!pass.is_written()) pass.write_piece();
}

/// Makes a shard's pass wait for the data that the neighbouring stage has sent for the micro-batch,
/// and begin with the calls that unpack this data.
void PassWriter::receive(StagePass::Shard& shard, int micro_batch) const {
  const Boundaries::Arrival& arrival = boundaries_.arrival(shard.point, micro_batch);
  shard.after.push_back(arrival.task);
  std::vector<Call> calls = arrival.unpack;
  append(calls, std::move(shard.parts.front().calls));
  shard.parts.front().calls = std::move(calls);
}

void PassWriter::begin_forward(StagePass& pass, int replica, const Action& action) {
  const auto& [kind, stage, micro_batch] = action;
  const StepLayout& layout = tasks_.step().layout;
  for (int shard = 0; shard < layout.grid.shards; ++shard) {
    const GridPoint point{replica, stage, shard};
    StagePass::Shard& one = pass.shards_.emplace_back(StagePass::Shard{
        .point = point, .parts = tasks_.stage(point).forward_parts(micro_batch), .after = {}});
    if (stage > 0) receive(one, micro_batch);
    if (stage + 1 == layout.stages()) continue;
    one.crossing = boundaries_.forward_from(point, micro_batch);
    append(one.parts.back().calls, one.crossing.pack);
  }
  pass.common_ = {.name = fmt::format("forward, micro-batch {}, ", micro_batch),
                  .lanes = {},
                  .cost_key = fmt::format("forward {}", layout.samples_of(replica, micro_batch)),
                  .phase = "forward",
                  .micro_batch = micro_batch};
}

void PassWriter::begin_backward(StagePass& pass, int replica, const Action& action) {
  const auto& [kind, stage, micro_batch] = action;
  const StepLayout& layout = tasks_.step().layout;
  int& written = backwards_[{replica, stage}];
  const bool is_first = written++ == 0;
  const bool is_last = written == layout.micro_batch_count(replica);
  for (int shard = 0; shard < layout.grid.shards; ++shard) {
    const GridPoint point{replica, stage, shard};
    StagePass::Shard& one = pass.shards_.emplace_back(
        StagePass::Shard{.point = point,
                         .parts = tasks_.stage(point).backward_parts(micro_batch, is_first),
                         .after = forward_.at({point, micro_batch})});
    if (stage + 1 < layout.stages()) receive(one, micro_batch);
    if (stage > 0) {
      one.crossing = boundaries_.backward_from(point, micro_batch);
      append(one.parts.back().calls, one.crossing.pack);
    }
    if (!is_last) continue;
    std::vector<BufferView> regions;
    for (const Bucket& bucket : tasks_.buckets(point)) regions.push_back(bucket.gradients);
    one.completions = completions(one.parts, regions);
  }
  pass.common_ = {.name = fmt::format("backward, micro-batch {}, ", micro_batch),
                  .lanes = {},
                  .cost_key = fmt::format("backward {}{}", layout.samples_of(replica, micro_batch),
                                          is_first ? " first" : ""),
                  .phase = "backward",
                  .micro_batch = micro_batch};
}

void PassWriter::end(StagePass& pass) {
  const int micro_batch = *pass.common_.micro_batch;
  const bool is_forward = pass.common_.phase == "forward";
  for (StagePass::Shard& shard : pass.shards_) {
    if (!is_forward) append(tasks_.completed(shard.point), shard.after);
    if (!shard.crossing.copies.empty()) {
      boundaries_.send(is_forward ? "activations" : "gradients", shard.crossing, shard.after);
    }
    if (is_forward) forward_[{shard.point, micro_batch}] = std::move(shard.after);
  }
}

}  // namespace parbench
