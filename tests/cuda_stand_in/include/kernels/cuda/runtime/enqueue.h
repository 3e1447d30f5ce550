// Takes the place of kernels/cuda/runtime/enqueue.h: the stand-in's streams run a kernel's grid on
// the host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "tests/cuda_stand_in/stand_in.h"

namespace parbench::cuda {

template <class Parameter>
void add_words(std::vector<stand_in::Word>& words, const Parameter& parameter) {
  constexpr std::size_t bytes = sizeof(stand_in::Word::value);
  const auto* first = reinterpret_cast<const std::byte*>(&parameter);
  for (std::size_t at = 0; at + bytes <= sizeof parameter; at += bytes) {
    words.push_back({0, std::is_pointer_v<Parameter>});
    std::memcpy(&words.back().value, first + at, bytes);
  }
}

template <class... Parameters, class... Arguments>
void enqueue(dim3 grid, dim3 block, cudaStream_t stream, void (*kernel)(Parameters...),
             Arguments... arguments) {
  constexpr std::size_t max_parameter_bytes = 4096;
  static_assert((sizeof(Parameters) + ... + 0) <= max_parameter_bytes);
  std::vector<stand_in::Word> words;
  (add_words<Parameters>(words, arguments), ...);
  const auto work = [=] {
    stand_in::check_arguments(stream, words);
    const std::lock_guard alone(stand_in::grids());
    emulation::run_grid(grid, block, [&] { kernel(arguments...); });
  };
  (void)stand_in::launch(stream, work, reinterpret_cast<const void*>(kernel));
}

}  // namespace parbench::cuda
