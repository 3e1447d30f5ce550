// Adds conversions to collectives.
#include "scenarios/models/layers/sums.h"

#include <cstdint>

namespace parbench {
namespace {

/// Descriptions of an array in f32 and in the element type of the pass.
struct Formats {
  TensorDesc wide;
  TensorDesc narrow;
};

Formats formats_of(const LayerPass& pass, std::size_t bytes_in_f32) {
  const auto count = static_cast<std::int64_t>(bytes_in_f32 / sizeof(float));
  return {.wide = canonical({count}), .narrow = canonical({count}, pass.work().dtype)};
}

void widen(LayerPass& pass, const SymbolicView& source, const SymbolicView& destination) {
  const auto [wide, narrow] = formats_of(pass, destination.bytes);
  Op& op = pass.prepare(Reorder{.source = narrow, .destination = wide});
  pass.emit(op, {{"source", source}, {"destination", destination}});
}

void round(LayerPass& pass, const SymbolicView& source, const SymbolicView& destination) {
  const auto [wide, narrow] = formats_of(pass, source.bytes);
  Op& op = pass.prepare(Reorder{.source = wide, .destination = narrow});
  pass.emit(op, {{"source", source}, {"destination", destination}});
}

/// Calls `sum` with scratch memory for `bytes` of activations after conversion to f32; empty if
/// they are f32 already.
template <class Sum>
void with_temporary(BackwardPass& pass, std::size_t bytes, const Sum& sum) {
  const std::size_t in_f32 = bytes_in_f32(pass, bytes);
  if (in_f32 == 0) return sum(SymbolicView());
  const Gradient temporary = pass.make_temporary(in_f32);
  sum(temporary.view);
  pass.release(temporary);
}

}  // namespace

std::size_t bytes_in_f32(const LayerPass& pass, std::size_t bytes) {
  const std::size_t element = size_of(pass.work().dtype);
  return element == sizeof(float) ? 0 : bytes / element * sizeof(float);
}

void add_up(LayerPass& pass, const SymbolicView& data, const SymbolicView& in_f32) {
  if (in_f32.bytes == 0) return pass.exchange(Collective::all_reduce, data);
  widen(pass, data, in_f32);
  pass.exchange(Collective::all_reduce, in_f32);
  round(pass, in_f32, data);
}

void add_up(BackwardPass& pass, const SymbolicView& data) {
  with_temporary(pass, data.bytes, [&](const SymbolicView& in_f32) { add_up(pass, data, in_f32); });
}

void add_up_part(LayerPass& pass, const SymbolicView& data, PositionPart part,
                 const SymbolicView& in_f32, const SymbolicView& destination) {
  if (in_f32.bytes > 0) {
    widen(pass, data, in_f32);
    pass.exchange(Collective::reduce_scatter, in_f32);
    return round(pass, part_of(in_f32, part), destination);
  }
  pass.exchange(Collective::reduce_scatter, data);
  const SymbolicView own = part_of(data, part);
  if (own.base == destination.base && own.offset == destination.offset) return;
  const TensorDesc numbers = formats_of(pass, own.bytes).wide;
  Op& copy = pass.prepare(Reorder{.source = numbers, .destination = numbers});
  pass.emit(copy, {{"source", own}, {"destination", destination}});
}

void add_up_part(BackwardPass& pass, const SymbolicView& data, PositionPart part) {
  with_temporary(pass, data.bytes, [&](const SymbolicView& in_f32) {
    add_up_part(pass, data, part, in_f32, part_of(data, part));
  });
}

}  // namespace parbench
