// A convolution with plain oneDNN in a loop, without any of parbench's code.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/ops/ops.h"

namespace parbench::peers {

/// The primitive for `threads` threads bound to `cores`, with the activation layout and the user's
/// scratchpad as our operations have them.
class BareConvolution {
 public:
  BareConvolution(const ConvolutionForward& desc, std::vector<int> cores, int threads);
  ~BareConvolution();
  BareConvolution(const BareConvolution&) = delete;
  BareConvolution& operator=(const BareConvolution&) = delete;

  /// The kernel that oneDNN chose.
  [[nodiscard]] std::string implementation() const;

  /// Binds source, weights, [bias], destination. Throws Error when the primitive wants other sizes.
  void set_memory(std::span<const std::span<std::byte>> arguments);

  /// Seconds of `executions` in a loop, in a bound thread, after one more that is not timed.
  [[nodiscard]] double run(int executions);

 private:
  struct Primitive;
  std::vector<int> cores_;
  int threads_;
  std::unique_ptr<Primitive> primitive_;
};

}  // namespace parbench::peers
