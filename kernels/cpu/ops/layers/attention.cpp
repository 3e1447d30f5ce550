// Attention as products of blocks of queries with the keys that they attend to. Each thread
// processes one sample and head at a time.
//
// The vectors of a head are first copied to dense matrices, because oneDNN's fast products (brgemm)
// require them. For strided matrices oneDNN uses a kernel that allocates memory at every call
// (docs/decisions/operations.md).
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/element.h"
#include "kernels/base/round_up.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/layers/attention_loops.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

struct AttentionSizes {
  template <class Desc>
  explicit AttentionSizes(const Desc& desc)
      : pairs(static_cast<std::size_t>(desc.batch * desc.heads)),
        sequence(static_cast<std::size_t>(desc.sequence)),
        heads(static_cast<std::size_t>(desc.heads)),
        head_size(static_cast<std::size_t>(desc.head_size)),
        causal(desc.causal),
        dtype(desc.dtype),
        scale(static_cast<float>(1 / std::sqrt(static_cast<double>(desc.head_size)))) {}

  [[nodiscard]] std::size_t width() const { return heads * head_size; }
  // number of elements of the vectors of one sample and head
  [[nodiscard]] std::size_t vectors() const { return sequence * head_size; }
  /// Returns the index of the first element of a sample and head (`pair`) in a tensor with `parts`
  /// vectors of each head at each position. `part`: index of the vector, such as 1 for the keys
  /// among queries, keys and values.
  [[nodiscard]] std::size_t begin(std::size_t pair, std::size_t parts, std::size_t part) const {
    return (pair / heads * sequence * parts + part) * width() + pair % heads * head_size;
  }

  std::size_t pairs;  // number of combinations of a sample and a head
  std::size_t sequence;
  std::size_t heads;
  std::size_t head_size;
  bool causal;
  DType dtype;
  float scale;
};

/// Returns blocks of 64 queries, or larger blocks so that there are at most 16, because each block
/// needs its own planned products. A causal block excludes the keys after its last query.
std::vector<ScoreBlock> score_blocks(const AttentionSizes& sizes) {
  constexpr std::size_t min_rows = 64;
  constexpr std::size_t max_blocks = 16;
  const std::size_t rows = round_up((sizes.sequence + max_blocks - 1) / max_blocks, min_rows);
  std::vector<ScoreBlock> blocks;
  for (std::size_t first = 0; first < sizes.sequence; first += rows) {
    const std::size_t end = std::min(first + rows, sizes.sequence);
    blocks.push_back({.first = first,
                      .rows = end - first,
                      .keys = sizes.causal ? end : sizes.sequence,
                      .causal = sizes.causal,
                      .scale = sizes.scale});
  }
  return blocks;
}

/// c {m, n} [+]= op(a) {m, k} · op(b) {k, n}; all matrices are dense.
struct BlockProduct {
  std::size_t m;
  std::size_t n;
  std::size_t k;
  bool transpose_a;
  bool transpose_b;
  DType input;
  DType output;
  bool accumulate;
};

memory::desc dense_matrix(std::size_t rows, std::size_t columns, bool transposed, DType dtype) {
  const auto height = static_cast<std::int64_t>(rows);
  const auto width = static_cast<std::int64_t>(columns);
  const memory::dims strides = transposed ? memory::dims{1, height} : memory::dims{width, 1};
  return {{height, width}, data_type_of(dtype), strides};
}

dnnl::matmul::primitive_desc plan_block(const BlockProduct& product) {
  dnnl::primitive_attr attributes = user_scratchpad();
  if (product.accumulate) {
    dnnl::post_ops operations;
    operations.append_sum(1.0F);
    attributes.set_post_ops(operations);
  }
  return {{dense_matrix(product.m, product.k, product.transpose_a, product.input),
           dense_matrix(product.k, product.n, product.transpose_b, product.input),
           dense_matrix(product.m, product.n, false, product.output)},
          attributes,
          engine()};
}

/// Makes oneDNN plan products for one thread while the object exists. oneDNN divides a product
/// among the threads of the planning thread's team, but inside a parallel region only one thread
/// executes the product.
class PlannedForOneThread {
 public:
  PlannedForOneThread() : threads_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~PlannedForOneThread() { omp_set_num_threads(threads_); }
  PlannedForOneThread(const PlannedForOneThread&) = delete;
  PlannedForOneThread& operator=(const PlannedForOneThread&) = delete;

 private:
  int threads_;
};

/// Base of the forward and the backward pass. Plans blocks of scores, their products, and scratch
/// memory for each thread.
class AttentionOp : public CpuOp {
 public:
  AttentionOp(const OpDesc& desc, const AttentionSizes& sizes)
      : CpuOp(desc),
        sizes_(sizes),
        blocks_(score_blocks(sizes)),
        calls_(static_cast<std::size_t>(omp_get_max_threads())) {
    add_tensors(*this, sizes.pairs * sizes.sequence * sizeof(float));
  }

 protected:
  /// Products and memory of one thread.
  struct Worker {
    const Execution& execution;
    std::byte* memory;
    std::vector<PrimitiveCall>& calls;
  };

  /// Adds a product. `multiply` refers to products by the order in which they are added.
  void add_product(const BlockProduct& product) {
    const PlannedForOneThread one_thread;
    const auto chosen = plan_block(product);
    const dnnl::matmul primitive(chosen);
    for (std::vector<PrimitiveCall>& calls : calls_) {
      PrimitiveCall& call = calls.emplace_back(chosen, primitive);
      call.add(DNNL_ARG_SRC, chosen.src_desc());
      call.add(DNNL_ARG_WEIGHTS, chosen.weights_desc());
      call.add(DNNL_ARG_DST, chosen.dst_desc());
    }
    product_scratch_ = std::max(product_scratch_, calls_[0].back().scratch_bytes());
    add_name(chosen.impl_info_str());
  }

  /// Reserves memory for each thread; returns its offset in the thread's memory.
  std::size_t add_memory(std::size_t bytes) {
    const std::size_t begin = worker_bytes_;
    worker_bytes_ += round_up(bytes, scratch_alignment);
    return begin;
  }
  std::size_t add_elements(std::size_t count) { return add_memory(count * size_of(sizes_.dtype)); }

  /// Called after all products and memory are added.
  void finish_plan() {
    product_memory_ = add_memory(product_scratch_);
    add_scratch(worker_bytes_ * calls_.size());
    set_kernel(names_);
  }

  void multiply(const Worker& worker, std::size_t product, std::byte* a, std::byte* b,
                std::byte* c) const {
    worker.calls[product].run(worker.execution, std::array{a, b, c},
                              worker.memory + product_memory_);
  }

  /// Copies the vectors of a sample and head to a dense matrix.
  void gather(std::byte* to, const std::byte* from, std::size_t pair, std::size_t parts,
              std::size_t part) const {
    const std::size_t element = size_of(sizes_.dtype);
    const std::size_t bytes = sizes_.head_size * element;
    const std::size_t next = parts * sizes_.width() * element;
    from += sizes_.begin(pair, parts, part) * element;
    for (std::size_t i = 0; i < sizes_.sequence; ++i) {
      std::memcpy(to + i * bytes, from + i * next, bytes);
    }
  }

  /// Calls function(worker, pair) for each sample and head, divided among the threads.
  template <class Function>
  void for_each_pair(const Execution& execution, const Function& function) {
    const auto run = [&](std::size_t thread, std::size_t begin, std::size_t end) {
      const Worker worker{execution, execution.scratch + thread * worker_bytes_, calls_[thread]};
      for (std::size_t pair = begin; pair < end; ++pair) function(worker, pair);
    };
    if (execution.threads == 1) return run(0, 0, sizes_.pairs);
#pragma omp parallel num_threads(execution.threads)
    {
      const auto team = static_cast<std::size_t>(omp_get_num_threads());
      const auto self = static_cast<std::size_t>(omp_get_thread_num());
      run(self, sizes_.pairs * self / team, sizes_.pairs * (self + 1) / team);
    }
  }

  [[nodiscard]] std::size_t score_count() const {
    std::size_t count = 0;
    for (const ScoreBlock& block : blocks_) count = std::max(count, block.rows * block.keys);
    return count;
  }

  AttentionSizes sizes_;
  std::vector<ScoreBlock> blocks_;

 private:
  void add_name(const std::string& name) {
    if (names_.find(name) != std::string::npos) return;
    names_ += (names_.empty() ? "" : " + ") + name;
  }

  std::vector<std::vector<PrimitiveCall>> calls_;  // by thread and product
  std::string names_;
  std::size_t worker_bytes_ = 0;
  std::size_t product_scratch_ = 0;
  std::size_t product_memory_ = 0;
};

class AttentionForwardOp final : public AttentionOp {
 public:
  explicit AttentionForwardOp(const AttentionForward& desc)
      : AttentionOp(desc, AttentionSizes(desc)) {
    queries_ = add_elements(sizes_.vectors());
    keys_ = add_elements(sizes_.vectors());
    values_ = add_elements(sizes_.vectors());
    scores_ = add_memory(score_count() * sizeof(float));
    probabilities_ = add_elements(score_count());
    result_ = add_memory(sizes_.vectors() * sizeof(float));
    const std::size_t size = sizes_.head_size;
    for (const auto& [first, rows, keys, causal, scale] : blocks_) {
      add_product({rows, keys, size, false, true, sizes_.dtype, DType::f32, false});
      add_product({rows, size, keys, false, false, sizes_.dtype, DType::f32, false});
    }
    finish_plan();
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    for_each_pair(execution, [&](const Worker& worker, std::size_t pair) {
      with_element(sizes_.dtype, [&]<class Element>(Element /*unused*/) {
        attend<Element>(worker, pair, arguments);
      });
    });
  }

 private:
  template <class Element>
  void attend(const Worker& worker, std::size_t pair, std::span<std::byte* const> arguments) const {
    std::byte* memory = worker.memory;
    gather(memory + queries_, arguments[0], pair, 3, 0);
    gather(memory + keys_, arguments[0], pair, 3, 1);
    gather(memory + values_, arguments[0], pair, 3, 2);
    float* log_sums = floats(arguments[2]) + pair * sizes_.sequence;
    const std::size_t row = sizes_.head_size * sizeof(float);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const ScoreBlock& block = blocks_[i];
      std::byte* own_queries = memory + queries_ + block.first * sizes_.head_size * sizeof(Element);
      multiply(worker, 2 * i, own_queries, memory + keys_, memory + scores_);
      soften_rows(reinterpret_cast<Element*>(memory + probabilities_), log_sums + block.first,
                  floats(memory + scores_), block);
      multiply(worker, 2 * i + 1, memory + probabilities_, memory + values_,
               memory + result_ + block.first * row);
    }
    scatter_rows(reinterpret_cast<Element*>(arguments[1]) + sizes_.begin(pair, 1, 0),
                 sizes_.width(), floats(memory + result_), sizes_.sequence, sizes_.head_size);
  }

  // Offsets in a thread's memory.
  std::size_t queries_ = 0;
  std::size_t keys_ = 0;
  std::size_t values_ = 0;
  std::size_t scores_ = 0;
  std::size_t probabilities_ = 0;
  std::size_t result_ = 0;
};

class AttentionBackwardOp final : public AttentionOp {
 public:
  explicit AttentionBackwardOp(const AttentionBackward& desc)
      : AttentionOp(desc, AttentionSizes(desc)) {
    for (std::size_t& vectors : vectors_) vectors = add_elements(sizes_.vectors());
    for (std::size_t& gradient : gradients_) {
      gradient = add_memory(sizes_.vectors() * sizeof(float));
    }
    means_ = add_memory(sizes_.sequence * sizeof(float));
    scores_ = add_memory(score_count() * sizeof(float));
    probabilities_ = add_elements(score_count());
    for (const ScoreBlock& block : blocks_) add_products(block.rows, block.keys);
    finish_plan();
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    for_each_pair(execution, [&](const Worker& worker, std::size_t pair) {
      with_element(sizes_.dtype, [&]<class Element>(Element /*unused*/) {
        differentiate<Element>(worker, pair, arguments);
      });
    });
  }

 private:
  enum Product { scores, diff_values, diff_probabilities, diff_queries, diff_keys, products };

  /// Adds products in the order of Product.
  void add_products(std::size_t rows, std::size_t keys) {
    const DType dtype = sizes_.dtype;
    const std::size_t size = sizes_.head_size;
    add_product({rows, keys, size, false, true, dtype, DType::f32, false});
    add_product({keys, size, rows, true, false, dtype, DType::f32, true});
    add_product({rows, keys, size, false, true, dtype, DType::f32, false});
    add_product({rows, size, keys, false, false, dtype, DType::f32, false});
    add_product({keys, size, rows, true, false, dtype, DType::f32, true});
  }

  template <class Element>
  void differentiate(const Worker& worker, std::size_t pair,
                     std::span<std::byte* const> arguments) const {
    std::byte* memory = worker.memory;
    for (std::size_t part = 0; part < 3; ++part) {
      gather(memory + vectors_[part], arguments[0], pair, 3, part);
      std::memset(memory + gradients_[part], 0, sizes_.vectors() * sizeof(float));
    }
    gather(memory + vectors_[3], arguments[2], pair, 1, 0);
    multiply_rows(floats(memory + means_), reinterpret_cast<const Element*>(memory + vectors_[3]),
                  reinterpret_cast<const Element*>(arguments[1]) + sizes_.begin(pair, 1, 0),
                  sizes_.width(), sizes_.sequence, sizes_.head_size);
    const float* log_sums = floats(arguments[3]) + pair * sizes_.sequence;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      differentiate_block<Element>(worker, i, log_sums + blocks_[i].first);
    }
    for (std::size_t part = 0; part < 3; ++part) {
      scatter_rows(reinterpret_cast<Element*>(arguments[4]) + sizes_.begin(pair, 3, part),
                   3 * sizes_.width(), floats(memory + gradients_[part]), sizes_.sequence,
                   sizes_.head_size);
    }
  }

  template <class Element>
  void differentiate_block(const Worker& worker, std::size_t index, const float* log_sums) const {
    const ScoreBlock& block = blocks_[index];
    const std::size_t first = index * products;
    const std::size_t begin = block.first * sizes_.head_size;
    std::byte* memory = worker.memory;
    std::byte* own_queries = memory + vectors_[0] + begin * sizeof(Element);
    std::byte* own_diff = memory + vectors_[3] + begin * sizeof(Element);
    std::byte* own_scores = memory + scores_;
    std::byte* own = memory + probabilities_;
    auto* weights = reinterpret_cast<Element*>(own);
    multiply(worker, first + scores, own_queries, memory + vectors_[1], own_scores);
    restore_rows(weights, log_sums, floats(own_scores), block);
    multiply(worker, first + diff_values, own, own_diff, memory + gradients_[2]);
    multiply(worker, first + diff_probabilities, own_diff, memory + vectors_[2], own_scores);
    differentiate_rows(weights, floats(own_scores), floats(memory + means_) + block.first, block);
    multiply(worker, first + diff_queries, own, memory + vectors_[1],
             memory + gradients_[0] + begin * sizeof(float));
    multiply(worker, first + diff_keys, own, own_queries, memory + gradients_[1]);
  }

  // Offsets in a thread's memory.
  std::array<std::size_t, 4> vectors_{};    // queries, keys, values, diff_destination
  std::array<std::size_t, 3> gradients_{};  // gradients of queries, keys and values, f32
  std::size_t means_ = 0;
  std::size_t scores_ = 0;         // later the gradients of the probabilities
  std::size_t probabilities_ = 0;  // later the gradients of the scores
};

}  // namespace

Planned plan(const AttentionForward& desc) { return std::make_unique<AttentionForwardOp>(desc); }

Planned plan(const AttentionBackward& desc) { return std::make_unique<AttentionBackwardOp>(desc); }

}  // namespace parbench::cpu
