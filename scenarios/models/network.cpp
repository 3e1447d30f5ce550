// Derives shapes and parameters from a list of layers.
#include "scenarios/models/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>

#include "kernels/base/random.h"

namespace parbench {

std::string_view to_string(Loss loss) {
  return loss == Loss::mean_squared_error ? "mse" : "cross-entropy";
}

Shape with_samples(std::int64_t samples, const Shape& sample) {
  Shape shape = {samples};
  shape.insert(shape.end(), sample.begin(), sample.end());
  return shape;
}

Shape Network::input_of(const Layer& layer, std::size_t which) const {
  if (which >= layer.inputs.size()) {
    throw std::out_of_range(fmt::format("layer '{}' has no input {}: it reads {}", layer.name,
                                        which, layer.inputs.size()));
  }
  return shape_of(layer.inputs[which]);
}

std::vector<int> Network::crossing(int first) const {
  std::set<int> tensors;
  for (int reader = first; reader < static_cast<int>(layers.size()); ++reader) {
    for (const int tensor : layer(reader).inputs) {
      if (tensor < first) tensors.insert(tensor);
    }
  }
  return {tensors.begin(), tensors.end()};
}

LayerWork Network::work_of(const Layer& layer, std::int64_t samples, NumberFormat format) const {
  LayerWork work{.inputs = {},
                 .output = with_samples(samples, layer.output),
                 .dtype = format.dtype,
                 .math = format.math};
  for (std::size_t which = 0; which < layer.inputs.size(); ++which) {
    work.inputs.push_back(with_samples(samples, input_of(layer, which)));
  }
  return work;
}

std::vector<ParameterSpec> Network::parameters() const {
  std::vector<int> order(layers.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int index) {
    return layer(index).kind->parameters_follow_input() ? layer(index).inputs.front() : index;
  });
  std::vector<ParameterSpec> found;
  for (const int index : order) {
    const Layer& from = layer(index);
    if (from.tied_to >= 0) continue;
    for (ParameterSpec& one : from.kind->parameters(input_of(from))) {
      one.name = fmt::format("{}.{}", from.name, one.name);
      one.layer = index;
      found.push_back(std::move(one));
    }
  }
  return found;
}

std::int64_t Network::min_samples() const {
  std::int64_t min = 1;
  for (const Layer& one : layers) min = std::max(min, one.kind->min_samples(one.output));
  return min;
}

std::int64_t Network::max_samples() const {
  const auto positions = [](const Shape& sample) { return element_count(sample) / sample.front(); };
  std::int64_t max = positions(input);
  for (const Layer& layer : layers) max = std::max(max, positions(layer.output));
  return std::numeric_limits<std::int32_t>::max() / max;
}

std::int64_t Network::length_of(std::int64_t sample) const {
  constexpr RandomStream lengths{.seed = 0, .subsequence = 1ULL << 32U};
  const std::int64_t longest = input.front();
  if (min_length == 0) return longest;
  const std::uint32_t word = random_words(lengths, static_cast<std::uint64_t>(sample)).x;
  return min_length + word % (longest - min_length + 1);
}

std::int64_t Network::target_positions(std::int64_t batch) const {
  const Shape& output = layers.back().output;
  if (min_length == 0) return batch * element_count(output) / output.back();
  std::int64_t positions = 0;
  for (std::int64_t sample = 0; sample < batch; ++sample) positions += length_of(sample);
  return positions;
}

int Network::append(std::string layer_name, std::shared_ptr<const LayerKind> kind,
                    std::vector<int> inputs) {
  if (units.empty()) throw std::logic_error("a layer belongs to a unit: start one first");
  Layer layer{.name = std::move(layer_name),
              .kind = std::move(kind),
              .inputs = std::move(inputs),
              .unit = static_cast<int>(units.size()) - 1};
  const int known = static_cast<int>(layers.size());
  for (const int read : layer.inputs) {
    if (read >= network_input && read < known) continue;
    throw std::invalid_argument(
        fmt::format("{}: reads layer {}, but only {} layers precede it", layer.name, read, known));
  }
  std::vector<Shape> shapes;
  for (std::size_t which = 0; which < layer.inputs.size(); ++which) {
    shapes.push_back(input_of(layer, which));
  }
  try {
    layer.output = layer.kind->output_of(shapes);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", layer.name, error.what()));
  }
  layers.push_back(std::move(layer));
  return static_cast<int>(layers.size()) - 1;
}

void Network::tie(int index, int to) {
  const auto of = [&](const Layer& one) { return one.kind->parameters(input_of(one)); };
  const auto alike = [](const ParameterSpec& a, const ParameterSpec& b) {
    return a.role == b.role && a.shape == b.shape;
  };
  Layer& tied = layers.at(static_cast<std::size_t>(index));
  if (to >= index || !std::ranges::equal(of(tied), of(layer(to)), alike)) {
    throw std::logic_error(
        fmt::format("{} cannot share the parameters of {}", tied.name, layer(to).name));
  }
  tied.tied_to = owner_of(to);
}

void Network::unit(std::string unit_name) { units.push_back(std::move(unit_name)); }

}  // namespace parbench
