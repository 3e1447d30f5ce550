// Graphs of the composed layers.
#include "scenarios/models/shipped/composed_kinds.h"

#include <cmath>
#include <utility>
#include <vector>

namespace parbench {
namespace {

using general::Axes;
using general::Extents;
using enum ElementOp;

/// Returns the elements [first, first + size) of one dimension.
int part_of(general::Graph& graph, int x, std::int64_t axis, std::int64_t first,
            std::int64_t size) {
  Extents shape = graph.shape(x);
  const std::size_t dimension = general::dimension_of(axis, shape.size());
  shape[dimension] = {size};
  Axes starts(shape.size(), 0);
  starts[dimension] = first;
  return graph.slice(x, std::move(starts), Axes(shape.size(), 1), shape);
}

/// Returns x·sigmoid(x), with a sigmoid without overflow.
int silu(general::Graph& graph, int x) {
  const int half = graph.apply(product, x, 0.5F);
  return graph.apply(product, half,
                     graph.apply(addition, graph.apply(ElementOp::tanh, half), 1.0F));
}

/// min(max(x + 3, 0), 6)/6.
int hard_sigmoid(general::Graph& graph, int x) {
  const int moved = graph.apply(maximum, graph.apply(addition, x, 3.0F), 0.0F);
  return graph.apply(product, graph.apply(minimum, moved, 6.0F), 1.0F / 6);
}

/// Converts {samples, pixels, channels} to {samples, channels, height, width}, and back.
int image_of(general::Graph& graph, int rows, const Shape& image) {
  return graph.reshape(graph.permute(rows, {0, 2, 1}), extents_of(image));
}
int rows_of(general::Graph& graph, int image) {
  const Extents shape = graph.shape(image);
  const Extents flat{shape[0], shape[1], {shape[2].size * shape[3].size}};
  return graph.permute(graph.reshape(image, flat), {0, 2, 1});
}

Shape rows_shape(const Shape& image) {
  return {element_count(image) / image.front(), image.front()};
}

/// Initial values of positions and tokens of BERT and ViT.
constexpr InitialValues small_normal{
    .distribution = Distribution::normal, .low = 0.0F, .high = 0.02F};

ParameterSpec parameter_of(const char* name, Shape shape, InitialValues initial) {
  return {.name = name, .role = name, .shape = std::move(shape), .initial = initial};
}

/// Rotates the pairs of {samples, positions, 1, kv heads, queries for each, 2, half a head}.
class Rotation {
 public:
  Rotation(general::Graph& graph, const RotarySizes& sizes) : graph_(graph) {
    const std::int64_t half = sizes.head_size / 2;
    std::vector<double> frequencies;
    for (std::int64_t i = 0; i < half; ++i) {
      frequencies.push_back(
          std::pow(sizes.base, -static_cast<double>(i) / static_cast<double>(half)));
    }
    std::vector<double> cosines;
    std::vector<double> sines;  // sines for the second number of each pair
    for (std::int64_t position = 0; position < sizes.sequence; ++position) {
      for (const double sign : {-1.0, 1.0}) {
        for (const double frequency : frequencies) {
          const double angle = static_cast<double>(position) * frequency;
          cosines.push_back(std::cos(angle));
          sines.push_back(sign * std::sin(angle));
        }
      }
    }
    const Shape shape = {sizes.sequence, 1, 1, 1, 2, half};
    cosines_ = graph.constant(shape, std::move(cosines));
    sines_ = graph.constant(shape, std::move(sines));
  }

  [[nodiscard]] int of(int x) const {
    Axes starts(graph_.shape(x).size(), 0);
    Axes steps(starts.size(), 1);
    starts.end()[-2] = 1;
    steps.end()[-2] = -1;
    const int exchanged = graph_.slice(x, starts, steps, graph_.shape(x));
    return graph_.apply(addition, graph_.apply(product, x, cosines_),
                        graph_.apply(product, exchanged, sines_));
  }

 private:
  general::Graph& graph_;
  int cosines_ = 0;
  int sines_ = 0;
};

}  // namespace

Composition rms_norm(const Shape& sample, float epsilon) {
  general::Graph graph;
  const int x = graph.input(extents_of(sample));
  const int weight = graph.parameter({sample.back()});
  const int mean = graph.mean(graph.apply(product, x, x), {-1});
  const int root = graph.apply(square_root, graph.apply(addition, mean, epsilon));
  const int scale = graph.apply(product, graph.apply(reciprocal, root), weight);
  const int output = graph.apply(product, x, scale);
  return {"rms_norm",
          std::move(graph),
          output,
          {parameter_of("weight", {sample.back()}, constant(1.0F))}};
}

int gated_by_silu(general::Graph& graph, int x) {
  const std::int64_t width = graph.shape(x).back().size / 2;
  const int gate = silu(graph, part_of(graph, x, -1, 0, width));
  return graph.apply(product, gate, part_of(graph, x, -1, width, width));
}

Composition gated_silu(const Shape& sample) {
  general::Graph graph;
  const int output = gated_by_silu(graph, graph.input(extents_of(sample)));
  return {"gated_silu", std::move(graph), output};
}

Composition rotary_projections(const RotarySizes& sizes) {
  general::Graph graph;
  const auto& [sequence, heads, kv_heads, head_size, base] = sizes;
  const std::int64_t half = head_size / 2;
  const std::int64_t shared = heads / kv_heads;
  const int x = graph.input(extents_of({sequence, (heads + 2 * kv_heads) * head_size}));
  const int all = graph.reshape(x, extents_of({sequence, heads + 2 * kv_heads, 2, half}));
  const Rotation rotation(graph, sizes);
  const auto heads_of = [&](std::int64_t first, std::int64_t count) {
    return graph.reshape(part_of(graph, all, 2, first, count),
                         extents_of({sequence, 1, kv_heads, count / kv_heads, 2, half}));
  };
  const int queries = rotation.of(heads_of(0, heads));
  const int keys = rotation.of(heads_of(heads, kv_heads));
  const Extents repeated = extents_of({sequence, 1, kv_heads, shared, 2, half});
  const int joined =
      graph.concatenate({queries, graph.broadcast(keys, repeated),
                         graph.broadcast(heads_of(heads + kv_heads, kv_heads), repeated)},
                        2);
  const int output = graph.reshape(joined, extents_of({sequence, 3 * heads * head_size}));
  return {"rotary_projections", std::move(graph), output};
}

Composition class_token_and_positions(const Shape& image) {
  general::Graph graph;
  const std::int64_t width = image.front();
  const std::int64_t pixels = element_count(image) / width;
  const int rows = rows_of(graph, graph.input(extents_of(image)));
  const int token = graph.parameter({1, width});
  const int positions = graph.parameter({pixels + 1, width});
  const int first = graph.apply(addition, token, part_of(graph, positions, 0, 0, 1));
  const int others = graph.apply(addition, rows, part_of(graph, positions, 0, 1, pixels));
  const int output = graph.concatenate({graph.broadcast(first, extents_of({1, width})), others}, 1);
  return {"class_token_and_positions",
          std::move(graph),
          output,
          {parameter_of("class_token", {1, width}, constant(0.0F)),
           parameter_of("positions", {pixels + 1, width}, small_normal)}};
}

Composition first_row(const Shape& rows) {
  general::Graph graph;
  const int x = graph.input(extents_of(rows));
  const int output = graph.reshape(part_of(graph, x, 1, 0, 1), extents_of({rows.back()}));
  return {"first_row", std::move(graph), output};
}

Composition positions_and_segment(const Shape& sample) {
  constexpr std::int64_t segments = 2;
  general::Graph graph;
  const int x = graph.input(extents_of(sample));
  const int positions = graph.parameter(sample);
  const int table = graph.parameter({segments, sample.back()});
  const int sum = graph.apply(addition, x, positions);
  const int output = graph.apply(addition, sum, part_of(graph, table, 0, 0, 1));
  return {"positions_and_segment",
          std::move(graph),
          output,
          {parameter_of("positions", sample, small_normal),
           parameter_of("segments", {segments, sample.back()}, small_normal)}};
}

Composition image_rows(const Shape& image) {
  general::Graph graph;
  const int output = rows_of(graph, graph.input(extents_of(image)));
  return {"image_rows", std::move(graph), output};
}

Composition rows_image(const Shape& image) {
  general::Graph graph;
  const int output = image_of(graph, graph.input(extents_of(rows_shape(image))), image);
  return {"rows_image", std::move(graph), output};
}

Composition scaled_residual(const Shape& image) {
  constexpr float initial = 1e-6F;
  general::Graph graph;
  const int rows = graph.input(extents_of(rows_shape(image)));
  const int x = graph.input(extents_of(image));
  const int scale = graph.parameter({image.front()});
  const int scaled = graph.apply(product, rows, scale);
  const int output = graph.apply(addition, x, image_of(graph, scaled, image));
  return {"scaled_residual",
          std::move(graph),
          output,
          {parameter_of("layer_scale", {image.front()}, constant(initial))}};
}

Composition hard_swish(const Shape& sample) {
  general::Graph graph;
  const int x = graph.input(extents_of(sample));
  const int output = graph.apply(product, x, hard_sigmoid(graph, x));
  return {"hard_swish", std::move(graph), output};
}

Composition channel_gate(const Shape& image) {
  general::Graph graph;
  const int x = graph.input(extents_of(image));
  const int gate = hard_sigmoid(graph, graph.input(extents_of({image.front()})));
  const int output =
      graph.apply(product, x, graph.reshape(gate, extents_of({image.front(), 1, 1})));
  return {"channel_gate", std::move(graph), output};
}

}  // namespace parbench
