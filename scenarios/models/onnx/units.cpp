// Where units begin.
#include "scenarios/models/onnx/units.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace parbench::onnx_import {
namespace {

/// For each layer, how many tensors cross to it and those behind it (Network::crossing).
std::vector<std::size_t> crossing_tensors(const Network& network) {
  const std::size_t count = network.layers.size();
  std::vector<std::size_t> last_reader(count + 1);  // the network's input in front
  for (std::size_t reader = 0; reader < count; ++reader) {
    for (const int tensor : network.layers[reader].inputs) {
      last_reader[static_cast<std::size_t>(std::int64_t{tensor} + 1)] = reader;
    }
  }
  std::vector<std::size_t> crossing(count + 1);
  std::vector<std::size_t> ending(count + 1);  // behind each layer
  std::size_t open = 0;
  for (std::size_t layer = 0; layer < count; ++layer) {
    if (last_reader[layer] >= layer) {  // that of the layer before it
      ++open;
      ++ending[last_reader[layer]];
    }
    crossing[layer] = open;
    open -= ending[layer];
  }
  return crossing;
}

}  // namespace

/// Each unit but the first has a layer of products, and begins where a single tensor crosses: at
/// that layer, or at the last place behind the product before it. The latter is the end of a
/// residual connection whose block begins with a normalisation: the block and the next connection
/// read the same sum. Where a connection goes past many products, and so leaves them in one unit,
/// units also begin at products where few tensors cross.
void divide_into_units(Network& network) {
  constexpr std::size_t many = 16;
  constexpr std::size_t few = 6;
  const std::vector<std::size_t> crossing = crossing_tensors(network);
  const std::size_t count = network.layers.size();
  std::vector<bool> can_begin(count);
  std::vector<std::size_t> products;  // of the current unit, last layer first
  bool wants_begin = false;           // the last product has no unit that begins in front of it
  for (std::size_t i = count; i-- > 0;) {
    const Layer& layer = network.layers[i];
    if (!layer.kind->products(network.work_of(layer, 1), true).empty()) {
      products.push_back(i);
      wants_begin = true;
    }
    if (wants_begin && crossing[i] == 1) {
      can_begin[i] = true;
      wants_begin = false;
    }
    if (!can_begin[i] && i != 0) continue;
    const bool is_divided = products.size() > many;
    if (can_begin[i] && is_divided) products.pop_back();  // the unit that begins here has it
    for (const std::size_t product : std::exchange(products, {})) {
      if (is_divided && crossing[product] <= few) can_begin[product] = true;
    }
  }
  network.units.clear();
  for (std::size_t i = 0; i < count; ++i) {
    Layer& layer = network.layers[i];
    if (i == 0 || can_begin[i]) network.unit(layer.name);
    layer.unit = static_cast<int>(network.units.size()) - 1;
  }
}

}  // namespace parbench::onnx_import
