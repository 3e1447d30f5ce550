// Wraps oneDNN's memory descriptors as portable layouts and formats their names.
#include "kernels/cpu/onednn/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/base/strided_layout.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

class DnnlLayout final : public StridedLayout {
 public:
  explicit DnnlLayout(const memory::desc& desc) : desc_(desc) {}

  [[nodiscard]] bool equals(const LayoutDetail& other) const override {
    const auto* layout = dynamic_cast<const DnnlLayout*>(&other);
    return layout != nullptr && layout->desc_ == desc_;
  }
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<LayoutPart> parts(const Shape& shape) const override;
  [[nodiscard]] const memory::desc& desc() const { return desc_; }

 private:
  memory::desc desc_;
};

memory::dims row_major_strides(const memory::dims& dims) {
  memory::dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

// Returns the layout in oneDNN's notation: letters for dimensions, outermost first, capital if the
// dimension is also blocked; then the blocks, innermost last: "aBcd16b".
std::string DnnlLayout::name() const {
  if (desc_.data.format_kind != dnnl_blocked) return "packed";
  const dnnl_blocking_desc_t& blocking = desc_.data.format_desc.blocking;
  const std::span strides = std::span(blocking.strides).first(desc_.dims().size());
  const std::span blocks(blocking.inner_blks, static_cast<std::size_t>(blocking.inner_nblks));
  const std::span divided(blocking.inner_idxs, blocks.size());  // one dimension for each block
  std::vector<std::size_t> order(strides.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  const auto letter = [](char first, std::int64_t dim) { return static_cast<char>(first + dim); };
  std::string text;
  for (const std::size_t dim : order) {
    const auto index = static_cast<std::int64_t>(dim);
    text += letter(std::ranges::find(divided, index) != divided.end() ? 'A' : 'a', index);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    text += fmt::format("{}{}", blocks[i], letter('a', divided[i]));
  }
  return text;
}

bool has_padding(const memory::desc& desc) {
  const memory::dims dims = desc.dims();
  return desc.data.offset0 != 0 ||
         !std::ranges::equal(std::span(desc.data.padded_dims).first(dims.size()), dims);
}

std::vector<LayoutPart> DnnlLayout::parts(const Shape& shape) const {
  if (desc_.data.format_kind != dnnl_blocked || desc_.dims() != shape || has_padding(desc_)) {
    return {};
  }
  const dnnl_blocking_desc_t& blocking = desc_.data.format_desc.blocking;
  std::vector<std::int64_t> outer = shape;
  std::vector<LayoutPart> inner;  // innermost first
  std::int64_t stride = 1;
  for (auto i = static_cast<std::size_t>(blocking.inner_nblks); i-- > 0;) {
    const std::span blocks(blocking.inner_blks);
    const auto dimension = static_cast<std::size_t>(std::span(blocking.inner_idxs)[i]);
    inner.push_back({.dimension = dimension, .extent = blocks[i], .stride = stride});
    outer[dimension] /= blocks[i];
    stride *= blocks[i];
  }
  std::vector<LayoutPart> parts;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    parts.push_back({.dimension = d, .extent = outer[d], .stride = std::span(blocking.strides)[d]});
  }
  parts.insert(parts.end(), inner.rbegin(), inner.rend());
  std::ranges::stable_sort(parts, {}, &LayoutPart::dimension);
  return parts;
}

// Returns whether a layout is dense and row-major. Ignores the strides of dimensions of extent one.
bool is_row_major(const memory::desc& desc) {
  const dnnl_memory_desc_t& data = desc.data;
  const dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
  const memory::dims dims = desc.dims();
  if (data.format_kind != dnnl_blocked || blocking.inner_nblks != 0 || has_padding(desc)) {
    return false;
  }
  const memory::dims dense = row_major_strides(dims);
  for (std::size_t i = 0; i < dense.size(); ++i) {
    if (dims[i] != 1 && blocking.strides[i] != dense[i]) return false;
  }
  return true;
}

/// Returns whether oneDNN has an AMX kernel for a common bf16 convolution, 3×3 of 64 channels, with
/// channels last.
bool has_amx_for_channels_last() {
  const memory::dims image{1, 64, 16, 16};
  const memory::desc data(image, memory::data_type::bf16, memory::format_tag::nhwc);
  try {
    const dnnl::convolution_forward::primitive_desc plan({dnnl::prop_kind::forward_training,
                                                          dnnl::algorithm::convolution_direct,
                                                          data,
                                                          any_layout({64, 64, 3, 3}, DType::bf16),
                                                          data,
                                                          {1, 1},
                                                          {1, 1},
                                                          {1, 1}},
                                                         engine());
    return std::string_view(plan.impl_info_str()).find("amx") != std::string_view::npos;
  } catch (const dnnl::error&) {
    return false;  // this processor does not support bf16
  }
}

DType dtype_of(const memory::desc& desc) {
  switch (desc.data_type()) {
    case memory::data_type::f32:
      return DType::f32;
    case memory::data_type::bf16:
      return DType::bf16;
    case memory::data_type::s32:
      return DType::i32;
    default:
      throw Error("oneDNN chose an element type other than f32, bf16 and i32 for a tensor");
  }
}

}  // namespace

memory::data_type data_type_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      break;
    case DType::bf16:
      return memory::data_type::bf16;
    case DType::i32:
      return memory::data_type::s32;
  }
  return memory::data_type::f32;
}

memory::desc memory_desc(const TensorDesc& tensor) {
  if (tensor.layout.is_canonical()) {
    return {tensor.shape, data_type_of(tensor.dtype), row_major_strides(tensor.shape)};
  }
  const auto* layout = dynamic_cast<const DnnlLayout*>(tensor.layout.detail());
  if (layout == nullptr) {
    throw UsageError(
        fmt::format("a tensor of shape {} has the layout {}, which is not one of CPU "
                    "devices; reorder it to canonical on its own device first",
                    to_string(tensor.shape), tensor.layout.name()));
  }
  return layout->desc();
}

memory::desc any_layout(const Shape& shape, DType dtype) {
  return {shape, data_type_of(dtype), memory::format_tag::any};
}

TensorDesc describe(const memory::desc& desc) {
  TensorDesc tensor{
      .shape = desc.dims(), .dtype = dtype_of(desc), .layout = {}, .bytes = desc.get_size()};
  if (!is_row_major(desc)) tensor.layout = Layout(std::make_shared<DnnlLayout>(desc));
  return tensor;
}

memory::format_tag blocked_tag() {
  return channel_block() == 16 ? memory::format_tag::nChw16c : memory::format_tag::nChw8c;
}

ChannelOrder channel_order(std::int64_t channels, DType dtype) {
  constexpr std::int64_t many = 8;
  static const bool is_wanted = wanted_layout() == "channels-last";
  static const bool pays = wanted_layout().empty() && has_amx_for_channels_last();
  if (is_wanted || (pays && dtype == DType::bf16)) return ChannelOrder::last;
  if (channels % channel_block() == 0) return ChannelOrder::blocks;
  const bool are_many = wanted_layout().empty() && channels >= many;
  return are_many ? ChannelOrder::last : ChannelOrder::planes;
}

memory::desc activation_desc(const Shape& shape, DType dtype) {
  if (shape.size() == 3) return memory_desc(canonical(shape, dtype));
  Shape pixels = shape;
  pixels.resize(4, 1);
  switch (channel_order(pixels[1], dtype)) {
    case ChannelOrder::planes:
      break;
    case ChannelOrder::blocks:
      return {pixels, data_type_of(dtype), blocked_tag()};
    case ChannelOrder::last:
      return {pixels, data_type_of(dtype), memory::format_tag::nhwc};
  }
  return memory_desc(canonical(pixels, dtype));
}

TensorDesc activation(const Shape& shape, DType dtype) {
  if (shape.size() == 2 || shape.size() == 3) return canonical(shape, dtype);
  if (shape.size() == 4) return describe(activation_desc(shape, dtype));
  throw UsageError(fmt::format("an activation has 2 to 4 dimensions, not the {} of {}",
                               shape.size(), to_string(shape)));
}

}  // namespace parbench::cpu
