// Divides passes by the buckets that calls access, and plans memory by lifetimes.
#include "scenarios/training/exchanges/zero_steps.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>
#include <variant>

#include "kernels/base/round_up.h"
#include "scenarios/plan/region.h"
#include "scenarios/training/completion.h"

namespace parbench {
namespace {

/// Number of steps for which memory of gradients is kept after the step that completes them, so
/// that the next step does not wait until they are reduced.
constexpr int steps_behind_completion = 1;
/// One bucket is written while another one is reduced.
constexpr std::size_t gradient_buckets_at_once = 2;

constexpr std::size_t bf16_in_f32 = sizeof(float) / sizeof(std::uint16_t);

bool is_needed(const std::vector<std::size_t>& wanted, const std::vector<std::size_t>& there) {
  return std::ranges::includes(there, wanted);
}

void add_buckets(std::vector<std::size_t>& to, const std::vector<std::size_t>& buckets) {
  std::set<std::size_t> all(to.begin(), to.end());
  all.insert(buckets.begin(), buckets.end());
  to.assign(all.begin(), all.end());
}

const BufferView& view_in(const OpCall& call, Space space) {
  const auto found =
      std::ranges::find_if(call.views, [&](const BufferView& view) { return is_in(view, space); });
  if (found == call.views.end()) throw std::logic_error("a call of packing reads and writes both");
  return *found;
}

}  // namespace

ZeroSteps::ZeroSteps(TrainingStep& step, std::size_t r, const ShardLayout& layout)
    : step_(step),
      r_(r),
      layout_(layout),
      settings_(step.layout.exchange),
      packing_(layout.buckets().size()),
      packed_bytes_(layout.buckets().size(), 0) {
  if (settings_.divides_parameters()) find_packing();
  const int last = step_.layout.micro_batch_count(static_cast<int>(r_)) - 1;
  for (int micro_batch = settings_.divides_gradients() ? 0 : last; micro_batch <= last;
       ++micro_batch) {
    add_round(micro_batch);
  }
  make_pool();
}

void ZeroSteps::add_round(int micro_batch) {
  Round& round = rounds_.emplace_back(Round{.micro_batch = micro_batch, .forward = count()});
  if (settings_.divides_parameters()) divide(step_.replica(r_).forward(micro_batch), {});
  round.backward = count();
  divide_backward(round);
  round.end = count();
}

const ZeroSteps::Round& ZeroSteps::round_of(int step) const {
  return *std::ranges::find_if(rounds_, [&](const Round& one) { return step < one.end; });
}

// --- packed copies ---

void ZeroSteps::find_packing() {
  for (const Call& call : step_.replica(r_).pack()) {
    const auto& packing = std::get<OpCall>(call);
    add_packing(packing, view_in(packing, Space::parameters), view_in(packing, Space::packed));
  }
}

/// Adds the packing of a parameter, which is in one bucket. A conversion of many parameters at once
/// is divided.
void ZeroSteps::add_packing(const OpCall& call, const BufferView& source,
                            const BufferView& packed) {
  const std::size_t first = layout_.bucket_at(source.offset);
  if (source.offset + source.bytes <= layout_.buckets()[first].end) {
    add_packed_part(first, packed, call);
    return;
  }
  for (std::size_t b = 0; b < layout_.buckets().size(); ++b) {
    const auto& [bucket_begin, bucket_end] = layout_.buckets()[b];
    const std::size_t begin = std::max(bucket_begin, source.offset);
    const std::size_t end = std::min(bucket_end, source.offset + source.bytes);
    if (begin >= end) continue;
    const auto count = static_cast<std::int64_t>((end - begin) / sizeof(float));
    Op& convert = step_.ops.prepare(
        compute_stream(),
        Reorder{.source = canonical({count}), .destination = canonical({count}, DType::bf16)});
    const BufferView part =
        packed.part((begin - source.offset) / bf16_in_f32, (end - begin) / bf16_in_f32);
    add_packed_part(b, part,
                    bind(convert, {{"source", source.part(begin - source.offset, end - begin)},
                                   {"destination", part}}));
  }
}

void ZeroSteps::add_packed_part(std::size_t bucket, const BufferView& packed, OpCall call) {
  packed_.push_back({.offset = packed.offset,
                     .bytes = packed.bytes,
                     .bucket = bucket,
                     .behind = packed_bytes_[bucket]});
  packed_bytes_[bucket] += round_up(packed.bytes, RegionPlanner::alignment);
  packing_[bucket].push_back(std::move(call));
}

const ZeroSteps::PackedPart& ZeroSteps::packed_part(std::size_t offset) const {
  const auto found = std::ranges::find_if(packed_, [&](const PackedPart& part) {
    return part.offset <= offset && offset < part.offset + part.bytes;
  });
  if (found == packed_.end()) throw std::logic_error("a packed parameter that is not packed");
  return *found;
}

// --- steps ---

std::vector<std::size_t> ZeroSteps::buckets_of(const Call& call, Space space) const {
  std::vector<std::size_t> buckets;
  for (const BufferView& view : std::get<OpCall>(call).views) {
    if (view.bytes == 0) continue;
    if (is_in(view, space)) add_buckets(buckets, {layout_.bucket_at(view.offset)});
    if (space == Space::parameters && is_in(view, Space::packed)) {
      add_buckets(buckets, {packed_part(view.offset).bucket});
    }
  }
  return buckets;
}

/// Divides calls into steps. A step ends before each of `ends`, ascending, and where other
/// parameters are needed.
void ZeroSteps::divide(const std::vector<Call>& calls, std::span<const std::size_t> ends) {
  steps_.emplace_back();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::vector<std::size_t> needed = buckets_of(calls[i], Space::parameters);
    const bool is_cut = std::ranges::find(ends, i) != ends.end();
    const bool needs_others =
        !steps_.back().parameters.empty() && !is_needed(needed, steps_.back().parameters);
    if ((is_cut || needs_others) && !steps_.back().calls.empty()) steps_.emplace_back();
    Step& step = steps_.back();
    add_buckets(step.parameters, needed);
    add_buckets(step.gradients, buckets_of(calls[i], Space::gradients));
    step.calls.push_back(calls[i]);
  }
}

/// After the first micro-batch, the pass accumulates in a bucket, which is initialised with zeros.
void ZeroSteps::divide_backward(Round& round) {
  const std::vector<Call> calls =
      step_.replica(r_).backward(round.micro_batch, round.micro_batch == 0);
  std::vector<std::size_t> ends;  // by bucket: number of calls
  for (const GradientBucket& bucket : layout_.buckets()) {
    const BufferView gradients =
        step_.replica(r_).region().gradients.part(bucket.begin, bucket.end - bucket.begin);
    const std::size_t end = calls_until_complete(calls, gradients);
    ends.push_back(ends.empty() ? end : std::max(ends.back(), end));
  }
  divide(calls, ends);
  std::size_t done = 0;
  int step = round.backward;
  for (const std::size_t end : ends) {
    while (step < count() && done + steps_[static_cast<std::size_t>(step)].calls.size() <= end) {
      done += steps_[static_cast<std::size_t>(step)].calls.size();
      ++step;
    }
    round.completion.push_back(step - 1);
  }
}

// --- memory ---

/// Returns the lifetimes of buckets: parameters while they are needed, gradients from their first
/// call until they have been reduced.
std::vector<HeldBucket> ZeroSteps::wanted() const {
  std::vector<HeldBucket> all;
  std::vector<std::vector<std::size_t>> needed;
  for (const Step& step : steps_) needed.push_back(step.parameters);
  for (const Holding& when : holdings_of(needed, settings_.prefetch, stays_)) {
    const std::size_t behind =
        round_up(layout_.bucket_bytes(when.bucket), RegionPlanner::alignment);
    all.push_back({.space = Space::parameters,
                   .when = when,
                   .offset = 0,
                   .bytes = behind + packed_bytes_[when.bucket]});
  }
  for (const Round& round : rounds_) {
    const auto end = steps_.begin() + round.end;
    for (std::size_t b = 0; b < layout_.buckets().size(); ++b) {
      const auto writes = [&](const Step& step) {
        return std::ranges::find(step.gradients, b) != step.gradients.end();
      };
      const auto first = std::find_if(steps_.begin() + round.backward, end, writes);
      if (first == end) continue;
      const int begin = static_cast<int>(first - steps_.begin());
      all.push_back(
          {.space = Space::gradients,
           .when = {.bucket = b, .begin = begin, .first = begin, .last = round.completion[b]},
           .offset = 0,
           .bytes = layout_.bucket_bytes(b)});
    }
  }
  return all;
}

/// Assigns an offset to every bucket. Buckets beyond `limit` are kept as briefly as possible:
/// parameters do not arrive early, and gradients are kept only until the step that completes them.
std::size_t ZeroSteps::place(std::size_t limit) {
  held_ = wanted();
  RegionPlanner region;
  std::vector<const HeldBucket*> complete;
  const auto release = [&](const auto& is_over) {
    for (const HeldBucket* one : complete) {
      if (is_over(*one)) region.release(one->offset);
    }
    std::erase_if(complete, [&](const HeldBucket* one) { return is_over(*one); });
  };
  const auto exceeds_limit = [&](const HeldBucket& one) {
    RegionPlanner grown = region;
    static_cast<void>(grown.acquire(one.bytes));
    return grown.peak() > limit;
  };
  for (int step = 0; step < count(); ++step) {
    for (const HeldBucket& one : held_) {
      if (one.when.last == step - 1) complete.push_back(&one);
    }
    release([&](const HeldBucket& one) {
      const int stays = one.space == Space::gradients ? steps_behind_completion : 0;
      return one.when.last + stays < step;
    });
    for (HeldBucket& one : held_) {
      if (one.when.begin != step) continue;
      if (exceeds_limit(one)) release([](const HeldBucket&) { return true; });
      if (one.when.first > step && exceeds_limit(one)) {
        ++one.when.begin;
      } else {
        one.offset = region.acquire(one.bytes);
      }
    }
  }
  return region.peak();
}

/// The pool has room for buckets that arrive early or are being reduced, but only up to half of the
/// parameters; otherwise a model with few buckets would need as much memory as without shards. A
/// bucket is kept for a later step if this needs no more memory.
void ZeroSteps::make_pool() {
  const std::size_t all = step_.replica(r_).region().gradients.bytes;
  std::size_t min_bytes = place(0);
  if (min_bytes > all / 2) {
    stays_ = false;
    min_bytes = place(0);
  }
  const std::size_t at_once =
      gradient_buckets_at_once +
      (settings_.divides_parameters() ? 1 + static_cast<std::size_t>(settings_.prefetch) : 0);
  const std::size_t wished = at_once * all / layout_.buckets().size();
  const std::size_t limit = std::max(min_bytes, std::min(wished, all / 2));
  // Holes between buckets may make the pool larger than its limit.
  std::size_t bytes = place(limit);
  if (bytes > limit) bytes = place((min_bytes + limit) / 2);
  if (bytes > limit) bytes = place(0);
  const auto floats = static_cast<std::int64_t>(bytes / sizeof(float));
  pool_ = step_.data.tensor(step_.replica(r_).device(), canonical({floats}));
}

void ZeroSteps::poison_pool() {
  if (pool_.view.bytes > 0) step_.data.poison(pool_);
}

std::vector<std::size_t> ZeroSteps::arriving(int step) const {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    if (held_[i].space == Space::parameters && held_[i].when.begin == step) indices.push_back(i);
  }
  return indices;
}

std::vector<std::size_t> ZeroSteps::used(int step) const {
  const Step& own = steps_[static_cast<std::size_t>(step)];
  std::vector<std::size_t> indices;
  const auto add = [&](Space space, const std::vector<std::size_t>& buckets) {
    for (const std::size_t bucket : buckets) {
      indices.push_back(static_cast<std::size_t>(&find(space, bucket, step) - held_.data()));
    }
  };
  add(Space::parameters, own.parameters);
  add(Space::gradients, own.gradients);
  return indices;
}

std::size_t ZeroSteps::gradients_of(const Round& round, std::size_t bucket) const {
  return static_cast<std::size_t>(&find(Space::gradients, bucket, round.completion[bucket]) -
                                  held_.data());
}

const HeldBucket& ZeroSteps::find(Space space, std::size_t bucket, int step) const {
  const auto found = std::ranges::find_if(held_, [&](const HeldBucket& one) {
    return one.space == space && one.when.bucket == bucket && one.when.begin <= step &&
           step <= one.when.last;
  });
  if (found == held_.end()) throw std::logic_error("a step needs a bucket that is not there");
  return *found;
}

// --- calls ---

BufferView ZeroSteps::moved(const BufferView& view, int step) const {
  if (view.bytes == 0) return view;
  if (is_in(view, Space::packed)) {
    const PackedPart& part = packed_part(view.offset);
    const HeldBucket& held = find(Space::parameters, part.bucket, step);
    const std::size_t packed = held.bytes - packed_bytes_[part.bucket];
    return memory(held).part(packed + part.behind + view.offset - part.offset, view.bytes);
  }
  for (const Space space : {Space::parameters, Space::gradients}) {
    if (!is_in(view, space)) continue;
    const std::size_t bucket = layout_.bucket_at(view.offset);
    return memory(find(space, bucket, step))
        .part(view.offset - layout_.buckets()[bucket].begin, view.bytes);
  }
  return view;
}

Call ZeroSteps::moved(const Call& call, int step) const {
  OpCall result = std::get<OpCall>(call);
  for (BufferView& view : result.views) view = moved(view, step);
  return result;
}

/// The padding between gradients is zeroed with them, because it is included in sums and norms.
void ZeroSteps::add_zeros(std::size_t bucket, std::vector<Call>& calls) {
  const Stage& stage = step_.replica(r_);
  std::size_t end = layout_.buckets()[bucket].end;
  const std::vector<std::size_t> offsets = stage.gradient_offsets();
  const std::vector<Stage::TrainedParameter> parameters = stage.parameters();
  for (std::size_t i = offsets.size(); i-- > 0;) {
    if (offsets[i] >= layout_.buckets()[bucket].end) continue;
    if (offsets[i] < layout_.buckets()[bucket].begin) break;
    const std::size_t begin = offsets[i] + parameters[i].gradient.desc.bytes;
    if (begin < end) calls.push_back(zero_of(begin, end));
    end = offsets[i];
  }
}

Call ZeroSteps::zero_of(std::size_t begin, std::size_t end) {
  Op& zero = step_.ops.prepare(
      compute_stream(), Fill{.count = static_cast<std::int64_t>((end - begin) / sizeof(float)),
                             .distribution = Distribution::constant,
                             .low = 0.0F});
  return bind(zero, {{"destination", symbolic(Space::gradients, begin, end - begin)}});
}

std::vector<Call> ZeroSteps::calls(int step) {
  const Step& own = steps_[static_cast<std::size_t>(step)];
  std::vector<Call> symbolic_calls;
  for (const std::size_t i : used(step)) {
    if (held_[i].when.first != step) continue;
    const std::size_t bucket = held_[i].when.bucket;
    if (held_[i].space == Space::gradients) {
      const GradientBucket& all = layout_.buckets()[bucket];
      if (round_of(step).micro_batch == 0) {
        add_zeros(bucket, symbolic_calls);
      } else {
        symbolic_calls.push_back(zero_of(all.begin, all.end));
      }
    } else {
      std::ranges::copy(packing_[bucket], std::back_inserter(symbolic_calls));
    }
  }
  append(symbolic_calls, own.calls);
  std::vector<Call> placed;
  for (const Call& call : symbolic_calls) placed.push_back(moved(call, step));
  return placed;
}

}  // namespace parbench
