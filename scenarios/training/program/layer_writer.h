// Common base of the writers of a stage's passes, which write the layers one by one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/framework/op_set.h"
#include "scenarios/framework/symbolic.h"
#include "scenarios/training/program/parameter_store.h"
#include "scenarios/training/program/stage_program.h"

namespace parbench {

/// Inputs and results of the writers of a stage's passes. The referenced objects must outlive the
/// writers.
struct StageParts {
  Stream& stream;
  const StageRange& range;
  std::int64_t samples = 0;
  const Boundary& inputs;
  const Boundary& outputs;
  ParameterStore& store;
  OpSet& ops;
  std::vector<LayerMemory>& memory;  // memory of the range's layers

  [[nodiscard]] const Layer& layer(int index) const { return range.network->layer(index); }
  [[nodiscard]] LayerWork work_of(int index) const { return range.work_of(index, samples); }
  [[nodiscard]] std::size_t local(int index) const {
    return static_cast<std::size_t>(index - range.first);
  }
  [[nodiscard]] LayerMemory& memory_of(int index) const { return memory.at(local(index)); }
  /// Returns the memory of an input of a layer: the output of a layer of the stage, or an input of
  /// the stage.
  [[nodiscard]] SymbolicView input_of(int index, std::size_t which) const;
  [[nodiscard]] SymbolicView statistics_of(int index) const;

  /// Returns whether the backward pass of the layer, or of a reader in the stage, reads the layer's
  /// output.
  [[nodiscard]] bool backward_reads(int index) const;
  /// Returns whether a later layer of the stage uses the same parameters. If so, the backward pass
  /// of that layer has already written the parameters' gradients.
  [[nodiscard]] bool shares_gradient_with_later(int index) const;
  /// Returns whether the layer's output is read by later stages or by checks of the step, which
  /// read the inputs and the output of the network's last layer.
  [[nodiscard]] bool leaves_stage(int index) const;
  /// Returns whether the output leaves the stage, or another unit reads it.
  [[nodiscard]] bool leaves_unit(int index) const;
};

/// Implements LayerPass for the current layer (`write_layer`). `Pass`: ForwardPass or BackwardPass.
template <class Pass>
class LayerWriter : public Pass {
 public:
  explicit LayerWriter(const StageParts& parts) : parts_(parts) {}

  [[nodiscard]] const LayerWork& work() const final { return work_; }
  [[nodiscard]] Op& prepare(const OpDesc& desc) final {
    return parts_.ops.prepare_shared(parts_.stream, desc);
  }
  void emit(Op& op, const std::vector<SymbolicBinding>& bindings) final {
    pass_.calls.push_back(bind(op, bindings));
  }
  [[nodiscard]] TensorDesc activation(const Shape& shape) const final {
    return parts_.stream.device().activation(shape, work_.dtype);
  }
  [[nodiscard]] SymbolicView input(std::size_t which) const final {
    return parts_.input_of(index_, which);
  }
  [[nodiscard]] SymbolicView parameter(std::string_view role, const TensorDesc& wanted) override {
    return parts_.store.parameter(index_, role, wanted);
  }
  void exchange(Collective collective, const SymbolicView& data) final {
    pass_.exchanges.push_back({.call = pass_.calls.size(), .collective = collective, .data = data});
  }

 protected:
  /// Makes `index` the current layer and calls `write`. The calls that `write` emits get the
  /// layer's name.
  template <class Write>
  void write_layer(int index, Write write) {
    index_ = index;
    work_ = parts_.range.work_of(index, parts_.samples);
    const std::size_t begin = pass_.calls.size();
    write(layer());
    for (std::size_t i = begin; i < pass_.calls.size(); ++i) pass_.calls[i].layer = layer().name;
  }
  [[nodiscard]] const StageParts& parts() const { return parts_; }
  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] const Layer& layer() const { return parts_.layer(index_); }
  /// Returns the calls and exchanges since the last `take_pass`.
  [[nodiscard]] SymbolicPass take_pass() { return std::exchange(pass_, {}); }
  /// Adds a pass that another writer has written.
  void append(SymbolicPass pass) {
    for (ExchangePoint& point : pass.exchanges) point.call += pass_.calls.size();
    std::ranges::move(pass.exchanges, std::back_inserter(pass_.exchanges));
    std::ranges::move(pass.calls, std::back_inserter(pass_.calls));
  }

 private:
  StageParts parts_;
  int index_ = 0;
  LayerWork work_;
  SymbolicPass pass_;
};

}  // namespace parbench
