// Dividing multiprocessors through the driver.
#include "kernels/cuda/partition.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "kernels/cuda/driver.h"
#include "kernels/cuda/error.h"
#include "kernels/error.h"

namespace parbench::cuda {
namespace {

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  PARBENCH_CUDA(cudaDeviceGetAttribute(&value, which, ordinal));
  return value;
}

}  // namespace

int partition_granularity(int compute_capability) {
  constexpr int ampere = 80;
  constexpr int hopper = 90;
  if (compute_capability >= hopper) return 8;
  return compute_capability >= ampere ? 4 : 2;
}

int partition_size(int multiprocessors, int parts, int granularity) {
  if (parts < 1) return 0;
  return multiprocessors / parts / granularity * granularity;
}

Partition::Partition(CUgreenCtx green, int multiprocessors)
    : green_(green), multiprocessors_(multiprocessors) {
  PARBENCH_CUDA(driver().context_of(&context_, green_));
}

Partition::~Partition() {
  (void)driver().set_current(nullptr);  // it may be this context, which later calls must not find
  (void)driver().destroy_green_context(green_);
}

void Partition::make_current() const { PARBENCH_CUDA(driver().set_current(context_)); }

CUstream Partition::create_stream() const {
  CUstream stream = nullptr;
  PARBENCH_CUDA(driver().create_green_stream(&stream, green_, CU_STREAM_NON_BLOCKING, 0));
  return stream;
}

std::vector<std::unique_ptr<Partition>> divide(int ordinal, int parts) {
  if (!driver().has_green_contexts()) {
    throw Unsupported(
        "partitions of a GPU need green contexts; update the driver to one for CUDA 12.5 or newer");
  }
  PARBENCH_CUDA(cudaSetDevice(ordinal));
  PARBENCH_CUDA(cudaFree(nullptr));  // green contexts need the primary one
  const int all = attribute(cudaDevAttrMultiProcessorCount, ordinal);
  const int capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, ordinal) +
                         attribute(cudaDevAttrComputeCapabilityMinor, ordinal);
  const int size = partition_size(all, parts, partition_granularity(capability));
  if (size == 0) {
    throw UsageError(
        fmt::format("--devices: {} partitions are too many for the {} multiprocessors "
                    "of cuda:{}; the least is {} each",
                    parts, all, ordinal, partition_granularity(capability)));
  }
  CUdevResource whole{};
  PARBENCH_CUDA(driver().device_resource(ordinal, &whole, CU_DEV_RESOURCE_TYPE_SM));
  std::vector<CUdevResource> groups(static_cast<std::size_t>(parts));
  auto count = static_cast<unsigned int>(parts);
  CUdevResource remaining{};
  PARBENCH_CUDA(driver().split_multiprocessors(groups.data(), &count, &whole, &remaining, 0,
                                               static_cast<unsigned int>(size)));
  if (count < static_cast<unsigned int>(parts)) {
    throw Unsupported(
        fmt::format("cuda:{} can be divided into {} partitions of {} "
                    "multiprocessors, not into {}",
                    ordinal, count, size, parts));
  }
  std::vector<std::unique_ptr<Partition>> partitions;
  for (CUdevResource& group : groups) {
    CUdevResourceDesc description = nullptr;
    PARBENCH_CUDA(driver().describe_resources(&description, &group, 1));
    CUgreenCtx green = nullptr;
    PARBENCH_CUDA(
        driver().create_green_context(&green, description, ordinal, CU_GREEN_CTX_DEFAULT_STREAM));
    partitions.push_back(std::make_unique<Partition>(green, static_cast<int>(group.sm.smCount)));
  }
  return partitions;
}

}  // namespace parbench::cuda
