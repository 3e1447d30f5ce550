// Writing a schedule down as tasks.
#include "scenarios/training/pipeline_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "scenarios/plan/schedules/data_parallel.h"

namespace parbench {
namespace {

void append(std::vector<Call>& to, std::vector<Call> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void append(std::vector<TaskId>& to, const std::vector<TaskId>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

BufferView norms_in(const BufferView& norms, std::size_t first, std::size_t count = 1) {
  return norms.part(first * sizeof(float), count * sizeof(float));
}

}  // namespace

StepWriter::StepWriter(CaseParts& parts, RankedStages stages,
                       std::vector<std::int64_t> micro_batches, std::string label)
    : parts_(parts),
      stages_(std::move(stages)),
      micro_batches_(std::move(micro_batches)),
      label_(std::move(label)),
      backwards_(stages_.size(), 0) {
  for (const auto& ranks : stages_) {
    std::vector<LaneId>& lanes = compute_.emplace_back();
    std::vector<std::pair<int, LaneId>> group;
    for (const Stage* rank : ranks) {
      lanes.push_back(add_lane(parts, rank->device(), StreamKind::compute));
      group.emplace_back(rank->device(), lanes.back());
    }
    if (ranks.size() > 1) collectives_.emplace_back(parts, std::move(group));
  }
  if (stages_.size() == 1) return;
  for (const auto& ranks : stages_) {
    std::vector<LaneId>& lanes = copy_.emplace_back();
    for (const Stage* rank : ranks) {
      lanes.push_back(add_lane(parts, rank->device(), StreamKind::copy));
    }
  }
}

std::vector<StepWriter::Place> StepWriter::places() const {
  std::vector<Place> all;
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    for (std::size_t rank = 0; rank < stages_[s].size(); ++rank) {
      all.push_back({.stage = s, .rank = rank});
    }
  }
  return all;
}

/// "1", "1, rank 0".
std::string StepWriter::number(Place place) const {
  const bool has_ranks = stages_[place.stage].size() > 1;
  return fmt::format("{}{}", place.stage, has_ranks ? fmt::format(", rank {}", place.rank) : "");
}

/// Without stages there is nothing to compute beside a copy.
std::vector<LaneId> StepWriter::lanes_between(Place from, Place to) const {
  const auto& lanes = copy_.empty() ? compute_ : copy_;
  return copying_lanes(parts_.plan, lanes.at(from.stage).at(from.rank),
                       lanes.at(to.stage).at(to.rank));
}

void StepWriter::divide_gradients(std::size_t bucket_bytes) {
  for (const Place place : places()) {
    const BufferView all = stage(place).region().gradients;
    for (const GradientBucket& one :
         gradient_buckets(stage(place).gradient_offsets(), all.bytes, bucket_bytes)) {
      buckets_[place].push_back(
          {.gradients = all.part(one.begin, one.end - one.begin), .completed = {}});
    }
  }
}

void StepWriter::write_packing() {
  for (const Place place : places()) {
    std::vector<Call> calls = stage(place).pack();
    if (calls.empty()) continue;
    parts_.plan.add({.name = fmt::format("pack parameters, {}{}", text(place), label_),
                     .lanes = {compute_lane(place)},
                     .cost_key = "pack"},
                    std::move(calls));
  }
}

void StepWriter::write(const PlacedAction& placed) {
  const auto s = static_cast<std::size_t>(placed.stage);
  if (placed.action.pass == Pass::forward) {
    write_forward(s, placed.action.micro_batch);
  } else {
    write_backward(s, placed.action.micro_batch);
  }
}

// --- gradients of parameters that two stages have ---

void StepWriter::write_exchanges() {
  for (const Place place : places()) {
    for (const Stage::TrainedParameter& copy : stage(place).parameters()) {
      if (!copy.is_copy) continue;
      write_exchange(owner_of(copy.spec.name, place.rank), {place, copy.gradient}, copy.spec.name);
    }
  }
}

StepWriter::PartOfGradient StepWriter::owner_of(const std::string& name, std::size_t rank) const {
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const Place place{.stage = s, .rank = rank};
    for (const Stage::TrainedParameter& one : stage(place).parameters()) {
      if (!one.is_copy && one.spec.name == name) return {place, one.gradient};
    }
  }
  throw std::logic_error("no stage has parameter " + name);
}

/// Both copies have ended before either sum overwrites what they read.
void StepWriter::write_exchange(const PartOfGradient& owner, const PartOfGradient& copy,
                                const std::string& name) {
  const BufferView to_copy =
      parts_.context.borrow(stage(copy.place).device(), owner.gradient.view.bytes);
  const BufferView to_owner =
      parts_.context.borrow(stage(owner.place).device(), copy.gradient.view.bytes);
  const std::vector<TaskId> sent = {send_gradient(owner, copy.place, to_copy, name),
                                    send_gradient(copy, owner.place, to_owner, name)};
  add_gradient(owner, to_owner, name, sent);
  add_gradient(copy, to_copy, name, sent);
}

TaskId StepWriter::send_gradient(const PartOfGradient& from, Place to,
                                 const BufferView& destination, const std::string& name) {
  return parts_.plan.add({.name = fmt::format("send gradient of {}, {} to {}{}", name,
                                              text(from.place), to.stage, label_),
                          .kind = TaskKind::copy,
                          .lanes = lanes_between(from.place, to),
                          .after = backward_[from.place],
                          .cost_key = fmt::format("send gradient of {} to {}", name, to.stage),
                          .phase = "update"},
                         {CopyCall{.destination = destination, .source = from.gradient.view}});
}

void StepWriter::add_gradient(const PartOfGradient& to, const BufferView& arrived,
                              const std::string& name, std::vector<TaskId> after) {
  Stream& stream = parts_.context.stream(stage(to.place).device(), StreamKind::compute);
  Op& op = parts_.ops.prepare(stream, Accumulate{.count = element_count(to.gradient.desc.shape)});
  std::vector<TaskId>& backward = backward_[to.place];
  append(after, backward);
  const TaskId task = parts_.plan.add(
      {.name = fmt::format("add gradient of {}, {}{}", name, text(to.place), label_),
       .lanes = {compute_lane(to.place)},
       .after = std::move(after),
       .cost_key = "add gradient of " + name,
       .phase = "update"},
      {bind(op, {{"source", arrived}, {"destination", to.gradient.view}})});
  backward.push_back(task);
  for (Bucket& bucket : buckets_[to.place]) {
    if (overlap(bucket.gradients, to.gradient.view)) bucket.completed.push_back(task);
  }
}

// --- updates ---

void StepWriter::write_updates(const CountedRuns& counted) {
  if (stages_.front().front()->optimizer().clips()) {
    write_clipped_updates(counted);
    return;
  }
  for (const Place place : places()) write_update(place, backward_[place], {});
}

/// `before`: the calls that the update begins with.
void StepWriter::write_update(Place place, std::vector<TaskId> after, std::vector<Call> before) {
  append(before, stage(place).update().update());
  parts_.plan.add({.name = fmt::format("update, {}{}", text(place), label_),
                   .lanes = {compute_lane(place)},
                   .after = std::move(after),
                   .cost_key = "update",
                   .phase = "update"},
                  std::move(before));
}

std::vector<StepWriter::NormParts> StepWriter::norm_parts(const CountedRuns& counted) const {
  std::vector<NormParts> all;
  std::size_t first = 0;
  for (const Place place : places()) {
    const auto found = counted.find(place);
    NormParts& parts = all.emplace_back(NormParts{
        .place = place,
        .gradients =
            found != counted.end() ? found->second : std::vector{stage(place).update().counted()},
        .first = first});
    first += parts.gradients.size();
  }
  return all;
}

void StepWriter::write_norms(NormParts& parts, const BufferView& norms) {
  parts.computed = backward_[parts.place];
  std::vector<Call> calls;
  for (std::size_t i = 0; i < parts.gradients.size(); ++i) {
    append(calls, stage(parts.place)
                      .update()
                      .squared_norm(parts.gradients[i], norms_in(norms, parts.first + i)));
  }
  if (calls.empty()) return;
  parts.computed = {
      parts_.plan.add({.name = fmt::format("squared norm, {}{}", text(parts.place), label_),
                       .lanes = {compute_lane(parts.place)},
                       .after = std::move(parts.computed),
                       .cost_key = "squared norm",
                       .phase = "update"},
                      std::move(calls))};
}

/// Every place gets the squared norms of all, and computes the factor itself: from the same numbers
/// in the same order.
void StepWriter::write_clipped_updates(const CountedRuns& counted) {
  std::vector<NormParts> all = norm_parts(counted);
  const std::size_t count = all.back().first + all.back().gradients.size();
  std::vector<BufferView> norms;  // of all places, on each place's device
  for (NormParts& own : all) {
    norms.push_back(parts_.context.borrow(stage(own.place).device(), count * sizeof(float)));
    write_norms(own, norms.back());
  }
  std::vector<std::vector<TaskId>> arrived;
  for (const NormParts& own : all) arrived.push_back(own.computed);
  for (std::size_t from = 0; from < all.size(); ++from) {
    const std::size_t sent = all[from].gradients.size();
    for (std::size_t to = 0; to < all.size(); ++to) {
      if (from == to || sent == 0) continue;
      const std::string receiver = number(all[to].place);
      arrived[to].push_back(
          parts_.plan.add({.name = fmt::format("send squared norm, {} to {}{}",
                                               text(all[from].place), receiver, label_),
                           .kind = TaskKind::copy,
                           .lanes = lanes_between(all[from].place, all[to].place),
                           .after = all[from].computed,
                           .cost_key = "send squared norm to " + receiver,
                           .phase = "update"},
                          {CopyCall{.destination = norms_in(norms[to], all[from].first, sent),
                                    .source = norms_in(norms[from], all[from].first, sent)}}));
    }
  }
  for (std::size_t s = 0; s < all.size(); ++s) {
    write_update(all[s].place, std::move(arrived[s]),
                 stage(all[s].place).update().clip(norms[s], static_cast<int>(count)));
  }
}

// --- boundaries ---

/// Memory in canonical order at one end for the next tensor that crosses, which micro-batches with
/// the same slot share.
BufferView StepWriter::packed_memory(const BoundaryEnd& end, const Crossing& crossing) {
  const int slot = slot_of(end.packed, crossing.micro_batch);
  std::int64_t largest = 0;
  for (int i = 0; i < static_cast<int>(micro_batches_.size()); ++i) {
    if (slot_of(end.packed, i) == slot) largest = std::max(largest, samples(i));
  }
  Shape shape = end.desc.shape;
  const std::size_t bytes = canonical(shape, end.desc.dtype).bytes;
  shape.front() = shape.front() / samples(crossing.micro_batch) * largest;
  const auto [known, is_new] =
      packed_.try_emplace({&end.packed, slot, crossing.copies.size()}, BufferView());
  if (is_new) {
    known->second =
        parts_.context.borrow(end.stage.device(), canonical(shape, end.desc.dtype).bytes);
  }
  return known->second.part(0, bytes);
}

/// Memory in canonical order at one end, and the reorder that brings the tensor there or from
/// there; the end itself where it is canonical already.
BufferView StepWriter::canonical_end(const BoundaryEnd& end, bool sends, Crossing& crossing) {
  const TensorDesc plain = canonical(end.desc.shape, end.desc.dtype);
  if (end.desc == plain) return end.view;
  const BufferView staging = packed_memory(end, crossing);
  Stream& stream = parts_.context.stream(end.stage.device(), StreamKind::compute);
  Op& op = parts_.ops.prepare(stream, sends ? Reorder{.source = end.desc, .destination = plain}
                                            : Reorder{.source = plain, .destination = end.desc});
  (sends ? crossing.pack : crossing.unpack)
      .emplace_back(bind(op, {{"source", sends ? end.view : staging},
                              {"destination", sends ? staging : end.view}}));
  return staging;
}

void StepWriter::cross(const BoundaryEnd& from, const BoundaryEnd& to, Crossing& crossing) {
  const bool alike = from.desc == to.desc;
  CopyCall copy;
  copy.source = alike ? from.view : canonical_end(from, true, crossing);
  copy.destination = alike ? to.view : canonical_end(to, false, crossing);
  crossing.bytes += copy.source.bytes;
  crossing.copies.emplace_back(copy);
}

/// The activations of a micro-batch from a stage to the next.
StepWriter::Crossing StepWriter::cross_forward(const Stage& stage, const Stage& next,
                                               int micro_batch) {
  Crossing crossing{.micro_batch = micro_batch};
  const std::vector<Stage::Passing> to = next.inputs(micro_batch);
  for (std::size_t i = 0; const Stage::Passing& from : stage.outputs(micro_batch)) {
    cross({stage, from.desc, from.values, stage.slots().packed_outputs},
          {next, to[i].desc, to[i].values, next.slots().packed_inputs}, crossing);
    ++i;
  }
  return crossing;
}

/// Their gradients from a stage to the previous one.
StepWriter::Crossing StepWriter::cross_backward(const Stage& stage, const Stage& previous,
                                                int micro_batch) {
  Crossing crossing{.micro_batch = micro_batch};
  const std::vector<Stage::Passing> to = previous.outputs(micro_batch);
  for (std::size_t i = 0; const Stage::Passing& from : stage.inputs(micro_batch)) {
    if (from.gradient.bytes > 0) {
      cross({stage, from.desc, from.gradient, stage.slots().input_gradients},
            {previous, to[i].desc, to[i].gradient, previous.slots().output_gradients}, crossing);
    }
    ++i;
  }
  return crossing;
}

void StepWriter::send(const char* what, Place from, Place to, int micro_batch,
                      std::vector<TaskId> produced, Crossing crossing) {
  const TaskId task =
      parts_.plan.add({.name = fmt::format("send {}, micro-batch {}, {} to {}{}", what, micro_batch,
                                           text(from), to.stage, label_),
                       .kind = TaskKind::copy,
                       .lanes = lanes_between(from, to),
                       .after = std::move(produced),
                       .cost_key = fmt::format("send {} {} to {}", what, crossing.bytes, to.stage),
                       .micro_batch = micro_batch},
                      std::move(crossing.copies));
  arrivals_[{to, micro_batch}] = {task, std::move(crossing.unpack)};
}

/// Makes a pass wait for what its place has been sent for the micro-batch, and begin with the calls
/// that unpack it.
void StepWriter::receive(Place place, int micro_batch, RankPass& pass) const {
  const Arrival& arrival = arrivals_.at({place, micro_batch});
  pass.after.push_back(arrival.task);
  std::vector<Call> calls = arrival.unpack;
  append(calls, std::move(pass.parts.front().calls));
  pass.parts.front().calls = std::move(calls);
}

// --- passes ---

/// Adds the calls of a part as a task, or as several where buckets are complete between them.
/// Returns what has ended when they have.
std::vector<TaskId> StepWriter::write_part(Place place, const Task& common, RankPass& pass,
                                           std::size_t part) {
  std::vector<Call>& calls = pass.parts[part].calls;
  std::vector<TaskId> last = std::move(pass.after);
  std::size_t written = 0;
  const auto write_until = [&](std::size_t end, const std::string& piece) {
    if (end <= written) return;
    Task task = common;
    task.name += text(place) + piece + label_;
    task.lanes = {compute_lane(place)};
    task.after = std::move(last);
    task.cost_key += piece;
    const auto begin = calls.begin();
    last = {parts_.plan.add(std::move(task), {begin + static_cast<std::ptrdiff_t>(written),
                                              begin + static_cast<std::ptrdiff_t>(end)})};
    written = end;
  };
  const std::string piece = pass.parts.size() > 1 ? fmt::format(", part {}", part) : "";
  if (pass.completions.empty()) {
    write_until(calls.size(), piece);
    return last;
  }
  std::vector<Bucket>& buckets = buckets_[place];
  std::size_t next = 0;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    if (pass.completions[b].part <= part) next = b + 1;
    if (pass.completions[b].part != part) continue;
    write_until(pass.completions[b].calls, fmt::format("{}, bucket {}", piece, b));
    buckets[b].completed = last;
  }
  const bool is_rest = next == buckets.size();
  write_until(calls.size(), piece + (is_rest ? ", rest" : fmt::format(", bucket {}", next)));
  return last;
}

/// Adds tasks for each part and rank, and what the ranks combine between them. Returns what has
/// ended when a rank's pass has.
StepWriter::Done StepWriter::write_pass(std::size_t s, const Task& common,
                                        std::vector<RankPass> ranks) {
  const std::size_t count = ranks.front().parts.size();
  for (std::size_t p = 0; p < count; ++p) {
    std::vector<BufferView> combined;
    Done ready;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      combined.push_back(ranks[rank].parts.at(p).combined);
      ready.push_back(write_part({.stage = s, .rank = rank}, common, ranks[rank], p));
    }
    if (p + 1 == count) return ready;
    const Collective collective = ranks.front().parts[p].collective;
    const Done done = collectives_.at(s).add(
        fmt::format("{}, {}stage {}, part {}{}", name_of(collective), common.name, s, p, label_),
        collective, combined, ready);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank].after = done[rank];
  }
  return {};
}

void StepWriter::write_forward(std::size_t s, int micro_batch) {
  const bool sends = s + 1 < stages_.size();
  std::vector<RankPass> passes;
  std::vector<Crossing> crossings(stages_[s].size());
  for (std::size_t rank = 0; rank < stages_[s].size(); ++rank) {
    const Place place{.stage = s, .rank = rank};
    RankPass& pass = passes.emplace_back(
        RankPass{.parts = stage(place).forward_parts(micro_batch), .after = {}});
    if (s > 0) receive(place, micro_batch, pass);
    if (!sends) continue;
    crossings[rank] = cross_forward(stage(place), *stages_[s + 1][rank], micro_batch);
    append(pass.parts.back().calls, crossings[rank].pack);
  }
  const Task common{.name = fmt::format("forward, micro-batch {}, ", micro_batch),
                    .lanes = {},
                    .cost_key = fmt::format("forward {}", samples(micro_batch)),
                    .phase = "forward",
                    .micro_batch = micro_batch};
  Done done = write_pass(s, common, std::move(passes));
  for (std::size_t rank = 0; rank < done.size(); ++rank) {
    const Place place{.stage = s, .rank = rank};
    if (sends) {
      send("activations", place, {.stage = s + 1, .rank = rank}, micro_batch, done[rank],
           std::move(crossings[rank]));
    }
    forward_[{place, micro_batch}] = std::move(done[rank]);
  }
}

void StepWriter::write_backward(std::size_t s, int micro_batch) {
  const bool first = backwards_[s]++ == 0;
  const bool last = backwards_[s] == micro_batches_.size();
  std::vector<RankPass> passes;
  std::vector<Crossing> crossings(stages_[s].size());
  for (std::size_t rank = 0; rank < stages_[s].size(); ++rank) {
    const Place place{.stage = s, .rank = rank};
    RankPass& pass =
        passes.emplace_back(RankPass{.parts = stage(place).backward_parts(micro_batch, first),
                                     .after = forward_.at({place, micro_batch})});
    if (s + 1 < stages_.size()) receive(place, micro_batch, pass);
    if (s > 0) {
      crossings[rank] = cross_backward(stage(place), *stages_[s - 1][rank], micro_batch);
      append(pass.parts.back().calls, crossings[rank].pack);
    }
    if (!last) continue;
    std::vector<BufferView> regions;
    for (const Bucket& bucket : buckets_[place]) regions.push_back(bucket.gradients);
    pass.completions = completions(pass.parts, regions);
  }
  const Task common{
      .name = fmt::format("backward, micro-batch {}, ", micro_batch),
      .lanes = {},
      .cost_key = fmt::format("backward {}{}", samples(micro_batch), first ? " first" : ""),
      .phase = "backward",
      .micro_batch = micro_batch};
  const Done done = write_pass(s, common, std::move(passes));
  for (std::size_t rank = 0; rank < done.size(); ++rank) {
    const Place place{.stage = s, .rank = rank};
    append(backward_[place], done[rank]);
    if (s > 0) {
      send("gradients", place, {.stage = s - 1, .rank = rank}, micro_batch, done[rank],
           std::move(crossings[rank]));
    }
  }
}

void add_training_step(CaseParts& parts, const std::vector<std::unique_ptr<Stage>>& stages,
                       const std::vector<std::int64_t>& micro_batches, const Schedule& schedule) {
  RankedStages ranked;
  for (const auto& stage : stages) ranked.push_back({stage.get()});
  StepWriter writer(parts, std::move(ranked), micro_batches);
  writer.write_packing();
  for (const PlacedAction& placed : in_dependency_order(schedule)) writer.write(placed);
  writer.write_exchanges();
  writer.write_updates();
}

}  // namespace parbench
