// The only layout besides the canonical one: channels last.
#include "kernels/cuda/ops/layout.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "kernels/base/error.h"

namespace parbench::cuda {
namespace {

constexpr std::size_t spatial_dimensions = 2;

class ChannelsLast final : public LayoutDetail {
 public:
  [[nodiscard]] bool equals(const LayoutDetail& other) const override {
    return dynamic_cast<const ChannelsLast*>(&other) != nullptr;
  }
  [[nodiscard]] std::string name() const override { return "channels-last"; }
};

/// Returns the dimensions, from the outermost in memory to the innermost.
std::vector<std::size_t> order_of(const TensorDesc& tensor) {
  const std::size_t dimensions = tensor.shape.size();
  std::vector<std::size_t> order(dimensions);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (tensor.layout.is_canonical()) return order;
  if (dynamic_cast<const ChannelsLast*>(tensor.layout.detail()) == nullptr) {
    throw UsageError(
        fmt::format("layout {} is not supported by CUDA devices", tensor.layout.name()));
  }
  const std::size_t channels = dimensions - spatial_dimensions - 1;
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(channels));
  order.push_back(channels);
  return order;
}

}  // namespace

TensorDesc channels_last(const Shape& shape, DType dtype) {
  if (shape.size() <= spatial_dimensions) {
    throw std::invalid_argument("no dimension for channels in shape " + to_string(shape));
  }
  static const Layout layout(std::make_shared<ChannelsLast>());
  TensorDesc tensor = canonical(shape, dtype);
  tensor.layout = layout;
  return tensor;
}

std::vector<std::int64_t> strides_of(const TensorDesc& tensor) {
  std::vector<std::int64_t> strides(tensor.shape.size());
  std::int64_t stride = 1;
  const std::vector<std::size_t> order = order_of(tensor);
  for (auto dimension = order.rbegin(); dimension != order.rend(); ++dimension) {
    strides[*dimension] = stride;
    stride *= tensor.shape[*dimension];
  }
  return strides;
}

}  // namespace parbench::cuda
