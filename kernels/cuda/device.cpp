// Implementation of CUDA devices.
#include "kernels/cuda/device.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <stdexcept>
#include <utility>
#include <variant>

#include "kernels/cuda/error.h"
#include "kernels/cuda/event.h"
#include "kernels/cuda/layout.h"
#include "kernels/cuda/memory.h"
#include "kernels/cuda/plans.h"
#include "kernels/cuda/stream.h"
#include "kernels/error.h"
#include "kernels/flops.h"

namespace parbench::cuda {
namespace {

constexpr int first_with_bf16 = 80;  // Ampere

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  PARBENCH_CUDA(cudaDeviceGetAttribute(&value, which, ordinal));
  return value;
}

}  // namespace

CudaDevice::CudaDevice(DeviceInfo info, int ordinal, std::unique_ptr<Partition> partition)
    : info_(std::move(info)),
      ordinal_(ordinal),
      partition_(std::move(partition)),
      multiprocessors_(partition_ ? partition_->multiprocessors()
                                  : attribute(cudaDevAttrMultiProcessorCount, ordinal)),
      compute_capability_(10 * attribute(cudaDevAttrComputeCapabilityMajor, ordinal) +
                          attribute(cudaDevAttrComputeCapabilityMinor, ordinal)) {}

CudaDevice::~CudaDevice() {
  try_to_make_current();
  if (cudnn_ != nullptr) (void)cudnnDestroy(cudnn_);
  if (cublas_ != nullptr) (void)cublasLtDestroy(cublas_);
}

void CudaDevice::make_current() const {
  if (partition_) {
    partition_->make_current();
  } else {
    PARBENCH_CUDA(cudaSetDevice(ordinal_));
  }
}

void CudaDevice::try_to_make_current() const noexcept {
  try {
    make_current();
  } catch (...) {  // NOLINT(bugprone-empty-catch): what follows fails as well and is ignored too
  }
}

cudaStream_t CudaDevice::create_stream() {
  make_current();
  if (partition_) return partition_->create_stream();
  cudaStream_t stream = nullptr;
  PARBENCH_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

AvailableMemory CudaDevice::available_memory() const {
  make_current();
  std::size_t free = 0;
  std::size_t total = 0;
  PARBENCH_CUDA(cudaMemGetInfo(&free, &total));
  return {fmt::format("cuda:{}", ordinal_), free};
}

std::unique_ptr<Stream> CudaDevice::make_stream(StreamKind kind, int index, int sharers) {
  if (sharers < 1 || index < 0 || index >= sharers) {
    throw std::invalid_argument(fmt::format("stream {} of {} does not exist", index, sharers));
  }
  const std::string name =
      kind == StreamKind::copy ? info_.name + "/copy" : fmt::format("{}/{}", info_.name, index);
  return std::make_unique<CudaStream>(*this, name);
}

std::unique_ptr<Event> CudaDevice::make_event() { return std::make_unique<CudaEvent>(*this); }

std::unique_ptr<Event> CudaDevice::make_shared_event(Buffer word) {
  return std::make_unique<CudaEvent>(*this, std::move(word));
}

std::shared_ptr<void> CudaDevice::page_lock(const Buffer& memory) {
  make_current();
  return lock_pages(info_.name, memory);
}

Buffer CudaDevice::allocate(std::size_t bytes, MemoryKind kind) {
  make_current();
  return allocate_memory(info_.name, bytes, kind);
}

void CudaDevice::grow(Buffer& buffer, std::size_t bytes, MemoryKind kind) {
  if (bytes <= buffer.bytes()) return;
  const std::size_t held = buffer.bytes();
  buffer = {};  // both at once may not fit
  try {
    buffer = allocate(bytes, kind);
  } catch (const OutOfMemory&) {
    buffer = allocate(held, kind);
    throw;
  }
}

std::unique_ptr<Op> CudaDevice::prepare(const OpDesc& desc, int /*threads*/) {
  make_current();
  Planned op = std::visit([this](const auto& one) { return plan(*this, one); }, desc);
  op->set_flops(flops_of(desc));
  return op;
}

TensorDesc CudaDevice::activation(const Shape& shape, DType dtype) const {
  if (shape.size() == 2) return canonical(shape, dtype);
  if (shape.size() == 4) return channels_last(shape, dtype);
  throw UsageError(fmt::format("an activation has 2 or 4 dimensions, not the {} of {}",
                               shape.size(), to_string(shape)));
}

void CudaDevice::check_dtype(std::string_view operation, DType dtype) const {
  if (dtype != DType::bf16 || compute_capability_ >= first_with_bf16) return;
  throw Unsupported(
      fmt::format("{}: bf16 needs a GPU of compute capability 8.0 or more, {} has {}.{}; use f32",
                  operation, info_.name, compute_capability_ / 10, compute_capability_ % 10));
}

cudnnHandle_t CudaDevice::cudnn() {
  if (cudnn_ == nullptr) {
    make_current();
    PARBENCH_CUDA(cudnnCreate(&cudnn_));
  }
  return cudnn_;
}

cublasLtHandle_t CudaDevice::cublas() {
  if (cublas_ == nullptr) {
    make_current();
    PARBENCH_CUDA(cublasLtCreate(&cublas_));
  }
  return cublas_;
}

}  // namespace parbench::cuda
