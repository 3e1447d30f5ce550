// Layers of sequences: embeddings, attention, long short-term memories.
#pragma once

#include "scenarios/models/layers/operation_kind.h"

namespace parbench {

/// torch.nn.Embedding of the network's tokens: {…} to {…, width}. Initial values are normal with
/// the given standard deviation.
class Embedding final : public OperationKind {
 public:
  Embedding(std::int64_t vocabulary, std::int64_t width, float deviation = 1.0F)
      : vocabulary_(vocabulary), width_(width), deviation_(deviation) {}

  [[nodiscard]] std::int64_t vocabulary() const { return vocabulary_; }

  [[nodiscard]] std::string_view name() const override { return "embedding"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;

 private:
  std::int64_t vocabulary_;
  std::int64_t width_;
  float deviation_;
};

/// Attention between the positions of a sequence. Each position attends to all positions or, if
/// `causal`, to itself and those before it. The input has queries, keys and values in that order:
/// {sequence, 3·width} to {sequence, width}.
class SelfAttention final : public OperationKind {
 public:
  explicit SelfAttention(std::int64_t heads, bool causal = true) : heads_(heads), causal_(causal) {}

  [[nodiscard]] std::int64_t heads() const { return heads_; }
  [[nodiscard]] bool causal() const { return causal_; }

  [[nodiscard]] std::string_view name() const override {
    return causal_ ? "causal_attention" : "attention";
  }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;

 private:
  std::int64_t heads_;
  bool causal_;
};

/// One layer of torch.nn.LSTM in one direction, with samples first: {sequence, in} to {sequence,
/// hidden}. The initial state is zero. A single optional bias replaces the two biases of PyTorch.
class Lstm final : public OperationKind {
 public:
  explicit Lstm(std::int64_t hidden, bool bias = true) : hidden_(hidden), bias_(bias) {}

  [[nodiscard]] bool has_bias() const { return bias_; }

  [[nodiscard]] std::string_view name() const override { return "lstm"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] std::vector<ParameterSpec> parameters(const Shape& input) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;
  void write_forward(ForwardPass& pass) const override;

 private:
  std::int64_t hidden_;
  bool bias_;
};

}  // namespace parbench
