// Programs without a reduction: one thread per element, or per group of adjacent elements.
#include "kernels/cuda/device_code/maps/map_program_kernels.h"

#include "kernels/cuda/device_code/maps/map_program.cuh"

namespace parbench::cuda {
namespace {

template <int size, class Index>
__global__ void __launch_bounds__(block_threads) map_program_kernel(DeviceMap map) {
  const auto count = static_cast<Index>(map.kept_count / size);
  const auto stride = static_cast<Index>(grid_threads());
  const DeviceOperand& output = map.operand[map.operands - 1];
  for (auto i = static_cast<Index>(grid_thread()); i < count; i += stride) {
    MapIndices<Index> indices;
    indices.set(map, 0, map.kept, i * size);
    MapRegisters<size> registers;
    const float* results = run_program(map, indices, registers);
    store_operand<size>(output, position_of(output, map.kept, indices), results);
  }
}

template <int size>
void launch_map(const DeviceMap& map, cudaStream_t stream) {
  const unsigned int blocks = blocks_for(map.kept_count / size);
  if (map.kept_count < small_index_end) {
    PARBENCH_LAUNCH(blocks, block_threads, stream, map_program_kernel<size, std::int32_t>, map);
  } else {
    PARBENCH_LAUNCH(blocks, block_threads, stream, map_program_kernel<size, std::int64_t>, map);
  }
}

}  // namespace

void run_map(const DeviceMap& map, bool is_grouped, cudaStream_t stream) {
  if (is_grouped) return launch_map<map_group>(map, stream);
  launch_map<1>(map, stream);
}

}  // namespace parbench::cuda
