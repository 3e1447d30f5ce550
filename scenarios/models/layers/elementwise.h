// Layers that compute each element separately: activations, sums, dropout, biases and scales of
// channels.
#pragma once

#include "scenarios/models/layers/operation_kind.h"

namespace parbench {

/// A layer whose output has the shape of its first input.
class ElementKind : public OperationKind {
 public:
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override {
    return inputs.at(0);
  }
};

/// Functions of one element: ReLU, GELU, sigmoid and others.
class Activation final : public ElementKind {
 public:
  /// `low` and `high`: limits of ActivationKind::clip; other kinds ignore them.
  explicit Activation(ActivationKind kind, float low = 0.0F, float high = 6.0F)
      : kind_(kind), low_(low), high_(high) {}

  [[nodiscard]] ActivationKind kind() const { return kind_; }
  [[nodiscard]] float low() const { return low_; }
  [[nodiscard]] float high() const { return high_; }

  [[nodiscard]] std::string_view name() const override { return "activation"; }
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;

 private:
  ActivationKind kind_;
  float low_;
  float high_;
};

/// Sum of the outputs of two layers, such as a residual connection.
class Addition final : public OperationKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "addition"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;
};

/// Adds a trainable table of the input's shape to each sample: learned positions of a sequence
/// (Radford et al. 2019). Initial values are normal with standard deviation 0.02, as in GPT-2.
class LearnedPositions final : public ElementKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "learned_positions"; }
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;
};

/// torch.nn.Dropout in training. Elements are selected by their position in the micro-batch: the
/// same ones become zero in every step, on every device, and in all micro-batches of equal size.
class RandomDropout final : public ElementKind {
 public:
  /// `subsequence`: layers with different values drop elements independently.
  RandomDropout(float probability, std::uint64_t subsequence)
      : probability_(probability), subsequence_(subsequence) {}

  [[nodiscard]] float probability() const { return probability_; }
  [[nodiscard]] std::uint64_t subsequence() const { return subsequence_; }

  [[nodiscard]] std::string_view name() const override { return "dropout"; }
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;

 private:
  float probability_;
  std::uint64_t subsequence_;
};

/// Adds a trainable number to each channel of an image, or to each column of rows. Initial values
/// are 0.
class ChannelBias final : public ElementKind {
 public:
  /// Returns the role of the parameter, which depends on the operation that adds it.
  [[nodiscard]] static std::string role_for(bool images) { return images ? "bias" : "addend"; }

  [[nodiscard]] std::string_view name() const override { return "channel_bias"; }
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;
};

/// Multiplies each channel of an image, or each column of rows, by a trainable number: a depthwise
/// convolution of single pixels. Initial values are 1.
class ChannelScale final : public ElementKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "channel_scale"; }
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;
};

}  // namespace parbench
