// Operators that read a tensor at computed positions: images at coordinates, sequences from their
// ends.
#include <array>
#include <numeric>

#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::Extent;
using general::Extents;
using general::Graph;
using enum ElementOp;

int number_like(Graph& graph, int x, float value) { return graph.number(value, graph.shape(x)); }

int limited(Graph& graph, int x, float low, float high) {
  return graph.apply(minimum, graph.apply(maximum, x, low), high);
}

// --- images at coordinates ---

/// One dimension of an image.
struct Side {
  std::int64_t extent = 1;
  float low = 0;  // lower end of the image
  float high = 0;
};

class GridSampling {
 public:
  explicit GridSampling(Arguments& arguments)
      : graph_(arguments.graph()),
        x_(arguments.operand(0)),
        grid_(arguments.operand(1)),
        padding_(arguments.attribute("padding_mode", std::string("zeros"))),
        mode_(arguments.attribute("mode", std::string("linear"))),
        aligned_(arguments.flag("align_corners", false)) {
    const Extents& from = graph_.shape(x_);
    const Extents& grid = graph_.shape(grid_);
    if (from.size() < 4 || from.size() > 5 || grid.size() != from.size() ||
        grid.back() != Extent{.size = signed_size(from.size()) - 2} || from[0] != grid[0] ||
        from[0].outer != 1) {
      throw CannotTranslate("its grid does not fit its image");
    }
    points_ = {grid.begin(), grid.end() - 1};
    for (std::size_t d = 2; d < from.size(); ++d) {
      if (from[d].samples || from[d].size < 1) throw CannotTranslate("its image is empty");
      const auto extent = static_cast<float>(from[d].size);
      sides_.push_back({.extent = from[d].size,
                        .low = aligned_ ? 0 : -0.5F,
                        .high = aligned_ ? extent - 1 : extent - 0.5F});
    }
    table_ = pixels();
  }

  /// {N, channels, points…}
  [[nodiscard]] int run() {
    const int result = interpolated(0, {});
    std::vector<std::int64_t> order{0, signed_size(points_.size())};
    for (std::size_t d = 1; d < points_.size(); ++d) order.push_back(signed_size(d));
    return graph_.permute(result, order);
  }

 private:
  /// {N·pixels, channels}
  [[nodiscard]] int pixels() {
    const Extents from = graph_.shape(x_);
    std::vector<std::int64_t> order{0};
    for (std::size_t d = 2; d < from.size(); ++d) order.push_back(signed_size(d));
    order.push_back(1);
    const int moved = graph_.permute(x_, order);
    const Extents all = graph_.shape(moved);
    return graph_.reshape(moved, {general::count_of({all.begin(), all.end() - 1}), all.back()});
  }

  /// Returns the position in a dimension of the image; the grid has the last dimension first.
  [[nodiscard]] int place(std::size_t d) {
    const auto last = signed_size(sides_.size()) - 1;
    const int one = run_of(graph_, grid_, points_.size(), last - signed_size(d), 1);
    const int shifted = graph_.apply(addition, graph_.reshape(one, points_), 1.0F);
    const auto extent = static_cast<float>(sides_[d].extent);
    if (aligned_) return graph_.apply(product, shifted, (extent - 1) / 2);
    return graph_.apply(difference, graph_.apply(product, shifted, extent / 2), 0.5F);
  }

  /// Reflects positions at the ends of the image.
  [[nodiscard]] int reflected(int x, const Side& side) {
    const float length = side.high - side.low;
    if (length <= 0) return number_like(graph_, x, 0);
    const int distance = graph_.apply(absolute, graph_.apply(difference, x, side.low));
    const int turns = graph_.apply(ElementOp::floor, graph_.apply(quotient, distance, 2 * length));
    const int rest = graph_.apply(difference, distance, graph_.apply(product, turns, 2 * length));
    const int back = graph_.apply(difference, graph_.number(2 * length), rest);
    return graph_.apply(addition, graph_.apply(minimum, rest, back), side.low);
  }

  /// An integer position inside of the image, and whether the original position was inside.
  struct Pixel {
    int place;
    int inside;
  };

  [[nodiscard]] Pixel pixel(int place, const Side& side) {
    const auto last = static_cast<float>(side.extent - 1);
    if (padding_ == "reflection") place = truncated(reflected(place, side));
    const int kept = limited(graph_, place, 0, last);
    return {kept,
            padding_ == "zeros" ? graph_.apply(equal, kept, place) : number_like(graph_, kept, 1)};
  }

  [[nodiscard]] int truncated(int x) { return graph_.apply(ElementOp::floor, x); }

  /// Keys' cubic convolution, at distances 1 + t, t, 1 − t and 2 − t.
  [[nodiscard]] std::array<int, 4> cubic_weights(int t) {
    constexpr float a = -0.75F;
    const auto times = [&](int p, int q) { return graph_.apply(product, p, q); };
    const auto near = [&](int d) {  // ((a + 2)·d − (a + 3))·d² + 1
      const int line = graph_.apply(difference, graph_.apply(product, d, a + 2), a + 3);
      return graph_.apply(addition, times(line, times(d, d)), 1.0F);
    };
    const auto far = [&](int d) {  // ((a·d − 5a)·d + 8a)·d − 4a
      const int first = graph_.apply(difference, graph_.apply(product, d, a), 5 * a);
      const int second = graph_.apply(addition, times(first, d), 8 * a);
      return graph_.apply(difference, times(second, d), 4 * a);
    };
    const int rest = graph_.apply(difference, graph_.number(1), t);
    return {far(graph_.apply(addition, t, 1.0F)), near(t), near(rest),
            far(graph_.apply(addition, rest, 1.0F))};
  }

  /// Sums over the pixels of dimension d and later dimensions. Returns {N, points…, channels}.
  [[nodiscard]] int interpolated(std::size_t d, std::vector<Pixel> chosen) {
    if (d == sides_.size()) return read(chosen);
    const Side& side = sides_[d];
    int x = place(d);
    if (mode_ != "cubic" && mode_ != "bicubic") {
      if (padding_ == "border") x = limited(graph_, x, 0, static_cast<float>(side.extent - 1));
      if (padding_ == "reflection")
        x = limited(graph_, reflected(x, side), 0, static_cast<float>(side.extent - 1));
    }
    const auto with = [&](int at) {
      std::vector<Pixel> more = chosen;
      more.push_back(pixel(at, side));
      return interpolated(d + 1, std::move(more));
    };
    if (mode_ == "nearest") return with(graph_.apply(rounding, x));
    const int down = graph_.apply(ElementOp::floor, x);
    const int t = graph_.apply(difference, x, graph_.detach(down));
    const auto weighed = [&](int weight, float shift) {
      Extents wide = points_;
      wide.emplace_back();
      return graph_.apply(product, graph_.reshape(weight, wide),
                          with(graph_.apply(addition, down, shift)));
    };
    if (mode_ == "cubic" || mode_ == "bicubic") {
      const std::array<int, 4> weights = cubic_weights(t);
      int sum = weighed(weights[0], -1);
      for (std::size_t i = 1; i < weights.size(); ++i) {
        sum = graph_.apply(addition, sum, weighed(weights.at(i), static_cast<float>(i) - 1));
      }
      return sum;
    }
    if (mode_ != "linear" && mode_ != "bilinear") throw CannotTranslate("its mode is " + mode_);
    const int rest = graph_.apply(difference, graph_.number(1), t);
    return graph_.apply(addition, weighed(rest, 0), weighed(t, 1));
  }

  /// Returns the pixels at those positions, {N, points…, channels}.
  [[nodiscard]] int read(const std::vector<Pixel>& chosen) {
    int row = graph_.coordinate(points_, 0);
    int inside = number_like(graph_, row, 1);
    for (std::size_t d = 0; d < sides_.size(); ++d) {
      row = graph_.apply(product, row, static_cast<float>(sides_[d].extent));
      row = graph_.apply(addition, row, chosen[d].place);
      inside = graph_.apply(product, inside, chosen[d].inside);
    }
    const Extent count = general::count_of(points_);
    Extents to = points_;
    to.push_back(graph_.shape(table_).back());
    const int rows = graph_.reshape(graph_.rows(table_, graph_.reshape(row, {count})), to);
    Extents wide = points_;
    wide.emplace_back();
    return graph_.apply(product, rows, graph_.reshape(inside, wide));
  }

  Graph& graph_;
  int x_;
  int grid_;
  std::string padding_;
  std::string mode_;
  bool aligned_;
  Extents points_;  // {N, …}
  std::vector<Side> sides_;
  int table_ = 0;
};

Outputs grid_sample(Arguments& arguments) { return {GridSampling(arguments).run()}; }

// --- sequences ---

int with_first_two_swapped(Graph& graph, int x) {
  Integers order(graph.shape(x).size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  return graph.permute(x, order);
}

/// Reverses the first elements of each sequence, up to its length; the others are unchanged.
Outputs reverse_sequence(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  const std::int64_t batch = arguments.integer("batch_axis", 1);
  const std::int64_t time = arguments.integer("time_axis", 0);
  if (from.size() < 2 || batch < 0 || batch > 1 || time != 1 - batch) {
    throw CannotTranslate("its axes are not the first two");
  }
  const int sequences = batch == 0 ? x : with_first_two_swapped(graph, x);
  const Extents all = graph.shape(sequences);
  const Extents places{all[0], all[1]};
  if (all[1].samples) throw CannotTranslate("its samples lie behind each other");
  const int lengths = graph.reshape(arguments.operand(1), {all[0], {}});
  const int position = graph.coordinate(places, 1);
  const int mirrored = graph.apply(difference, graph.apply(difference, lengths, 1.0F), position);
  const int own = graph.select(graph.apply(less, position, lengths), mirrored, position);
  const int first =
      graph.apply(product, graph.coordinate(places, 0), static_cast<float>(all[1].size));
  const int list = graph.reshape(graph.apply(addition, first, own), {general::count_of(places)});
  const Extent width = general::count_of({all.begin() + 2, all.end()});
  const int table = graph.reshape(sequences, {general::count_of(places), width});
  const int result = graph.reshape(graph.rows(table, list), all);
  return {batch == 0 ? result : with_first_two_swapped(graph, result)};
}

/// Selects elements by a condition that is known on reading.
Outputs compress(Arguments& arguments) {
  Graph& graph = arguments.graph();
  int x = arguments.operand(0);
  if (!arguments.has_attribute("axis")) x = graph.reshape(x, {general::count_of(graph.shape(x))});
  const std::size_t axis =
      general::dimension_of(arguments.integer("axis", 0), graph.shape(x).size());
  Integers places;
  const std::vector<double> conditions = arguments.numbers(1);
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (conditions[i] != 0) places.push_back(signed_size(i));
  }
  return {taken(graph, x, axis, places)};
}

}  // namespace

OperatorTable sampling_operators() {
  return {
      {"Compress", compress}, {"GridSample", grid_sample}, {"ReverseSequence", reverse_sequence}};
}

}  // namespace parbench::onnx_import
