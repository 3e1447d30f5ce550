// Adds the tasks of a step with ZeRO.
#include <fmt/format.h>

#include <deque>
#include <string>
#include <utility>

#include "kernels/base/units/units.h"
#include "scenarios/framework/collectives/access_log.h"
#include "scenarios/framework/collectives/member_collectives.h"
#include "scenarios/training/exchanges/exchanges.h"
#include "scenarios/training/exchanges/zero_segments.h"
#include "scenarios/training/exchanges/zero_shards.h"

namespace parbench {
namespace {

/// A replica while its tasks are being added.
struct ReplicaTasks {
  ZeroSegments segments;
  std::vector<std::vector<TaskId>> arrived;  // tasks that complete an arrival; by index in `held`
  AccessLog pool{std::vector<TaskId>{}};
  std::vector<TaskId> written = {};  // tasks of the segments added so far
  std::vector<TaskId> reduced = {};  // tasks that complete the replica's sums of gradients
};

ElementRange range_of(const PooledBucket& held) {
  return {.first = static_cast<std::int64_t>(held.offset),
          .count = static_cast<std::int64_t>(held.bytes)};
}

class ZeroWriter {
 public:
  ZeroWriter(StepTasks& tasks, PassWriter& passes, Shards& shards)
      : tasks_(tasks),
        passes_(passes),
        step_(tasks.step()),
        settings_(step_.layout.exchange),
        optimizer_(step_.settings.optimizer),
        shards_(shards) {
    for (std::size_t r = 0; r < count(); ++r) {
      replicas_.push_back({.segments = {step_, r, shards.layout()}, .arrived = {}});
      replicas_[r].arrived.resize(replicas_[r].segments.held().size());
      if (settings_.divides_parameters()) {
        shards_.initialize_at_reset(r, replicas_[r].segments.pool());
      }
      replicas_[r].segments.poison_pool();
    }
  }

  void write() {
    for (std::size_t i = 0; i < replicas_[0].segments.passes().size(); ++i) write_passes(i);
    const std::vector<TaskId> updated = write_updates();
    if (!settings_.divides_parameters()) gather_updated(updated);
    add_notes();
  }

 private:
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(step_.layout.grid.replicas);
  }
  [[nodiscard]] std::size_t bucket_count() const { return shards_.layout().buckets().size(); }
  [[nodiscard]] static GridPoint point(std::size_t r) { return {.replica = static_cast<int>(r)}; }
  [[nodiscard]] LaneId compute_lane(std::size_t r) const { return tasks_.compute_lane(point(r)); }
  [[nodiscard]] LaneId copy_lane(std::size_t r) const { return tasks_.copy_lane(point(r)); }
  [[nodiscard]] TaskId next_task() const {
    return static_cast<TaskId>(step_.plan.graph().tasks.size());
  }
  /// Adds a collective of all replicas on their copy lanes, so that passes can run at the same
  /// time. Each collective has its own inboxes, because several may be in progress.
  Completion combine(const std::string& name, Collective collective,
                     const std::vector<BufferView>& data,
                     const std::vector<std::vector<TaskId>>& ready) {
    std::vector<Member> members;
    for (std::size_t r = 0; r < count(); ++r) {
      members.push_back(member_on(step_.replica(r).device(), copy_lane(r)));
    }
    MemberCollectives collectives(step_, std::move(members));
    return collectives.add(name, collective, data, ready);
  }

  // --- passes of a micro-batch ---

  using Passes = ZeroSegments::Passes;
  [[nodiscard]] const Passes& passes_of(std::size_t r) const {
    return replicas_[r].segments.passes()[micro_batch_index_];
  }
  /// Returns ", micro-batch 1" if there are several.
  [[nodiscard]] std::string micro_batch_text(const Passes& passes) const {
    const bool is_only = replicas_[0].segments.passes().size() == 1;
    return is_only ? "" : fmt::format(", micro-batch {}", passes.micro_batch);
  }

  void write_passes(std::size_t index) {
    micro_batch_index_ = index;
    for (std::size_t r = 0; r < count(); ++r) {
      write_whole_passes(static_cast<int>(r), passes_of(r).micro_batch);
      write_segments(r, passes_of(r).backward);
    }
    for (std::size_t b = 0; b < bucket_count(); ++b) {
      for (std::size_t r = 0; r < count(); ++r) write_segments(r, passes_of(r).completion[b] + 1);
      settings_.divides_gradients() ? write_reduce_scatter(b) : write_all_reduce(b);
    }
    for (std::size_t r = 0; r < count(); ++r) write_segments(r, passes_of(r).end);
  }

  /// Adds the passes that are not divided into segments. ZeRO 1: all passes before the backward
  /// pass of the last micro-batch, which is `micro_batch`. ZeRO 2: the forward pass of the
  /// micro-batch. ZeRO 3: none.
  void write_whole_passes(int r, int micro_batch) {
    if (settings_.divides_parameters()) return;
    for (int before = 0; !settings_.divides_gradients() && before < micro_batch; ++before) {
      passes_.write(r, {Pass::forward, 0, before});
      passes_.write(r, {Pass::backward, 0, before});
    }
    passes_.write(r, {Pass::forward, 0, micro_batch});
  }

  // --- segments ---

  void write_segments(std::size_t r, int end) {
    ReplicaTasks& own = replicas_[r];
    while (static_cast<int>(own.written.size()) < end) write_segment(r);
  }

  void write_segment(std::size_t r) {
    ReplicaTasks& own = replicas_[r];
    const int segment = static_cast<int>(own.written.size());
    for (const std::size_t held : own.segments.arriving(segment)) write_arrival(r, held);
    std::vector<TaskId> after;
    for (const std::size_t i : own.segments.used(segment)) {
      const PooledBucket& held = own.segments.held()[i];
      after.insert(after.end(), own.arrived[i].begin(), own.arrived[i].end());
      own.pool.access(range_of(held), true, next_task(), after);
    }
    keep_last_of_lanes(step_.plan.graph(), after);
    const Passes& passes = own.segments.passes_of(segment);
    const bool is_forward = segment < passes.backward;
    const std::string phase = is_forward ? "forward" : "backward";
    const int number = segment - (is_forward ? passes.forward : passes.backward);
    own.written.push_back(step_.plan.add(
        {.name = fmt::format("{} {}, replica {}{}", phase, number, r, micro_batch_text(passes)),
         .lanes = {compute_lane(r)},
         .after = std::move(after),
         .phase = phase,
         .micro_batch = passes.micro_batch},
        own.segments.calls(segment)));
  }

  /// Adds copies of all blocks of a bucket (`index` in `held`) to a replica's pool. The copies wait
  /// for the previous segment and the previous users of the memory.
  void write_arrival(std::size_t r, std::size_t index) {
    ReplicaTasks& own = replicas_[r];
    const PooledBucket& held = own.segments.held()[index];
    const std::size_t bucket = held.when.bucket;
    std::vector<TaskId> ready;
    own.pool.access(range_of(held), true, next_task(), ready);
    if (!own.written.empty()) ready.push_back(own.written.back());
    std::vector<Member> members;
    Messages messages;
    for (std::size_t from = 0; from < count(); ++from) {
      const ShardLayout::Block& block = shards_.layout().block(from, bucket);
      members.push_back(member_on(step_.replica(from).device(), copy_lane(from)));
      members.back().input = shards_.parameters(from, bucket);
      messages.push_back({.from = static_cast<int>(from),
                          .to = static_cast<int>(r),
                          .first = static_cast<std::int64_t>(block.begin / sizeof(float)),
                          .count = static_cast<std::int64_t>(block.bytes / sizeof(float)),
                          .from_input = true,
                          .block = static_cast<int>(from)});
    }
    members[r].data = own.segments.memory(held).part(0, shards_.layout().bucket_bytes(bucket));
    members[r].ready = std::move(ready);
    const Completion done = add_messages(step_.plan, fmt::format("gather bucket {}", bucket),
                                         messages, members, sizeof(float));
    own.arrived[index] = done[r];
    note_uses(own, range_of(held), done[r]);
  }

  /// Records tasks that use a range of the pool: the next user of the range has to wait for them.
  static void note_uses(ReplicaTasks& own, const ElementRange& range,
                        const std::vector<TaskId>& tasks) {
    std::vector<TaskId> known;
    for (const TaskId task : tasks) own.pool.access(range, false, task, known);
  }

  // --- gradients ---

  void write_all_reduce(std::size_t b) {
    const GradientBucket& bucket = shards_.layout().buckets()[b];
    std::vector<BufferView> data;
    for (std::size_t r = 0; r < count(); ++r) {
      const BufferView all = step_.replica(r).region().gradients;
      data.push_back(all.part(bucket.begin, bucket.end - bucket.begin));
    }
    const Completion done =
        combine(fmt::format("all-reduce {}", b), Collective::all_reduce, data, completed(b));
    for (std::size_t r = 0; r < count(); ++r) {
      replicas_[r].reduced.insert(replicas_[r].reduced.end(), done[r].begin(), done[r].end());
    }
  }

  [[nodiscard]] const PooledBucket& gradients_of(std::size_t r, std::size_t b) const {
    const ZeroSegments& segments = replicas_[r].segments;
    return segments.held()[segments.gradients_of(passes_of(r), b)];
  }

  /// Adds the reduce-scatter of a bucket, and tasks in which each device keeps the sums of its
  /// block.
  void write_reduce_scatter(std::size_t b) {
    std::vector<BufferView> data;
    for (std::size_t r = 0; r < count(); ++r) {
      data.push_back(replicas_[r].segments.memory(gradients_of(r, b)));
    }
    Completion done = combine(fmt::format("reduce-scatter {}{}", b, micro_batch_text(passes_of(0))),
                              Collective::reduce_scatter, data, completed(b));
    for (std::size_t r = 0; r < count(); ++r) {
      ReplicaTasks& own = replicas_[r];
      const ElementRange range = range_of(gradients_of(r, b));
      note_uses(own, range, done[r]);
      own.reduced.push_back(keep_sums(r, b, data[r], std::move(done[r])));
      note_uses(own, range, {own.reduced.back()});
    }
  }

  /// Adds a task that moves a replica's block of sums from the pool to its shard. The sums of the
  /// first micro-batch overwrite the shard; those of later micro-batches are added to it.
  TaskId keep_sums(std::size_t r, std::size_t b, const BufferView& bucket,
                   std::vector<TaskId> after) {
    const ShardLayout::Block& block = shards_.layout().block(r, b);
    std::vector<Call> calls;
    if (block.bytes > 0) {
      const BufferView sums = bucket.part(block.begin, block.bytes);
      const BufferView kept = shards_.gradients(r, b);
      if (micro_batch_index_ == 0) {
        calls.emplace_back(CopyCall{.destination = kept, .source = sums});
      } else {
        const auto elements = static_cast<std::int64_t>(block.bytes / sizeof(float));
        Op& add = step_.ops.prepare(stream_of(step_, copy_lane(r)), Accumulate{.count = elements});
        calls.emplace_back(bind(add, {{"source", sums}, {"destination", kept}}));
      }
    }
    return step_.plan.add(
        {.name = fmt::format("keep sums {}, replica {}{}", b, r, micro_batch_text(passes_of(r))),
         .kind = TaskKind::communication,
         .lanes = {copy_lane(r)},
         .after = std::move(after)},
        std::move(calls));
  }

  /// Returns, by replica, the task of the segment that completes the gradients of a bucket.
  [[nodiscard]] std::vector<std::vector<TaskId>> completed(std::size_t b) const {
    std::vector<std::vector<TaskId>> tasks;
    for (std::size_t r = 0; r < count(); ++r) {
      tasks.push_back({replicas_[r].written[static_cast<std::size_t>(passes_of(r).completion[b])]});
    }
    return tasks;
  }

  // --- update ---

  /// Returns the tasks for which a replica's update waits: the tasks that complete its sums and, if
  /// parameters are sharded, the last segments of all replicas, because these read the replica's
  /// parameters.
  [[nodiscard]] std::vector<TaskId> before_update(std::size_t r) const {
    std::vector<TaskId> after = replicas_[r].reduced;
    if (settings_.divides_parameters()) {
      for (const ReplicaTasks& other : replicas_) after.push_back(other.written.back());
    }
    keep_last_of_lanes(step_.plan.graph(), after);
    return after;
  }

  std::vector<TaskId> write_updates() {
    Completion ready(count());
    for (std::size_t r = 0; r < count(); ++r) ready[r] = before_update(r);
    if (optimizer_.clips()) ready = write_norms(ready);
    std::vector<TaskId> updated;
    for (std::size_t r = 0; r < count(); ++r) {
      std::vector<Call> calls;
      for (std::size_t b = 0; b < bucket_count(); ++b) {
        RegionUpdate* update = shards_.update(r, b);
        if (update == nullptr) continue;
        if (optimizer_.clips()) append(calls, update->clip(norms_[r].view, norm_count()));
        append(calls, update->update());
      }
      updated.push_back(step_.plan.add({.name = fmt::format("update, replica {}", r),
                                        .lanes = {compute_lane(r)},
                                        .after = std::move(ready[r]),
                                        .phase = "update"},
                                       std::move(calls)));
    }
    return updated;
  }

  [[nodiscard]] int norm_count() const { return static_cast<int>(count() * bucket_count()); }

  /// Adds tasks that compute the squared norm of each block, and their all-gather. Every device
  /// then computes the clip factor from the same numbers in the same order.
  Completion write_norms(const Completion& ready) {
    std::vector<BufferView> all;
    std::vector<std::vector<TaskId>> computed;
    for (std::size_t r = 0; r < count(); ++r) {
      norms_.push_back(step_.data.tensor(step_.replica(r).device(), canonical({norm_count()})));
      step_.data.zero(norms_.back());  // norms of empty blocks stay 0
      std::vector<Call> calls;
      for (std::size_t b = 0; b < bucket_count(); ++b) {
        RegionUpdate* update = shards_.update(r, b);
        if (update == nullptr) continue;
        const std::size_t offset = (r * bucket_count() + b) * sizeof(float);
        append(calls, update->squared_norm(norms_[r].view.part(offset, sizeof(float))));
      }
      const TaskId norm = step_.plan.add({.name = fmt::format("norm, replica {}", r),
                                          .lanes = {compute_lane(r)},
                                          .after = ready[r],
                                          .phase = "update"},
                                         std::move(calls));
      all.push_back(norms_[r].view);
      computed.push_back({norm});
    }
    return combine("norms", Collective::all_gather, all, computed);
  }

  void gather_updated(const std::vector<TaskId>& updated) {
    std::vector<std::vector<TaskId>> ready;
    for (const TaskId update : updated) ready.push_back({update});
    for (std::size_t b = 0; b < bucket_count(); ++b) {
      const GradientBucket& bucket = shards_.layout().buckets()[b];
      std::vector<BufferView> data;
      for (std::size_t r = 0; r < count(); ++r) {
        const BufferView all = step_.replica(r).region().parameters;
        data.push_back(all.part(bucket.begin, bucket.end - bucket.begin));
      }
      combine(fmt::format("all-gather {}", b), Collective::all_gather, data, ready);
    }
  }

  void add_notes() {
    const Shards::Kept kept = shards_.kept(0);
    const auto text = [](std::size_t bytes) { return format_bytes(static_cast<double>(bytes)); };
    step_.notes.emplace_back("buckets", fmt::format("{}", bucket_count()));
    step_.notes.emplace_back(
        "kept by the first device",
        fmt::format(
            "{} of parameters, {} of gradients, {} of the optimiser's state, {} for buckets",
            text(kept.parameters), text(kept.gradients), text(kept.state),
            text(replicas_[0].segments.pool().bytes)));
  }

  StepTasks& tasks_;
  PassWriter& passes_;
  TrainingStep& step_;
  Exchange settings_;
  Optimizer optimizer_;
  Shards& shards_;
  std::deque<ReplicaTasks> replicas_;
  std::size_t micro_batch_index_ = 0;  // index of the current passes in ZeroSegments::passes
  std::vector<Tensor> norms_;          // by replica
};

/// Returns the offset of each layer's first parameter. Buckets of ZeRO 3 contain whole layers,
/// which need all of their parameters at once.
std::vector<std::size_t> layer_offsets(const Stage& stage) {
  const std::vector<std::size_t> offsets = stage.gradient_offsets();
  const std::vector<Stage::TrainedParameter> parameters = stage.parameters();
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (i == 0 || parameters[i].spec.layer != parameters[i - 1].spec.layer) {
      begins.push_back(offsets[i]);
    }
  }
  return begins;
}

}  // namespace

UpdatedParameters write_zero(StepTasks& tasks, PassWriter& passes) {
  TrainingStep& step = tasks.step();
  const Exchange& exchange = step.layout.exchange;
  const Stage& first = step.replica(0);
  Shards shards(step,
                ShardLayout(shard_buckets(exchange.divides_parameters() ? layer_offsets(first)
                                                                        : first.gradient_offsets(),
                                          first.region().gradients.bytes, exchange.bucket_bytes),
                            static_cast<std::size_t>(step.layout.grid.replicas)));
  if (!exchange.divides_parameters()) passes.write_packing();
  ZeroWriter(tasks, passes, shards).write();
  return shards.results();
}

}  // namespace parbench
