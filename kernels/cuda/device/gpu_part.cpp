// Divides multiprocessors through the driver.
#include "kernels/cuda/device/gpu_part.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/error.h"
#include "kernels/cuda/device/gpu_facts.h"
#include "kernels/cuda/runtime/driver.h"
#include "kernels/cuda/runtime/error.h"

namespace parbench::cuda {
namespace {

CUdevResource multiprocessor_resource(int ordinal, const Driver& driver) {
  CUdevResource whole{};
  PARBENCH_CUDA(driver.device_resource(ordinal, &whole, CU_DEV_RESOURCE_TYPE_SM));
  return whole;
}

Divisibility divisibility_of(int ordinal, const CUdevResource& whole) {
  return divisibility(whole.sm, compute_capability_of(ordinal));
}

/// Returns a function that queries the driver for the number of groups, without dividing the GPU.
GroupCount groups_of(const CUdevResource& whole, const Driver& driver) {
  return [&driver, whole](int size) {
    unsigned int count = 0;
    PARBENCH_CUDA(driver.split_multiprocessors(nullptr, &count, &whole, nullptr, 0,
                                               static_cast<unsigned int>(size)));
    return static_cast<int>(count);
  };
}

std::unique_ptr<GpuPart> make_part(int ordinal, CUdevResource& group) {
  CUdevResourceDesc description = nullptr;
  PARBENCH_CUDA(driver().describe_resources(&description, &group, 1));
  CUgreenCtx green = nullptr;
  PARBENCH_CUDA(
      driver().create_green_context(&green, description, ordinal, CU_GREEN_CTX_DEFAULT_STREAM));
  return std::make_unique<GpuPart>(green, static_cast<int>(group.sm.smCount));
}

}  // namespace

Divisibility divisibility(const CUdevSmResource& whole, int compute_capability) {
  constexpr int ampere = 80;
  constexpr int hopper = 90;
  Divisibility gpu{.multiprocessors = static_cast<int>(whole.smCount), .min = 2, .multiple = 2};
  if (compute_capability >= ampere) gpu.min = 4;
  if (compute_capability >= hopper) gpu.min = gpu.multiple = 8;
  // Drivers that do not know these fields leave them zero.
  if (whole.minSmPartitionSize > 0) gpu.min = static_cast<int>(whole.minSmPartitionSize);
  if (whole.smCoscheduledAlignment > 0)
    gpu.multiple = static_cast<int>(whole.smCoscheduledAlignment);
  return gpu;
}

int part_size(const Divisibility& gpu, int parts, const GroupCount& groups) {
  if (parts < 1) return 0;
  for (int size = gpu.multiprocessors / parts / gpu.multiple * gpu.multiple;
       size >= gpu.min && size > 0; size -= gpu.multiple) {
    if (groups(size) >= parts) return size;
  }
  return 0;
}

GpuPart::GpuPart(CUgreenCtx green, int multiprocessors)
    : green_(green), multiprocessors_(multiprocessors) {
  PARBENCH_CUDA(driver().context_of(&context_, green_));
}

GpuPart::~GpuPart() {
  // This context may be current, and later calls must not use it.
  (void)driver().set_current(nullptr);
  (void)driver().destroy_green_context(green_);
}

void GpuPart::make_current() const { PARBENCH_CUDA(driver().set_current(context_)); }

CUstream GpuPart::create_stream() const {
  CUstream stream = nullptr;
  PARBENCH_CUDA(driver().create_green_stream(&stream, green_, CU_STREAM_NON_BLOCKING, 0));
  return stream;
}

int max_parts_of(int ordinal) { return max_parts_of(ordinal, driver()); }

int max_parts_of(int ordinal, const Driver& driver) {
  if (!driver.has_green_contexts()) return 1;
  try {
    const CUdevResource whole = multiprocessor_resource(ordinal, driver);
    return std::max(1, groups_of(whole, driver)(divisibility_of(ordinal, whole).min));
  } catch (const Error&) {
    return 1;
  }
}

std::vector<std::unique_ptr<GpuPart>> divide(int ordinal, int parts) {
  if (!driver().has_green_contexts()) {
    throw Unsupported(
        "parts of a GPU need green contexts; update the driver to one for CUDA 12.5 or newer");
  }
  PARBENCH_CUDA(cudaSetDevice(ordinal));
  PARBENCH_CUDA(cudaFree(nullptr));  // green contexts require the primary context
  const CUdevResource whole = multiprocessor_resource(ordinal, driver());
  const Divisibility gpu = divisibility_of(ordinal, whole);
  const int size = part_size(gpu, parts, groups_of(whole, driver()));
  if (size == 0) {
    throw UsageError(
        fmt::format("--devices: {} parts are too many for the {} multiprocessors of cuda:{}; "
                    "the least is {} each, at most {} parts",
                    parts, gpu.multiprocessors, ordinal, gpu.min, max_parts_of(ordinal)));
  }
  std::vector<CUdevResource> groups(static_cast<std::size_t>(parts));
  auto count = static_cast<unsigned int>(parts);
  PARBENCH_CUDA(driver().split_multiprocessors(groups.data(), &count, &whole, nullptr, 0,
                                               static_cast<unsigned int>(size)));
  groups.resize(count);
  std::vector<std::unique_ptr<GpuPart>> made;
  for (CUdevResource& group : groups) made.push_back(make_part(ordinal, group));
  return made;
}

}  // namespace parbench::cuda
