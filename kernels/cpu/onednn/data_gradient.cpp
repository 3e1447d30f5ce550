// Chooses between oneDNN's backward primitive and its forward primitive with transposed weights.
#include "kernels/cpu/onednn/data_gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/base/round_up.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

constexpr std::size_t work_alignment = 256;  // alignment of all scratch memory

/// Returns the shape of a forward pass whose weights are the transposed weights of `shape`.
LinearShape turned(const LinearShape& shape) {
  return {
      .batch = shape.batch, .in_features = shape.out_features, .out_features = shape.in_features};
}

/// Returns whether transposing the weights saves time: in f32, if the products together have at
/// least 512 rows. Measured with Zen 4: transposing 4096×4096 weights takes as long as the forward
/// primitive saves on 256 rows; smaller weights need fewer rows. In bf16, whose weights interleave
/// pairs of inputs, transposing saved no time.
bool pays_to_turn(const LinearShape& shape, DType dtype, std::int64_t products) {
  constexpr std::int64_t min_rows = 512;
  return dtype == DType::f32 && shape.batch * products >= min_rows;
}

}  // namespace

DataGradient::DataGradient(const LinearShape& shape, DType dtype, DType result,
                           std::int64_t products) {
  const auto backward = plan_inner_product_data(shape, dtype, result);
  weights_ = backward.weights_desc();
  if (is_blocked(weights_) && pays_to_turn(shape, dtype, products)) {
    const auto forward = plan_inner_product(turned(shape), dtype, result, false);
    if (is_blocked(forward.weights_desc())) {
      plan_turned(forward);
      return;
    }
  }
  plan_direct(backward);
}

void DataGradient::plan_turned(const dnnl::inner_product_forward::primitive_desc& forward) {
  const memory::desc from = weights_.permute_axes({1, 0});
  const dnnl::reorder::primitive_desc reorder(engine(), from, engine(), forward.weights_desc(),
                                              user_scratchpad());
  turn_.emplace(reorder, dnnl::reorder(reorder));
  turn_->add(DNNL_ARG_FROM, from);
  turn_->add(DNNL_ARG_TO, forward.weights_desc());
  product_.emplace(forward, dnnl::inner_product_forward(forward));
  product_->add(DNNL_ARG_SRC, forward.src_desc());
  product_->add(DNNL_ARG_WEIGHTS, forward.weights_desc());
  product_->add(DNNL_ARG_DST, forward.dst_desc());
  work_begin_ = round_up(forward.weights_desc().get_size(), work_alignment);
  work_bytes_ = std::max(turn_->scratch_bytes(), product_->scratch_bytes());
  kernel_ =
      fmt::format("{} reorder of weights + {}", reorder.impl_info_str(), forward.impl_info_str());
}

void DataGradient::plan_direct(const dnnl::inner_product_backward_data::primitive_desc& backward) {
  product_.emplace(backward, dnnl::inner_product_backward_data(backward));
  product_->add(DNNL_ARG_DIFF_DST, backward.diff_dst_desc());
  product_->add(DNNL_ARG_WEIGHTS, backward.weights_desc());
  product_->add(DNNL_ARG_DIFF_SRC, backward.diff_src_desc());
  work_bytes_ = product_->scratch_bytes();
  kernel_ = backward.impl_info_str();
}

void DataGradient::prepare(const Execution& execution, std::byte* weights, std::byte* scratch) {
  if (turn_) turn_->run(execution, std::array{weights, scratch}, scratch + work_begin_);
}

void DataGradient::multiply(const Execution& execution, std::byte* diff_destination,
                            std::byte* weights, std::byte* diff_source, std::byte* scratch) {
  const std::array factors{diff_destination, turn_ ? scratch : weights, diff_source};
  product_->run(execution, factors, scratch + work_begin_);
}

}  // namespace parbench::cpu
