// Selects the outputs to keep, and writes the layers in order.
#include "scenarios/training/program/forward_writer.h"

#include <string>

namespace parbench {

SymbolicPass ForwardWriter::write() {
  place_what_leaves();
  for (int index = parts().range.first; index <= parts().range.last; ++index) {
    write_layer(index, [&](const Layer& layer) { layer.kind->write_forward(*this); });
    release_what_was_read_last_by(index);
  }
  return take_pass();
}

/// Places the outputs that leave the stage first. They stay during the backward pass, and gradients
/// can replace the memory after them.
void ForwardWriter::place_what_leaves() {
  for (int index = parts().range.first; index <= parts().range.last; ++index) {
    if (!parts().leaves_stage(index)) continue;
    const TensorDesc output =
        tensor_of(parts().stream.device(), parts().range, index, parts().samples);
    leaving_[index] = kept_memory(output.bytes);
  }
}

SymbolicView ForwardWriter::kept_memory(std::size_t bytes) {
  return {Space::activations, activations_.acquire(bytes), bytes};
}

SymbolicView ForwardWriter::transient_memory(std::size_t bytes, int last_reader) {
  const std::size_t offset = region_.acquire(bytes);
  transient_.emplace(last_reader, offset);
  return {Space::transient, offset, bytes};
}

SymbolicView ForwardWriter::place_output(std::size_t bytes) {
  if (const auto found = leaving_.find(index()); found != leaving_.end()) {
    return parts().memory_of(index()).output = found->second.part(0, bytes);
  }
  return parts().memory_of(index()).output =
             is_kept(index()) ? kept_memory(bytes) : transient_memory(bytes, last_reader(index()));
}

/// With recomputation, returns transient memory: RecomputeWriter writes the data again.
SymbolicView ForwardWriter::keep(std::string_view name, std::size_t bytes) {
  return parts().memory_of(index()).kept[std::string(name)] =
             parts().range.recompute ? transient_memory(bytes, index()) : kept_memory(bytes);
}

bool ForwardWriter::is_kept(int index) const {
  if (parts().range.recompute) return parts().leaves_unit(index);
  return parts().leaves_stage(index) || parts().backward_reads(index);
}

int ForwardWriter::last_reader(int index) const {
  int last = index;
  for (int reader = index + 1; reader <= parts().range.last; ++reader) {
    if (parts().layer(reader).reads(index)) last = reader;
  }
  return last;
}

void ForwardWriter::release_what_was_read_last_by(int reader) {
  const auto [begin, end] = transient_.equal_range(reader);
  for (auto one = begin; one != end; ++one) region_.release(one->second);
  transient_.erase(begin, end);
}

}  // namespace parbench
