// Slices, insertions and shuffles of channels, by kernels of this project.
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/images/channel_copy_kernels.h"
#include "kernels/cuda/ops/images/pixels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

template <class Desc>
Planned plan_copy(CudaDevice& device, const Desc& desc, const ColumnCopy& copy) {
  return kernel_op(device, desc, [=, dtype = desc.dtype](CudaStream& stream, Addresses at) {
    copy_columns(at[1], at[0], dtype, copy, stream.handle());
  });
}

}  // namespace

Planned plan(CudaDevice& device, const SliceChannels& desc) {
  return plan_copy(device, desc,
                   {.rows = pixels_of(desc.range.whole),
                    .count = desc.range.count,
                    .source_channels = desc.range.whole[1],
                    .destination_channels = desc.range.count,
                    .source_first = desc.range.first,
                    .destination_first = 0});
}

Planned plan(CudaDevice& device, const InsertChannels& desc) {
  return plan_copy(device, desc,
                   {.rows = pixels_of(desc.range.whole),
                    .count = desc.range.count,
                    .source_channels = desc.range.count,
                    .destination_channels = desc.range.whole[1],
                    .source_first = 0,
                    .destination_first = desc.range.first});
}

Planned plan(CudaDevice& device, const ShuffleChannels& desc) {
  return kernel_op(device, desc, [desc](CudaStream& stream, Addresses at) {
    shuffle_columns(at[1], at[0], desc.dtype, pixels_of(desc.shape), desc.shape[1], desc.groups,
                    stream.handle());
  });
}

}  // namespace parbench::cuda
