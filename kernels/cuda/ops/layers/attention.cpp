// Attention as batched products of cuBLASLt with this project's softmaxes between them. All scores
// are computed and written to memory, even those that causal attention ignores. cuDNN's graph of
// scaled dot-product attention would keep scores in shared memory and omit ignored ones; it is not
// used yet.
#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/layers/attention_kernels.h"
#include "kernels/cuda/ops/matmul.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

/// Sizes for both passes. The heads' vectors are copied to dense matrices {sequence, head_size},
/// one for each of the `pairs` pairs of a sample and a head. `slice` pairs are processed at once.
struct AttentionPlan {
  template <class Desc>
  explicit AttentionPlan(const Desc& desc)
      : pairs(desc.batch * desc.heads),
        slice(pairs_of_slice(desc.batch * desc.heads, desc.sequence)),
        vectors{.batch = desc.batch,
                .sequence = desc.sequence,
                .parts = 1,
                .heads = desc.heads,
                .head_size = desc.head_size,
                .dtype = desc.dtype},
        scores{.rows = slice * desc.sequence,
               .sequence = desc.sequence,
               .causal = desc.causal,
               .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(desc.head_size))),
               .dtype = desc.dtype},
        math(desc.math) {}

  /// Returns the number of pairs of a slice: the largest divisor of `pairs` with at most
  /// `max_scores` scores; 1 if a single pair has more.
  static std::int64_t pairs_of_slice(std::int64_t pairs, std::int64_t sequence) {
    constexpr std::int64_t max_scores = std::int64_t{1} << 26U;  // 256 MiB in f32
    std::int64_t slice = pairs;
    while (slice > 1 && (pairs % slice != 0 || slice * sequence * sequence > max_scores)) --slice;
    return slice;
  }

  [[nodiscard]] HeadVectors projections() const {
    HeadVectors all = vectors;
    all.parts = 3;
    return all;
  }
  /// Returns the bytes of a matrix of vectors for each of `count` pairs.
  [[nodiscard]] std::size_t vector_bytes(std::int64_t count) const {
    return canonical({count, vectors.sequence, vectors.head_size}, vectors.dtype).bytes;
  }
  [[nodiscard]] std::size_t score_bytes(DType dtype) const {
    return canonical({scores.rows, vectors.sequence}, dtype).bytes;
  }
  [[nodiscard]] std::size_t saved_bytes() const {
    return canonical({pairs, vectors.sequence}).bytes;
  }

  /// Returns the product {sequence, sequence} = a·bᵀ of two matrices of vectors.
  [[nodiscard]] Product to_scores() const {
    return {.m = vectors.sequence,
            .n = vectors.sequence,
            .k = vectors.head_size,
            .transpose_b = true,
            .batch = slice,
            .input = vectors.dtype,
            .output = DType::f32,
            .math = math};
  }
  /// Returns the product {sequence, head_size} = a·b or aᵀ·b of a matrix of probabilities, or of
  /// gradients of scores, and a matrix of vectors.
  [[nodiscard]] Product to_vectors(bool transposed) const {
    return {.m = vectors.sequence,
            .n = vectors.head_size,
            .k = vectors.sequence,
            .transpose_a = transposed,
            .batch = slice,
            .input = vectors.dtype,
            .output = vectors.dtype,
            .math = math};
  }

  std::int64_t pairs;
  std::int64_t slice;
  HeadVectors vectors;
  ScoreMatrices scores;  // scores of a slice
  MathMode math;
};

class AttentionForwardOp final : public CudaOp {
 public:
  AttentionForwardOp(CudaDevice& device, const AttentionForward& desc)
      : CudaOp(device, desc, AttentionPlan(desc).saved_bytes()),
        plan_(desc),
        to_scores_(Matmul::get(device, name(), plan_.to_scores())),
        to_vectors_(Matmul::get(device, name(), plan_.to_vectors(false))),
        projections_(add_scratch(plan_.vector_bytes(3 * plan_.pairs))),
        result_(add_scratch(plan_.vector_bytes(plan_.pairs))),
        scores_(add_scratch(plan_.score_bytes(DType::f32))),
        probabilities_(desc.dtype == DType::f32 ? scores_
                                                : add_scratch(plan_.score_bytes(desc.dtype))),
        workspace_(
            add_scratch(std::max(to_scores_->workspace_bytes(), to_vectors_->workspace_bytes()))) {
    set_implementation(to_scores_->description() + ", softmax by a CUDA kernel",
                       to_scores_->chosen_by());
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    std::byte* scratch = stream.scratch();
    gather_heads(plan_.projections(), arguments[0], scratch + projections_, stream.handle());
    for (std::int64_t pair = 0; pair < plan_.pairs; pair += plan_.slice) {
      attend(stream, pair, floats(arguments[2]) + pair * plan_.vectors.sequence);
    }
    scatter_heads(plan_.vectors, scratch + result_, arguments[1], stream.handle());
  }

 private:
  void attend(const CudaStream& stream, std::int64_t pair, float* log_sums) const {
    std::byte* scratch = stream.scratch();
    const std::size_t all = plan_.vector_bytes(plan_.pairs);
    std::byte* queries = scratch + projections_ + plan_.vector_bytes(pair);
    to_scores_->run(stream.handle(), {queries, queries + all, scratch + scores_},
                    scratch + workspace_);
    soften_scores(plan_.scores, floats(scratch + scores_), scratch + probabilities_, log_sums,
                  stream.handle());
    to_vectors_->run(
        stream.handle(),
        {scratch + probabilities_, queries + 2 * all, scratch + result_ + plan_.vector_bytes(pair)},
        scratch + workspace_);
  }

  AttentionPlan plan_;
  std::unique_ptr<Matmul> to_scores_;
  std::unique_ptr<Matmul> to_vectors_;
  // Offsets in scratch memory.
  std::size_t projections_;
  std::size_t result_;
  std::size_t scores_;
  std::size_t probabilities_;
  std::size_t workspace_;
};

class AttentionBackwardOp final : public CudaOp {
 public:
  AttentionBackwardOp(CudaDevice& device, const AttentionBackward& desc)
      : CudaOp(device, desc, AttentionPlan(desc).saved_bytes()),
        plan_(desc),
        to_scores_(Matmul::get(device, name(), plan_.to_scores())),
        to_vectors_(Matmul::get(device, name(), plan_.to_vectors(false))),
        to_other_vectors_(Matmul::get(device, name(), plan_.to_vectors(true))),
        projections_(add_scratch(plan_.vector_bytes(3 * plan_.pairs))),
        diff_destination_(add_scratch(plan_.vector_bytes(plan_.pairs))),
        gradients_(add_scratch(plan_.vector_bytes(3 * plan_.pairs))),
        means_(add_scratch(plan_.saved_bytes())),
        scores_(add_scratch(plan_.score_bytes(DType::f32))),
        probabilities_(add_scratch(plan_.score_bytes(desc.dtype))),
        workspace_(
            add_scratch(std::max({to_scores_->workspace_bytes(), to_vectors_->workspace_bytes(),
                                  to_other_vectors_->workspace_bytes()}))) {
    set_implementation(to_scores_->description() + ", softmax and its gradient by CUDA kernels",
                       to_scores_->chosen_by());
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    std::byte* scratch = stream.scratch();
    gather_heads(plan_.projections(), arguments[0], scratch + projections_, stream.handle());
    gather_heads(plan_.vectors, arguments[2], scratch + diff_destination_, stream.handle());
    mean_gradients(plan_.vectors, arguments[1], arguments[2], floats(scratch + means_),
                   stream.handle());
    for (std::int64_t pair = 0; pair < plan_.pairs; pair += plan_.slice) {
      differentiate(stream, pair, floats(arguments[3]) + pair * plan_.vectors.sequence);
    }
    scatter_heads(plan_.projections(), scratch + gradients_, arguments[4], stream.handle());
  }

 private:
  void differentiate(const CudaStream& stream, std::int64_t pair, const float* log_sums) const {
    std::byte* scratch = stream.scratch();
    const std::size_t all = plan_.vector_bytes(plan_.pairs);
    std::byte* queries = scratch + projections_ + plan_.vector_bytes(pair);
    std::byte* diff_queries = scratch + gradients_ + plan_.vector_bytes(pair);
    std::byte* diff = scratch + diff_destination_ + plan_.vector_bytes(pair);
    std::byte* scores = scratch + scores_;
    std::byte* probabilities = scratch + probabilities_;
    const auto multiply = [&](const std::unique_ptr<Matmul>& product, const std::byte* a,
                              const std::byte* b, std::byte* c) {
      product->run(stream.handle(), {a, b, c}, scratch + workspace_);
    };
    multiply(to_scores_, queries, queries + all, scores);
    restore_probabilities(plan_.scores, floats(scores), log_sums, probabilities, stream.handle());
    multiply(to_other_vectors_, probabilities, diff, diff_queries + 2 * all);
    multiply(to_scores_, diff, queries + 2 * all, scores);
    differentiate_scores(plan_.scores, floats(scores),
                         floats(scratch + means_) + pair * plan_.vectors.sequence, probabilities,
                         stream.handle());
    multiply(to_vectors_, probabilities, queries + all, diff_queries);
    multiply(to_other_vectors_, probabilities, queries, diff_queries + all);
  }

  AttentionPlan plan_;
  std::unique_ptr<Matmul> to_scores_;
  std::unique_ptr<Matmul> to_vectors_;
  std::unique_ptr<Matmul> to_other_vectors_;  // product with the first factor transposed
  // Offsets in scratch memory.
  std::size_t projections_;
  std::size_t diff_destination_;
  std::size_t gradients_;
  std::size_t means_;
  std::size_t scores_;         // later the gradients of the probabilities
  std::size_t probabilities_;  // later the gradients of the scores
  std::size_t workspace_;
};

}  // namespace

Planned plan(CudaDevice& device, const AttentionForward& desc) {
  return std::make_unique<AttentionForwardOp>(device, desc);
}

Planned plan(CudaDevice& device, const AttentionBackward& desc) {
  return std::make_unique<AttentionBackwardOp>(device, desc);
}

}  // namespace parbench::cuda
