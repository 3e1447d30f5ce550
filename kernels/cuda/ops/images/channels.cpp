// Slices, insertions and shuffles of channels, by kernels of this project.
#include <memory>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/images/channel_copy_kernels.h"
#include "kernels/cuda/ops/images/pixels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

class ColumnCopyOp final : public CudaOp {
 public:
  ColumnCopyOp(CudaDevice& device, const OpDesc& desc, DType dtype, const ColumnCopy& copy)
      : CudaOp(device, desc), dtype_(dtype), copy_(copy) {
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    copy_columns(arguments[1], arguments[0], dtype_, copy_, stream.handle());
  }

 private:
  DType dtype_;
  ColumnCopy copy_;
};

class ShuffleChannelsOp final : public CudaOp {
 public:
  ShuffleChannelsOp(CudaDevice& device, const ShuffleChannels& desc)
      : CudaOp(device, desc), desc_(desc) {
    set_implementation(own_kernel);
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    shuffle_columns(arguments[1], arguments[0], desc_.dtype, pixels_of(desc_.shape), desc_.shape[1],
                    desc_.groups, stream.handle());
  }

 private:
  ShuffleChannels desc_;
};

}  // namespace

Planned plan(CudaDevice& device, const SliceChannels& desc) {
  return std::make_unique<ColumnCopyOp>(device, desc, desc.dtype,
                                        ColumnCopy{.rows = pixels_of(desc.range.whole),
                                                   .count = desc.range.count,
                                                   .source_channels = desc.range.whole[1],
                                                   .destination_channels = desc.range.count,
                                                   .source_first = desc.range.first,
                                                   .destination_first = 0});
}

Planned plan(CudaDevice& device, const InsertChannels& desc) {
  return std::make_unique<ColumnCopyOp>(device, desc, desc.dtype,
                                        ColumnCopy{.rows = pixels_of(desc.range.whole),
                                                   .count = desc.range.count,
                                                   .source_channels = desc.range.count,
                                                   .destination_channels = desc.range.whole[1],
                                                   .source_first = 0,
                                                   .destination_first = desc.range.first});
}

Planned plan(CudaDevice& device, const ShuffleChannels& desc) {
  return std::make_unique<ShuffleChannelsOp>(device, desc);
}

}  // namespace parbench::cuda
