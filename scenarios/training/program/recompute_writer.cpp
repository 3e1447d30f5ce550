// Selects the layers of a unit to recompute, and the lifetimes of their outputs.
#include "scenarios/training/program/recompute_writer.h"

#include <string>
#include <utility>

namespace parbench {

SymbolicPass RecomputeWriter::write(int first, int last) {
  find_wanted(first, last);
  for (int index = first; index <= last; ++index) {
    if (is_wanted(index)) write_one(index);
  }
  return take_pass();
}

void RecomputeWriter::release() {
  for (const SymbolicView& view : held_) memory_.release(view);
  held_.clear();
}

/// Finds the layers to recompute, from the last layer to the first: each layer that keeps data for
/// its backward pass, and each whose output is no longer available but is read by the unit's
/// backward pass or by another recomputed layer.
void RecomputeWriter::find_wanted(int first, int last) {
  last_readers_.clear();
  for (int index = last; index >= first; --index) {
    int last_reader = index;
    for (const auto& [reader, unused] : last_readers_) {
      if (parts().layer(reader).reads(index)) last_reader = reader;
    }
    const bool is_missing = !parts().leaves_unit(index);
    const bool is_read = last_reader != index || parts().backward_reads(index);
    const bool keeps = !parts().memory_of(index).kept.empty();
    if (keeps || (is_missing && is_read)) last_readers_[index] = last_reader;
  }
}

void RecomputeWriter::write_one(int index) {
  std::vector<SymbolicView> statistics;
  const std::size_t bytes = parts().statistics_of(index).bytes;
  unused_statistics_ = bytes > 0 ? transient(bytes, statistics) : SymbolicView();
  write_layer(index, [&](const Layer& layer) { layer.kind->write_forward(*this); });
  for (const SymbolicView& view : statistics) memory_.release(view);
  for (const SymbolicView& view : released_after_[index]) memory_.release(view);
  released_after_.erase(index);
}

SymbolicView RecomputeWriter::transient(std::size_t bytes, std::vector<SymbolicView>& held) {
  return held.emplace_back(memory_.acquire(bytes));
}

/// Returns the existing memory of an output that leaves the unit, which is overwritten with the
/// same values; for other outputs, a temporary.
SymbolicView RecomputeWriter::place_output(std::size_t bytes) {
  SymbolicView& output = parts().memory_of(index()).output;
  if (parts().leaves_unit(index())) return output;
  output = transient(
      bytes, parts().backward_reads(index()) ? held_ : released_after_[last_readers_.at(index())]);
  return output;
}

SymbolicView RecomputeWriter::keep(std::string_view name, std::size_t bytes) {
  return parts().memory_of(index()).kept[std::string(name)] = transient(bytes, held_);
}

}  // namespace parbench
