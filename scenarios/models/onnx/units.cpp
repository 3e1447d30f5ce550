// Finds the beginnings of units.
#include "scenarios/models/onnx/units.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace parbench::onnx_import {
namespace {

/// Returns, for each layer, how many tensors cross to it and to later layers (Network::crossing).
std::vector<std::size_t> crossing_tensors(const Network& network) {
  const std::size_t count = network.layers.size();
  std::vector<std::size_t> last_reader(count + 1);  // index 0 is the network's input
  for (std::size_t reader = 0; reader < count; ++reader) {
    for (const int tensor : network.layers[reader].inputs) {
      last_reader[static_cast<std::size_t>(std::int64_t{tensor} + 1)] = reader;
    }
  }
  std::vector<std::size_t> crossing(count + 1);
  std::vector<std::size_t> ending(count + 1);  // by layer
  std::size_t open = 0;
  for (std::size_t layer = 0; layer < count; ++layer) {
    if (last_reader[layer] >= layer) {  // that of the previous layer
      ++open;
      ++ending[last_reader[layer]];
    }
    crossing[layer] = open;
    open -= ending[layer];
  }
  return crossing;
}

}  // namespace

/// Each unit except the first contains a layer of products. It begins where a single tensor
/// crosses: at that layer, or at the last such position after the previous product. The latter is
/// the end of a residual connection whose block begins with a normalisation: the block and the next
/// connection read the same sum. If a connection spans many products, which would leave them in one
/// unit, units also begin at products where few tensors cross.
void divide_into_units(Network& network) {
  constexpr std::size_t many = 16;
  constexpr std::size_t few = 6;
  const std::vector<std::size_t> crossing = crossing_tensors(network);
  const std::size_t count = network.layers.size();
  std::vector<bool> can_begin(count);
  std::vector<std::size_t> products;  // products of the current unit, last layer first
  bool wants_begin = false;  // whether no unit begins between the last product and the one before
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
    if (can_begin[i] && is_divided) products.pop_back();  // belongs to the unit that begins here
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
