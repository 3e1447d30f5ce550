// Nodes that are the layers of a network's forward pass.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "scenarios/graph/graph_nodes.h"
#include "scenarios/inference/network_forward.h"

namespace parbench {

/// Returns the nodes of a network: the samples as the first node, an input, followed by the layers,
/// with expected costs in f32. All are on the first device.
[[nodiscard]] GraphNodeList nodes_of(const Network& network, std::int64_t batch);

/// The layers of a network as nodes. Parameters are not nodes: they are on the device of their
/// layer, in the layouts that the layer's operations read. All devices must be of one kind, because
/// results are copied in the memory layout of the device that computes them.
class NetworkNodes final : public GraphNodes {
 public:
  /// Places the layers of a network for inference on the devices of the context by expected costs.
  /// `parts` must outlive the object.
  NetworkNodes(CaseParts& parts, Network network, NumberFormat format, std::int64_t batch);

  [[nodiscard]] const GraphNodeList& nodes() const override { return nodes_; }
  [[nodiscard]] Tensor result(int node, int device) override;
  [[nodiscard]] std::vector<Call> plan(int node, Stream& stream) override;
  void add_results() override;

 private:
  /// The part of the forward pass on one device.
  struct Share {
    Share(const StageRange& whole, Context& context, int device);
    ContextMemory memory;
    NetworkForward forward;
    std::set<int> received;  // tensors that have memory for a copy from another device
  };

  [[nodiscard]] Share& share_of(int device);
  /// Fills a result with NaN (integers with 0), so that a missing computation is detected.
  void hide(const Tensor& tensor);

  CaseParts& parts_;
  Network network_;
  StageRange whole_;
  GraphNodeList nodes_;
  std::map<int, std::unique_ptr<Share>> shares_;  // by device
};

}  // namespace parbench
