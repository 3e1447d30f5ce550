// Base of every CPU operation: the stream enqueues it, the subclass executes it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "kernels/core/described_op.h"

namespace dnnl {
struct stream;  // NOLINT(readability-identifier-naming): the library's name
}

namespace parbench::cpu {

/// Resources of a stream's worker thread for the operation that it executes.
struct Execution {
  dnnl::stream& stream;  // stream of the CPU engine (engine.h)
  std::byte* scratch;    // at least Op::scratch_bytes() bytes, 64-byte aligned
  int threads;           // size of the calling thread's OpenMP team
};

/// Addresses of the arguments of an operation, in the order of `arguments()`.
using Addresses = std::span<std::byte* const>;

class CpuOp : public DescribedOp {
 public:
  using DescribedOp::DescribedOp;

  void enqueue(Stream& stream, std::span<const BufferView> views) final;

  /// Executes the operation once, in the calling thread and its team. Must not allocate memory.
  virtual void execute(const Execution& execution, Addresses arguments) = 0;

  /// Number of threads for which the operation was prepared; streams with another number refuse it.
  int threads = 1;

 protected:
  /// Sets oneDNN's name of the kernel, and whether it is a reference implementation.
  void set_kernel(std::string_view implementation);
};

/// Returns whether oneDNN's name of a kernel ("ref:any", "x64:gemm:jit") denotes a reference
/// implementation: one of its words, separated by colons, underscores and blanks, is "ref".
[[nodiscard]] bool is_reference_kernel(std::string_view implementation);

}  // namespace parbench::cpu
