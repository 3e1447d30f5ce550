// Prepares a convolution and fills its tensors.
#include "bench/peers/workload.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/machine/machine.h"

namespace parbench::peers {

std::vector<std::unique_ptr<Device>> open_whole_machine() {
  const Machine machine;
  return machine.open("cpu:0");
}

ConvolutionForward convolution_named(std::string_view name, std::int64_t batch) {
  ConvolutionForward desc{.shape = {.batch = batch, .kernel = 3, .padding = 1}};
  const auto set = [&](std::int64_t channels, std::int64_t image) {
    desc.shape.in_channels = desc.shape.out_channels = channels;
    desc.shape.height = desc.shape.width = image;
  };
  if (name == "branch") {
    set(16, 128);
    desc.bias = true;
  } else if (name == "resnet50") {
    set(256, 8);
  } else {
    throw UsageError(fmt::format("--case: {} does not exist; allowed: branch, resnet50", name));
  }
  return desc;
}

Workload::Workload(Device& device, const ConvolutionForward& desc)
    : device_(device), stream_(device.make_stream(StreamKind::compute)) {
  for (auto& op : ops_) op = device.prepare(desc, stream_->threads());
  stream_->reserve_scratch(ops_[0]->scratch_bytes());

  const std::vector<Argument>& arguments = ops_[0]->arguments();
  const double fan_in = static_cast<double>(desc.shape.in_channels) * 9;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    buffers_.push_back(device.allocate(arguments[i].tensor.bytes, MemoryKind::device));
    // Uniform values in ±sqrt(3/n) have variance 1/n, so sums of n products keep the variance.
    const bool weights = arguments[i].role == "weights";
    fill(buffers_.back(), i, weights ? static_cast<float>(std::sqrt(3 / fan_in)) : 1.0F);
  }
  views_[0].assign(buffers_.begin(), buffers_.end());
  views_[1] = views_[0];
  std::swap(views_[1].front(), views_[1].back());
}

void Workload::fill(const Buffer& buffer, std::uint64_t subsequence, float bound) {
  const auto count = static_cast<std::int64_t>(buffer.bytes() / sizeof(float));
  const std::unique_ptr<Op> op = device_.prepare(
      Fill{.count = count, .low = -bound, .high = bound, .seed = 1, .subsequence = subsequence},
      stream_->threads());
  op->enqueue(*stream_, std::array{BufferView(buffer)});
  stream_->synchronize();
}

}  // namespace parbench::peers
