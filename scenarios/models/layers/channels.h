// Layers that move channels of images.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// Concatenates the channels of images of equal size: torch.cat along dimension 1.
class Concatenation final : public LayerKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "concatenation"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;
};

/// Consecutive channels of an image: a part of torch.split along dimension 1.
class ChannelSlice final : public LayerKind {
 public:
  ChannelSlice(std::int64_t first, std::int64_t count) : first_(first), count_(count) {}

  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] std::int64_t count() const { return count_; }

  [[nodiscard]] std::string_view name() const override { return "channel_slice"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  std::int64_t first_;
  std::int64_t count_;
};

/// torch.nn.ChannelShuffle: the first channel of each group, then the second of each, and so on.
class ChannelShuffle final : public LayerKind {
 public:
  explicit ChannelShuffle(std::int64_t groups) : groups_(groups) {}

  [[nodiscard]] std::int64_t groups() const { return groups_; }

  [[nodiscard]] std::string_view name() const override { return "channel_shuffle"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  std::int64_t groups_;
};

}  // namespace parbench
