// libFuzzer's target for ONNX files: whatever the bytes are, they are refused with a UsageError, or
// they are a network whose shapes, parameters and products can be computed.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/base/tensor.h"
#include "scenarios/models/onnx/network_of_file.h"
#include "scenarios/models/onnx/reading/file.h"
#include "tests/fuzz/require.h"

namespace {

using namespace parbench::onnx_import;
using parbench::element_count;
using parbench::Layer;
using parbench::Network;
using parbench::ParameterSpec;
using parbench::UsageError;

/// What `parbench inspect` and a plan ask of every layer.
void check_layers(const Network& network) {
  constexpr std::int64_t samples = 2;
  for (int i = 0; std::cmp_less(i, network.layers.size()); ++i) {
    const Layer& layer = network.layer(i);
    for (const int input : layer.inputs) require(input < i, "layers read earlier ones");
    require(element_count(layer.output) > 0, "outputs have elements");
    require(std::cmp_less(layer.unit, network.units.size()), "layers belong to units");
    (void)layer.kind->products(network.work_of(layer, samples), true);
  }
}

void check_parameters(const Network& network) {
  for (const ParameterSpec& spec : network.parameters()) {
    require(element_count(spec.shape) > 0, "parameters have elements");
  }
}

/// Zeros in place of a tensor of the file.
std::vector<float> zeros_of(const Graph& graph, const std::string& name) {
  constexpr std::int64_t max_count = 1 << 20;
  const auto found = graph.constants.find(name);
  const std::int64_t count =
      found == graph.constants.end() ? 0 : element_count(found->second.shape);
  if (count > max_count) throw UsageError("a tensor that is too large to fuzz");
  return std::vector<float>(static_cast<std::size_t>(count));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream stream(std::string(reinterpret_cast<const char*>(data), size));
  try {
    const Graph graph = read_stream(stream, "no-folder/model.onnx");
    const auto load = [&](const std::string& name) { return zeros_of(graph, name); };
    const Network network = network_of_graph("model.onnx", graph, load, {});
    check_layers(network);
    check_parameters(network);
  } catch (const UsageError&) {
    // As it should be: the message is for the user.
  }
  return 0;
}
