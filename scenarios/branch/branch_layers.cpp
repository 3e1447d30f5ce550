// Tensors and verification of scenario branch.
#include "scenarios/branch/branch_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "kernels/ops/flops.h"
#include "scenarios/framework/checks/spot_check.h"

namespace parbench {
namespace {

constexpr std::int64_t kernel = 3;
constexpr std::int64_t max_output_images = 16;
constexpr std::int64_t max_checked_images = 3;
constexpr int random_positions = 40;

constexpr std::uint64_t input_numbers = 0;
std::uint64_t weight_numbers(std::int64_t layer) { return 1 + 2 * layer; }
std::uint64_t bias_numbers(std::int64_t layer) { return 2 + 2 * layer; }

std::set<std::int64_t> spread(std::int64_t total, std::int64_t max) {
  std::set<std::int64_t> chosen;
  const std::int64_t count = std::min(total, max);
  for (std::int64_t i = 0; i < count; ++i) {
    chosen.insert(count == 1 ? 0 : i * (total - 1) / (count - 1));
  }
  return chosen;
}

std::span<const float> part(const std::vector<float>& values, std::int64_t index,
                            std::int64_t size) {
  return std::span(values).subspan(static_cast<std::size_t>(index * size),
                                   static_cast<std::size_t>(size));
}

/// Returns the bound of uniform weights that keeps the variance through a layer, so that values
/// stay in range in chains of any depth.
float weight_bound(std::int64_t channels) {
  return std::sqrt(3.0F / static_cast<float>(channels * kernel * kernel));
}

/// Checks the layers of one planned convolution for one image.
std::optional<std::string> check_image(CaseData& data, const BranchSizes& sizes,
                                       const BranchLayer& layer, std::int64_t image) {
  const std::vector<float> source = data.read_slab(layer.source, image);
  const std::vector<float> result = data.read_slab(layer.destination, image);
  const std::vector<float> weights = data.read(layer.weights);
  const std::vector<float> bias = data.read(layer.bias);
  const std::int64_t plane = sizes.channels * sizes.image * sizes.image;
  for (std::int64_t i = 0; i < layer.count; ++i) {
    ConvolutionProbe probe;
    probe.shape = sizes.convolution().shape;
    probe.source = part(source, layer.own_source ? i : 0, plane);
    probe.weights = part(weights, i, sizes.channels * sizes.channels * kernel * kernel);
    probe.bias = part(bias, i, sizes.channels);
    probe.result = part(result, i, plane);
    if (auto wrong = spot_check(probe, {sizes.dtype, sizes.math}, random_positions)) {
      return fmt::format("layer {}, image {}: {}", layer.first + i, image, *wrong);
    }
  }
  return std::nullopt;
}

/// Fills `repeated` at every reset: repeats each image of the input along the channels, and
/// converts the result to the layout of `repeated`.
void repeat_images(CaseParts& parts, const BranchSizes& sizes, const Tensor& repeated) {
  CaseData& data = parts.data;
  Stream& service = data.stream(repeated.device);
  const TensorDesc slab = slab_of(parts.context.device(repeated.device), repeated.desc);
  const std::size_t image_bytes =
      static_cast<std::size_t>(sizes.channels * sizes.image * sizes.image) * sizeof(float);
  const std::int64_t elements = sizes.batch * sizes.channels * sizes.image * sizes.image;
  Op& draw = parts.ops.prepare(service, Fill{elements, DType::f32, Distribution::uniform, -1.0F,
                                             1.0F, parts.context.options().seed, input_numbers});
  Op& reorder = parts.ops.prepare(service, Reorder{canonical(slab.shape), slab});
  const std::size_t plain_bytes = image_bytes * sizes.batch;
  data.at_reset(
      repeated.device, plain_bytes + image_bytes * sizes.branches,
      [=, &draw, &reorder](Stream& stream, BufferView staging) {
        const BufferView plain = staging.part(0, plain_bytes);
        const BufferView wide = staging.part(plain_bytes, image_bytes * sizes.branches);
        draw.enqueue(stream, bind(draw, {{"destination", plain}}).views);
        for (std::int64_t n = 0; n < sizes.batch; ++n) {
          for (std::int64_t b = 0; b < sizes.branches; ++b) {
            stream.copy(wide.part(b * image_bytes, image_bytes),
                        plain.part(n * image_bytes, image_bytes));
          }
          const BufferView target = repeated.view.part(n * slab.bytes, slab.bytes);
          reorder.enqueue(stream, bind(reorder, {{"source", wide}, {"destination", target}}).views);
        }
      });
}

}  // namespace

BranchSizes branch_sizes_of(const CaseSpec& spec) {
  return {.batch = spec.parameters.integer("batch"),
          .channels = spec.parameters.integer("channels"),
          .image = spec.parameters.integer("image"),
          .branches = spec.parameters.integer("branches"),
          .dtype = spec.dtype,
          .math = spec.math};
}

ConvolutionForward BranchSizes::convolution(std::int64_t copies, std::int64_t groups) const {
  ConvolutionForward desc;
  desc.shape = {.batch = batch,
                .in_channels = channels * groups,
                .height = image,
                .width = image,
                .out_channels = channels * copies,
                .kernel = kernel,
                .stride = 1,
                .padding = kernel / 2,
                .groups = groups};
  desc.dtype = dtype;
  desc.math = math;
  desc.bias = true;
  return desc;
}

double BranchSizes::flops() const {
  return static_cast<double>(branches) * flops_of(convolution(1, 1));
}

double BranchSizes::bytes() const {
  const auto of_layers = static_cast<double>(branches) * static_cast<double>(channels) *
                         static_cast<double>(size_of(dtype));
  const auto images = static_cast<double>(batch) * static_cast<double>(image * image);
  return of_layers * (images + static_cast<double>(channels * kernel * kernel));
}

OpCall BranchLayer::call() const {
  return bind(*op, {{"source", source.view},
                    {"weights", weights.view},
                    {"bias", bias.view},
                    {"destination", destination.view}});
}

BranchLayer make_layer(CaseParts& parts, Stream& stream, int device, const BranchSizes& sizes,
                       const ConvolutionForward& desc, const Tensor& source, std::int64_t first) {
  BranchLayer layer;
  layer.op = &parts.ops.prepare(stream, desc);
  layer.first = first;
  layer.count = desc.shape.out_channels / sizes.channels;
  layer.source = source;
  layer.own_source = desc.shape.groups > 1;
  layer.weights = parts.data.tensor(device, layer.op->tensor("weights"));
  layer.bias = parts.data.tensor(device, layer.op->tensor("bias"));
  layer.destination = parts.data.tensor(device, layer.op->tensor("destination"));

  const float bound = weight_bound(sizes.channels);
  const std::int64_t weights_per_layer = sizes.channels * sizes.channels * kernel * kernel;
  std::vector<Piece> weights;
  std::vector<Piece> bias;
  for (std::int64_t i = first; i < first + layer.count; ++i) {
    weights.push_back({weights_per_layer, weight_numbers(i), -bound, bound});
    bias.push_back({sizes.channels, bias_numbers(i), -bound, bound});
  }
  parts.data.fill(layer.weights, weights);
  parts.data.fill(layer.bias, bias);
  parts.data.poison(layer.destination);
  return layer;
}

Tensor make_input(CaseParts& parts, int device, const BranchSizes& sizes) {
  const Shape shape = sizes.convolution().shape.source();
  Tensor input =
      parts.data.tensor(device, parts.context.device(device).activation(shape, sizes.dtype));
  parts.data.fill(input, input_numbers);
  return input;
}

Tensor make_repeated_input(CaseParts& parts, int device, const BranchSizes& sizes) {
  const Shape shape = sizes.convolution(sizes.branches, sizes.branches).shape.source();
  Tensor repeated =
      parts.data.tensor(device, parts.context.device(device).activation(shape, sizes.dtype));
  repeat_images(parts, sizes, repeated);
  return repeated;
}

void add_image_outputs(CaseParts& parts, const BranchSizes& sizes,
                       const std::vector<BranchLayer>& layers) {
  for (const std::int64_t image : spread(sizes.batch, max_output_images)) {
    parts.outputs.push_back(
        {fmt::format("image {} of all branches", image), [&parts, layers, image] {
           std::vector<float> all;
           for (const BranchLayer& layer : layers) {
             const auto one = parts.data.read_slab(layer.destination, image);
             all.insert(all.end(), one.begin(), one.end());
           }
           return all;
         }});
  }
}

void add_spot_checks(CaseParts& parts, const BranchSizes& sizes,
                     const std::vector<BranchLayer>& layers) {
  const auto check = [&parts, sizes, layers]() -> std::optional<std::string> {
    for (const std::int64_t image : spread(sizes.batch, max_checked_images)) {
      for (const BranchLayer& layer : layers) {
        if (auto wrong = check_image(parts.data, sizes, layer, image)) return wrong;
      }
    }
    return std::nullopt;
  };
  parts.checks.push_back({"sampled values of every convolution computed naively", check});
}

}  // namespace parbench
