// A convolution prepared for parbench's runtime: device, stream, operation and filled memory.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "kernels/core/device.h"
#include "kernels/ops/ops.h"

namespace parbench::peers {

/// Returns a single device with all cores that the process may use.
[[nodiscard]] std::vector<std::unique_ptr<Device>> open_whole_machine();

/// Returns a convolution that scripts/peers compares: "branch" (16→16 channels, 3×3, 128×128, bias)
/// or "resnet50" (256→256, 3×3, 8×8: layer3 for 128×128 images). Throws UsageError for other names.
[[nodiscard]] ConvolutionForward convolution_named(std::string_view name, std::int64_t batch);

/// Two tensors of equal shape with a convolution from one to the other in each direction, which
/// keeps the variance of the values however often it is applied.
class Workload {
 public:
  /// `desc`: needs as many output as input channels and an output image as large as the input.
  Workload(Device& device, const ConvolutionForward& desc);

  [[nodiscard]] Device& device() const { return device_; }
  [[nodiscard]] Stream& stream() const { return *stream_; }
  /// Even executions read the first tensor and write the second, odd ones the reverse.
  [[nodiscard]] Op& op(int execution) const { return *ops_[parity(execution)]; }
  [[nodiscard]] const std::vector<BufferView>& views(int execution) const {
    return views_[parity(execution)];
  }

 private:
  static std::size_t parity(int execution) { return static_cast<std::size_t>(execution % 2); }
  void fill(const Buffer& buffer, std::uint64_t subsequence, float bound);

  Device& device_;
  std::unique_ptr<Stream> stream_;
  std::array<std::unique_ptr<Op>, 2> ops_;
  std::vector<Buffer> buffers_;  // source, weights, [bias], destination
  std::array<std::vector<BufferView>, 2> views_;
};

}  // namespace parbench::peers
