// A convolution that oneDNN executes in a loop, without parbench's devices, streams and operations.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/ops/ops.h"

namespace parbench::peers {

/// oneDNN's primitive of a convolution for `threads` threads bound to `cores`, with the activation
/// layout and user scratchpad of parbench's convolution.
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

  /// Returns the total seconds of `executions` executions after an untimed one, in a loop on a
  /// bound thread.
  [[nodiscard]] double run(int executions);

 private:
  struct Primitive;
  std::vector<int> cores_;
  int threads_;
  std::unique_ptr<Primitive> primitive_;
};

}  // namespace parbench::peers
