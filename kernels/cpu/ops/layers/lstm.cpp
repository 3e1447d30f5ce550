// A long short-term memory: oneDNN's products, with this project's loops between them.
//
// oneDNN's LSTM primitive is not used: its passes are reference implementations on products that
// allocate at every call, and its backward pass cannot run without the gradients of the weights
// (docs/decisions/operations.md). The products with the source are one product for all positions,
// before or after the recurrence; only the products with the state run position by position.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "kernels/base/element.h"
#include "kernels/base/round_up.h"
#include "kernels/cpu/onednn/data_gradient.h"
#include "kernels/cpu/onednn/inner_product.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/layers/lstm_loops.h"
#include "kernels/cpu/ops/parallel.h"
#include "kernels/cpu/ops/plans.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

/// Sizes, and offsets in `saved`, which contains gates and cells in f32 and the gradients of the
/// gates in the type of the elements, each {batch, sequence, …}.
struct LstmSizes {
  template <class Desc>
  explicit LstmSizes(const Desc& desc)
      : shape(desc.shape),
        dtype(desc.dtype),
        batch(static_cast<std::size_t>(desc.shape.batch)),
        sequence(static_cast<std::size_t>(desc.shape.sequence)),
        hidden(static_cast<std::size_t>(desc.shape.hidden)),
        gates(4 * hidden) {}

  [[nodiscard]] std::size_t positions() const { return batch * sequence; }
  [[nodiscard]] std::size_t element() const { return size_of(dtype); }

  [[nodiscard]] std::size_t cells_begin() const {
    return round_up(positions() * gates * sizeof(float), alignment);
  }
  [[nodiscard]] std::size_t diff_gates_begin() const {
    return cells_begin() + round_up(positions() * hidden * sizeof(float), alignment);
  }
  [[nodiscard]] std::size_t saved_bytes() const {
    return diff_gates_begin() + round_up(positions() * gates * element(), alignment);
  }

  /// Return the shapes of the product with the source at all positions, and of the product with the
  /// state at `positions` positions.
  [[nodiscard]] LinearShape with_source() const {
    return {.batch = shape.batch * shape.sequence,
            .in_features = shape.in_features,
            .out_features = shape.gates()};
  }
  [[nodiscard]] LinearShape with_state(std::int64_t positions) const {
    return {.batch = shape.batch * positions,
            .in_features = shape.hidden,
            .out_features = shape.gates()};
  }

  static constexpr std::size_t alignment = 64;

  LstmShape shape;
  DType dtype;
  std::size_t batch;
  std::size_t sequence;
  std::size_t hidden;
  std::size_t gates;  // elements of all four gates at one position
};

/// Base of the three operations: tensors, scratch memory, and loops over the samples of a position.
class LstmOp : public CpuOp {
 public:
  LstmOp(const OpDesc& desc, const LstmSizes& sizes) : CpuOp(desc), sizes_(sizes) {}

 protected:
  /// Adds the operation's tensors; `weights` and `recurrent_weights` are the layouts of parameters
  /// or of their gradients.
  void add_lstm_tensors(const memory::desc& weights, const memory::desc& recurrent_weights) {
    for (const Operand& operand : operands()) {
      const bool is_recurrent = operand.role.ends_with("recurrent_weights");
      switch (operand.placement) {
        case Placement::opaque:
          add_tensor(opaque(sizes_.saved_bytes()));
          break;
        case Placement::planned:
          add_tensor(describe(is_recurrent ? recurrent_weights : weights));
          break;
        case Placement::exact:
        case Placement::activation:
          add_tensor(operand.tensor);
          break;
      }
    }
  }

  /// Sets the name of the kernel from both products, and reserves scratch memory that the products
  /// use in turn.
  template <class First, class Second>
  void set_products(const std::string& with_source, const std::string& with_state,
                    const First& first, const Second& second) {
    set_kernel(with_source == with_state ? with_source
                                         : fmt::format("{} + {}", with_source, with_state));
    products_ = add_scratch(std::max(first.scratch_bytes(), second.scratch_bytes()));
  }

  [[nodiscard]] std::byte* product_scratch(const Execution& execution) const {
    return execution.scratch + products_;
  }

  /// Calls function(sample) for each sample of a position, in the stream's team.
  template <class Function>
  void for_each_sample(const Execution& execution, const Function& function) const {
    parallel_ranges(sizes_.batch * sizes_.gates, sizes_.gates, execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t sample = begin / sizes_.gates; sample < end / sizes_.gates;
                           ++sample) {
                        function(sample);
                      }
                    });
  }

  LstmSizes sizes_;

 private:
  std::size_t products_ = 0;
};

class LstmForwardOp final : public LstmOp {
 public:
  LstmForwardOp(const LstmForward& desc,
                const dnnl::inner_product_forward::primitive_desc& with_source,
                const dnnl::inner_product_forward::primitive_desc& with_state);
  void execute(const Execution& execution, std::span<std::byte* const> arguments) override;

 private:
  template <class Element>
  void advance_all(const Execution& execution, std::size_t position,
                   std::span<std::byte* const> arguments) const;

  PrimitiveCall with_source_;
  PrimitiveCall with_state_;
  // Offsets in scratch memory.
  std::size_t zeros_;      // product with the state, and cell, before the first position
  std::size_t state_;      // state at one position, dense
  std::size_t recurrent_;  // product with the state
};

LstmForwardOp::LstmForwardOp(const LstmForward& desc,
                             const dnnl::inner_product_forward::primitive_desc& with_source,
                             const dnnl::inner_product_forward::primitive_desc& with_state)
    : LstmOp(desc, LstmSizes(desc)),
      with_source_(with_source, dnnl::inner_product_forward(with_source)),
      with_state_(with_state, dnnl::inner_product_forward(with_state)),
      zeros_(add_scratch(sizes_.gates * sizeof(float))),
      state_(add_scratch(sizes_.batch * sizes_.hidden * sizes_.element())),
      recurrent_(add_scratch(sizes_.batch * sizes_.gates * sizeof(float))) {
  add_lstm_tensors(with_source.weights_desc(), with_state.weights_desc());
  set_products(with_source.impl_info_str(), with_state.impl_info_str(), with_source_, with_state_);
  with_source_.add(DNNL_ARG_SRC, with_source.src_desc());
  with_source_.add(DNNL_ARG_WEIGHTS, with_source.weights_desc());
  with_source_.add(DNNL_ARG_BIAS, with_source.bias_desc());
  with_source_.add(DNNL_ARG_DST, with_source.dst_desc());
  with_state_.add(DNNL_ARG_SRC, with_state.src_desc());
  with_state_.add(DNNL_ARG_WEIGHTS, with_state.weights_desc());
  with_state_.add(DNNL_ARG_DST, with_state.dst_desc());
}

template <class Element>
void LstmForwardOp::advance_all(const Execution& execution, std::size_t position,
                                std::span<std::byte* const> arguments) const {
  const std::size_t hidden = sizes_.hidden;
  const float* zeros = floats(execution.scratch + zeros_);
  const float* recurrent = floats(execution.scratch + recurrent_);
  auto* state = reinterpret_cast<Element*>(execution.scratch + state_);
  auto* output = reinterpret_cast<Element*>(arguments[4]);
  float* gates = floats(arguments[5]);
  float* cells = floats(arguments[5] + sizes_.cells_begin());
  for_each_sample(execution, [&](std::size_t sample) {
    const std::size_t row = sample * sizes_.sequence + position;
    float* cell = cells + row * hidden;
    advance_cell({.hidden = hidden,
                  .gates = gates + row * sizes_.gates,
                  .recurrent = position == 0 ? zeros : recurrent + sample * sizes_.gates,
                  .cell_before = position == 0 ? zeros : cell - hidden,
                  .cell = cell},
                 output + row * hidden, state + sample * hidden);
  });
}

void LstmForwardOp::execute(const Execution& execution, std::span<std::byte* const> arguments) {
  std::byte* scratch = execution.scratch;
  const std::array<std::byte*, 4> of_source{arguments[0], arguments[1], arguments[3], arguments[5]};
  const std::array<std::byte*, 3> of_state{scratch + state_, arguments[2], scratch + recurrent_};
  std::memset(scratch + zeros_, 0, sizes_.gates * sizeof(float));
  with_source_.run(execution, of_source, product_scratch(execution));
  for (std::size_t position = 0; position < sizes_.sequence; ++position) {
    if (position > 0) with_state_.run(execution, of_state, product_scratch(execution));
    with_element(sizes_.dtype, [&]<class Element>(Element /*unused*/) {
      advance_all<Element>(execution, position, arguments);
    });
  }
}

class LstmBackwardDataOp final : public LstmOp {
 public:
  explicit LstmBackwardDataOp(const LstmBackwardData& desc);
  void execute(const Execution& execution, std::span<std::byte* const> arguments) override;

 private:
  template <class Element>
  void differentiate_all(const Execution& execution, std::size_t position,
                         std::span<std::byte* const> arguments) const;
  [[nodiscard]] std::size_t state_bytes() const {
    return sizes_.batch * sizes_.hidden * sizeof(float);
  }

  DataGradient to_source_;
  DataGradient to_state_;
  // Offsets in scratch memory.
  std::size_t zeros_;       // the cell before the first position
  std::size_t diff_gates_;  // gradients of the gates at one position, dense
  std::size_t diff_state_;
  std::size_t diff_cell_;
};

LstmBackwardDataOp::LstmBackwardDataOp(const LstmBackwardData& desc)
    : LstmOp(desc, LstmSizes(desc)),
      to_source_(sizes_.with_source(), desc.dtype, desc.dtype),
      to_state_(sizes_.with_state(1), desc.dtype, DType::f32, desc.shape.sequence),
      zeros_(add_scratch(sizes_.hidden * sizeof(float))),
      diff_gates_(add_scratch(sizes_.batch * sizes_.gates * sizes_.element())),
      diff_state_(add_scratch(state_bytes())),
      diff_cell_(add_scratch(state_bytes())) {
  add_lstm_tensors(to_source_.weights(), to_state_.weights());
  set_products(to_source_.kernel(), to_state_.kernel(), to_source_, to_state_);
}

template <class Element>
void LstmBackwardDataOp::differentiate_all(const Execution& execution, std::size_t position,
                                           std::span<std::byte* const> arguments) const {
  const std::size_t hidden = sizes_.hidden;
  std::byte* scratch = execution.scratch;
  const float* gates = floats(arguments[4]);
  const float* cells = floats(arguments[4] + sizes_.cells_begin());
  const auto* diff_output = reinterpret_cast<const Element*>(arguments[1]);
  auto* diff_gates = reinterpret_cast<Element*>(arguments[4] + sizes_.diff_gates_begin());
  auto* dense = reinterpret_cast<Element*>(scratch + diff_gates_);
  for_each_sample(execution, [&](std::size_t sample) {
    const std::size_t row = sample * sizes_.sequence + position;
    const float* cell = cells + row * hidden;
    differentiate_cell({.hidden = hidden,
                        .gates = gates + row * sizes_.gates,
                        .cell_before = position == 0 ? floats(scratch + zeros_) : cell - hidden,
                        .cell = cell,
                        .diff_state = floats(scratch + diff_state_) + sample * hidden,
                        .diff_cell = floats(scratch + diff_cell_) + sample * hidden},
                       diff_output + row * hidden, diff_gates + row * sizes_.gates,
                       dense + sample * sizes_.gates);
  });
}

void LstmBackwardDataOp::execute(const Execution& execution,
                                 std::span<std::byte* const> arguments) {
  std::byte* scratch = execution.scratch;
  std::byte* work = product_scratch(execution);
  to_state_.prepare(execution, arguments[3], work);
  std::memset(scratch + zeros_, 0, sizes_.hidden * sizeof(float));
  std::memset(scratch + diff_state_, 0, state_bytes());
  std::memset(scratch + diff_cell_, 0, state_bytes());
  for (std::size_t position = sizes_.sequence; position-- > 0;) {
    with_element(sizes_.dtype, [&]<class Element>(Element /*unused*/) {
      differentiate_all<Element>(execution, position, arguments);
    });
    if (position == 0) break;
    to_state_.multiply(execution, scratch + diff_gates_, arguments[3], scratch + diff_state_, work);
  }
  to_source_.prepare(execution, arguments[2], work);
  to_source_.multiply(execution, arguments[4] + sizes_.diff_gates_begin(), arguments[2],
                      arguments[5], work);
}

/// The gradients of the parameters. With `accumulate`, the primitives write gradients to scratch
/// memory, and the operation adds them from there, as in GradientOp.
class LstmBackwardWeightsOp final : public LstmOp {
 public:
  LstmBackwardWeightsOp(const LstmBackwardWeights& desc,
                        const dnnl::inner_product_backward_weights::primitive_desc& of_source,
                        const dnnl::inner_product_backward_weights::primitive_desc& of_state);
  void execute(const Execution& execution, std::span<std::byte* const> arguments) override;

 private:
  void copy_states(std::byte* to, const std::byte* from) const;

  PrimitiveCall of_source_;
  PrimitiveCall of_state_;
  bool accumulate_;
  std::size_t states_;  // offset of the states before each position, in scratch memory
  std::array<std::size_t, 3> counts_;  // floats of each gradient, padding included
  std::array<std::size_t, 3> sums_{};  // offsets of the new gradients, with `accumulate`
};

LstmBackwardWeightsOp::LstmBackwardWeightsOp(
    const LstmBackwardWeights& desc,
    const dnnl::inner_product_backward_weights::primitive_desc& of_source,
    const dnnl::inner_product_backward_weights::primitive_desc& of_state)
    : LstmOp(desc, LstmSizes(desc)),
      of_source_(of_source, dnnl::inner_product_backward_weights(of_source)),
      of_state_(of_state, dnnl::inner_product_backward_weights(of_state)),
      accumulate_(desc.accumulate),
      states_(add_scratch(sizes_.positions() * sizes_.hidden * sizes_.element())),
      counts_{of_source.diff_weights_desc().get_size() / sizeof(float),
              of_state.diff_weights_desc().get_size() / sizeof(float), sizes_.gates} {
  add_lstm_tensors(of_source.diff_weights_desc(), of_state.diff_weights_desc());
  set_products(of_source.impl_info_str(), of_state.impl_info_str(), of_source_, of_state_);
  if (accumulate_) {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      sums_.at(i) = add_scratch(counts_.at(i) * sizeof(float));
    }
  }
  of_source_.add(DNNL_ARG_SRC, of_source.src_desc());
  of_source_.add(DNNL_ARG_DIFF_DST, of_source.diff_dst_desc());
  of_source_.add(DNNL_ARG_DIFF_WEIGHTS, of_source.diff_weights_desc());
  of_source_.add(DNNL_ARG_DIFF_BIAS, of_source.diff_bias_desc());
  of_state_.add(DNNL_ARG_SRC, of_state.src_desc());
  of_state_.add(DNNL_ARG_DIFF_DST, of_state.diff_dst_desc());
  of_state_.add(DNNL_ARG_DIFF_WEIGHTS, of_state.diff_weights_desc());
}

/// Copies each sample's states shifted by one position, after the zeros of the first position.
void LstmBackwardWeightsOp::copy_states(std::byte* to, const std::byte* from) const {
  const std::size_t state = sizes_.hidden * sizes_.element();
  const std::size_t sample = sizes_.sequence * state;
  for (std::size_t begin = 0; begin < sizes_.batch * sample; begin += sample) {
    std::memset(to + begin, 0, state);
    std::memcpy(to + begin + state, from + begin, sample - state);
  }
}

void LstmBackwardWeightsOp::execute(const Execution& execution,
                                    std::span<std::byte* const> arguments) {
  std::byte* scratch = execution.scratch;
  std::array<std::byte*, 3> gradients{arguments[3], arguments[4], arguments[5]};
  if (accumulate_) {
    for (std::size_t i = 0; i < gradients.size(); ++i) gradients.at(i) = scratch + sums_.at(i);
  }
  std::byte* diff_gates = arguments[2] + sizes_.diff_gates_begin();
  copy_states(scratch + states_, arguments[1]);
  of_source_.run(execution, std::array{arguments[0], diff_gates, gradients[0], gradients[2]},
                 product_scratch(execution));
  of_state_.run(execution, std::array{scratch + states_, diff_gates, gradients[1]},
                product_scratch(execution));
  if (!accumulate_) return;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    accumulate(floats(arguments[3 + i]), floats(gradients.at(i)), counts_.at(i), execution.threads);
  }
}

}  // namespace

Planned plan(const LstmForward& desc) {
  const LstmSizes sizes(desc);
  return std::make_unique<LstmForwardOp>(
      desc, plan_inner_product(sizes.with_source(), desc.dtype, DType::f32, true),
      plan_inner_product(sizes.with_state(1), desc.dtype, DType::f32, false));
}

Planned plan(const LstmBackwardData& desc) { return std::make_unique<LstmBackwardDataOp>(desc); }

Planned plan(const LstmBackwardWeights& desc) {
  const LstmSizes sizes(desc);
  return std::make_unique<LstmBackwardWeightsOp>(
      desc, plan_inner_product_weights(sizes.with_source(), desc.dtype, true),
      plan_inner_product_weights(sizes.with_state(desc.shape.sequence), desc.dtype, false));
}

}  // namespace parbench::cpu
