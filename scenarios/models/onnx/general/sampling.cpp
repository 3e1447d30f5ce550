// Operators that read a tensor at computed positions: GridSample, ReverseSequence and Compress.
#include <array>

#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::count_of;
using general::part_of;

// --- images at coordinates ---

/// One dimension of an image.
struct Side {
  std::int64_t extent = 1;
  float low = 0;  // the image's first edge; pixel i is at position i
  float high = 0;

  [[nodiscard]] Term limited(Term x) const { return x.clipped(0, static_cast<float>(extent - 1)); }
};

class GridSampling {
 public:
  explicit GridSampling(Arguments& arguments)
      : x_(arguments.operand(0)),
        grid_(arguments.operand(1)),
        padding_(arguments.text("padding_mode", "zeros")),
        mode_(arguments.text("mode", "linear")),
        aligned_(arguments.flag("align_corners", false)),
        table_(x_) {
    const Extents from = x_.shape();
    const Extents grid = grid_.shape();
    refuse_if(from.size() < 4 || from.size() > 5 || grid.size() != from.size() ||
                  grid.back() != Extent{.size = signed_size(from.size()) - 2} ||
                  from[0] != grid[0] || from[0].outer != 1,
              "its grid does not match its image");
    points_ = part_of(grid, 0, grid.size() - 1);
    for (std::size_t d = 2; d < from.size(); ++d) {
      refuse_if(from[d].samples || from[d].size < 1, "its image is empty");
      const auto extent = static_cast<float>(from[d].size);
      sides_.push_back({.extent = from[d].size,
                        .low = aligned_ ? 0 : -0.5F,
                        .high = aligned_ ? extent - 1 : extent - 0.5F});
    }
    const Term moved = x_.move_axis(1, from.size() - 1);
    table_ = moved.reshape({count_of(part_of(moved.shape(), 0, from.size() - 1)), from[1]});
  }

  /// Returns {N, channels, points…}.
  [[nodiscard]] Term run() { return interpolated(0, {}).move_axis(points_.size(), 1); }

 private:
  /// Reshapes one number for each point to {N, points…, 1}, for broadcasting to the channels.
  [[nodiscard]] Term for_channels(Term x) const {
    return x.reshape(with_dimension(points_, points_.size()));
  }

  /// Returns the positions of the points in a dimension of the image. The grid has the last
  /// dimension first.
  [[nodiscard]] Term image_position(std::size_t d) const {
    const auto last = signed_size(sides_.size()) - 1;
    const Term one = grid_.part(points_.size(), last - signed_size(d), 1);
    const Term shifted = one.reshape(points_) + 1.0F;
    const auto extent = static_cast<float>(sides_[d].extent);
    return aligned_ ? shifted * ((extent - 1) / 2) : shifted * (extent / 2) - 0.5F;
  }

  /// Reflects positions at the ends of the image.
  [[nodiscard]] static Term reflected(Term x, const Side& side) {
    const float length = side.high - side.low;
    if (length <= 0) return x.filled(0);
    const Term distance = (x - side.low).abs();
    const Term rest = distance - (distance / (2 * length)).floor() * (2 * length);
    return rest.min(2 * length - rest) + side.low;
  }

  /// An integer position inside of the image, and the factor of the pixel there: 0 if it stands for
  /// a position outside that is padded with zeros, otherwise 1.
  struct Pixel {
    Term position;
    Term inside;
  };

  [[nodiscard]] Pixel pixel(Term position, const Side& side) const {
    if (padding_ == "reflection") position = reflected(position, side).floor();
    const Term kept = side.limited(position);
    return {kept, padding_ == "zeros" ? kept.equal(position) : kept.filled(1)};
  }

  /// Returns the weights of Keys' cubic convolution at the distances 1 + t, t, 1 − t and 2 − t.
  [[nodiscard]] static std::array<Term, 4> cubic_weights(Term t) {
    constexpr float a = -0.75F;
    const auto near = [&](Term d) { return (d * (a + 2) - (a + 3)) * d.squared() + 1.0F; };
    const auto far = [&](Term d) { return ((d * a - 5 * a) * d + 8 * a) * d - 4 * a; };
    const Term rest = 1.0F - t;
    return {far(t + 1.0F), near(t), near(rest), far(rest + 1.0F)};
  }

  /// Interpolates in dimension d and later ones, at the positions `chosen` in the earlier ones.
  /// Returns {N, points…, channels}.
  [[nodiscard]] Term interpolated(std::size_t d, const std::vector<Pixel>& chosen) {
    if (d == sides_.size()) return read(chosen);
    const Side& side = sides_[d];
    const bool is_cubic = mode_ == "cubic" || mode_ == "bicubic";
    Term x = image_position(d);
    if (!is_cubic && padding_ == "border") x = side.limited(x);
    if (!is_cubic && padding_ == "reflection") x = side.limited(reflected(x, side));
    const auto with = [&](Term at) {
      std::vector<Pixel> more = chosen;
      more.push_back(pixel(at, side));
      return interpolated(d + 1, more);
    };
    if (mode_ == "nearest") return with(x.round());
    const Term down = x.floor();
    const Term t = x - down.detached();
    const auto weighed = [&](Term weight, float shift) {
      const Term wide = for_channels(weight);
      return wide * with(down + shift);
    };
    if (is_cubic) {
      const std::array<Term, 4> weights = cubic_weights(t);
      Term sum = weighed(weights[0], -1);
      for (std::size_t i = 1; i < weights.size(); ++i) {
        sum = sum + weighed(weights.at(i), static_cast<float>(i) - 1);
      }
      return sum;
    }
    refuse_if(mode_ != "linear" && mode_ != "bilinear", "its mode is " + mode_);
    const Term lower = weighed(1.0F - t, 0);
    return lower + weighed(t, 1);
  }

  /// Returns the pixels at the positions `chosen`, {N, points…, channels}.
  [[nodiscard]] Term read(const std::vector<Pixel>& chosen) const {
    Term row = chosen.front().position.coordinate(0);
    Term inside = row.filled(1);
    for (std::size_t d = 0; d < sides_.size(); ++d) {
      row = row * static_cast<float>(sides_[d].extent) + chosen[d].position;
      inside = inside * chosen[d].inside;
    }
    return table_.rows(row) * for_channels(inside);
  }

  Term x_;
  Term grid_;
  std::string padding_;
  std::string mode_;
  bool aligned_;
  Term table_;      // {N·pixels, channels}
  Extents points_;  // {N, …}
  std::vector<Side> sides_;
};

Outputs grid_sample(Arguments& arguments) { return {GridSampling(arguments).run()}; }

// --- sequences ---

/// Reverses the first elements of each sequence, up to the sequence's length; later elements are
/// unchanged.
Outputs reverse_sequence(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const std::int64_t batch = arguments.integer("batch_axis", 1);
  const std::int64_t time = arguments.integer("time_axis", 0);
  refuse_if(x.rank() < 2 || batch < 0 || batch > 1 || time != 1 - batch,
            "its axes must be the first two");
  const auto first = static_cast<std::size_t>(batch);
  const Term sequences = x.move_axis(first, 0);
  const Extents all = sequences.shape();
  const Extents positions{all[0], all[1]};
  refuse_if(all[1].samples, "its time axis must not be the batch dimension");
  const Term lengths = arguments.operand(1).reshape({all[0], {}});
  const Term position = arguments.coordinate(positions, 1);
  const Term own = position.less(lengths).choose(lengths - 1.0F - position, position);
  const Term row = position.coordinate(0) * static_cast<float>(all[1].size) + own;
  const Term table =
      sequences.reshape({count_of(positions), count_of(part_of(all, 2, all.size()))});
  return {table.rows(row).reshape(all).move_axis(0, first)};
}

/// Selects elements by a condition that is known when the file is read.
Outputs compress(Arguments& arguments) {
  Term x = arguments.operand(0);
  if (!arguments.has_attribute("axis")) x = x.reshape({count_of(x.shape())});
  const std::size_t axis = arguments.axis(0, x.rank());
  Integers indices;
  const std::vector<double> conditions = arguments.numbers(1);
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (conditions[i] != 0) indices.push_back(signed_size(i));
  }
  return {taken(x, axis, indices)};
}

}  // namespace

OperatorTable sampling_operators() {
  return {
      {"Compress", compress}, {"GridSample", grid_sample}, {"ReverseSequence", reverse_sequence}};
}

}  // namespace parbench::onnx_import
