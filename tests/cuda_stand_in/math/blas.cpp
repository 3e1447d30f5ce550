// cuBLASLt's products by plain loops.
#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "tests/cuda_emulation/elements.h"
#include "tests/cuda_stand_in/objects.h"
#include "tests/cuda_stand_in/stand_in.h"

struct cublasLtContext : parbench::stand_in::Object {
  explicit cublasLtContext(int ordinal) : Object("cuBLASLt handle"), device(ordinal) {}
  int device;
};

namespace parbench::stand_in {
namespace {

// What the vendor's opaque structures hold here.
struct Layout {
  cudaDataType type;
  std::int32_t batch;
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t next_column;
  std::int64_t next_matrix;
};

struct Operation {
  cublasComputeType_t compute;
  cublasOperation_t a;
  cublasOperation_t b;
  cublasLtEpilogue_t epilogue;
  const void* bias;
  std::int32_t multiprocessors;
};

struct Preference {
  std::uint64_t workspace;
  std::array<std::uint32_t, 4> alignments;  // of a, b, c and d
  std::uint32_t reductions;
};

/// Algorithms differ in the order of their sums: `parts` of k are added up one after the other, in
/// the workspace where there are several.
struct Algorithm {
  std::int32_t id;
  std::int32_t parts;
  std::uint64_t workspace;
  std::uint32_t alignment;
};

template <class Ours, class Theirs>
Ours* as(Theirs* opaque) {
  static_assert(sizeof(Ours) <= sizeof(Theirs) && std::is_trivially_copyable_v<Ours>);
  return reinterpret_cast<Ours*>(opaque);
}

/// An attribute of an opaque structure, and the field that holds it.
struct Attribute {
  template <class Field>
  Attribute(int name, Field& field) : number(name), at(&field), bytes(sizeof field) {}
  int number;
  void* at;
  std::size_t bytes;
};

/// The field of an attribute of that number of bytes; otherwise null.
void* field_of(int attribute, std::size_t bytes, std::initializer_list<Attribute> all) {
  for (const Attribute& one : all) {
    if (one.number == attribute && one.bytes == bytes) return one.at;
  }
  return nullptr;
}

cublasStatus_t store(int attribute, const void* from, std::size_t bytes,
                     std::initializer_list<Attribute> all) {
  void* to = field_of(attribute, bytes, all);
  if (to == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

DType dtype_of(cudaDataType type) { return type == CUDA_R_32F ? DType::f32 : DType::bf16; }
std::size_t bytes_of(cudaDataType type) { return size_of(dtype_of(type)); }

float get(const std::byte* matrix, cudaDataType type, std::size_t index) {
  return emulation::element(matrix, dtype_of(type), static_cast<std::int64_t>(index));
}

/// As tensor cores read f32: 10 bits of the mantissa are left.
float to_tf32(float value) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000U) & 0xFFFFE000U);
}

struct Product {
  Operation operation;
  Layout a, b, d;
  float beta = 0;
  const std::byte* from_a = nullptr;
  const std::byte* from_b = nullptr;
  std::byte* to = nullptr;
  Algorithm algorithm{};
  float* workspace = nullptr;

  [[nodiscard]] std::size_t rows() const { return d.rows; }
  [[nodiscard]] std::size_t columns() const { return d.columns; }
  [[nodiscard]] std::size_t depth() const {
    return operation.a == CUBLAS_OP_N ? a.columns : a.rows;
  }
  [[nodiscard]] std::size_t other_depth() const {
    return operation.b == CUBLAS_OP_N ? b.rows : b.columns;
  }
};

/// Values of op(matrix), one column after the other.
std::vector<float> column_major(const Product& product, const Layout& layout,
                                cublasOperation_t operation, const std::byte* matrix) {
  const bool transposed = operation == CUBLAS_OP_T;
  const std::size_t rows = transposed ? layout.columns : layout.rows;
  const std::size_t columns = transposed ? layout.rows : layout.columns;
  const auto next = static_cast<std::size_t>(layout.next_column);
  const bool rounds = product.operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  std::vector<float> values(rows * columns);
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = 0; row < rows; ++row) {
      const float value =
          get(matrix, layout.type, transposed ? row * next + column : column * next + row);
      values[column * rows + row] = rounds ? to_tf32(value) : value;
    }
  }
  return values;
}

void multiply_one(const Product& product, std::size_t number) {
  const auto at = [&](auto* matrix, const Layout& layout) {
    return matrix + static_cast<std::size_t>(layout.next_matrix) * number * bytes_of(layout.type);
  };
  const std::vector<float> a =
      column_major(product, product.a, product.operation.a, at(product.from_a, product.a));
  const std::vector<float> b =
      column_major(product, product.b, product.operation.b, at(product.from_b, product.b));
  const std::size_t rows = product.rows();
  const std::size_t depth = product.depth();
  // Long sums of f32 in one go would be less exact than those of any library.
  constexpr std::size_t longest = 256;
  const std::size_t parts =
      std::max(static_cast<std::size_t>(product.algorithm.parts), (depth + longest - 1) / longest);
  std::byte* to = at(product.to, product.d);
  std::vector<float> sums(rows);
  for (std::size_t column = 0; column < product.columns(); ++column) {
    std::vector<float> total(rows, 0.0F);
    for (std::size_t part = 0; part < parts; ++part) {
      std::fill(sums.begin(), sums.end(), 0.0F);
      for (std::size_t i = part * depth / parts; i < (part + 1) * depth / parts; ++i) {
        const float factor = b[column * depth + i];
        for (std::size_t row = 0; row < rows; ++row) sums[row] += a[i * rows + row] * factor;
      }
      const bool uses_workspace = product.algorithm.workspace > 0;
      float* partial = uses_workspace ? product.workspace : sums.data();
      if (uses_workspace) std::memcpy(partial, sums.data(), rows * sizeof(float));
      for (std::size_t row = 0; row < rows; ++row) total[row] += partial[row];
    }
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t index = column * static_cast<std::size_t>(product.d.next_column) + row;
      float value = total[row];
      if (product.operation.epilogue == CUBLASLT_EPILOGUE_BIAS) {
        value += get(static_cast<const std::byte*>(product.operation.bias), product.d.type, row);
      }
      if (product.beta != 0) value += product.beta * get(to, product.d.type, index);
      emulation::set_element(to, dtype_of(product.d.type), static_cast<std::int64_t>(index), value);
    }
  }
}

/// Bytes from a matrix's first element to behind its last.
std::size_t extent(const Layout& layout) {
  const auto matrices = static_cast<std::size_t>(layout.batch - 1);
  return (matrices * static_cast<std::size_t>(layout.next_matrix) +
          (layout.columns - 1) * static_cast<std::size_t>(layout.next_column) + layout.rows) *
         bytes_of(layout.type);
}

bool are_consistent(const Product& product) {
  const bool a_fits =
      product.rows() == (product.operation.a == CUBLAS_OP_N ? product.a.rows : product.a.columns);
  const bool b_fits = product.columns() ==
                      (product.operation.b == CUBLAS_OP_N ? product.b.columns : product.b.rows);
  return a_fits && b_fits && product.depth() == product.other_depth() &&
         product.a.batch == product.d.batch && product.b.batch == product.d.batch;
}

}  // namespace
}  // namespace parbench::stand_in

using namespace parbench::stand_in;  // NOLINT(google-build-using-namespace): the vendor's functions

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  const Call call(__func__);
  *handle = make<cublasLtContext>(current_context()->device);
  return call.lost() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  const Call call(__func__, {handle});
  handle->alive = false;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED" : "cuBLASLt failed";
}

std::size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t description,
                                               std::size_t /*bytes*/, cublasComputeType_t compute,
                                               cudaDataType_t scale) {
  if (scale != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  *as<Operation>(description) = {
      compute, CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, nullptr, 0};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  auto& ours = *as<Operation>(description);
  return store(attribute, value, bytes,
               {{CUBLASLT_MATMUL_DESC_TRANSA, ours.a},
                {CUBLASLT_MATMUL_DESC_TRANSB, ours.b},
                {CUBLASLT_MATMUL_DESC_EPILOGUE, ours.epilogue},
                {CUBLASLT_MATMUL_DESC_BIAS_POINTER, ours.bias},
                {CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, ours.multiprocessors}});
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout,
                                                 std::size_t /*bytes*/, cudaDataType type,
                                                 std::uint64_t rows, std::uint64_t columns,
                                                 std::int64_t next_column) {
  if (type != CUDA_R_32F && type != CUDA_R_16BF) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (next_column < static_cast<std::int64_t>(rows)) return CUBLAS_STATUS_INVALID_VALUE;
  *as<Layout>(layout) = {type, 1, rows, columns, next_column, 0};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, std::size_t bytes) {
  auto& ours = *as<Layout>(layout);
  return store(attribute, value, bytes,
               {{CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, ours.batch},
                {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, ours.next_matrix}});
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference,
                                                     std::size_t /*bytes*/) {
  *as<Preference>(preference) = {0, {256, 256, 256, 256}, CUBLASLT_REDUCTION_SCHEME_MASK};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, std::size_t bytes) {
  auto& ours = *as<Preference>(preference);
  auto& [a, b, c, d] = ours.alignments;
  return store(attribute, value, bytes,
               {{CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, ours.workspace},
                {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, a},
                {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, b},
                {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, c},
                {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, d},
                {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, ours.reductions}});
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t /*c*/, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int wanted, cublasLtMatmulHeuristicResult_t results[],
    int* count) {
  const Call call(__func__, {handle});
  const Product product{.operation = *as<Operation>(description),
                        .a = *as<Layout>(a),
                        .b = *as<Layout>(b),
                        .d = *as<Layout>(d)};
  const auto& limits = *as<Preference>(preference);
  *count = 0;
  if (!are_consistent(product)) return CUBLAS_STATUS_INVALID_VALUE;
  constexpr std::uint32_t vector = 16;
  const auto& operation = product.operation;
  const bool bias_fits = operation.epilogue != CUBLASLT_EPILOGUE_BIAS ||
                         reinterpret_cast<std::uintptr_t>(operation.bias) % vector == 0;
  const bool vectors =
      bias_fits &&
      std::ranges::all_of(limits.alignments,
                          [](std::uint32_t alignment) { return alignment >= vector; }) &&
      std::ranges::all_of(std::array{product.a, product.b, product.d}, [](const Layout& one) {
        const auto bytes = static_cast<std::int64_t>(bytes_of(one.type));
        return one.next_column * bytes % vector == 0 && one.next_matrix * bytes % vector == 0;
      });
  const auto offer = [&](const Algorithm& algorithm) {
    if (*count == wanted || algorithm.workspace > limits.workspace) return;
    auto& result = results[(*count)++];
    result = {};
    *as<Algorithm>(&result.algo) = algorithm;
    result.workspaceSize = algorithm.workspace;
    result.state = CUBLAS_STATUS_SUCCESS;
  };
  const std::size_t columns = product.rows() * sizeof(float);
  if (vectors) {
    offer({21, 1, 0, vector});
    offer({22, 2, columns, vector});
  }
  offer({7, 1, 0, static_cast<std::uint32_t>(bytes_of(product.a.type))});
  return *count > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* opaque,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute,
                                                    void* value, std::size_t bytes,
                                                    std::size_t* written) {
  Algorithm algorithm = *as<const Algorithm>(opaque);
  const void* field = field_of(attribute, bytes,
                               {{CUBLASLT_ALGO_CONFIG_ID, algorithm.id},
                                {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, algorithm.parts}});
  if (field == nullptr) return CUBLAS_STATUS_NOT_SUPPORTED;
  std::memcpy(value, field, bytes);
  *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t /*c_layout*/, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* opaque,
                              void* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
  const Product product{.operation = *as<Operation>(description),
                        .a = *as<Layout>(a_layout),
                        .b = *as<Layout>(b_layout),
                        .d = *as<Layout>(d_layout),
                        .beta = *static_cast<const float*>(beta),
                        .from_a = static_cast<const std::byte*>(a),
                        .from_b = static_cast<const std::byte*>(b),
                        .to = static_cast<std::byte*>(d),
                        .algorithm = *as<const Algorithm>(opaque),
                        .workspace = static_cast<float*>(workspace)};
  {
    const Call call(__func__, {handle});
    if (stream != nullptr && handle->device != stream->context->device) {
      refuse(__func__, "handle and stream have two devices");
    }
  }
  if (!are_consistent(product) || *static_cast<const float*>(alpha) != 1 || c != d ||
      workspace_bytes < product.algorithm.workspace) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool adds_bias = product.operation.epilogue == CUBLASLT_EPILOGUE_BIAS;
  const void* bias = adds_bias ? product.operation.bias : nullptr;
  for (const void* address : {a, b, c, bias, static_cast<const void*>(workspace)}) {
    if (reinterpret_cast<std::uintptr_t>(address) % product.algorithm.alignment != 0) {
      return CUBLAS_STATUS_NOT_SUPPORTED;
    }
  }
  check_device_memory(__func__, handle->device, a, extent(product.a));
  check_device_memory(__func__, handle->device, b, extent(product.b));
  check_device_memory(__func__, handle->device, d, extent(product.d));
  check_device_memory(__func__, handle->device, workspace, product.algorithm.workspace);
  if (adds_bias)
    check_device_memory(__func__, handle->device, bias, product.rows() * bytes_of(product.d.type));
  const auto multiply_all = [product] {
    for (std::int32_t i = 0; i < product.d.batch; ++i) {
      multiply_one(product, static_cast<std::size_t>(i));
    }
  };
  const cudaError_t status = launch(stream, multiply_all, __func__);
  return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
