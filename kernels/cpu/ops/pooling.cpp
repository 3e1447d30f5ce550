// Max pooling, average pooling and global average pooling, forward and backward, on oneDNN.
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

struct Window {
  dnnl::algorithm algorithm;
  memory::dims strides;
  memory::dims kernel;
  memory::dims padding;   // padding at the top and on the left
  memory::dims trailing;  // padding at the bottom and on the right
};

Window window_of(const PoolingShape& shape, dnnl::algorithm algorithm) {
  const std::int64_t trailing = shape.padding + shape.trailing;
  return {.algorithm = algorithm,
          .strides = {shape.stride, shape.stride},
          .kernel = {shape.kernel, shape.kernel},
          .padding = {shape.padding, shape.padding},
          .trailing = {trailing, trailing}};
}

/// Plans poolings of images in the device's layout.
class Pooling {
 public:
  Pooling(const Window& window, const Shape& source, const Shape& destination, DType dtype)
      : window_(window),
        source_(activation_desc(source, dtype)),
        destination_(activation_desc(destination, dtype)) {}

  /// `arguments`: arguments of the primitive (DNNL_ARG_…), in the order of the operands.
  [[nodiscard]] Planned forward(const OpDesc& desc, std::initializer_list<int> arguments) const {
    const auto chosen = plan_forward();
    return primitive_op(desc, chosen, dnnl::pooling_forward(chosen), arguments);
  }
  [[nodiscard]] Planned backward(const OpDesc& desc, std::initializer_list<int> arguments) const {
    const dnnl::pooling_backward::primitive_desc chosen(
        {window_.algorithm, source_, destination_, window_.strides, window_.kernel, window_.padding,
         window_.trailing},
        user_scratchpad(), engine(), plan_forward());
    return primitive_op(desc, chosen, dnnl::pooling_backward(chosen), arguments);
  }

 private:
  [[nodiscard]] dnnl::pooling_forward::primitive_desc plan_forward() const {
    return {{dnnl::prop_kind::forward_training, window_.algorithm, source_, destination_,
             window_.strides, window_.kernel, window_.padding, window_.trailing},
            user_scratchpad(),
            engine()};
  }

  Window window_;
  memory::desc source_;
  memory::desc destination_;
};

template <class Desc>
Pooling max_pooling(const Desc& desc) {
  return {window_of(desc.shape, dnnl::algorithm::pooling_max), desc.shape.source,
          desc.shape.destination(), desc.dtype};
}

template <class Desc>
Pooling average_pooling(const Desc& desc) {
  const auto algorithm = desc.count_padding ? dnnl::algorithm::pooling_avg_include_padding
                                            : dnnl::algorithm::pooling_avg_exclude_padding;
  return {window_of(desc.shape, algorithm), desc.shape.source, desc.shape.destination(),
          desc.dtype};
}

/// Returns the average pooling whose window is the whole image.
template <class Desc>
Pooling global_pooling(const Desc& desc) {
  return {{.algorithm = dnnl::algorithm::pooling_avg_exclude_padding,
           .strides = {1, 1},
           .kernel = {desc.source[2], desc.source[3]},
           .padding = {0, 0},
           .trailing = {0, 0}},
          desc.source,
          shape_of_means(desc.source),
          desc.dtype};
}

}  // namespace

Planned plan(const MaxPoolForward& desc) {
  return max_pooling(desc).forward(desc, {DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_WORKSPACE});
}

Planned plan(const MaxPoolBackward& desc) {
  return max_pooling(desc).backward(desc,
                                    {DNNL_ARG_DIFF_DST, DNNL_ARG_WORKSPACE, DNNL_ARG_DIFF_SRC});
}

Planned plan(const GlobalAveragePoolForward& desc) {
  return global_pooling(desc).forward(desc, {DNNL_ARG_SRC, DNNL_ARG_DST});
}

Planned plan(const GlobalAveragePoolBackward& desc) {
  return global_pooling(desc).backward(desc, {DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC});
}

Planned plan(const AveragePoolForward& desc) {
  return average_pooling(desc).forward(desc, {DNNL_ARG_SRC, DNNL_ARG_DST});
}

Planned plan(const AveragePoolBackward& desc) {
  return average_pooling(desc).backward(desc, {DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC});
}

}  // namespace parbench::cpu
