// Poolings of images.
#pragma once

#include "scenarios/models/layers/layer_kind.h"
#include "scenarios/models/layers/window.h"

namespace parbench {

/// torch.nn.MaxPool2d.
class MaxPool final : public LayerKind {
 public:
  explicit MaxPool(Window window) : window_(window) {}

  [[nodiscard]] const Window& window() const { return window_; }

  [[nodiscard]] std::string_view name() const override { return "max_pool"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  Window window_;
};

/// torch.nn.AvgPool2d: the mean over each window, of its elements inside the image or, with
/// `count_padding`, of all.
class AveragePool final : public LayerKind {
 public:
  AveragePool(Window window, bool count_padding) : window_(window), count_padding_(count_padding) {}

  [[nodiscard]] const Window& window() const { return window_; }
  [[nodiscard]] bool counts_padding() const { return count_padding_; }

  [[nodiscard]] std::string_view name() const override { return "average_pool"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  Window window_;
  bool count_padding_;
};

/// The mean of each channel: {C, H, W} to {C}.
class GlobalAveragePool final : public LayerKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "global_average_pool"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;
};

}  // namespace parbench
