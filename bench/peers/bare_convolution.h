// A convolution with plain oneDNN in a loop, without code of parbench.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/ops/ops.h"

namespace parbench::peers {

/// The primitive for `threads` threads bound to `cores`, with the activation layout and user
/// scratchpad that parbench's operations have.
class BareConvolution {
 public:
  BareConvolution(const ConvolutionForward& desc, std::vector<int> cores, int threads);
  ~BareConvolution();
  BareConvolution(const BareConvolution&) = delete;
  BareConvolution& operator=(const BareConvolution&) = delete;

  /// Returns the name of the kernel that oneDNN chose.
  [[nodiscard]] std::string implementation() const;

  /// Binds source, weights, [bias], destination. Throws Error if the primitive needs other sizes.
  void set_memory(std::span<const std::span<std::byte>> arguments);

  /// Returns the seconds of `executions` in a loop in a bound thread, after an untimed one.
  [[nodiscard]] double run(int executions);

 private:
  struct Primitive;
  std::vector<int> cores_;
  int threads_;
  std::unique_ptr<Primitive> primitive_;
};

}  // namespace parbench::peers
