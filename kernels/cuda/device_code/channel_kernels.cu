// Biases, their gradients, and elementwise kernels.
#include <cuda_bf16.h>

#include "kernels/cuda/device_code/channel_kernels.h"
#include "kernels/cuda/runtime/launch.h"

namespace parbench::cuda {
namespace {

constexpr int vector_bytes = 16;
constexpr int max_lanes = 64;
constexpr std::int64_t max_chunks = 512;
constexpr std::int64_t enough_blocks = 132 * 8;  // 8 for each multiprocessor of an H100
constexpr std::int64_t rows_per_thread = 8;

template <typename T>
constexpr int per_vector = vector_bytes / static_cast<int>(sizeof(T));

template <typename T, int N>
struct alignas(N * sizeof(T)) Vector {
  T values[N];
};

__device__ float to_float(float value) { return value; }
__device__ float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ void assign(float& to, float value) { to = value; }
__device__ void assign(__nv_bfloat16& to, float value) { to = __float2bfloat16_rn(value); }

/// Loads N elements, with one access if `aligned`, otherwise one by one.
template <int N, typename T>
__device__ Vector<T, N> load_vector(const T* from, bool aligned) {
  if (aligned) return *reinterpret_cast<const Vector<T, N>*>(from);
  Vector<T, N> vector;
#pragma unroll
  for (int i = 0; i < N; ++i) vector.values[i] = from[i];
  return vector;
}

template <int N, typename T>
__device__ void store_vector(T* to, const Vector<T, N>& vector, bool aligned) {
  if (aligned) {
    *reinterpret_cast<Vector<T, N>*>(to) = vector;
    return;
  }
#pragma unroll
  for (int i = 0; i < N; ++i) to[i] = vector.values[i];
}

bool is_aligned(const void* address, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

/// Division of a matrix among blocks. Its columns are vectors of `per_column` channels; adjacent
/// threads process adjacent vectors of a row, so that a warp reads whole cache lines.
struct Tiling {
  dim3 block;
  std::int64_t column_blocks = 1;

  Tiling(std::int64_t channels, int per_column) {
    const std::int64_t columns = channels / per_column;
    unsigned int lanes = 1;
    while (lanes < columns && lanes < max_lanes) lanes *= 2;
    block = dim3(lanes, block_threads / lanes);
    column_blocks = (columns + lanes - 1) / lanes;
  }

  /// Returns the number of blocks that share the rows of the same columns.
  [[nodiscard]] std::int64_t chunks(std::int64_t rows) const {
    const std::int64_t per_block = std::int64_t{block.y} * rows_per_thread;
    const std::int64_t wanted = std::max<std::int64_t>(1, enough_blocks / column_blocks);
    return std::clamp<std::int64_t>((rows + per_block - 1) / per_block, 1,
                                    std::min(wanted, max_chunks));
  }
  [[nodiscard]] dim3 grid(std::int64_t row_chunks) const {
    return {static_cast<unsigned int>(column_blocks), static_cast<unsigned int>(row_chunks)};
  }
};

__device__ std::int64_t first_channel(int per_column) {
  return (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * per_column;
}
__device__ std::int64_t first_row() { return std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y; }
__device__ std::int64_t row_stride() { return std::int64_t{gridDim.y} * blockDim.y; }

template <typename T, int N>
__global__ void add_bias_kernel(T* tensor, const float* bias, std::int64_t rows,
                                std::int64_t channels, bool aligned) {
  const std::int64_t channel = first_channel(N);
  if (channel >= channels) return;
  float added[N];
#pragma unroll
  for (int i = 0; i < N; ++i) added[i] = bias[channel + i];
  for (std::int64_t row = first_row(); row < rows; row += row_stride()) {
    T* elements = tensor + row * channels + channel;
    Vector<T, N> vector = load_vector<N>(elements, aligned);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      assign(vector.values[i], to_float(vector.values[i]) + added[i]);
    }
    store_vector<N>(elements, vector, aligned);
  }
}

/// The blocks with the same y add their rows and write a row of `sums`.
template <typename T, int N>
__global__ void sum_kernel(float* sums, const T* tensor, std::int64_t rows, std::int64_t channels,
                           bool accumulate, bool aligned) {
  __shared__ float shared[N][block_threads];
  const std::int64_t channel = first_channel(N);
  float sum[N] = {};
  if (channel < channels) {
    for (std::int64_t row = first_row(); row < rows; row += row_stride()) {
      const Vector<T, N> vector = load_vector<N>(tensor + row * channels + channel, aligned);
#pragma unroll
      for (int i = 0; i < N; ++i) sum[i] += to_float(vector.values[i]);
    }
  }
  const unsigned int thread = threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
  for (int i = 0; i < N; ++i) shared[i][thread] = sum[i];
  __syncthreads();
  for (unsigned int half = blockDim.y / 2; half > 0; half /= 2) {
    if (threadIdx.y < half) {
#pragma unroll
      for (int i = 0; i < N; ++i) shared[i][thread] += shared[i][thread + half * blockDim.x];
    }
    __syncthreads();
  }
  if (threadIdx.y != 0 || channel >= channels) return;
  float* result = sums + std::int64_t{blockIdx.y} * channels + channel;
#pragma unroll
  for (int i = 0; i < N; ++i) result[i] = shared[i][thread] + (accumulate ? result[i] : 0.0F);
}

template <typename T, int N>
void launch_add_bias(T* tensor, const float* bias, const Pixels& pixels, cudaStream_t stream) {
  const Tiling tiling(pixels.channels, N);
  const dim3 grid = tiling.grid(tiling.chunks(pixels.rows));
  PARBENCH_LAUNCH(grid, tiling.block, stream, add_bias_kernel<T, N>, tensor, bias, pixels.rows,
                  pixels.channels, is_aligned(tensor, sizeof(T) * N));
}

template <typename T>
void add_bias_of(void* tensor, const float* bias, const Pixels& pixels, cudaStream_t stream) {
  constexpr int wide = per_vector<T>;
  T* values = static_cast<T*>(tensor);
  if (pixels.channels % wide == 0) return launch_add_bias<T, wide>(values, bias, pixels, stream);
  launch_add_bias<T, 1>(values, bias, pixels, stream);
}

template <typename T, int N>
void launch_sum(float* sums, const T* tensor, const Pixels& pixels, std::int64_t chunks,
                bool accumulate, cudaStream_t stream) {
  const Tiling tiling(pixels.channels, N);
  PARBENCH_LAUNCH(tiling.grid(chunks), tiling.block, stream, sum_kernel<T, N>, sums, tensor,
                  pixels.rows, pixels.channels, accumulate, is_aligned(tensor, sizeof(T) * N));
}

/// The vector width, and with it the order of additions, depends on the number of channels, but not
/// on the alignment.
template <typename T>
void sum_rows(float* sums, const T* tensor, const Pixels& pixels, std::int64_t chunks,
              bool accumulate, cudaStream_t stream) {
  constexpr int wide = per_vector<T>;
  if (pixels.channels % wide == 0) {
    launch_sum<T, wide>(sums, tensor, pixels, chunks, accumulate, stream);
  } else {
    launch_sum<T, 1>(sums, tensor, pixels, chunks, accumulate, stream);
  }
}

std::int64_t chunks_of(const Pixels& pixels) {
  const int wide = vector_bytes / static_cast<int>(size_of(pixels.dtype));
  return Tiling(pixels.channels, pixels.channels % wide == 0 ? wide : 1).chunks(pixels.rows);
}

__device__ std::int64_t first_index() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ std::int64_t index_stride() { return std::int64_t{gridDim.x} * blockDim.x; }

/// `vectors`: number of whole vectors; 0 if memory is not aligned for vectors.
__global__ void add_to_kernel(float* destination, const float* source, std::int64_t count,
                              std::int64_t vectors) {
  constexpr int wide = per_vector<float>;
  for (std::int64_t i = first_index(); i < vectors; i += index_stride()) {
    Vector<float, wide> sum = load_vector<wide>(destination + i * wide, true);
    const Vector<float, wide> added = load_vector<wide>(source + i * wide, true);
#pragma unroll
    for (int k = 0; k < wide; ++k) sum.values[k] += added.values[k];
    store_vector<wide>(destination + i * wide, sum, true);
  }
  for (std::int64_t i = vectors * wide + first_index(); i < count; i += index_stride()) {
    destination[i] += source[i];
  }
}

__global__ void widen_kernel(float* destination, const __nv_bfloat16* source, std::int64_t count,
                             std::int64_t vectors) {
  constexpr int wide = per_vector<float>;  // 8 bytes in, 16 out
  for (std::int64_t i = first_index(); i < vectors; i += index_stride()) {
    const Vector<__nv_bfloat16, wide> narrow = load_vector<wide>(source + i * wide, true);
    Vector<float, wide> wider;
#pragma unroll
    for (int k = 0; k < wide; ++k) wider.values[k] = to_float(narrow.values[k]);
    store_vector<wide>(destination + i * wide, wider, true);
  }
  for (std::int64_t i = vectors * wide + first_index(); i < count; i += index_stride()) {
    destination[i] = to_float(source[i]);
  }
}

}  // namespace

void add_bias(void* tensor, const float* bias, const Pixels& pixels, cudaStream_t stream) {
  if (pixels.dtype == DType::bf16) return add_bias_of<__nv_bfloat16>(tensor, bias, pixels, stream);
  add_bias_of<float>(tensor, bias, pixels, stream);
}

std::size_t sum_scratch_bytes(const Pixels& pixels) {
  return static_cast<std::size_t>(chunks_of(pixels) * pixels.channels) * sizeof(float);
}

void sum_pixels(float* sums, const void* tensor, const Pixels& pixels, bool accumulate,
                void* scratch, cudaStream_t stream) {
  const std::int64_t chunks = chunks_of(pixels);
  const bool one_pass = chunks == 1;
  auto* partial = one_pass ? sums : static_cast<float*>(scratch);
  const bool accumulate_here = one_pass && accumulate;
  if (pixels.dtype == DType::bf16) {
    sum_rows(partial, static_cast<const __nv_bfloat16*>(tensor), pixels, chunks, accumulate_here,
             stream);
  } else {
    sum_rows(partial, static_cast<const float*>(tensor), pixels, chunks, accumulate_here, stream);
  }
  if (one_pass) return;
  const Pixels partials{chunks, pixels.channels, DType::f32};
  sum_rows(sums, static_cast<const float*>(partial), partials, 1, accumulate, stream);
}

void add_to(float* destination, const float* source, std::int64_t count, cudaStream_t stream) {
  const bool aligned = is_aligned(destination, vector_bytes) && is_aligned(source, vector_bytes);
  const std::int64_t vectors = aligned ? count / per_vector<float> : 0;
  PARBENCH_LAUNCH(blocks_for(aligned ? vectors : count), block_threads, stream, add_to_kernel,
                  destination, source, count, vectors);
}

void widen(float* destination, const void* source, std::int64_t count, cudaStream_t stream) {
  const bool aligned =
      is_aligned(destination, vector_bytes) && is_aligned(source, vector_bytes / 2);
  const std::int64_t vectors = aligned ? count / per_vector<float> : 0;
  PARBENCH_LAUNCH(blocks_for(aligned ? vectors : count), block_threads, stream, widen_kernel,
                  destination, static_cast<const __nv_bfloat16*>(source), count, vectors);
}

}  // namespace parbench::cuda
