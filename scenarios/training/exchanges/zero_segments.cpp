// Divides passes by the buckets that calls access, and plans memory by lifetimes.
#include "scenarios/training/exchanges/zero_segments.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <stdexcept>

#include "kernels/base/round_up.h"
#include "scenarios/plan/region.h"

namespace parbench {
namespace {

/// Number of buckets of gradients in the wanted size of the pool: one is written while another one
/// is reduced.
constexpr std::size_t gradient_buckets_at_once = 2;

bool is_needed(const std::vector<std::size_t>& wanted, const std::vector<std::size_t>& there) {
  return std::ranges::includes(there, wanted);
}

void add_buckets(std::vector<std::size_t>& to, const std::vector<std::size_t>& buckets) {
  std::set<std::size_t> all(to.begin(), to.end());
  all.insert(buckets.begin(), buckets.end());
  to.assign(all.begin(), all.end());
}

}  // namespace

ZeroSegments::ZeroSegments(TrainingStep& step, std::size_t r, const ShardLayout& layout)
    : step_(step), r_(r), layout_(layout), settings_(step.layout.exchange) {
  if (settings_.divides_parameters()) packed_.emplace(step, step.replica(r), layout);
  const int last = step_.layout.micro_batch_count(static_cast<int>(r_)) - 1;
  for (int micro_batch = settings_.divides_gradients() ? 0 : last; micro_batch <= last;
       ++micro_batch) {
    add_passes(micro_batch);
  }
  make_pool();
}

void ZeroSegments::add_passes(int micro_batch) {
  Passes& passes = passes_.emplace_back(Passes{.micro_batch = micro_batch, .forward = count()});
  if (settings_.divides_parameters())
    divide(step_.replica(r_).program(micro_batch).forward().calls, {});
  passes.backward = count();
  divide_backward(passes);
  passes.end = count();
}

const ZeroSegments::Passes& ZeroSegments::passes_of(int segment) const {
  return *std::ranges::find_if(passes_, [&](const Passes& one) { return segment < one.end; });
}

// --- segments ---

/// Returns the buckets of parameters (also by their packed copies) or of gradients that a call
/// accesses.
std::vector<std::size_t> ZeroSegments::buckets_of(const SymbolicCall& call, Space space) const {
  std::vector<std::size_t> buckets;
  for (const SymbolicView& view : call.views) {
    if (view.bytes == 0) continue;
    if (view.is_in(space)) add_buckets(buckets, {layout_.bucket_at(view.offset)});
    if (space == Space::parameters && view.is_in(Space::packed)) {
      add_buckets(buckets, {packed_->part_at(view.offset).bucket});
    }
  }
  return buckets;
}

std::vector<std::size_t> ZeroSegments::pooled(const SymbolicCall& call, Space space) const {
  return is_pooled(space) ? buckets_of(call, space) : std::vector<std::size_t>();
}

/// Divides calls into segments. A new segment begins at each call with an index in `ends`, and at
/// each call that needs parameters outside the buckets of the current segment if that segment
/// already needs some.
void ZeroSegments::divide(const std::vector<SymbolicCall>& calls,
                          std::span<const std::size_t> ends) {
  segments_.emplace_back();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::vector<std::size_t> needed = pooled(calls[i], Space::parameters);
    const bool is_cut = std::ranges::find(ends, i) != ends.end();
    const bool needs_others =
        !segments_.back().parameters.empty() && !is_needed(needed, segments_.back().parameters);
    if ((is_cut || needs_others) && !segments_.back().calls.empty()) segments_.emplace_back();
    Segment& segment = segments_.back();
    add_buckets(segment.parameters, needed);
    add_buckets(segment.gradients, pooled(calls[i], Space::gradients));
    segment.calls.push_back(calls[i]);
  }
}

/// Divides the backward pass of a micro-batch. After the first micro-batch, passes add to
/// gradients, so `calls` first zeroes their buckets in the pool.
void ZeroSegments::divide_backward(Passes& passes) {
  const std::vector<SymbolicCall>& calls =
      step_.replica(r_).program(passes.micro_batch).backward(passes.micro_batch > 0).calls;
  // number of calls until a bucket and all earlier ones are complete, by bucket
  std::vector<std::size_t> ends(layout_.buckets().size(), 0);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (const std::size_t b : buckets_of(calls[i], Space::gradients)) ends[b] = i + 1;
  }
  for (std::size_t b = 1; b < ends.size(); ++b) ends[b] = std::max(ends[b], ends[b - 1]);
  divide(calls, ends);
  std::size_t done = 0;
  int segment = passes.backward;
  for (const std::size_t end : ends) {
    while (segment < count() &&
           done + segments_[static_cast<std::size_t>(segment)].calls.size() <= end) {
      done += segments_[static_cast<std::size_t>(segment)].calls.size();
      ++segment;
    }
    passes.completion.push_back(segment - 1);
  }
}

// --- memory ---

/// Returns the buckets for the pool with their lifetimes: for parameters as returned by
/// `holdings_of`; for gradients from the first segment that writes them to the segment that
/// completes them.
std::vector<PooledBucket> ZeroSegments::wanted(bool stays) const {
  std::vector<PooledBucket> all;
  std::vector<std::vector<std::size_t>> needed;
  for (const Segment& segment : segments_) needed.push_back(segment.parameters);
  for (const Holding& when : holdings_of(needed, settings_.prefetch, stays)) {
    const std::size_t copies =
        round_up(layout_.bucket_bytes(when.bucket), RegionPlanner::alignment);
    all.push_back({.when = when, .bytes = copies + packed_->bytes(when.bucket)});
  }
  for (const Passes& passes : passes_) {
    const auto end = segments_.begin() + passes.end;
    for (std::size_t b = 0; b < layout_.buckets().size(); ++b) {
      const auto writes = [&](const Segment& segment) {
        return std::ranges::find(segment.gradients, b) != segment.gradients.end();
      };
      const auto first = std::find_if(segments_.begin() + passes.backward, end, writes);
      if (first == end) continue;
      const int begin = static_cast<int>(first - segments_.begin());
      all.push_back(
          {.has_gradients = true,
           .when = {.bucket = b, .begin = begin, .first = begin, .last = passes.completion[b]},
           .bytes = layout_.bucket_bytes(b)});
    }
  }
  return all;
}

/// Plans and borrows the pool. The wanted size has room for buckets that arrive early or are being
/// reduced. The maximum size is half of all parameters; otherwise a model with few buckets would
/// need as much memory as without shards.
void ZeroSegments::make_pool() {
  const std::size_t all = step_.replica(r_).region().gradients.bytes;
  const std::size_t at_once =
      gradient_buckets_at_once +
      (settings_.divides_parameters() ? 1 + static_cast<std::size_t>(settings_.prefetch) : 0);
  const std::size_t wished = at_once * all / layout_.buckets().size();
  plan_ = bucket_pool(wanted(true), wanted(false), {.wished = wished, .max = all / 2});
  const auto floats = static_cast<std::int64_t>(plan_.bytes / sizeof(float));
  pool_ = step_.data.tensor(step_.replica(r_).device(), canonical({floats}));
}

void ZeroSegments::poison_pool() {
  if (pool_.view.bytes > 0) step_.data.poison(pool_);
}

std::vector<std::size_t> ZeroSegments::arriving(int segment) const {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < held().size(); ++i) {
    if (!held()[i].has_gradients && held()[i].when.begin == segment) indices.push_back(i);
  }
  return indices;
}

std::vector<std::size_t> ZeroSegments::used(int segment) const {
  const Segment& own = segments_[static_cast<std::size_t>(segment)];
  std::vector<std::size_t> indices;
  for (const std::size_t one : own.parameters) {
    indices.push_back(find(Space::parameters, one, segment));
  }
  for (const std::size_t one : own.gradients)
    indices.push_back(find(Space::gradients, one, segment));
  return indices;
}

std::size_t ZeroSegments::gradients_of(const Passes& passes, std::size_t bucket) const {
  return find(Space::gradients, bucket, passes.completion[bucket]);
}

std::size_t ZeroSegments::find(Space space, std::size_t bucket, int segment) const {
  const auto found = std::ranges::find_if(held(), [&](const PooledBucket& one) {
    return one.has_gradients == (space == Space::gradients) && one.when.bucket == bucket &&
           one.when.begin <= segment && segment <= one.when.last;
  });
  if (found == held().end()) throw std::logic_error("a segment needs a bucket that is not there");
  return static_cast<std::size_t>(found - held().begin());
}

// --- calls ---

/// Returns the view of the data in the pool during a segment; views of data outside the pool are
/// unchanged.
SymbolicView ZeroSegments::moved(const SymbolicView& view, int segment) const {
  if (view.bytes == 0) return view;
  if (view.is_in(Space::packed) && is_pooled(Space::packed)) {
    const PackedCopies::Part& part = packed_->part_at(view.offset);
    const PooledBucket& bucket = held()[find(Space::parameters, part.bucket, segment)];
    const std::size_t copies = bucket.bytes - packed_->bytes(part.bucket);
    return memory(bucket).part(copies + part.in_bucket + view.offset - part.offset, view.bytes);
  }
  for (const Space space : {Space::parameters, Space::gradients}) {
    if (!view.is_in(space) || !is_pooled(space)) continue;
    const std::size_t bucket = layout_.bucket_at(view.offset);
    return memory(held()[find(space, bucket, segment)])
        .part(view.offset - layout_.buckets()[bucket].begin, view.bytes);
  }
  return view;
}

/// Adds calls that zero the padding between the gradients of a bucket, because sums and norms
/// include this padding.
void ZeroSegments::add_zeros(std::size_t bucket, std::vector<SymbolicCall>& calls) {
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

SymbolicCall ZeroSegments::zero_of(std::size_t begin, std::size_t end) {
  Op& zero = step_.ops.prepare(
      compute_stream(), Fill{.count = static_cast<std::int64_t>((end - begin) / sizeof(float)),
                             .distribution = Distribution::constant,
                             .low = 0.0F});
  return bind<SymbolicView>(zero, {{"destination", {Space::gradients, begin, end - begin}}});
}

std::vector<Call> ZeroSegments::calls(int segment) {
  const Segment& own = segments_[static_cast<std::size_t>(segment)];
  std::vector<SymbolicCall> calls;
  for (const std::size_t i : used(segment)) {
    if (held()[i].when.first != segment) continue;
    const std::size_t bucket = held()[i].when.bucket;
    if (!held()[i].has_gradients) {
      std::ranges::copy(packed_->calls(bucket), std::back_inserter(calls));
    } else if (passes_of(segment).micro_batch == 0) {
      add_zeros(bucket, calls);
    } else {
      const auto [begin, end] = layout_.buckets()[bucket];
      calls.push_back(zero_of(begin, end));
    }
  }
  std::ranges::copy(own.calls, std::back_inserter(calls));
  for (SymbolicCall& call : calls) {
    for (SymbolicView& view : call.views) view = moved(view, segment);
  }
  return rebase(calls, step_.replica(r_).bases(passes_of(segment).micro_batch));
}

}  // namespace parbench
