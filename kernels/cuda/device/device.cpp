// CUDA devices.
#include "kernels/cuda/device/device.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/cuda/collectives/nccl_communicator.h"
#include "kernels/cuda/cudnn/convolution_engine.h"
#include "kernels/cuda/device/gpu_facts.h"
#include "kernels/cuda/ops/layout.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/error.h"
#include "kernels/cuda/runtime/event.h"
#include "kernels/cuda/runtime/memory.h"
#include "kernels/cuda/runtime/stream.h"
#include "kernels/cuda/tuning/autotuner.h"
#include "kernels/cuda/tuning/tuning.h"
#include "kernels/ops/checks.h"
#include "kernels/ops/flops.h"

namespace parbench::cuda {
namespace {

constexpr int ampere = 80;  // first generation with bf16 and TF32

}  // namespace

CudaDevice::CudaDevice(DeviceInfo info, int ordinal, std::unique_ptr<GpuPart> part,
                       std::optional<NvmlGpu> sensors, std::shared_ptr<const Nccl> nccl,
                       std::shared_ptr<ActivityTrace> trace, std::shared_ptr<TuningChoices> choices,
                       bool may_round_gradients)
    : info_(std::move(info)),
      ordinal_(ordinal),
      part_(std::move(part)),
      sensors_(std::move(sensors)),
      nccl_(std::move(nccl)),
      trace_(std::move(trace)),
      multiprocessors_(part_ ? part_->multiprocessors() : multiprocessors_of(ordinal)),
      compute_capability_(compute_capability_of(ordinal)),
      may_round_gradients_(may_round_gradients),
      engine_choices_(std::make_unique<EngineChoices>()),
      autotuner_(choices ? std::make_unique<Autotuner>(*this, std::move(choices)) : nullptr) {}

CudaDevice::~CudaDevice() {
  try_to_make_current();
  engine_choices_.reset();  // engines must be destroyed before their handle
  if (cudnn_ != nullptr) (void)cudnnDestroy(cudnn_);
  if (cublas_ != nullptr) (void)cublasLtDestroy(cublas_);
}

void CudaDevice::make_current() const {
  if (part_) {
    part_->make_current();
  } else {
    PARBENCH_CUDA(cudaSetDevice(ordinal_));
  }
}

void CudaDevice::enter_gpu() const { PARBENCH_CUDA(cudaSetDevice(ordinal_)); }

void CudaDevice::try_to_make_current() const noexcept {
  try {
    make_current();
  } catch (...) {  // NOLINT(bugprone-empty-catch): later calls fail as well and are ignored too
  }
}

cudaStream_t CudaDevice::create_stream() {
  make_current();
  if (part_) return part_->create_stream();
  cudaStream_t stream = nullptr;
  PARBENCH_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

void CudaDevice::upload(const Buffer& to, const void* from, std::size_t bytes) {
  const auto destroy = [](cudaStream_t stream) { (void)cudaStreamDestroy(stream); };
  const std::unique_ptr<CUstream_st, decltype(destroy)> stream(create_stream());
  PARBENCH_CUDA(cudaMemcpyAsync(to.data(), from, bytes, cudaMemcpyDefault, stream.get()));
  PARBENCH_CUDA(cudaStreamSynchronize(stream.get()));
}

AvailableMemory CudaDevice::available_memory() const {
  make_current();
  std::size_t free = 0;
  std::size_t total = 0;
  PARBENCH_CUDA(cudaMemGetInfo(&free, &total));
  return {fmt::format("cuda:{}", ordinal_), free};
}

Condition CudaDevice::condition() const { return sensors_ ? sensors_->condition() : Condition{}; }

std::string CudaDevice::link_to(const Device& other) const {
  const auto* gpu = dynamic_cast<const CudaDevice*>(&other);
  if (gpu == nullptr) return host_link_text(sensors_ ? sensors_->pcie_link() : std::nullopt);
  if (gpu->ordinal_ == ordinal_) return "same GPU";
  GpuPair pair{.peer_access = has_peer_access(ordinal_, gpu->ordinal_)};
  if (sensors_ && gpu->sensors_) {
    pair.nvlinks = sensors_->nvlinks_to(*gpu->sensors_, bus_id_of(gpu->ordinal_));
    pair.common_ancestor = sensors_->common_ancestor(*gpu->sensors_);
  }
  return link_text(pair);
}

std::unique_ptr<Stream> CudaDevice::make_stream(StreamKind kind, int index, int sharers) {
  if (sharers < 1 || index < 0 || index >= sharers) {
    throw std::invalid_argument(fmt::format("stream {} of {} does not exist", index, sharers));
  }
  const std::string name =
      kind == StreamKind::copy ? info_.name + "/copy" : fmt::format("{}/{}", info_.name, index);
  auto stream = std::make_unique<CudaStream>(*this, name);
  if (kind == StreamKind::compute) (void)stream->cudnn();
  return stream;
}

std::unique_ptr<Event> CudaDevice::make_event(EventKind kind) {
  return std::make_unique<CudaEvent>(*this, kind);
}

std::unique_ptr<Event> CudaDevice::make_shared_event(Buffer word) {
  return std::make_unique<CudaEvent>(*this, std::move(word));
}

std::shared_ptr<void> CudaDevice::page_lock(BufferView memory) {
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
  buffer = {};  // frees the old memory first, because both may not fit
  try {
    buffer = allocate(bytes, kind);
  } catch (const OutOfMemory&) {
    buffer = allocate(held, kind);
    throw;
  }
}

/// Returns null without NCCL, or if a member is not a whole GPU, as NCCL requires.
std::unique_ptr<Communicator> CudaDevice::make_communicator(std::span<Device* const> members) {
  if (!nccl_->absence().empty()) return nullptr;
  std::vector<CudaDevice*> gpus;
  for (Device* member : members) {
    auto* gpu = dynamic_cast<CudaDevice*>(member);
    if (gpu == nullptr || gpu->part_) return nullptr;
    gpus.push_back(gpu);
  }
  return std::make_unique<NcclCommunicator>(nccl_, std::move(gpus));
}

std::vector<std::byte> CudaDevice::make_joining_id() {
  if (info_.joined_by.empty()) return Device::make_joining_id();
  make_current();
  return make_nccl_id(*nccl_);
}

std::unique_ptr<Communicator> CudaDevice::join(const Joining& joining) {
  if (info_.joined_by.empty()) return Device::join(joining);
  make_current();
  return std::make_unique<NcclRankCommunicator>(nccl_, *this, joining);
}

std::unique_ptr<Op> CudaDevice::prepare(const OpDesc& desc, int /*threads*/) {
  check(desc);
  check_arithmetic(desc);
  make_current();
  Planned op = std::visit([this](const auto& one) { return plan(*this, one); }, desc);
  op->set_flops(flops_of(desc));
  return op;
}

void CudaDevice::tune(std::vector<OpDesc> operations) {
  if (autotuner_ == nullptr) return;
  for (const OpDesc& desc : by_decreasing_work(std::move(operations))) {
    try {
      (void)prepare(desc, 1);
    } catch (
        const Unsupported&) {  // NOLINT(bugprone-empty-catch): later calls of `prepare` throw it
    }
  }
}

TensorDesc CudaDevice::activation(const Shape& shape, DType dtype) const {
  if (shape.size() == 2 || shape.size() == 3) return canonical(shape, dtype);
  if (shape.size() == 4) return channels_last(shape, dtype);
  throw UsageError(fmt::format("an activation has 2 to 4 dimensions, not the {} of {}",
                               shape.size(), to_string(shape)));
}

void CudaDevice::check_arithmetic(const OpDesc& desc) const {
  const std::optional<NumberFormat> format = format_of(desc);
  if (!format || *format == NumberFormat{} || compute_capability_ >= ampere) return;
  throw Unsupported(fmt::format(
      "{}: {} needs a GPU of compute capability 8.0 or more, {} has {}.{}; use f32", name_of(desc),
      to_string(*format), info_.name, compute_capability_ / 10, compute_capability_ % 10));
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
