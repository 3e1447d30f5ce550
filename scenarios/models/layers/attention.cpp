// Shapes and calls of attention.
#include "scenarios/models/layers/attention.h"

#include <fmt/format.h>

#include <stdexcept>

#include "scenarios/models/layers/passes.h"

namespace parbench {
namespace {

template <class Attention>
Attention attention_of(const LayerWork& work, std::int64_t heads, bool causal) {
  return {.batch = work.output.at(0),
          .sequence = work.output.at(1),
          .heads = heads,
          .head_size = work.output.at(2) / heads,
          .causal = causal,
          .dtype = work.dtype,
          .math = work.math};
}

}  // namespace

Shape SelfAttention::output_of(const std::vector<Shape>& inputs) const {
  const Shape& input = inputs.at(0);
  if (input.size() != 2 || input.back() % (3 * heads_) != 0) {
    throw std::invalid_argument(
        fmt::format("attention of {} heads needs {{sequence, 3 times a multiple of {}}}, not {}",
                    heads_, heads_, to_string(input)));
  }
  return {input.front(), input.back() / 3};
}

void SelfAttention::write_forward(ForwardPass& pass) const {
  Op& op = pass.prepare(attention_of<AttentionForward>(pass.work(), heads_, causal_));
  pass.emit(op, {{"projections", pass.input(0)},
                 {"destination", pass.place_output(op.tensor("destination").bytes)},
                 {"saved", pass.keep("saved", op.tensor("saved").bytes)}});
}

void SelfAttention::write_backward(BackwardPass& pass) const {
  Op& op = pass.prepare(attention_of<AttentionBackward>(pass.work(), heads_, causal_));
  const Gradient incoming = pass.gradient();
  const Gradient result = pass.make(0, op.tensor("diff_projections").bytes);
  pass.emit(op, {{"projections", pass.input(0)},
                 {"destination", pass.output()},
                 {"diff_destination", incoming.view},
                 {"saved", pass.kept("saved")},
                 {"diff_projections", result.view}});
  pass.contribute_instead(incoming, 0, result);
}

}  // namespace parbench
