// Kernels that compute each element of an output from the elements of inputs at the same index. For
// .cu files only.
#pragma once

#include "kernels/cuda/device_code/vector.cuh"

namespace parbench::cuda {

template <int size, class Function, class Out, class... In>
__device__ inline void map_group(std::int64_t first, const Function& function, Out* out,
                                 const In*... in) {
  Group<Out, size> result;
  const auto apply = [&](const Group<In, size>&... inputs) {
#pragma unroll
    for (int i = 0; i < size; ++i) result.at[i] = narrowed<Out>(function(widened(inputs.at[i])...));
  };
  apply(load<size>(in + first)...);
  store<size>(out + first, result);
}

/// Every thread reads all inputs of its elements before it writes, so that `out` may be one of
/// `in`.
template <int size, class Function, class Out, class... In>
__global__ void __launch_bounds__(block_threads)
    map_kernel(std::int64_t count, Function function, Out* out, const In*... in) {
  const std::int64_t groups = count / size;
  for (std::int64_t i = grid_thread(); i < groups; i += grid_threads()) {
    map_group<size>(i * size, function, out, in...);
  }
  if constexpr (size > 1) {
    const std::int64_t rest = groups * size + grid_thread();
    if (rest < count) map_group<1>(rest, function, out, in...);
  }
}

/// out[i] = function(in[i]...) in f32, for `count` elements. `out` may be one of `in`.
template <class Function, class Out, class... In>
void map(cudaStream_t stream, std::int64_t count, Function function, Out* out, const In*... in) {
  constexpr int size = group_size<Out, In...>;
  if (holds_groups<size>(out) && (holds_groups<size>(in) && ...)) {
    PARBENCH_LAUNCH(blocks_for(count / size), block_threads, stream,
                    map_kernel<size, Function, Out, In...>, count, function, out, in...);
  } else {
    PARBENCH_LAUNCH(blocks_for(count), block_threads, stream, map_kernel<1, Function, Out, In...>,
                    count, function, out, in...);
  }
}

/// Variant of `map` for a type known at run time: all of `in`, and `out`, are of type `dtype`.
template <class Function, class... In>
void map_typed(DType dtype, cudaStream_t stream, std::int64_t count, Function function, void* out,
               const In*... in) {
  with_element(dtype, [&](auto element) {
    using Element = decltype(element);
    map(stream, count, function, static_cast<Element*>(out), static_cast<const Element*>(in)...);
  });
}

}  // namespace parbench::cuda
