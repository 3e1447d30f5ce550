// Writes the backward pass of a stage: layers in reverse, with gradients in temporaries that are
// released as soon as possible.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "scenarios/models/layers/passes.h"
#include "scenarios/training/program/layer_writer.h"
#include "scenarios/training/program/pass_memory.h"
#include "scenarios/training/program/recompute_writer.h"

namespace parbench {

class BackwardWriter final : public LayerWriter<BackwardPass> {
 public:
  /// `activations`: Space::activations after the forward pass. Temporaries reuse the memory of
  /// activations that are no longer read. `accumulate`: add parameter gradients and the loss to
  /// existing values.
  BackwardWriter(const StageParts& parts, const RegionPlanner& activations, bool accumulate);

  [[nodiscard]] SymbolicPass write();
  /// Returns the bytes of Space::transient; valid after `write`.
  [[nodiscard]] std::size_t transient_bytes() const { return pass_memory_.transient_bytes(); }
  /// Returns the smallest offset in Space::activations at which Space::gradients may begin without
  /// overwriting memory still in use; gradients may extend beyond the end of Space::activations.
  /// Valid after a `write` that overwrites gradients.
  [[nodiscard]] std::size_t gradients_begin() const { return gradients_begin_; }
  /// Returns the memory in which the loss, the first call, writes the gradient of the prediction.
  /// Valid for the last stage after `write`.
  [[nodiscard]] const SymbolicView& prediction_gradient() const { return prediction_gradient_; }

  [[nodiscard]] bool accumulates() const override {
    return accumulate_ || parts().shares_gradient_with_later(index());
  }
  [[nodiscard]] SymbolicView output() const override { return parts().memory_of(index()).output; }
  [[nodiscard]] SymbolicView kept(std::string_view name) const override;
  [[nodiscard]] Gradient gradient() override;
  [[nodiscard]] std::vector<Gradient> gradient_in_parts() override;
  [[nodiscard]] bool is_wanted(std::size_t which) const override;
  [[nodiscard]] bool is_exclusive(const Gradient& gradient) const override;
  [[nodiscard]] Gradient make(std::size_t which, std::size_t bytes) override;
  [[nodiscard]] Gradient reuse(const Gradient& taken, std::size_t which,
                               std::size_t bytes) override;
  [[nodiscard]] Gradient make_temporary(std::size_t bytes) override;
  void share(const Gradient& gradient) override;
  void release(const Gradient& gradient) override;
  void contribute(std::size_t which, const Gradient& gradient) override;
  [[nodiscard]] SymbolicView parameter_gradient(std::string_view role) override;
  [[nodiscard]] SymbolicView parameter(std::string_view role, const TensorDesc& wanted) override;
  void emit_parameter_gradients(const OpDesc& overwriting, const OpDesc& adding,
                                std::vector<SymbolicBinding> bindings,
                                const std::vector<std::string_view>& roles) override;

 private:
  struct Temporary {
    SymbolicView view;
    int readers = 0;
  };

  [[nodiscard]] SymbolicView acquire(std::size_t bytes);
  void keep_gradients_after_memory();
  [[nodiscard]] std::vector<Gradient>& contributions_to(int producer);
  [[nodiscard]] int producer(std::size_t which) const { return layer().inputs.at(which); }
  [[nodiscard]] bool is_boundary(std::size_t which) const {
    return producer(which) < parts().range.first;
  }
  [[nodiscard]] Gradient sum_of(std::vector<Gradient> contributions, const Shape& shape);
  void add(const Shape& shape, const SymbolicView& a, const SymbolicView& b,
           const SymbolicView& to);
  void write_loss();
  void write_backward(int index);
  void release_activation(const SymbolicView& view);
  void write_recomputation(int last);
  void write_input_gradient(const BoundaryTensor& input);
  void emit_through_temporaries(const OpDesc& overwriting, std::vector<SymbolicBinding> bindings,
                                const std::vector<std::string_view>& roles);
  void add_or_overwrite(const SymbolicView& from, const SymbolicView& to);

  const bool accumulate_;
  PassMemory pass_memory_;
  RecomputeWriter recomputation_;  // allocates from `pass_memory_`
  std::vector<Temporary> temporaries_;
  std::vector<Gradient> copies_;        // temporary copies of the current layer's parameters
  std::optional<std::size_t> written_;  // smallest offset of a parameter gradient written so far
  std::size_t gradients_begin_ = 0;
  SymbolicView prediction_gradient_;
  // addends of the gradients of layers' outputs, by layer of the range
  std::vector<std::vector<Gradient>> contributions_;
  std::map<int, std::vector<Gradient>> to_inputs_;  // addends of gradients of the stage's inputs
  std::set<int> taken_;  // inputs whose memory at the boundary contains a gradient
};

}  // namespace parbench
