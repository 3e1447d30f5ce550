// Tasks of a step on shards.
#include "scenarios/data_parallel/sharded_plan.h"

#include <fmt/format.h>

#include <deque>
#include <string>
#include <utility>

#include "reports/units/units.h"
#include "scenarios/data_parallel/sharded_steps.h"
#include "scenarios/framework/collectives/access_log.h"
#include "scenarios/framework/collectives/rank_collectives.h"

namespace parbench {
namespace {

/// A replica on its way into tasks.
struct ReplicaTasks {
  ShardedSteps steps;
  std::vector<std::vector<TaskId>> arrived;  // by index in `held`
  AccessLog pool{std::vector<TaskId>{}};
  std::vector<TaskId> written = {};  // steps that are tasks
  std::vector<TaskId> reduced = {};  // what the update waits for
};

ElementRange range_of(const HeldBucket& held) {
  return {.first = static_cast<std::int64_t>(held.offset),
          .count = static_cast<std::int64_t>(held.bytes)};
}

class ShardedWriter {
 public:
  ShardedWriter(DataParallelParts& parts, const ShardingSettings& settings,
                const Optimizer& optimizer, Shards& shards)
      : parts_(parts), settings_(settings), optimizer_(optimizer), shards_(shards) {
    for (std::size_t r = 0; r < count(); ++r) {
      replicas_.push_back({.steps = {parts, r, shards.layout(), settings}, .arrived = {}});
      replicas_[r].arrived.resize(replicas_[r].steps.held().size());
      if (settings.divides_parameters()) {
        shards_.initialize_at_reset(r, replicas_[r].steps.pool());
      }
      replicas_[r].steps.poison_pool();
    }
  }

  void write() {
    for (std::size_t i = 0; i < replicas_[0].steps.rounds().size(); ++i) write_round(i);
    const std::vector<TaskId> updated = write_updates();
    if (!settings_.divides_parameters()) gather_updated(updated);
    add_notes();
  }

 private:
  [[nodiscard]] std::size_t count() const { return parts_.replica_count(); }
  [[nodiscard]] std::size_t bucket_count() const { return shards_.layout().buckets().size(); }
  [[nodiscard]] TaskId next_task() const {
    return static_cast<TaskId>(parts_.plan.graph().tasks.size());
  }
  /// Combines data of all replicas on their copy lanes, beside the backward pass. Each collective
  /// has memory of its own, because several may be under way.
  Completion combine(const std::string& name, Collective collective,
                     const std::vector<BufferView>& data,
                     const std::vector<std::vector<TaskId>>& ready) {
    std::vector<std::pair<int, LaneId>> ranks;
    for (std::size_t r = 0; r < count(); ++r) {
      ranks.emplace_back(parts_.replica(r).device(), parts_.copies[r]);
    }
    RankCollectives collectives(parts_, std::move(ranks));
    return collectives.add(name, collective, data, ready);
  }

  // --- rounds ---

  using Round = ShardedSteps::Round;
  [[nodiscard]] const Round& round_of(std::size_t r) const {
    return replicas_[r].steps.rounds()[round_];
  }
  /// ", micro-batch 1" where there are several.
  [[nodiscard]] std::string micro_batch_text(const Round& round) const {
    const bool is_only = replicas_[0].steps.rounds().size() == 1;
    return is_only ? "" : fmt::format(", micro-batch {}", round.micro_batch);
  }

  void write_round(std::size_t index) {
    round_ = index;
    for (std::size_t r = 0; r < count(); ++r) {
      if (!settings_.divides_gradients()) {
        add_forward(parts_, r, {});
      } else if (!settings_.divides_parameters()) {
        add_forward_of(parts_, r, round_of(r).micro_batch, {});
      }
      write_steps(r, round_of(r).backward);
    }
    for (std::size_t b = 0; b < bucket_count(); ++b) {
      for (std::size_t r = 0; r < count(); ++r) write_steps(r, round_of(r).completion[b] + 1);
      settings_.divides_gradients() ? write_reduce_scatter(b) : write_all_reduce(b);
    }
    for (std::size_t r = 0; r < count(); ++r) write_steps(r, round_of(r).end);
  }

  // --- steps ---

  void write_steps(std::size_t r, int end) {
    ReplicaTasks& own = replicas_[r];
    while (static_cast<int>(own.written.size()) < end) write_step(r);
  }

  void write_step(std::size_t r) {
    ReplicaTasks& own = replicas_[r];
    const int step = static_cast<int>(own.written.size());
    for (const std::size_t held : own.steps.arriving(step)) write_arrival(r, held);
    std::vector<TaskId> after;
    for (const std::size_t i : own.steps.used(step)) {
      const HeldBucket& held = own.steps.held()[i];
      after.insert(after.end(), own.arrived[i].begin(), own.arrived[i].end());
      own.pool.access(range_of(held), true, next_task(), after);
    }
    keep_last_of_lanes(parts_.plan.graph(), after);
    const Round& round = own.steps.round_of(step);
    const bool is_forward = step < round.backward;
    const std::string phase = is_forward ? "forward" : "backward";
    const int number = step - (is_forward ? round.forward : round.backward);
    own.written.push_back(parts_.plan.add(
        {.name = fmt::format("{} {}, replica {}{}", phase, number, r, micro_batch_text(round)),
         .lanes = {parts_.compute[r]},
         .after = std::move(after),
         .phase = phase},
        own.steps.calls(step)));
  }

  /// Copies all blocks of a bucket to a replica, once the step before has ended.
  void write_arrival(std::size_t r, std::size_t index) {
    ReplicaTasks& own = replicas_[r];
    const HeldBucket& held = own.steps.held()[index];
    const std::size_t bucket = held.when.bucket;
    std::vector<TaskId> ready;
    own.pool.access(range_of(held), true, next_task(), ready);
    if (!own.written.empty()) ready.push_back(own.written.back());
    std::vector<Rank> ranks;
    Messages messages;
    for (std::size_t from = 0; from < count(); ++from) {
      const ShardLayout::Block& block = shards_.layout().block(from, bucket);
      ranks.push_back({.copies = parts_.copies[from],
                       .compute = parts_.copies[from],
                       .data = {},
                       .input = shards_.parameters(from, bucket)});
      messages.push_back({.from = static_cast<int>(from),
                          .to = static_cast<int>(r),
                          .first = static_cast<std::int64_t>(block.begin / sizeof(float)),
                          .count = static_cast<std::int64_t>(block.bytes / sizeof(float)),
                          .from_input = true,
                          .block = static_cast<int>(from)});
    }
    ranks[r].data = own.steps.memory(held).part(0, shards_.layout().bucket_bytes(bucket));
    ranks[r].ready = std::move(ready);
    const Completion done = add_messages(parts_.plan, fmt::format("gather bucket {}", bucket),
                                         messages, ranks, sizeof(float));
    own.arrived[index] = done[r];
    note_uses(own, range_of(held), done[r]);
  }

  /// Whatever takes the memory next has to wait for these.
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
      const BufferView all = parts_.replica(r).region().gradients;
      data.push_back(all.part(bucket.begin, bucket.end - bucket.begin));
    }
    const Completion done =
        combine(fmt::format("all-reduce {}", b), Collective::all_reduce, data, completed(b));
    for (std::size_t r = 0; r < count(); ++r) {
      replicas_[r].reduced.insert(replicas_[r].reduced.end(), done[r].begin(), done[r].end());
    }
  }

  [[nodiscard]] const HeldBucket& gradients_of(std::size_t r, std::size_t b) const {
    const ShardedSteps& steps = replicas_[r].steps;
    return steps.held()[steps.gradients_of(round_of(r), b)];
  }

  /// Each device keeps the sum of its block.
  void write_reduce_scatter(std::size_t b) {
    std::vector<BufferView> data;
    for (std::size_t r = 0; r < count(); ++r) {
      data.push_back(replicas_[r].steps.memory(gradients_of(r, b)));
    }
    Completion done = combine(fmt::format("reduce-scatter {}{}", b, micro_batch_text(round_of(0))),
                              Collective::reduce_scatter, data, completed(b));
    for (std::size_t r = 0; r < count(); ++r) {
      ReplicaTasks& own = replicas_[r];
      const ElementRange range = range_of(gradients_of(r, b));
      note_uses(own, range, done[r]);
      own.reduced.push_back(keep_sums(r, b, data[r], std::move(done[r])));
      note_uses(own, range, {own.reduced.back()});
    }
  }

  /// The sums of the first micro-batch overwrite those of the step before.
  TaskId keep_sums(std::size_t r, std::size_t b, const BufferView& bucket,
                   std::vector<TaskId> after) {
    const ShardLayout::Block& block = shards_.layout().block(r, b);
    std::vector<Call> calls;
    if (block.bytes > 0) {
      const BufferView sums = bucket.part(block.begin, block.bytes);
      const BufferView kept = shards_.gradients(r, b);
      if (round_ == 0) {
        calls.emplace_back(CopyCall{.destination = kept, .source = sums});
      } else {
        const auto elements = static_cast<std::int64_t>(block.bytes / sizeof(float));
        Op& add = parts_.ops.prepare(parts_.copy_stream(r), Accumulate{.count = elements});
        calls.emplace_back(bind(add, {{"source", sums}, {"destination", kept}}));
      }
    }
    return parts_.plan.add(
        {.name = fmt::format("keep sums {}, replica {}{}", b, r, micro_batch_text(round_of(r))),
         .kind = TaskKind::communication,
         .lanes = {parts_.copies[r]},
         .after = std::move(after)},
        std::move(calls));
  }

  /// By replica, the step behind which the gradients of a bucket are complete.
  [[nodiscard]] std::vector<std::vector<TaskId>> completed(std::size_t b) const {
    std::vector<std::vector<TaskId>> tasks;
    for (std::size_t r = 0; r < count(); ++r) {
      tasks.push_back({replicas_[r].written[static_cast<std::size_t>(round_of(r).completion[b])]});
    }
    return tasks;
  }

  // --- update ---

  /// Behind the sums of a device's own blocks, and behind the last reader of its parameters.
  [[nodiscard]] std::vector<TaskId> before_update(std::size_t r) const {
    std::vector<TaskId> after = replicas_[r].reduced;
    if (settings_.divides_parameters()) {
      for (const ReplicaTasks& other : replicas_) after.push_back(other.written.back());
    }
    keep_last_of_lanes(parts_.plan.graph(), after);
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
        if (optimizer_.clips()) append_calls(calls, update->clip(norms_[r].view, norm_count()));
        append_calls(calls, update->update());
      }
      updated.push_back(parts_.plan.add({.name = fmt::format("update, replica {}", r),
                                         .lanes = {parts_.compute[r]},
                                         .after = std::move(ready[r]),
                                         .phase = "update"},
                                        std::move(calls)));
    }
    return updated;
  }

  [[nodiscard]] int norm_count() const { return static_cast<int>(count() * bucket_count()); }

  /// Every device gets the norms of all blocks, in one order, so that all compute the same factor.
  Completion write_norms(const Completion& ready) {
    std::vector<BufferView> all;
    std::vector<std::vector<TaskId>> computed;
    for (std::size_t r = 0; r < count(); ++r) {
      norms_.push_back(parts_.data.tensor(parts_.replica(r).device(), canonical({norm_count()})));
      parts_.data.zero(norms_.back());  // those of empty blocks stay 0
      std::vector<Call> calls;
      for (std::size_t b = 0; b < bucket_count(); ++b) {
        RegionUpdate* update = shards_.update(r, b);
        if (update == nullptr) continue;
        const std::size_t place = (r * bucket_count() + b) * sizeof(float);
        append_calls(calls, update->squared_norm(norms_[r].view.part(place, sizeof(float))));
      }
      const TaskId norm = parts_.plan.add({.name = fmt::format("norm, replica {}", r),
                                           .lanes = {parts_.compute[r]},
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
        const BufferView all = parts_.replica(r).region().parameters;
        data.push_back(all.part(bucket.begin, bucket.end - bucket.begin));
      }
      combine(fmt::format("all-gather {}", b), Collective::all_gather, data, ready);
    }
  }

  void add_notes() {
    const Shards::Kept kept = shards_.kept(0);
    const auto text = [](std::size_t bytes) {
      return report::format_bytes(static_cast<double>(bytes));
    };
    parts_.notes.emplace_back("buckets", fmt::format("{}", bucket_count()));
    parts_.notes.emplace_back(
        "kept by the first device",
        fmt::format(
            "{} of parameters, {} of gradients, {} of the optimiser's state, {} for buckets",
            text(kept.parameters), text(kept.gradients), text(kept.state),
            text(replicas_[0].steps.pool().bytes)));
  }

  DataParallelParts& parts_;
  ShardingSettings settings_;
  Optimizer optimizer_;
  Shards& shards_;
  std::deque<ReplicaTasks> replicas_;
  std::size_t round_ = 0;      // that is being written
  std::vector<Tensor> norms_;  // by replica
};

/// Where the parameters of each layer begin: a layer needs all of its own at once.
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

void plan_sharded(DataParallelParts& parts, const ShardingSettings& settings,
                  const Optimizer& optimizer) {
  add_replicas(parts, {.first = {},
                       .others = {},
                       .has_norm = optimizer.clips(),
                       .gradients_elsewhere = settings.divides_gradients(),
                       .parameters_elsewhere = settings.divides_parameters()});
  const Stage& first = parts.replica(0);
  const ShardLayout layout(
      shard_buckets(settings.divides_parameters() ? layer_offsets(first) : first.gradient_offsets(),
                    first.region().gradients.bytes, settings.bucket_bytes),
      parts.replica_count());
  Shards shards(parts, layout, settings, optimizer);
  ShardedWriter(parts, settings, optimizer, shards).write();
  const UpdatedParameters results = shards.results();
  add_step_outputs(parts, results, [&parts] { return sum_of_losses(parts); });
  add_update_check(parts, results);
  if (!settings.divides_parameters()) {
    add_equality_of_replicas(parts, !settings.divides_gradients());
  }
}

}  // namespace parbench
