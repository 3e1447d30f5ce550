// Memory and calls of layers on several devices.
#include "scenarios/graph/network_nodes.h"

#include <cstddef>
#include <utility>

#include "scenarios/inference/layer_checks.h"
#include "scenarios/inference/layer_work.h"

namespace parbench {
namespace {

constexpr int samples = 0;  // node with the samples

// Returns the node of a tensor. `tensor`: index of the layer that computes it, or `network_input`,
// which is node 0.
int node_of(int tensor) { return tensor - network_input; }
int tensor_at(int node) { return node + network_input; }

}  // namespace

GraphNodeList nodes_of(const Network& network, std::int64_t batch) {
  const std::vector<Work> work = layer_work(network, batch);
  const auto copy_seconds = [&](int tensor) {
    const TensorDesc f32 = canonical(with_samples(batch, network.shape_of(tensor)));
    return expected_copy_seconds(static_cast<double>(f32.bytes));
  };
  GraphNodeList nodes{
      {.name = "samples", .is_input = true, .copy_seconds = copy_seconds(network_input)}};
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    GraphNode& node =
        nodes.emplace_back(GraphNode{.name = layer.name,
                                     .seconds = expected_seconds(work[i]),
                                     .copy_seconds = copy_seconds(static_cast<int>(i))});
    for (const int input : layer.inputs) node.inputs.push_back(node_of(input));
  }
  return nodes;
}

NetworkNodes::Share::Share(const StageRange& whole, Context& context, int device)
    : memory(context, device),
      forward(whole, context.stream(device, StreamKind::compute), device, context.options().seed,
              memory) {}

NetworkNodes::NetworkNodes(CaseParts& parts, Network network, NumberFormat format,
                           std::int64_t batch)
    : parts_(parts),
      network_(std::move(network)),
      whole_(whole_range(network_, format, batch)),
      nodes_(nodes_of(network_, batch)) {
  place(nodes_, parts_.context.device_count());
  share_of(nodes_[samples].device).forward.draw_input(parts_.context.perturbation());
  parts_.reads_borrowed_memory = false;
}

NetworkNodes::Share& NetworkNodes::share_of(int device) {
  std::unique_ptr<Share>& share = shares_[device];
  if (share == nullptr) share = std::make_unique<Share>(whole_, parts_.context, device);
  return *share;
}

void NetworkNodes::hide(const Tensor& tensor) {
  if (tensor.desc.dtype == DType::i32) {
    parts_.data.zero(tensor);  // token 0 is valid, so kernels may use it as an index
  } else {
    parts_.data.poison(tensor);
  }
}

Tensor NetworkNodes::result(int node, int device) {
  const int tensor = tensor_at(node);
  Share& share = share_of(device);
  const bool comes_from_elsewhere = device != nodes_.at(static_cast<std::size_t>(node)).device;
  if (comes_from_elsewhere && share.received.insert(tensor).second) {
    share.forward.receive(tensor);
    hide(share.forward.tensor(tensor));
  }
  return share.forward.tensor(tensor);
}

std::vector<Call> NetworkNodes::plan(int node, Stream& stream) {
  const GraphNode& one = nodes_.at(static_cast<std::size_t>(node));
  const std::vector<OpCall> calls =
      share_of(one.device).forward.plan(tensor_at(node), stream, parts_.ops);
  hide(result(node, one.device));
  return {calls.begin(), calls.end()};
}

void NetworkNodes::add_results() {
  const auto last = static_cast<int>(nodes_.size()) - 1;
  const Tensor output = result(last, nodes_.back().device);
  parts_.outputs.push_back(
      {"output of the network", [&data = parts_.data, output] { return data.read(output); }});
  add_layer_checks(parts_, whole_, [this](int layer) -> const NetworkForward& {
    return shares_.at(nodes_[static_cast<std::size_t>(node_of(layer))].device)->forward;
  });
}

}  // namespace parbench
