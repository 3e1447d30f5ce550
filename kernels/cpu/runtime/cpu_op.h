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

/// What a stream's worker thread lends to the operation it runs.
struct Execution {
  dnnl::stream& stream;  // of the CPU engine (engine.h)
  std::byte* scratch;    // at least Op::scratch_bytes() bytes, 64-byte aligned
  int threads;           // the OpenMP team that the operation was prepared for is already set
};

/// The arguments of an operation, in the order of `arguments()`.
using Addresses = std::span<std::byte* const>;

class CpuOp : public DescribedOp {
 public:
  using DescribedOp::DescribedOp;

  void enqueue(Stream& stream, std::span<const BufferView> views) final;

  /// Runs once in the calling thread.
  /// Allocates nothing of its own.
  virtual void execute(const Execution& execution, Addresses arguments) = 0;

  /// Threads that it was prepared for; a stream with another number refuses it.
  int threads = 1;

 protected:
  /// Names the kernel as oneDNN does, and notes whether it is a reference implementation.
  void set_kernel(std::string_view implementation);
};

/// Whether oneDNN's name of a kernel ("ref:any", "x64:gemm:jit") is that of a reference
/// implementation: "ref" is one of the words between its colons and underscores.
[[nodiscard]] bool is_reference_kernel(std::string_view implementation);

}  // namespace parbench::cpu
