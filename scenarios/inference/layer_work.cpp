// A forward pass that only counts work.
#include "scenarios/inference/layer_work.h"

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>

#include "kernels/core/described_op.h"
#include "kernels/ops/flops.h"
#include "scenarios/framework/symbolic.h"
#include "scenarios/models/layers/passes.h"

namespace parbench {
namespace {

/// An operation without a device: its tensors are canonical.
class CountedOp final : public DescribedOp {
 public:
  explicit CountedOp(const OpDesc& desc) : DescribedOp(desc) {
    for (const Operand& operand : operands()) add_tensor(operand.tensor);
    set_flops(flops_of(desc));
  }

  void enqueue(Stream& /*stream*/, std::span<const BufferView> /*views*/) override {
    throw std::logic_error("an operation that is only counted cannot run");
  }
};

class CountingPass final : public ForwardPass {
 public:
  CountingPass(const Network& network, const Layer& layer, std::int64_t batch)
      : work_(network.work_of(layer, batch)),
        statistics_(layer.kind->statistics(network.input_of(layer)) * sizeof(float)) {}

  [[nodiscard]] const Work& counted() const { return counted_; }

  [[nodiscard]] const LayerWork& work() const override { return work_; }
  [[nodiscard]] Op& prepare(const OpDesc& desc) override {
    return *ops_.emplace_back(std::make_unique<CountedOp>(desc));
  }
  void emit(Op& op, const std::vector<SymbolicBinding>& /*bindings*/) override {
    counted_ += op.work();
  }
  [[nodiscard]] TensorDesc activation(const Shape& shape) const override {
    return canonical(shape, work_.dtype);
  }
  [[nodiscard]] SymbolicView input(std::size_t which) const override {
    return memory(canonical(work_.inputs.at(which)).bytes);
  }
  [[nodiscard]] SymbolicView parameter(std::string_view /*role*/,
                                       const TensorDesc& wanted) override {
    return memory(wanted.bytes);
  }
  [[nodiscard]] SymbolicView place_output(std::size_t bytes) override { return memory(bytes); }
  [[nodiscard]] SymbolicView keep(std::string_view /*name*/, std::size_t bytes) override {
    return memory(bytes);
  }
  [[nodiscard]] SymbolicView scratch(std::size_t bytes) override { return memory(bytes); }
  [[nodiscard]] SymbolicView statistics() const override { return memory(statistics_); }

 private:
  /// Returns a view that no operation accesses.
  [[nodiscard]] static SymbolicView memory(std::size_t bytes) {
    return {Space::transient, 0, bytes};
  }

  LayerWork work_;
  std::size_t statistics_;
  Work counted_;
  std::vector<std::unique_ptr<Op>> ops_;
};

}  // namespace

std::vector<Work> layer_work(const Network& network, std::int64_t batch) {
  std::vector<Work> work;
  for (const Layer& layer : network.layers) {
    CountingPass pass(network, layer, batch);
    layer.kind->write_forward(pass);
    work.push_back(pass.counted());
  }
  return work;
}

}  // namespace parbench
