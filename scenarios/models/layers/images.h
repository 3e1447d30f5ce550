// Layers of images without weights: poolings, and layers that move channels and pixels.
#pragma once

#include "scenarios/models/layers/operation_kind.h"
#include "scenarios/models/layers/window.h"

namespace parbench {

/// Throws std::invalid_argument unless the shape of the sample is that of an image, {C, H, W}.
void require_image(const Shape& sample);

/// torch.nn.MaxPool2d.
class MaxPool final : public OperationKind {
 public:
  explicit MaxPool(Window window) : window_(window) {}

  [[nodiscard]] const Window& window() const { return window_; }

  [[nodiscard]] std::string_view name() const override { return "max_pool"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;

 private:
  Window window_;
};

/// torch.nn.AvgPool2d: the mean over the elements of each window that are inside the image or, with
/// `count_padding`, over all elements of the window.
class AveragePool final : public OperationKind {
 public:
  AveragePool(Window window, bool count_padding) : window_(window), count_padding_(count_padding) {}

  [[nodiscard]] const Window& window() const { return window_; }
  [[nodiscard]] bool counts_padding() const { return count_padding_; }

  [[nodiscard]] std::string_view name() const override { return "average_pool"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;

 private:
  Window window_;
  bool count_padding_;
};

/// Mean of each channel: {C, H, W} to {C}.
class GlobalAveragePool final : public OperationKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "global_average_pool"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override {
    return {inputs.at(0).at(0)};
  }
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;
};

/// torch.nn.ZeroPad2d: rows and columns of zeros at each edge of an image. Negative numbers remove
/// rows and columns.
class Padding final : public OperationKind {
 public:
  explicit Padding(Edges edges) : edges_(edges) {}

  [[nodiscard]] const Edges& edges() const { return edges_; }

  [[nodiscard]] std::string_view name() const override { return "padding"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;

 private:
  Edges edges_;
};

/// torch.nn.ChannelShuffle. The output has the first channel of each group, then the second of
/// each, and so on.
class ChannelShuffle final : public OperationKind {
 public:
  explicit ChannelShuffle(std::int64_t groups) : groups_(groups) {}

  [[nodiscard]] std::int64_t groups() const { return groups_; }

  [[nodiscard]] std::string_view name() const override { return "channel_shuffle"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] OpDesc forward(const LayerWork& work) const override;

 private:
  std::int64_t groups_;
};

/// Concatenation of the channels of images of one size: torch.cat along dimension 1.
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
  [[nodiscard]] ChannelRange range(const LayerWork& work) const;

  std::int64_t first_;
  std::int64_t count_;
};

/// torch.nn.Flatten: {C, H, W} to {C·H·W}, from the device's layout of images.
class Flatten final : public LayerKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "flatten"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override {
    return {element_count(inputs.at(0))};
  }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;
};

}  // namespace parbench
