// Stages of a grid and the order of its step.
#include "scenarios/training/grid/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "kernels/base/error.h"
#include "scenarios/framework/collectives/rank_collectives.h"
#include "scenarios/training/checks/step_checks.h"
#include "scenarios/training/checks/update_checks.h"
#include "scenarios/training/grid/replica_checks.h"
#include "scenarios/training/network_facts.h"
#include "scenarios/training/partition.h"
#include "scenarios/training/pipeline_plan.h"

namespace parbench {
namespace {

int micro_batch_count(const GridParts& parts, int replica) {
  return static_cast<int>(parts.micro_batches.at(static_cast<std::size_t>(replica)).size());
}

const Network& network_of_rank(const GridParts& parts, int rank) {
  return parts.division ? parts.division->network(rank) : parts.network;
}

bool divides_positions(const GridParts& parts) {
  return parts.division && parts.rest == RestOfNetwork::by_positions;
}

/// Stages of other ranks' devices that plan the same passes: those of the same part of the network,
/// with the same micro-batches and kernels.
class Twins {
 public:
  explicit Twins(const Context& context) : context_(context) {}

  /// Returns one that is known; null: there is none.
  [[nodiscard]] const Stage* of(const Stage::Options& options) const {
    const auto found = known_.find(key_of(options));
    return found == known_.end() || !context_.is_remote(options.device) ? nullptr : found->second;
  }
  void add(const Stage& stage, const Stage::Options& options) {
    if (context_.is_remote(options.device)) known_.try_emplace(key_of(options), &stage);
  }

 private:
  using Key = std::tuple<const Network*, int, std::vector<std::int64_t>, std::string, std::size_t>;
  [[nodiscard]] Key key_of(const Stage::Options& options) const {
    const DeviceInfo& info = context_.device(options.device).info();
    return {options.range.network, options.range.first, options.micro_batches,
            info.backend + " " + info.hardware, info.cores.size()};
  }

  const Context& context_;
  std::map<Key, const Stage*> known_;
};

void make_stages(GridParts& parts, const GridStep& step) {
  Twins twins(parts.context);
  if (parts.grid.ranks > 1) {
    parts.division.emplace(parts.network, parts.grid.ranks, parts.rest,
                           parts.context.options().seed);
  }
  const std::vector<LayerRange> ranges = stages_of(parts.network, parts.partition);
  std::int64_t first_sample = 0;
  for (int replica = 0; replica < parts.grid.replicas; ++replica) {
    const auto& micro_batches = parts.micro_batches.at(static_cast<std::size_t>(replica));
    const Schedule schedule =
        schedule_named(parts.schedule, parts.grid.stages, static_cast<int>(micro_batches.size()));
    for (int rank = 0; rank < parts.grid.ranks; ++rank) {
      auto& pipeline = parts.pipelines.emplace_back();
      for (std::size_t s = 0; s < ranges.size(); ++s) {
        const StageRange range{.network = &network_of_rank(parts, rank),
                               .first = ranges[s].first,
                               .last = ranges[s].last,
                               .dtype = step.format.dtype,
                               .math = step.format.math,
                               .batch = step.batch,
                               .recompute = step.recompute};
        Stage::Options options{.device = parts.grid.device(replica, static_cast<int>(s), rank),
                               .range = range,
                               .micro_batches = micro_batches,
                               .first_sample = first_sample,
                               .slots = stage_slots(schedule, static_cast<int>(s)),
                               .optimizer = step.optimizer,
                               .layout_samples = parts.micro_batches.front().front()};
        options.twin = twins.of(options);
        pipeline.push_back(std::make_unique<Stage>(parts, options));
        twins.add(*pipeline.back(), options);
      }
    }
    for (const std::int64_t samples : micro_batches) first_sample += samples;
  }
}

/// Gradients of replicas can be added where they lie at equal places.
void check_parameter_layouts(const GridParts& parts) {
  for (int replica = 1; replica < parts.grid.replicas; ++replica) {
    for (int rank = 0; rank < parts.grid.ranks; ++rank) {
      const auto& first = parts.pipeline(0, rank);
      const auto& other = parts.pipeline(replica, rank);
      for (std::size_t s = 0; s < first.size(); ++s) {
        if (first[s]->layouts() == other[s]->layouts()) continue;
        throw Unsupported(
            fmt::format("{} and {} have parameters in different layouts, so that their gradients "
                        "cannot be added; use devices of one kind and size",
                        parts.context.device(first[s]->device()).info().name,
                        parts.context.device(other[s]->device()).info().name));
      }
    }
  }
}

class GridWriter {
 public:
  GridWriter(GridParts& parts, std::size_t bucket_bytes)
      : parts_(parts), divides_gradients_(bucket_bytes > 0 && parts.grid.replicas > 1) {
    const DeviceGrid& grid = parts.grid;
    for (int replica = 0; replica < grid.replicas; ++replica) {
      RankedStages stages(static_cast<std::size_t>(grid.stages));
      for (std::size_t s = 0; s < stages.size(); ++s) {
        for (int rank = 0; rank < grid.ranks; ++rank) {
          stages[s].push_back(parts.pipeline(replica, rank)[s].get());
        }
      }
      writers_.emplace_back(parts, std::move(stages),
                            parts.micro_batches[static_cast<std::size_t>(replica)],
                            grid.replicas > 1 ? fmt::format(", replica {}", replica) : "");
      if (divides_gradients_) writers_.back().divide_gradients(bucket_bytes);
    }
  }

  void write() {
    for (StepWriter& writer : writers_) writer.write_packing();
    write_passes();
    for (StepWriter& writer : writers_) writer.write_exchanges();
    if (divides_positions(parts_)) add_up_repeated();
    if (parts_.grid.replicas > 1) add_up_replicas();
    for (std::size_t replica = 0; replica < writers_.size(); ++replica) {
      writers_[replica].write_updates(counted_runs(static_cast<int>(replica)));
    }
  }

 private:
  /// Replicas in turn, so that the host does not keep the last one waiting for its first task.
  void write_passes() {
    std::vector<std::vector<PlacedAction>> orders;
    std::size_t longest = 0;
    for (int replica = 0; replica < parts_.grid.replicas; ++replica) {
      orders.push_back(in_dependency_order(
          schedule_named(parts_.schedule, parts_.grid.stages, micro_batch_count(parts_, replica))));
      longest = std::max(longest, orders.back().size());
    }
    for (std::size_t i = 0; i < longest; ++i) {
      for (std::size_t replica = 0; replica < orders.size(); ++replica) {
        if (i < orders[replica].size()) writers_[replica].write(orders[replica][i]);
      }
    }
  }

  /// A stage's rank of a replica.
  struct Member {
    std::size_t replica = 0;
    StepWriter::Place place;
  };

  [[nodiscard]] const Stage& stage(const Member& member) const {
    return *parts_.pipeline(static_cast<int>(member.replica),
                            static_cast<int>(member.place.rank))[member.place.stage];
  }

  /// A member's part of what is added up, and what completes it.
  struct Share {
    BufferView data;
    std::vector<TaskId> completed;
  };

  /// Adds up gradients of the members.
  void add_up(RankCollectives& collectives, const std::string& name,
              const std::vector<Member>& members, std::vector<Share> shares) {
    std::vector<BufferView> data;
    std::vector<std::vector<TaskId>> ready;
    for (Share& share : shares) {
      data.push_back(share.data);
      ready.push_back(std::move(share.completed));
    }
    const Completion done = collectives.add(name, Collective::all_reduce, data, ready);
    for (std::size_t i = 0; i < members.size(); ++i) {
      auto& completed = writers_[members[i].replica].completed(members[i].place);
      completed.insert(completed.end(), done[i].begin(), done[i].end());
    }
  }

  [[nodiscard]] Share share_of(const Member& member, const BufferView& gradients) {
    return {gradients, writers_[member.replica].completed(member.place)};
  }

  [[nodiscard]] RankCollectives collectives_of(const std::vector<Member>& members) {
    std::vector<std::pair<int, LaneId>> ranks;
    for (const Member& member : members) {
      ranks.emplace_back(stage(member).device(),
                         writers_[member.replica].compute_lane(member.place));
    }
    return {parts_, std::move(ranks)};
  }

  /// All gradients of each stage and rank over the replicas.
  void add_up_replicas() {
    std::string buckets;
    for (int s = 0; s < parts_.grid.stages; ++s) {
      for (int rank = 0; rank < parts_.grid.ranks; ++rank) {
        std::vector<Member> members;
        for (std::size_t replica = 0; replica < writers_.size(); ++replica) {
          members.push_back(
              {replica,
               {.stage = static_cast<std::size_t>(s), .rank = static_cast<std::size_t>(rank)}});
        }
        const std::string name = fmt::format("all-reduce, gradients of stage {}, rank {}", s, rank);
        if (divides_gradients_) {
          const std::size_t count = add_up_buckets(name, members);
          if (rank == 0) buckets += fmt::format("{}{}", s == 0 ? "" : " + ", count);
          continue;
        }
        std::vector<Share> shares;
        for (const Member& member : members) {
          shares.push_back(share_of(member, stage(member).region().gradients));
        }
        RankCollectives collectives = collectives_of(members);
        add_up(collectives, name, members, std::move(shares));
      }
    }
    if (divides_gradients_) parts_.notes.emplace_back("buckets", buckets);
  }

  /// Each bucket as soon as all replicas have it, on lanes of their own: on those of copies between
  /// stages it would wait for the end of the backward pass. Returns how many there are.
  std::size_t add_up_buckets(const std::string& name, const std::vector<Member>& members) {
    const bool has_copies = parts_.grid.stages > 1;
    std::vector<std::pair<int, LaneId>> lanes;
    for (const Member& member : members) {
      const int device = stage(member).device();
      lanes.emplace_back(device, has_copies ? add_lane(parts_, device, StreamKind::copy, 1, 2)
                                            : add_lane(parts_, device, StreamKind::copy));
    }
    const auto bucket_of = [&](const Member& member, std::size_t b) -> const StepWriter::Bucket& {
      return writers_[member.replica].buckets(member.place).at(b);
    };
    const std::size_t count =
        writers_[members.front().replica].buckets(members.front().place).size();
    for (std::size_t b = 0; b < count; ++b) {
      std::vector<Share> shares;
      for (const Member& member : members) {
        const StepWriter::Bucket& bucket = bucket_of(member, b);
        shares.push_back({bucket.gradients, bucket.completed});
      }
      RankCollectives collectives(parts_, lanes);  // memory of its own: several may be under way
      add_up(collectives, fmt::format("{}, bucket {}", name, b), members, std::move(shares));
    }
    return count;
  }

  /// Each rank has computed the gradients of parameters that all have from its positions alone.
  void add_up_repeated() {
    for (std::size_t replica = 0; replica < writers_.size(); ++replica) {
      for (int s = 0; s < parts_.grid.stages; ++s) {
        std::vector<Member> members;
        for (int rank = 0; rank < parts_.grid.ranks; ++rank) {
          members.push_back(
              {replica,
               {.stage = static_cast<std::size_t>(s), .rank = static_cast<std::size_t>(rank)}});
        }
        RankCollectives collectives = collectives_of(members);
        write_repeated(collectives, members);
      }
    }
  }

  /// Runs of neighbouring parameters together: every rank has the same ones, at other offsets.
  void write_repeated(RankCollectives& collectives, const std::vector<Member>& members) {
    std::vector<std::vector<BufferView>> runs;  // by member
    for (const Member& member : members) runs.push_back(gradient_runs(stage(member), true));
    for (std::size_t i = 0; i < runs.front().size(); ++i) {
      std::vector<Share> shares;
      for (std::size_t m = 0; m < members.size(); ++m) {
        shares.push_back(share_of(members[m], runs[m].at(i)));
      }
      add_up(collectives, fmt::format("all-reduce, gradients of all ranks {}", i), members,
             std::move(shares));
    }
  }

  /// The norm counts what all ranks have on the first of them.
  [[nodiscard]] StepWriter::CountedRuns counted_runs(int replica) const {
    StepWriter::CountedRuns runs;
    for (int rank = 1; rank < parts_.grid.ranks; ++rank) {
      const auto& pipeline = parts_.pipeline(replica, rank);
      for (std::size_t s = 0; s < pipeline.size(); ++s) {
        runs[{.stage = s, .rank = static_cast<std::size_t>(rank)}] =
            gradient_runs(*pipeline[s], false);
      }
    }
    return runs;
  }

  /// The gradients of neighbouring parameters that all ranks have, or that each has a part of.
  [[nodiscard]] std::vector<BufferView> gradient_runs(const Stage& stage, bool repeated) const {
    const std::vector<Stage::TrainedParameter> parameters = stage.parameters();
    const BufferView gradients = stage.region().gradients;
    std::vector<std::size_t> offsets = stage.gradient_offsets();
    offsets.push_back(gradients.bytes);
    std::vector<BufferView> runs;
    bool continues = false;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::size_t bytes = offsets[i + 1] - offsets[i];
      const bool belongs = parts_.division->is_repeated(parameters[i].spec.name) == repeated;
      if (belongs && continues) {
        runs.back().bytes += bytes;
      } else if (belongs) {
        runs.push_back(gradients.part(offsets[i], bytes));
      }
      continues = belongs;
    }
    return runs;
  }

  GridParts& parts_;
  bool divides_gradients_;           // into buckets
  std::vector<StepWriter> writers_;  // by replica
};

// --- outputs ---

/// The loss of the whole batch: replicas have a share of it each, and so have ranks with a part of
/// the positions.
void add_loss(GridParts& parts) {
  std::vector<Tensor> shares;
  for (int replica = 0; replica < parts.grid.replicas; ++replica) {
    const int ranks = divides_positions(parts) ? parts.grid.ranks : 1;
    for (int rank = 0; rank < ranks; ++rank) {
      shares.push_back(parts.pipeline(replica, rank).back()->loss());
    }
  }
  const auto read = [&data = parts.data, shares] {
    std::vector<float> sum = data.read(shares.front());
    for (std::size_t i = 1; i < shares.size(); ++i) sum[0] += data.read(shares[i])[0];
    return sum;
  };
  std::erase_if(parts.outputs, [](const Output& one) { return one.name == loss_output; });
  parts.outputs.push_back({loss_output, read});
}

/// What a rank has of a gradient, and where in the whole one that is.
struct GradientPart {
  Tensor tensor;
  std::vector<NetworkDivision::Run> runs;
};

/// In the first replica, by parameter.
std::vector<GradientPart> parts_of_gradient(const GridParts& parts, const std::string& name) {
  std::vector<GradientPart> found;
  for (int rank = 0; rank < parts.grid.ranks; ++rank) {
    for (const auto& stage : parts.pipeline(0, rank)) {
      for (const Stage::TrainedParameter& one : stage->parameters()) {
        if (one.is_copy || one.spec.name != name) continue;
        found.push_back({one.gradient, parts.division->runs(name, rank)});
      }
    }
    if (parts.division->is_repeated(name)) break;
  }
  return found;
}

void add_divided_gradients(GridParts& parts) {
  const Stage& last = *parts.pipeline(0, 0).back();
  if (last.optimizer().clips()) {
    parts.outputs.push_back(
        {clip_factor_output,
         [&data = parts.data, factor = last.update().factor()] { return data.read(factor); }});
  }
  for (const ParameterSpec& spec : parts.division->parameters()) {
    const auto read = [&data = parts.data, count = element_count(spec.shape),
                       pieces = parts_of_gradient(parts, spec.name)] {
      std::vector<float> whole(static_cast<std::size_t>(count));
      for (const GradientPart& piece : pieces) {
        const std::vector<float> values = data.read(piece.tensor);
        auto from = values.begin();
        for (const NetworkDivision::Run& run : piece.runs) {
          std::copy_n(from, run.count, whole.begin() + run.first);
          from += run.count;
        }
      }
      return whole;
    };
    parts.outputs.push_back({gradient_output(spec.name), read});
  }
}

// --- checks ---

std::optional<std::string> unequal_replicas(const GridParts& parts, CaseData& data) {
  for (int replica = 1; replica < parts.grid.replicas; ++replica) {
    for (int rank = 0; rank < parts.grid.ranks; ++rank) {
      const auto& first = parts.pipeline(0, rank);
      const auto& other = parts.pipeline(replica, rank);
      for (std::size_t s = 0; s < first.size(); ++s) {
        if (auto unequal = unequal_parameters(data, *first[s], *other[s], true)) return unequal;
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> far_from_each_other(CaseData& data, const Tolerance& tolerance,
                                               const Stage::TrainedParameter& one,
                                               const Stage::TrainedParameter& other) {
  const std::vector<float> want = data.read(one.gradient);
  const std::vector<float> got = data.read(other.gradient);
  const Agreement found = agreement(got, want, tolerance);
  if (found.holds()) return std::nullopt;
  const std::size_t i = found.not_finite.value_or(found.where);
  return fmt::format("the gradient of {}[{}] is {:.9g} on rank 0 and {:.9g} on another",
                     one.spec.name, i, want[i], got[i]);
}

/// Ranks compute the gradients of parameters that all of them have by themselves, or add them up.
std::optional<std::string> unequal_ranks(const GridParts& parts, CaseData& data) {
  for (int rank = 1; rank < parts.grid.ranks; ++rank) {
    for (std::size_t s = 0; s < parts.pipeline(0, 0).size(); ++s) {
      std::map<std::string, Stage::TrainedParameter> first;
      for (auto& one : parts.pipeline(0, 0)[s]->parameters()) first[one.spec.name] = one;
      for (const auto& other : parts.pipeline(0, rank)[s]->parameters()) {
        if (!parts.division->is_repeated(other.spec.name)) continue;
        auto far = far_from_each_other(data, parts.tolerance, first.at(other.spec.name), other);
        if (far) return far;
      }
    }
  }
  return std::nullopt;
}

void add_step(GridParts& parts, const GridStep& step) {
  make_stages(parts, step);
  check_parameter_layouts(parts);
  GridWriter(parts, step.bucket_bytes).write();
  if (parts.division) {
    add_divided_gradients(parts);
  } else {
    for (const auto& stage : parts.pipeline(0, 0)) stage->add_outputs(parts.outputs);
  }
  add_loss(parts);
}

void add_checks(GridParts& parts, NumberFormat format) {
  if (parts.division) {
    add_loss_check(parts);
    parts.checks.push_back({"gradients of what all ranks have equal",
                            [&parts] { return unequal_ranks(parts, parts.data); }});
  } else {
    add_step_checks(parts, parts.network, format, parts.pipeline(0, 0),
                    micro_batch_count(parts, 0));
  }
  for (int rank = 0; rank < parts.grid.ranks; ++rank) {
    add_update_check(parts, parts.pipeline(0, rank));
  }
  if (parts.grid.replicas > 1) {
    parts.checks.push_back({"gradients and parameters of all replicas equal",
                            [&parts] { return unequal_replicas(parts, parts.data); }});
  }
}

}  // namespace

void prepare_grid(GridParts& parts, const GridStep& step) {
  parts.tolerance = tolerance_of_step(step.format);
  add_step(parts, step);
  add_checks(parts, step.format);
  parts.amount = {.value = static_cast<double>(step.batch),
                  .unit = parts.network.one_hot_target ? "images" : "samples"};
  parts.reads_borrowed_memory = step.optimizer.reads_borrowed_memory();
}

}  // namespace parbench
