// Rows of a table by index, and the gradient of the table. Both only move memory; oneDNN has no
// primitive for them.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "kernels/base/bfloat16.h"
#include "kernels/base/simd.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/parallel.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"

namespace parbench::cpu {
namespace {

const std::int32_t* indices_at(const std::byte* address) {
  return reinterpret_cast<const std::int32_t*>(address);
}

PARBENCH_SIMD void add_embedding(float* row, const float* gradient, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) row[i] += gradient[i];
}

PARBENCH_SIMD void add_embedding(float* row, const std::uint16_t* gradient, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) row[i] += from_bf16(gradient[i]);
}

class EmbeddingForwardOp final : public CpuOp {
 public:
  explicit EmbeddingForwardOp(const EmbeddingForward& desc)
      : CpuOp(desc),
        count_(static_cast<std::size_t>(desc.count)),
        width_(static_cast<std::size_t>(desc.width)),
        row_bytes_(width_ * size_of(desc.dtype)) {
    add_tensors(*this);
    set_implementation("copies of rows");
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    const std::int32_t* indices = indices_at(arguments[0]);
    parallel_ranges(
        count_ * width_, width_, execution.threads, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin / width_; i < end / width_; ++i) {
            const auto row = static_cast<std::size_t>(indices[i]);
            std::memcpy(arguments[2] + i * row_bytes_, arguments[1] + row * row_bytes_, row_bytes_);
          }
        });
  }

 private:
  std::size_t count_;
  std::size_t width_;
  std::size_t row_bytes_;
};

// Each thread owns rows of the table, and adds to them in the order of the positions. Most of the
// time is spent on writing zeros to rows that no index names: a vocabulary has tens of thousands of
// rows, a batch names hundreds. Every thread reads all indices, which costs little in comparison.
class EmbeddingBackwardOp final : public CpuOp {
 public:
  explicit EmbeddingBackwardOp(const EmbeddingBackward& desc)
      : CpuOp(desc),
        dtype_(desc.dtype),
        accumulate_(desc.accumulate),
        vocabulary_(static_cast<std::size_t>(desc.vocabulary)),
        count_(static_cast<std::size_t>(desc.count)),
        width_(static_cast<std::size_t>(desc.width)) {
    add_tensors(*this);
    set_implementation("vector loop");
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    if (dtype_ == DType::bf16) {
      run<std::uint16_t>(execution, arguments);
    } else {
      run<float>(execution, arguments);
    }
  }

 private:
  template <class Element>
  void run(const Execution& execution, std::span<std::byte* const> arguments) const {
    const std::int32_t* indices = indices_at(arguments[0]);
    const auto* gradients = reinterpret_cast<const Element*>(arguments[1]);
    float* table = floats(arguments[2]);
    parallel_ranges(vocabulary_ * width_, width_, execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      if (!accumulate_) {
                        std::memset(table + begin, 0, (end - begin) * sizeof(float));
                      }
                      for (std::size_t i = 0; i < count_; ++i) {
                        const std::size_t row = static_cast<std::size_t>(indices[i]) * width_;
                        if (row < begin || row >= end) continue;
                        add_embedding(table + row, gradients + i * width_, width_);
                      }
                    });
  }

  DType dtype_;
  bool accumulate_;
  std::size_t vocabulary_;
  std::size_t count_;
  std::size_t width_;
};

}  // namespace

Planned plan(const EmbeddingForward& desc) { return std::make_unique<EmbeddingForwardOp>(desc); }

Planned plan(const EmbeddingBackward& desc) { return std::make_unique<EmbeddingBackwardOp>(desc); }

}  // namespace parbench::cpu
