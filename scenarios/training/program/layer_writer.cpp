// Where the inputs of a stage's layers lie.
#include "scenarios/training/program/layer_writer.h"

namespace parbench {

BufferView StageParts::input_of(int index, std::size_t which) const {
  const int producer = layer(index).inputs.at(which);
  if (producer >= range.first) return memory_of(producer).output;
  return symbolic(Space::input, 0, input.bytes);
}

}  // namespace parbench
