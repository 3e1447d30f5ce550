// Writes the backward pass of a stage: layers in reverse, gradients in temporaries that live no
// longer than they are needed.
#pragma once

#include <string_view>
#include <vector>

#include "scenarios/training/stage_program.h"

namespace parbench {

class BackwardWriter {
 public:
  /// `accumulate`: parameter gradients and the loss are added to what is there.
  BackwardWriter(StageProgram& program, bool accumulate);

  /// Plans the operations in the program's set and returns the calls; raises the program's
  /// transient bytes to what they need.
  [[nodiscard]] std::vector<OpCall> write();

 private:
  /// A gradient in memory. Temporaries are counted: a residual's gradient has two readers.
  struct Gradient {
    BufferView view;
    int temporary = -1;  // index into temporaries_; -1: memory of a boundary
  };
  struct Temporary {
    std::size_t offset = 0;
    int readers = 0;
  };

  [[nodiscard]] Gradient make_temporary(std::size_t bytes);
  [[nodiscard]] bool is_exclusive(const Gradient& gradient) const;
  void add_reader(const Gradient& gradient);
  void release(const Gradient& gradient);
  /// Memory for an input's gradient: the boundary's where it is the stage's input and comes first.
  [[nodiscard]] Gradient make_input_gradient(int producer, std::size_t bytes);
  void contribute(int producer, const Gradient& gradient);
  [[nodiscard]] Gradient sum_of(std::vector<Gradient> contributions, const Shape& shape);

  void write_layer(int index);
  void write_loss();
  void write_relu(int index, const Gradient& incoming);
  /// Takes the gradients of a batch normalisation with an addend back through the ReLU and the
  /// addition. Contributes the result to the addend and returns it, for the normalisation.
  [[nodiscard]] Gradient write_addition(int index, const std::vector<Gradient>& incoming);
  void write_batch_norm(int index, const Gradient& incoming);
  void write_convolution(int index, const Gradient& incoming);
  void write_linear(int index, const Gradient& incoming);
  void write_max_pool(int index, const Gradient& incoming);
  void write_average_pool(int index, const Gradient& incoming);
  /// The gradient of an operation with weights, for its description of the backward pass; through
  /// temporaries when the operation's layout is not the store's.
  template <typename Weights>
  void write_weight_gradient(int index, Weights desc, const Gradient& incoming);
  void add_or_overwrite(const Gradient& from, const BufferView& to);
  void write_data_gradient(int index, const OpDesc& desc, const Gradient& incoming);
  void write_input_gradient();
  [[nodiscard]] Op& prepare(const OpDesc& desc) {
    return program_.ops_.prepare(program_.stream_, desc);
  }
  void emit(Op& op, const std::vector<Binding>& bindings) {
    calls_.push_back(parbench::bind(op, bindings));
  }
  [[nodiscard]] Shape shape_of(int index) const {
    return with_samples(program_.samples_, program_.layer(index).output);
  }

  StageProgram& program_;
  const bool accumulate_;
  const DType dtype_;
  const MathMode math_;
  RegionPlanner region_;
  std::vector<Temporary> temporaries_;
  std::vector<std::vector<Gradient>> contributions_;  // by local index
  std::vector<Gradient> to_input_;                    // of the stage
  bool boundary_taken_ = false;                       // by the first gradient of the input
  std::vector<OpCall> calls_;
};

}  // namespace parbench
