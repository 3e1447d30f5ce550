// From gates in ONNX's order to those of the layer.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/models/layers/lstm.h"
#include "scenarios/models/onnx/operators/sequences.h"

namespace parbench::onnx_import {
namespace {

constexpr std::int64_t gate_count = 4;

/// ONNX has input, output, forget, cell; the layer, as PyTorch, input, forget, cell, output.
constexpr std::array<std::int64_t, gate_count> order_of_gates{0, 2, 3, 1};

/// Those of the gates of `hidden` rows of `row` elements each, from `first` on.
std::vector<ValuePiece> in_order_of_layer(const std::vector<ValuePiece>& pieces, std::int64_t first,
                                          std::int64_t gate_elements) {
  std::vector<ValuePiece> ordered;
  for (const std::int64_t gate : order_of_gates) {
    const std::vector<ValuePiece> part =
        part_of(pieces, first + gate * gate_elements, gate_elements);
    ordered.insert(ordered.end(), part.begin(), part.end());
  }
  return ordered;
}

void check_weights(const NodeView& view, std::size_t which, const char* what, const Shape& wanted) {
  const Shape& shape = view.weights(which, what).shape;
  if (shape == wanted) return;
  throw CannotMap(fmt::format("its {} are {}, not {}", what, to_string(shape), to_string(wanted)));
}

/// A state that is left out is zero too.
void check_first_state(const NodeView& view, std::size_t which) {
  if (!view.has_input(which)) return;
  const Constant* state = view.constant(which);
  if (state == nullptr || (state->filled != 0.0 && state->scalar != 0.0)) {
    throw CannotMap("its first state is not known to be zero");
  }
}

void check_functions(const NodeView& view) {
  std::string functions = view.attribute("activations", std::string("Sigmoid,Tanh,Tanh"));
  std::ranges::transform(functions, functions.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  if (functions != "sigmoid,tanh,tanh") {
    throw CannotMap("its functions are " + functions + ", not Sigmoid, Tanh and Tanh");
  }
  if (view.has_attribute("clip")) throw CannotMap("it clips its gates");
  if (view.attribute("input_forget", std::int64_t{0}) != 0) {
    throw CannotMap("its input and forget gates are one");
  }
  if (view.attribute("direction", std::string("forward")) != "forward") {
    throw CannotMap("its direction is " + view.attribute("direction", std::string()) +
                    ", not forward");
  }
  if (view.has_input(4)) throw CannotMap("it has lengths of sequences");
  if (view.has_input(7)) throw CannotMap("it has peepholes");
}

struct Sizes {
  std::int64_t positions;
  std::int64_t width;
  std::int64_t hidden;
  bool samples_first;
};

/// {positions, samples, width}, or with the samples in front.
Sizes checked_sizes(const Importer& importer, const NodeView& view) {
  const View& source = importer.view(view.input(0));
  const Shape& sample = importer.shape_of(source.activation);
  const bool samples_first = view.attribute("layout", std::int64_t{0}) == 1;
  if (sample.size() != 2 || source.dimensions.size() != 3 || !keeps_rows(source, sample)) {
    throw CannotMap("its input must be a sequence of rows of a layer");
  }
  const Dimension& samples = source.dimensions[samples_first ? 0 : 1];
  if (samples.size() != 1 || !samples.front().samples) {
    throw CannotMap(samples_first ? "its samples are not in front of the positions"
                                  : "its positions are not in front of the samples");
  }
  importer.check_whole(source);
  const auto hidden = view.attribute("hidden_size", std::int64_t{0});
  constexpr std::int64_t max_hidden = 1 << 20;
  if (hidden < 1 || hidden > max_hidden) {
    throw CannotMap(fmt::format("its hidden size is {}", hidden));
  }
  return {sample[0], sample[1], hidden, samples_first};
}

/// {positions, 1, samples, hidden} or {samples, positions, 1, hidden}, and of the last position
/// {1, samples, hidden} or {samples, 1, hidden}.
void set_outputs(Importer& importer, const Node& node, int layer, const Sizes& sizes) {
  View all = *importer.find_view(node.outputs.at(0));  // {samples, positions, hidden}
  View last = selected(all, 1, sizes.positions - 1, 1);
  last.activation = layer;
  if (!sizes.samples_first) {
    std::swap(all.dimensions[0], all.dimensions[1]);
    std::swap(last.dimensions[0], last.dimensions[1]);
  }
  all.dimensions.insert(all.dimensions.begin() + (sizes.samples_first ? 2 : 1), Dimension());
  importer.set_view(node.outputs[0], std::move(all));
  if (node.outputs.size() > 1) importer.set_view(node.outputs[1], std::move(last));
}

}  // namespace

void map_lstm(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  check_functions(view);
  const Sizes sizes = checked_sizes(importer, view);
  const std::int64_t rows = gate_count * sizes.hidden;
  check_weights(view, 1, "weights", {1, rows, sizes.width});
  check_weights(view, 2, "recurrent weights", {1, rows, sizes.hidden});
  const bool has_bias = view.has_input(3);
  if (has_bias) check_weights(view, 3, "biases", {1, 2 * rows});
  check_first_state(view, 5);
  check_first_state(view, 6);

  importer.claim(view.input(1));
  const int layer =
      importer.add(node, Lstm(sizes.hidden, has_bias), {importer.view(view.input(0)).activation});
  set_outputs(importer, node, layer, sizes);
  const auto ordered = [&](std::size_t which, std::int64_t first, std::int64_t row) {
    return in_order_of_layer(pieces_of(*view.constant(which)), first * row, sizes.hidden * row);
  };
  importer.keep_source("weights", {.pieces = ordered(1, 0, sizes.width)});
  importer.keep_source("recurrent_weights", {.pieces = ordered(2, 0, sizes.hidden)});
  if (!has_bias) return;
  importer.keep_source("bias", {.pieces = ordered(3, 0, 1), .addends = ordered(3, rows, 1)});
}

}  // namespace parbench::onnx_import
