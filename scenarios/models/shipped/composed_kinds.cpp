// Graphs of the composed layers.
#include "scenarios/models/shipped/composed_kinds.h"

#include <cmath>
#include <utility>
#include <vector>

namespace parbench {
namespace {

using general::Extents;
using general::Term;

/// Returns x·sigmoid(x), computed by tanh, which never overflows.
Term silu(Term x) {
  const Term half = x * 0.5F;
  return half * (half.tanh() + 1.0F);
}

/// Returns min(max(x + 3, 0), 6)/6.
Term hard_sigmoid(Term x) { return (x + 3.0F).clipped(0, 6) * (1.0F / 6); }

/// Converts {samples, pixels, channels} to {samples, channels, height, width}, and back.
Term image_of(Term rows, const Shape& image) {
  return rows.permute({0, 2, 1}).reshape(extents_of(image));
}
Term rows_of(Term image) {
  const Extents shape = image.shape();
  return image.reshape({shape[0], shape[1], {shape[2].size * shape[3].size}}).permute({0, 2, 1});
}

Shape rows_shape(const Shape& image) {
  return {element_count(image) / image.front(), image.front()};
}

/// Initial values of the positions of BERT and ViT, and of the segments of BERT.
constexpr InitialValues small_normal{
    .distribution = Distribution::normal, .low = 0.0F, .high = 0.02F};

/// Rotates pairs in {samples, positions, 1, kv heads, queries per kv head, 2, half a head}; the two
/// numbers of a pair are neighbours in the dimension of extent 2.
struct Rotation {
  Term cosines;
  Term sines;  // sines, negative for the first number of each pair

  [[nodiscard]] Term of(Term x) const {
    const Term exchanged = x.reversed(x.rank() - 2);
    const Term own = x * cosines;
    return own + exchanged * sines;
  }
};

Rotation rotation(Composer& composer, const RotarySizes& sizes) {
  const std::int64_t half = sizes.head_size / 2;
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < half; ++i) {
    frequencies.push_back(
        std::pow(sizes.base, -static_cast<double>(i) / static_cast<double>(half)));
  }
  std::vector<double> cosines;
  std::vector<double> sines;
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
  const Term first = composer.constant(shape, std::move(cosines));
  return {first, composer.constant(shape, std::move(sines))};
}

}  // namespace

Composition rms_norm(const Shape& sample, float epsilon) {
  Composer composer;
  const Term x = composer.input(sample);
  const Term weight = composer.parameter("weight", {sample.back()}, constant(1.0F));
  const Term root = (x.squared().mean({-1}) + epsilon).sqrt();
  return composer.composed("rms_norm", x * (root.inverse() * weight));
}

Term gated_by_silu(Term x) {
  const std::size_t last = x.rank() - 1;
  const std::int64_t width = x.shape().back().size / 2;
  const Term gate = silu(x.part(last, 0, width));
  return gate * x.part(last, width, width);
}

Composition gated_silu(const Shape& sample) {
  Composer composer;
  return composer.composed("gated_silu", gated_by_silu(composer.input(sample)));
}

Composition rotary_projections(const RotarySizes& sizes) {
  Composer composer;
  const std::int64_t sequence = sizes.sequence;
  const std::int64_t heads = sizes.heads;
  const std::int64_t kv_heads = sizes.kv_heads;
  const std::int64_t half = sizes.head_size / 2;
  const Term x = composer.input({sequence, (heads + 2 * kv_heads) * sizes.head_size});
  const Term all = x.reshape(extents_of({sequence, heads + 2 * kv_heads, 2, half}));
  const Rotation rotated = rotation(composer, sizes);
  const auto heads_of = [&](std::int64_t first, std::int64_t count) {
    return all.part(2, first, count)
        .reshape(extents_of({sequence, 1, kv_heads, count / kv_heads, 2, half}));
  };
  const Term queries = rotated.of(heads_of(0, heads));
  const Term keys = rotated.of(heads_of(heads, kv_heads));
  const Term values = heads_of(heads + kv_heads, kv_heads);
  const Extents repeated = extents_of({sequence, 1, kv_heads, heads / kv_heads, 2, half});
  const Term joined =
      general::concatenated({queries, keys.broadcast(repeated), values.broadcast(repeated)}, 2);
  return composer.composed("rotary_projections",
                           joined.reshape(extents_of({sequence, 3 * heads * sizes.head_size})));
}

Composition class_token_and_positions(const Shape& image) {
  Composer composer;
  const std::int64_t width = image.front();
  const std::int64_t pixels = element_count(image) / width;
  const Term rows = rows_of(composer.input(image));
  const Term token = composer.parameter("class_token", {1, width}, constant(0.0F));
  const Term positions = composer.parameter("positions", {pixels + 1, width}, small_normal);
  const Term first = token + positions.part(0, 0, 1);
  const Term others = rows + positions.part(0, 1, pixels);
  return composer.composed(
      "class_token_and_positions",
      general::concatenated({first.broadcast(extents_of({1, width})), others}, 1));
}

Composition first_row(const Shape& rows) {
  Composer composer;
  const Term row = composer.input(rows).part(1, 0, 1);
  return composer.composed("first_row", row.reshape(extents_of({rows.back()})));
}

Composition positions_and_segment(const Shape& sample) {
  constexpr std::int64_t segments = 2;
  Composer composer;
  const Term x = composer.input(sample);
  const Term positions = composer.parameter("positions", sample, small_normal);
  const Term table = composer.parameter("segments", {segments, sample.back()}, small_normal);
  const Term sum = x + positions;
  return composer.composed("positions_and_segment", sum + table.part(0, 0, 1));
}

Composition image_rows(const Shape& image) {
  Composer composer;
  return composer.composed("image_rows", rows_of(composer.input(image)));
}

Composition rows_image(const Shape& image) {
  Composer composer;
  return composer.composed("rows_image", image_of(composer.input(rows_shape(image)), image));
}

Composition scaled_residual(const Shape& image) {
  constexpr float initial = 1e-6F;
  Composer composer;
  const Term rows = composer.input(rows_shape(image));
  const Term x = composer.input(image);
  const Term scale = composer.parameter("layer_scale", {image.front()}, constant(initial));
  return composer.composed("scaled_residual", x + image_of(rows * scale, image));
}

Composition hard_swish(const Shape& sample) {
  Composer composer;
  const Term x = composer.input(sample);
  return composer.composed("hard_swish", x * hard_sigmoid(x));
}

Composition channel_gate(const Shape& image) {
  Composer composer;
  const Term x = composer.input(image);
  const Term gate = hard_sigmoid(composer.input({image.front()}));
  return composer.composed("channel_gate", x * gate.reshape(extents_of({image.front(), 1, 1})));
}

}  // namespace parbench
