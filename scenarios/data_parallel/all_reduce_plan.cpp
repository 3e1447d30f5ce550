// Backward passes cut where buckets are complete, and a collective for each bucket.
#include "scenarios/data_parallel/all_reduce_plan.h"

#include <fmt/format.h>

#include <utility>

#include "scenarios/framework/collectives.h"
#include "scenarios/plan/schedules/data_parallel.h"
#include "scenarios/training/completion.h"

namespace parbench {
namespace {

class AllReduceWriter {
 public:
  AllReduceWriter(DataParallelParts& parts, std::vector<GradientBucket> buckets,
                  StreamKind additions)
      : parts_(parts), buckets_(std::move(buckets)), additions_(additions) {}

  void write() {
    const std::size_t count = parts_.replica_count();
    for (std::size_t r = 0; r < count; ++r) add_forward(parts_, r, {});
    for (std::size_t r = 0; r < count; ++r) begin_backward(r);
    std::vector<std::vector<TaskId>> reduced(count);
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      for (std::size_t r = 0; r < count; ++r) write_backward(r, b);
      const Completion done = write_all_reduce(b);
      for (std::size_t r = 0; r < count; ++r) {
        reduced[r].insert(reduced[r].end(), done[r].begin(), done[r].end());
      }
    }
    for (std::size_t r = 0; r < count; ++r) add_update(parts_, r, std::move(reduced[r]));
  }

 private:
  /// A replica's backward pass on its way into tasks.
  struct Backward {
    std::vector<Call> calls;
    std::size_t written = 0;
    std::vector<TaskId> last;  // the task that was written last
  };

  [[nodiscard]] BufferView part_of(std::size_t r, std::size_t b) const {
    const GradientBucket& bucket = buckets_[b];
    return parts_.replica(r).region().gradients.part(bucket.begin, bucket.end - bucket.begin);
  }

  void begin_backward(std::size_t r) {
    backward_.push_back({.calls = last_backward(parts_, r), .written = 0, .last = {}});
  }

  /// The calls up to the one that completes a bucket; no task where there are none left. What
  /// remains behind the last bucket belongs to it.
  void write_backward(std::size_t r, std::size_t b) {
    Backward& backward = backward_[r];
    const bool is_last = b + 1 == buckets_.size();
    const std::size_t end =
        is_last ? backward.calls.size() : calls_until_complete(backward.calls, part_of(r, b));
    if (end <= backward.written) return;
    const auto begin = backward.calls.begin();
    std::vector<Call> calls(begin + static_cast<std::ptrdiff_t>(backward.written),
                            begin + static_cast<std::ptrdiff_t>(end));
    backward.written = end;
    const std::string of_bucket = buckets_.size() > 1 ? fmt::format(", bucket {}", b) : "";
    backward.last = {parts_.plan.add({.name = fmt::format("backward, replica {}{}", r, of_bucket),
                                      .lanes = {parts_.compute[r]},
                                      .cost_key = "backward" + of_bucket,
                                      .phase = "backward"},
                                     std::move(calls))};
  }

  [[nodiscard]] Completion write_all_reduce(std::size_t b) {
    if (parts_.replica_count() == 1) return {backward_.front().last};
    const bool beside = additions_ == StreamKind::copy;
    std::vector<int> devices;
    std::vector<Stream*> streams;
    std::vector<Rank> ranks;
    for (std::size_t r = 0; r < parts_.replica_count(); ++r) {
      devices.push_back(parts_.replica(r).device());
      streams.push_back(beside ? &parts_.copy_stream(r) : &parts_.compute_stream(r));
      ranks.push_back({.copies = parts_.copies[r],
                       .compute = beside ? parts_.copies[r] : parts_.compute[r],
                       .data = part_of(r, b),
                       .ready = backward_[r].last});
    }
    // A communicator joins all devices of a run, so that it needs a replica on each.
    const bool all = devices.size() == static_cast<std::size_t>(parts_.context.device_count());
    const AllReduce all_reduce(all ? parts_.context.communicator() : nullptr, parts_.data,
                               parts_.ops, devices, streams,
                               static_cast<std::int64_t>(ranks.front().data.bytes / sizeof(float)));
    Completion done = all_reduce.add(parts_.plan, fmt::format("all-reduce {}", b), ranks);
    note_method(parts_, Collective::all_reduce, all_reduce.method());
    return done;
  }

  DataParallelParts& parts_;
  std::vector<GradientBucket> buckets_;
  StreamKind additions_;
  std::vector<Backward> backward_;  // by replica
};

}  // namespace

void plan_all_reduce(DataParallelParts& parts) {
  const GradientBucket all{.begin = 0, .end = parts.replica(0).region().gradients.bytes};
  AllReduceWriter(parts, {all}, StreamKind::compute).write();
}

void plan_bucketed_all_reduce(DataParallelParts& parts, std::size_t bucket_bytes) {
  std::vector<GradientBucket> buckets = gradient_buckets(
      parts.replica(0).gradient_offsets(), parts.replica(0).region().gradients.bytes, bucket_bytes);
  parts.notes.emplace_back("buckets", fmt::format("{}", buckets.size()));
  AllReduceWriter(parts, std::move(buckets), StreamKind::copy).write();
}

}  // namespace parbench
