// Interface of layer kinds: shapes, parameters, and the calls of both passes. Networks do not
// depend on particular kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ops/ops.h"

namespace parbench {

class ForwardPass;
class BackwardPass;

/// Initial values of parameters, as Fill draws them.
struct InitialValues {
  Distribution distribution = Distribution::constant;
  float low = 0.0F;
  float high = 0.0F;
};

[[nodiscard]] InitialValues constant(float value);
/// Returns uniform values within ±1/sqrt(inputs), the default of torch.nn.Linear and of biases of
/// convolutions.
[[nodiscard]] InitialValues uniform_by_inputs(std::int64_t inputs);

/// A trainable tensor of a layer.
struct ParameterSpec {
  std::string name;  // "layer1.0.conv1.weight"; "weight" before a network adds its layer's name
  int layer = 0;
  std::string role;  // role in the layer's operations, such as "weights" or "bias"
  Shape shape;
  InitialValues initial = {};
};

/// Work of a layer for one micro-batch. Shapes include the samples as first dimension.
struct LayerWork {
  std::vector<Shape> inputs;
  Shape output;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;
};

/// Part number `index` of `count` equal parts of the positions of all samples; it has the same
/// share of the positions of each sample.
struct PositionPart {
  int index = 0;
  int count = 1;

  [[nodiscard]] bool is_whole() const { return count == 1; }
};

class LayerKind {
 public:
  LayerKind() = default;
  LayerKind(const LayerKind&) = default;
  LayerKind& operator=(const LayerKind&) = default;
  LayerKind(LayerKind&&) = default;
  LayerKind& operator=(LayerKind&&) = default;
  virtual ~LayerKind() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Returns the shape of one sample of the output. Throws std::invalid_argument, without the
  /// layer's name, for unsupported inputs.
  [[nodiscard]] virtual Shape output_of(const std::vector<Shape>& inputs) const = 0;
  /// Returns the parameters in the order of PyTorch's module. `input`: shape of one sample.
  [[nodiscard]] virtual std::vector<ParameterSpec> parameters(const Shape& /*input*/) const {
    return {};
  }
  /// Returns whether PyTorch lists the parameters directly after those of the layer that this layer
  /// reads, even if other layers are in between.
  [[nodiscard]] virtual bool parameters_follow_input() const { return false; }
  /// Returns the number of f32 values, such as running statistics, that are kept between steps and
  /// not trained.
  [[nodiscard]] virtual std::size_t statistics(const Shape& /*input*/) const { return 0; }
  /// Returns the minimum number of samples of a micro-batch that the layer can compute.
  [[nodiscard]] virtual std::int64_t min_samples(const Shape& /*output*/) const { return 1; }

  /// Returns the operations of both passes whose kernels devices tune: products and convolutions.
  /// The gradient of the data is included only if `with_data_gradient`.
  [[nodiscard]] virtual std::vector<OpDesc> products(const LayerWork& /*work*/,
                                                     bool /*with_data_gradient*/) const {
    return {};
  }
  /// Returns the operation whose operand "diff_<role>" determines the layout of a parameter;
  /// nothing if the layout is canonical.
  [[nodiscard]] virtual std::optional<OpDesc> gradient_of(std::string_view /*role*/,
                                                          const LayerWork& /*work*/) const {
    return std::nullopt;
  }

  /// Return whether the backward pass reads an input or the output of the forward pass. Tensors
  /// that no backward pass reads are not kept.
  [[nodiscard]] virtual bool backward_reads_input(std::size_t /*which*/,
                                                  const LayerWork& /*work*/) const {
    return false;
  }
  [[nodiscard]] virtual bool backward_reads_output(const LayerWork& /*work*/) const {
    return false;
  }
  virtual void write_forward(ForwardPass& pass) const = 0;
  virtual void write_backward(BackwardPass& pass) const = 0;
};

}  // namespace parbench
