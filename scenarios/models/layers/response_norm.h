// Local response normalisation.
#pragma once

#include "scenarios/models/layers/layer_kind.h"

namespace parbench {

/// torch.nn.LocalResponseNorm of images, for odd sizes; `offset` is its k.
class LocalResponseNorm final : public LayerKind {
 public:
  struct Options {
    std::int64_t size = 5;
    float alpha = 1e-4F;
    float beta = 0.75F;
    float offset = 1;
  };

  explicit LocalResponseNorm(Options options) : options_(options) {}

  [[nodiscard]] const Options& options() const { return options_; }

  [[nodiscard]] std::string_view name() const override { return "local_response_norm"; }
  [[nodiscard]] Shape output_of(const std::vector<Shape>& inputs) const override;
  [[nodiscard]] bool backward_reads_input(std::size_t /*which*/) const override { return true; }
  void write_forward(ForwardPass& pass) const override;
  void write_backward(BackwardPass& pass) const override;

 private:
  Options options_;
};

}  // namespace parbench
