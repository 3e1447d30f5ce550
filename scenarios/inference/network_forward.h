// The forward pass of a network whose layers may run on different streams and devices. Every layer
// has an output of its own, so that memory is not reused while another layer still reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/framework/case_data.h"
#include "scenarios/framework/plan.h"
#include "scenarios/models/layers/passes.h"
#include "scenarios/training/program/stage_program.h"

namespace parbench {

/// Source of memory for a forward pass.
class ForwardMemory {
 public:
  ForwardMemory() = default;
  ForwardMemory(const ForwardMemory&) = delete;
  ForwardMemory& operator=(const ForwardMemory&) = delete;
  ForwardMemory(ForwardMemory&&) = delete;
  ForwardMemory& operator=(ForwardMemory&&) = delete;
  virtual ~ForwardMemory() = default;

  /// Returns memory that the pass writes before reading.
  [[nodiscard]] virtual BufferView work(std::size_t bytes) = 0;
  /// Returns memory that `fill` initialises, and whose content stays valid for all executions of
  /// the pass. Requests with the same key must have the same content.
  [[nodiscard]] virtual BufferView filled(const std::string& key, std::size_t bytes,
                                          const Context::Fill& fill) = 0;
};

/// Memory of a context. Work memory is borrowed for the current case; filled memory is shared by
/// all cases.
class ContextMemory final : public ForwardMemory {
 public:
  ContextMemory(Context& context, int device) : context_(context), device_(device) {}

  BufferView work(std::size_t bytes) override { return context_.borrow(device_, bytes); }
  BufferView filled(const std::string& key, std::size_t bytes, const Context::Fill& fill) override {
    return context_.shared(device_, key, bytes, fill);
  }

 private:
  Context& context_;
  int device_;
};

/// The tensor with a layer's parameter, and the parameter's range in it.
struct ParameterPart {
  Tensor tensor;  // in the layout that the operation reads
  // Range of the parameter's elements in canonical order; the whole tensor unless layers are
  // merged.
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Returns the whole network as a range, for one batch.
[[nodiscard]] StageRange whole_range(const Network& network, NumberFormat format,
                                     std::int64_t batch);

/// Plans layers of a network on one device, each after the layers that it reads. `whole` is a
/// `whole_range`; other devices may have passes of their own for other layers.
class NetworkForward final : public ForwardPass {
 public:
  /// The network, `stream` and `memory` must outlive the pass. `device`: index of the device that
  /// holds the pass's tensors. Tensors have no memory at first.
  NetworkForward(const StageRange& whole, Stream& stream, int device, std::uint64_t seed,
                 ForwardMemory& memory);

  /// Allocates memory with the samples of the batch. `perturbation`: Context::perturbation; unless
  /// 0, it changes samples in f32.
  void draw_input(int perturbation = 0);
  /// Allocates memory for a copy of a tensor from another device. `tensor`: index of the layer that
  /// computes it, or `network_input`.
  void receive(int tensor);
  /// Plans a layer for a stream of the device. The layer's inputs must have memory.
  [[nodiscard]] std::vector<OpCall> plan(int layer, Stream& stream, OpSet& ops);
  /// Plans one convolution in place of several ones that differ only in their output channels, and
  /// copies of the result's channels to the outputs of these layers.
  [[nodiscard]] std::vector<OpCall> plan_merged(const std::vector<int>& layers, Stream& stream,
                                                OpSet& ops);

  /// Returns the output of the layer `index`, or the samples (`network_input`). The view is empty
  /// until the tensor has memory.
  [[nodiscard]] Tensor tensor(int index) const;
  [[nodiscard]] Tensor source(int layer, std::size_t which = 0) const;
  /// Returns the FLOPs of a layer's operations for the whole batch; 0 for merged layers.
  [[nodiscard]] double flops(int layer) const { return flops_.at(static_cast<std::size_t>(layer)); }
  [[nodiscard]] const ParameterPart& parameter_part(int layer, std::string_view role) const;

  [[nodiscard]] const LayerWork& work() const override { return work_; }
  [[nodiscard]] Op& prepare(const OpDesc& desc) override;
  void emit(Op& op, const std::vector<SymbolicBinding>& bindings) override;
  [[nodiscard]] TensorDesc activation(const Shape& shape) const override;
  [[nodiscard]] SymbolicView input(std::size_t which) const override;
  [[nodiscard]] SymbolicView parameter(std::string_view role, const TensorDesc& wanted) override;
  [[nodiscard]] SymbolicView place_output(std::size_t bytes) override;
  [[nodiscard]] SymbolicView keep(std::string_view name, std::size_t bytes) override;
  [[nodiscard]] SymbolicView scratch(std::size_t bytes) override { return memory_.work(bytes); }
  [[nodiscard]] SymbolicView statistics() const override;

 private:
  [[nodiscard]] const Layer& layer() const { return whole_.network->layer(layer_); }
  /// Returns a key for the content `what` that also names the network and the network's input
  /// shape.
  [[nodiscard]] std::string key(std::string_view what) const;
  void begin(int layer, Stream& stream, OpSet& ops);
  [[nodiscard]] const ParameterSpec& spec_of(int layer, std::string_view role) const;
  [[nodiscard]] BufferView parameter_of_all(const std::vector<int>& layers, std::string_view role,
                                            const TensorDesc& wanted);

  StageRange whole_;
  Stream& first_stream_;
  int device_;
  std::uint64_t seed_;
  ForwardMemory& memory_;
  std::vector<ParameterSpec> specs_;
  Tensor input_;
  std::vector<BufferView> outputs_;  // by layer
  std::vector<double> flops_;        // by layer
  std::map<std::pair<int, std::string>, ParameterPart> parameters_;

  // State of the layer being planned:
  int layer_ = 0;
  LayerWork work_;
  Stream* stream_ = nullptr;
  OpSet* ops_ = nullptr;
  std::vector<OpCall> calls_;
};

}  // namespace parbench
