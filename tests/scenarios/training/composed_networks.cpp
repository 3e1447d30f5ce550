// Networks with layers of general operations.
#include "tests/scenarios/training/composed_networks.h"

#include <utility>

#include "scenarios/models/layers/composition.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/linear.h"

namespace parbench::test {
namespace {

using general::Graph;
using enum ElementOp;

ParameterSpec parameter_of(std::int64_t count, const char* role) {
  return {.name = role,
          .role = role,
          .shape = {count},
          .initial = {.distribution = Distribution::uniform, .low = 0.5F, .high = 1.5F}};
}

/// softmax(x·xᵀ/4)·x·gain of {positions, width}, with the halves of the width exchanged.
Composition attention(std::int64_t positions, std::int64_t width) {
  Graph graph;
  const general::Extent n{1, true};
  const int x = graph.input({n, {positions}, {width}});
  const int gain = graph.parameter({width});
  const int scores = graph.apply(product, graph.multiply(x, graph.permute(x, {0, 2, 1})), 0.25F);
  const int shift = graph.apply(ceiling, graph.reduce(Reduction::maximum, scores, {-1}));
  const int powers = graph.apply(exponential, graph.apply(difference, scores, shift));
  const int shares = graph.apply(quotient, powers, graph.sum(powers, {-1}));
  const int mixed = graph.apply(product, graph.multiply(shares, x), gain);
  const general::Extents half{n, {positions}, {width / 2}};
  const int front = graph.slice(mixed, {0, 0, 0}, {1, 1, 1}, half);
  const int back = graph.slice(mixed, {0, 0, width / 2}, {1, 1, 1}, half);
  const int output = graph.concatenate({back, graph.apply(ElementOp::tanh, front)}, 2);
  return {"attention", std::move(graph), output, {parameter_of(width, "gain")}};
}

/// The rows of a table that a sequence's positions choose, from the last to the first one, times
/// the sequence.
Composition table(std::int64_t positions, std::int64_t width) {
  Graph graph;
  const int x = graph.input({{1, true}, {positions}, {width}});
  const int entries = graph.parameter({positions * width});
  std::vector<double> order;
  for (std::int64_t i = positions; i-- > 0;) order.push_back(static_cast<double>(i));
  const int rows = graph.rows(graph.reshape(entries, {{positions}, {width}}),
                              graph.constant({positions}, std::move(order)));
  const int output = graph.apply(product, x, rows);
  return {"table", std::move(graph), output, {parameter_of(positions * width, "entries")}};
}

/// A sequence of 5 positions times a row: a sum of the ten halves of all positions, and one more
/// half. Programs with so many inputs are divided, of the row and of its gradient.
Composition blend(std::int64_t width) {
  Graph graph;
  const general::Extent n{1, true};
  const int x = graph.input({n, {5}, {width}});
  const auto half = [&](std::int64_t which) {
    return graph.slice(x, {0, which / 2, which % 2 * (width / 2)}, {1, 1, 1},
                       {n, {1}, {width / 2}});
  };
  int sum = half(0);
  for (std::int64_t i = 1; i < 10; ++i) {
    const int one = graph.apply(product, half(i), 0.1F * static_cast<float>(i));
    sum = graph.apply(addition, sum, one);
  }
  const int output = graph.apply(product, x, graph.concatenate({sum, half(3)}, 2));
  return {"blend", std::move(graph), output};
}

/// x·tanh(x), element by element in any layout.
Composition gate(const Shape& sample) {
  Graph graph;
  const int x = graph.input(extents_of(sample));
  const int output = graph.apply(product, x, graph.apply(ElementOp::tanh, x));
  return {"gate", std::move(graph), output};
}

/// Two images one above the other, the second one upside down, scaled by channel, with a frame of
/// zeros.
Composition mirrored(std::int64_t channels, std::int64_t height, std::int64_t width) {
  Graph graph;
  const general::Extent n{1, true};
  const int x = graph.input({n, {channels}, {height}, {width}});
  const int scale = graph.reshape(graph.parameter({channels}), {{channels}, {1}, {1}});
  const general::Extents image = graph.shape(x);
  const int turned = graph.slice(x, {0, 0, height - 1, 0}, {1, 1, -1, 1}, image);
  const int both = graph.concatenate({graph.apply(product, x, scale), turned}, 2);
  const int output =
      graph.place(both, {0, 0, 1, 1}, {1, 1, 1, 1}, {n, {channels}, {2 * height + 2}, {width + 2}});
  return {"mirrored", std::move(graph), output, {parameter_of(channels, "scale")}};
}

/// The channels of each pixel divided by one and their mean square, and scaled by channel: over
/// rows of channels, which become an image again.
Composition normalised(const Shape& image) {
  Graph graph;
  const std::int64_t channels = image[0];
  const general::Extents rows{{1, true}, {image[1] * image[2]}, {channels}};
  const general::Extents turned{{1, true}, {image[1]}, {image[2]}, {channels}};
  const int x = graph.input(extents_of(image));
  const int row = graph.reshape(graph.permute(x, {0, 2, 3, 1}), rows);
  const int square = graph.sum(graph.apply(product, row, row), {-1});
  const int mean = graph.apply(product, square, 1 / static_cast<float>(channels));
  const int scaled = graph.apply(product, row, graph.parameter({channels}));
  const int result = graph.apply(quotient, scaled, graph.apply(addition, mean, 1.0F));
  const int output = graph.permute(graph.reshape(result, turned), {0, 3, 1, 2});
  return {"normalised", std::move(graph), output, {parameter_of(channels, "scale")}};
}

/// Each channel times the mean of it.
Composition excited(const Shape& image) {
  Graph graph;
  const int x = graph.input(extents_of(image));
  const int total = graph.sum(x, {2, 3});
  const int mean = graph.apply(product, total, 1 / static_cast<float>(image[1] * image[2]));
  const int output = graph.apply(product, x, mean);
  return {"excited", std::move(graph), output};
}

}  // namespace

Network composed_network_of_sequences() {
  Network net;
  net.name = "composed sequences";
  net.input = {5, 6};
  net.unit("first");
  int x = net.add("in", Linear(8), {network_input});
  x = net.add("attention", attention(5, 8), {x});
  net.unit("second");
  const int skip = x;
  x = net.add("table", table(5, 8), {x});
  x = net.add("blend", blend(8), {x});
  x = net.add("middle", Linear(8), {x});
  Graph sum;
  const int a = sum.input(extents_of({5, 8}));
  const int b = sum.input(extents_of({5, 8}));
  const int output = sum.apply(addition, sum.apply(product, a, b), b);
  x = net.add("join", Composition("join", std::move(sum), output), {x, skip});
  net.add("out", Linear(3), {x});
  return net;
}

Network composed_network_of_images() {
  Network net;
  net.name = "composed images";
  net.input = {3, 6, 6};
  net.unit("first");
  const auto convolution = [](std::int64_t channels, std::int64_t groups = 1) {
    const std::int64_t kernel = groups == 1 ? 3 : 5;
    return Convolution({.out_channels = channels,
                        .window = {.kernel = kernel, .stride = 1, .padding = kernel / 2},
                        .groups = groups,
                        .bias = true});
  };
  int x = net.add("conv1", convolution(16), {network_input});
  x = net.add("gate", gate({16, 6, 6}), {x});
  net.unit("second");
  x = net.add("mirrored", mirrored(16, 6, 6), {x});
  x = net.add("conv2", convolution(32), {x});
  x = net.add("normalised", normalised(net.shape_of(x)), {x});
  x = net.add("conv3", convolution(24), {x});
  x = net.add("normalised_last", normalised(net.shape_of(x)), {x});
  x = net.add("depthwise", convolution(24, 24), {x});
  x = net.add("excited", excited(net.shape_of(x)), {x});
  x = net.add("avgpool", GlobalAveragePool(), {x});
  net.add("fc", Linear(4), {x});
  return net;
}

}  // namespace parbench::test
