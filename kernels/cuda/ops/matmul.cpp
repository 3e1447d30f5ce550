// Plans and runs products with cuBLASLt.
#include "kernels/cuda/ops/matmul.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/runtime/error.h"
#include "kernels/cuda/tuning/autotuner.h"
#include "kernels/cuda/tuning/tuning.h"

namespace parbench::cuda {
namespace {

/// Alignment for the widest loads (16-byte vectors, and the tensor copies of Hopper). cuBLASLt's
/// default of 256 is more than views of arenas and of rows guarantee.
constexpr std::uint32_t vector_alignment = 16;

int current_device_attribute(cudaDeviceAttr which) {
  int ordinal = 0;
  PARBENCH_CUDA(cudaGetDevice(&ordinal));
  int value = 0;
  PARBENCH_CUDA(cudaDeviceGetAttribute(&value, which, ordinal));
  return value;
}

/// Returns the maximum workspace in bytes, which is cuBLAS's default and recommendation
/// (cublasSetWorkspace): from Hopper on, kernels that divide k among blocks benefit from more
/// memory.
std::uint64_t workspace_limit() {
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
  constexpr int hopper = 9;
  return (current_device_attribute(cudaDevAttrComputeCapabilityMajor) >= hopper ? 32 : 4) *
         mebibyte;
}

cudaDataType_t data_type_of(DType dtype) { return dtype == DType::f32 ? CUDA_R_32F : CUDA_R_16BF; }

std::uint32_t bytes_of(DType dtype) { return static_cast<std::uint32_t>(size_of(dtype)); }

/// A matrix as stored, row-major.
struct Stored {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_length = 0;

  [[nodiscard]] TensorDesc tensor(DType dtype, std::int64_t batch) const {
    return canonical({batch, rows, row_length}, dtype);
  }
};

Stored stored(std::int64_t rows, std::int64_t columns, bool transposed, std::int64_t row_length) {
  if (transposed) std::swap(rows, columns);
  return {rows, columns, row_length > 0 ? row_length : columns};
}

Stored stored_a(const Product& product) {
  return stored(product.m, product.k, product.transpose_a, product.row_a);
}

Stored stored_b(const Product& product) {
  return stored(product.k, product.n, product.transpose_b, product.row_b);
}

// cuBLASLt is column-major, so a row-major matrix is described as its transpose.
void init(cublasLtMatrixLayoutOpaque_t& layout, DType dtype, const Stored& matrix,
          std::int64_t batch) {
  PARBENCH_CUDA(cublasLtMatrixLayoutInit(
      &layout, data_type_of(dtype), static_cast<std::uint64_t>(matrix.columns),
      static_cast<std::uint64_t>(matrix.rows), matrix.row_length));
  if (batch == 1) return;
  const auto count = static_cast<std::int32_t>(batch);
  const std::int64_t stride = matrix.rows * matrix.row_length;
  PARBENCH_CUDA(cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                 &count, sizeof count));
  PARBENCH_CUDA(cublasLtMatrixLayoutSetAttribute(
      &layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
}

template <class Value>
void set(cublasLtMatmulDescOpaque_t& operation, cublasLtMatmulDescAttributes_t attribute,
         const Value& value) {
  PARBENCH_CUDA(cublasLtMatmulDescSetAttribute(&operation, attribute, &value, sizeof value));
}

template <class Value>
void set(cublasLtMatmulPreferenceOpaque_t& preference,
         cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
  PARBENCH_CUDA(cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof value));
}

/// Returns an attribute of an algorithm; zero if the algorithm lacks it.
template <class Value>
Value setting(const cublasLtMatmulAlgo_t& algorithm,
              cublasLtMatmulAlgoConfigAttributes_t attribute) {
  Value value{};
  std::size_t written = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, &written);
  return status == CUBLAS_STATUS_SUCCESS ? value : Value{};
}

bool aligned(const void* address, std::uint32_t alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

/// Returns " (transposed)", " (rows of 64)", or nothing for a dense operand.
std::string storage(bool transposed, std::int64_t row_length) {
  std::string text = transposed ? " (transposed)" : "";
  if (row_length > 0) text += fmt::format(" (rows of {})", row_length);
  return text;
}

/// Returns a text with everything that affects the choice of an algorithm.
std::string described(const Product& product) {
  return fmt::format(
      "{}{}x{} = {}x{}{} by {}x{}{} in {}{}{}{}",
      product.batch == 1 ? "" : fmt::format("{} products ", product.batch), product.m, product.n,
      product.m, product.k, storage(product.transpose_a, product.row_a), product.k, product.n,
      storage(product.transpose_b, product.row_b),
      to_string(NumberFormat{product.input, product.math}),
      product.input == product.output ? "" : fmt::format(" to {}", to_string(product.output)),
      product.bias ? " with a bias" : "", product.accumulate ? " added to what is there" : "");
}

/// Returns the type of arithmetic. TF32 must be allowed for f32 inputs; bf16 needs no such setting.
cublasComputeType_t compute_type_of(const Product& product) {
  const bool tf32 =
      NumberFormat{product.input, product.math} == NumberFormat{DType::f32, MathMode::tf32};
  return tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

/// Returns the tensors in the order of ProductAddresses.
std::vector<TensorDesc> tensors_of(const Product& product) {
  std::vector<TensorDesc> tensors{stored_a(product).tensor(product.input, product.batch),
                                  stored_b(product).tensor(product.input, product.batch),
                                  canonical({product.batch, product.m, product.n}, product.output)};
  if (product.bias) tensors.push_back(canonical({product.n}, product.output));
  return tensors;
}

template <class Item>
std::optional<Item> first_of(const std::vector<Item>& items) {
  return items.empty() ? std::nullopt : std::optional(items.front());
}

}  // namespace

std::unique_ptr<Matmul> Matmul::find(CudaDevice& device, const Product& product) {
  std::unique_ptr<Matmul> matmul(new Matmul(device, product));
  if (!matmul->aligned_) return nullptr;
  return matmul;
}

std::unique_ptr<Matmul> Matmul::get(CudaDevice& device, std::string_view operation,
                                    const Product& product) {
  auto matmul = find(device, product);
  if (matmul) return matmul;
  throw Unsupported(
      fmt::format("{}: cuBLASLt has no algorithm for {} on {}; use f32, or sizes "
                  "that are multiples of 8",
                  operation, described(product), device.info().name));
}

Matmul::Matmul(CudaDevice& device, const Product& product)
    : device_(device), handle_(device.cublas()), product_(product) {
  describe();
  any_ = first_of(search(bytes_of(product_.input), bytes_of(product_.output)));
  const std::vector<Algorithm> algorithms = search(vector_alignment, vector_alignment);
  if (const auto choice = choose(algorithms)) {
    aligned_ = algorithms[choice->index];
    chosen_by_ = choice->by;
  } else {
    aligned_ = any_;
  }
}

// Passes b as the library's first operand and a as its second: cᵀ = op(b)ᵀ·op(a)ᵀ.
void Matmul::describe() {
  PARBENCH_CUDA(cublasLtMatmulDescInit(&operation_, compute_type_of(product_), CUDA_R_32F));
  const auto operation_of = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSA, operation_of(product_.transpose_b));
  set(operation_, CUBLASLT_MATMUL_DESC_TRANSB, operation_of(product_.transpose_a));
  if (product_.bias) set(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  const int multiprocessors = device_.multiprocessors();
  if (multiprocessors < current_device_attribute(cudaDevAttrMultiProcessorCount)) {
    set(operation_, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, multiprocessors);
  }
  init(a_, product_.input, stored_a(product_), product_.batch);
  init(b_, product_.input, stored_b(product_), product_.batch);
  init(c_, product_.output, stored(product_.m, product_.n, false, 0), product_.batch);
}

void Matmul::set_bias(const void* address) {
  set(operation_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, address);
}

std::vector<Matmul::Algorithm> Matmul::search(std::uint32_t input_alignment,
                                              std::uint32_t output_alignment) {
  // The search derives the alignment of the bias from its address, which it does not dereference.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a number in place of an address
  if (product_.bias) set_bias(reinterpret_cast<const void*>(std::uintptr_t{output_alignment}));
  cublasLtMatmulPreferenceOpaque_t preference{};
  PARBENCH_CUDA(cublasLtMatmulPreferenceInit(&preference));
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_limit());
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, input_alignment);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, input_alignment);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, output_alignment);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, output_alignment);
  // If k is divided, partial sums are f32 and added in a fixed order.
  set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  std::array<cublasLtMatmulHeuristicResult_t, TuningLimits{}.candidates> results{};
  int count = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle_, &operation_, &b_, &a_, &c_, &c_, &preference,
                                     static_cast<int>(results.size()), results.data(), &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {};
  PARBENCH_CUDA(status);
  std::vector<Algorithm> algorithms;
  for (const auto& result : std::span(results).first(static_cast<std::size_t>(count))) {
    if (result.state == CUBLAS_STATUS_SUCCESS) {
      algorithms.push_back({result.algo, result.workspaceSize});
    }
  }
  return algorithms;
}

std::optional<Choice> Matmul::choose(const std::vector<Algorithm>& algorithms) {
  if (algorithms.empty()) return std::nullopt;
  Autotuner* tuner = device_.autotuner();
  if (tuner == nullptr) return library_choice(0, false);
  const auto candidate = [&](std::size_t index) -> std::optional<TuningCandidate> {
    const Algorithm& algorithm = algorithms[index];
    return TuningCandidate{
        algorithm.workspace,
        [&](CudaStream& stream, std::span<std::byte* const> tensors, std::byte* workspace) {
          const ProductAddresses at{tensors[0], tensors[1], tensors[2],
                                    product_.bias ? tensors[3] : nullptr};
          run_with(algorithm, stream.handle(), at, workspace);
        }};
  };
  const auto fastest =
      tuner->choose(described(product_), tensors_of(product_), algorithms.size(), candidate);
  return fastest ? Choice{*fastest, ChosenBy::measuring} : library_choice(0, true);
}

std::size_t Matmul::workspace_bytes() const {
  return std::max(aligned_->workspace, any_ ? any_->workspace : 0);
}

std::string Matmul::text_of(const Algorithm& algorithm) {
  const auto number = [&](auto attribute) {
    return setting<std::uint32_t>(algorithm.choice, attribute);
  };
  const auto id = setting<std::int32_t>(algorithm.choice, CUBLASLT_ALGO_CONFIG_ID);
  const auto parts = setting<std::int32_t>(algorithm.choice, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
  const auto cluster =
      setting<std::uint16_t>(algorithm.choice, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID);
  return fmt::format("algorithm {}, tile {}, stages {}, cluster {}, split-K {}, workspace {}", id,
                     number(CUBLASLT_ALGO_CONFIG_TILE_ID), number(CUBLASLT_ALGO_CONFIG_STAGES_ID),
                     cluster, parts, algorithm.workspace);
}

std::string Matmul::description() const {
  const std::string first = text_of(*aligned_);
  const std::string second = any_ ? text_of(*any_) : "none";
  if (first == second) return "cuBLASLt " + first;
  return fmt::format("cuBLASLt {}; for addresses not aligned to {} bytes: {}", first,
                     vector_alignment, second);
}

const Matmul::Algorithm& Matmul::algorithm_for(const ProductAddresses& at) const {
  const std::array<const void*, 4> addresses{at.a, at.b, at.c, at.bias};
  const bool all_aligned = std::ranges::all_of(
      addresses, [](const void* address) { return aligned(address, vector_alignment); });
  if (all_aligned) return *aligned_;
  if (any_) return *any_;
  throw Error(fmt::format(
      "cuBLASLt needs addresses aligned to {} bytes for {}; use sizes that are multiples of {}",
      vector_alignment, described(product_), vector_alignment / bytes_of(product_.input)));
}

void Matmul::run(cudaStream_t stream, const ProductAddresses& at, std::byte* workspace) {
  run_with(algorithm_for(at), stream, at, workspace);
}

void Matmul::run_with(const Algorithm& algorithm, cudaStream_t stream, const ProductAddresses& at,
                      std::byte* workspace) {
  if (product_.bias) set_bias(at.bias);
  const float alpha = 1;
  const float beta = product_.accumulate || at.accumulate ? 1.0F : 0.0F;
  PARBENCH_CUDA(cublasLtMatmul(handle_, &operation_, &alpha, at.b, &b_, at.a, &a_, &beta, at.c, &c_,
                               at.c, &c_, &algorithm.choice, workspace, algorithm.workspace,
                               stream));
}

}  // namespace parbench::cuda
