// One overload per operation, so that a new one without a count does not compile.
#include "kernels/ops/flops.h"

#include <variant>

namespace parbench {
namespace {

double count(const Shape& shape) { return static_cast<double>(element_count(shape)); }

double product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

// 2·N·OC·OH·OW·IC/g·K·K for each of the passes.
double product(const ConvolutionShape& shape) {
  const std::int64_t group_channels = shape.in_channels / shape.groups;
  const auto inputs = static_cast<double>(group_channels * shape.kernel * shape.kernel);
  return 2 * count(shape.destination()) * inputs;
}

double product(const LinearShape& shape) {
  return product(shape.batch, shape.in_features, shape.out_features);
}

double bias(const ConvolutionShape& shape) { return count(shape.destination()); }
double bias(const LinearShape& shape) { return count({shape.batch, shape.out_features}); }

double flops(const ConvolutionForward& desc) {
  return product(desc.shape) + (desc.bias ? bias(desc.shape) : 0);
}
double flops(const ConvolutionBackwardData& desc) { return product(desc.shape); }
double flops(const ConvolutionBackwardWeights& desc) {
  return product(desc.shape) + (desc.bias ? bias(desc.shape) : 0);
}
double flops(const LinearForward& desc) { return product(desc.shape) + bias(desc.shape); }
double flops(const LinearBackwardData& desc) { return product(desc.shape); }
double flops(const LinearBackwardWeights& desc) { return product(desc.shape) + bias(desc.shape); }
double flops(const Gemm& desc) { return product(desc.m, desc.n, desc.k); }

// Per element: mean 1, variance 3 (subtract, square, add), normalise 2, scale and shift 2, ReLU 1,
// addend 1.
double flops(const BatchNormForward& desc) {
  return count(desc.shape) * (8 + (desc.relu ? 1 : 0) + (desc.add ? 1 : 0));
}
// Per element: diff_shift 1, diff_scale 4 (centre, normalise, multiply, add), diff_source 6,
// ReLU 1.
double flops(const BatchNormBackward& desc) { return count(desc.shape) * (desc.relu ? 12 : 11); }

double flops(const ReluForward& desc) { return count(desc.shape); }
double flops(const ReluBackward& desc) { return count(desc.shape); }
double flops(const Add& desc) { return count(desc.shape); }
double flops(const AddReluBackward& desc) {
  return count(desc.shape) * (desc.two_gradients ? 2 : 1);
}

// A comparison for each element of every window; in backward an addition for each window.
double flops(const MaxPoolForward& desc) {
  return count(desc.shape.destination()) *
         static_cast<double>(desc.shape.kernel * desc.shape.kernel);
}
double flops(const MaxPoolBackward& desc) { return count(desc.shape.destination()); }
double flops(const GlobalAveragePoolForward& desc) { return count(desc.source); }
double flops(const GlobalAveragePoolBackward& desc) { return count(desc.source); }

double flops(const MseLoss& desc) { return 4 * count(desc.shape); }  // subtract, square, add, scale
double flops(const Sgd& desc) { return 2 * static_cast<double>(desc.count); }
double flops(const Accumulate& desc) { return static_cast<double>(desc.count); }

double flops(const Fill& /*desc*/) { return 0; }
double flops(const Reorder& /*desc*/) { return 0; }
double flops(const Spin& /*desc*/) { return 0; }
double flops(const Discard& /*desc*/) { return 0; }

}  // namespace

double flops_of(const OpDesc& desc) {
  return std::visit([](const auto& one) { return flops(one); }, desc);
}

}  // namespace parbench
