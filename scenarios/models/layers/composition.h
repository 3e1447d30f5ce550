// A layer composed of general operations, for layers that no other kind computes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scenarios/models/general/graph.h"
#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// Returns the extents of a layer's tensor: the number of samples, then the shape of one sample.
[[nodiscard]] general::Extents extents_of(const Shape& sample);

class Composition final : public LayerKind {
 public:
  /// `name`: name of the computation, such as "softmax". The inputs of the graph are those of the
  /// layer. `output`: the operation of the graph that computes the layer's output. `parameters`:
  /// specifications of the graph's parameters, in the order of the graph. Inputs and output have
  /// the samples as first dimension. Throws std::invalid_argument if the output does not begin with
  /// the samples or has no other dimension.
  Composition(std::string name, general::Graph graph, int output,
              std::vector<ParameterSpec> parameters = {});

  [[nodiscard]] const general::Graph& graph() const { return forward_; }
  [[nodiscard]] int output() const { return output_; }
  /// Returns whether a sample of the output depends on other samples of the input, by a reduction.
  [[nodiscard]] bool mixes_samples() const;

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input) const override;
  [[nodiscard]] bool backward_reads_input(std::size_t which,
                                          const LayerWork& /*work*/) const override {
    return read_inputs_.at(which);
  }
  [[nodiscard]] bool backward_reads_output(const LayerWork& /*work*/) const override {
    return reads_output_;
  }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  void find_what_is_kept();
  [[nodiscard]] bool is_elementwise() const;

  std::string name_;
  general::Graph forward_;
  int output_;
  std::vector<ParameterSpec> parameters_;
  std::vector<int> inputs_;             // operations of the graph, by input of the layer
  std::vector<int> parameter_indices_;  // operations of the graph, by parameter
  general::Graph backward_;             // graph of the forward pass followed by the gradients
  int upstream_ = 0;                    // operation of backward_: gradient of the output
  std::map<int, int> gradients_;        // operations of backward_, by operation of forward_
  std::vector<int> kept_;               // results of the forward pass kept for the backward pass
  std::vector<bool> read_inputs_;
  bool reads_output_ = false;
  // whether all operations are element-wise on tensors of one shape, and therefore run in any
  // layout
  bool is_flat_ = false;
};

}  // namespace parbench
