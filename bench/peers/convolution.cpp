// Compares parbench's convolution on a stream with the bare primitive.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bench/peers/bare_convolution.h"
#include "bench/peers/comparisons.h"
#include "bench/peers/workload.h"
#include "kernels/base/error.h"
#include "scenarios/framework/timed_span.h"

namespace parbench::peers {
namespace {

class OurSide {
 public:
  explicit OurSide(const Workload& work) : work_(work), span_(work.stream()) {}

  /// Returns the total seconds of `executions` executions after an untimed one. Enqueues all before
  /// it waits.
  double run(int executions) {
    Stream& stream = work_.stream();
    work_.op(0).enqueue(stream, work_.views(0));
    span_.record([&] {
      for (int i = 0; i < executions; ++i) work_.op(0).enqueue(stream, work_.views(0));
    });
    stream.synchronize();
    return span_.seconds();
  }

 private:
  const Workload& work_;
  TimedSpan span_;
};

std::vector<std::span<std::byte>> spans_of(const std::vector<BufferView>& views) {
  std::vector<std::span<std::byte>> spans;
  spans.reserve(views.size());
  for (const BufferView& view : views) spans.emplace_back(view.data(), view.bytes);
  return spans;
}

void check_same_result(OurSide& ours, BareConvolution& bare, std::span<std::byte> destination) {
  (void)ours.run(1);
  const std::vector<std::byte> expected(destination.begin(), destination.end());
  std::ranges::fill(destination, std::byte{0xff});  // NaN
  (void)bare.run(1);
  if (!std::ranges::equal(expected, destination)) {
    throw Error("our convolution and the bare primitive computed different results");
  }
}

}  // namespace

Json compare_convolution(const ConvolutionForward& desc, const Effort& effort) {
  const auto devices = open_whole_machine();
  const Workload work(*devices.front(), desc);
  OurSide ours(work);
  BareConvolution bare(desc, devices.front()->info().cores, work.stream().threads());
  if (bare.implementation() != work.op(0).implementation()) {
    throw Error(fmt::format("our convolution runs {}, the bare primitive {}",
                            work.op(0).implementation(), bare.implementation()));
  }
  const auto arguments = spans_of(work.views(0));
  bare.set_memory(arguments);
  check_same_result(ours, bare, arguments.back());

  const Pairs pairs = sample_pairs(
      effort, [&](int executions) { return ours.run(executions); },
      [&](int executions) { return bare.run(executions); });
  Json result = to_json(pairs);
  result["kernel"] = bare.implementation();
  result["batch"] = desc.shape.batch;
  result["threads"] = work.stream().threads();
  result["flop"] = work.op(0).work().flops;
  return result;
}

}  // namespace parbench::peers
