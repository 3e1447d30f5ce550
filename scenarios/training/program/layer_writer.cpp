// Finds the inputs of a stage's layers and the readers of their outputs.
#include "scenarios/training/program/layer_writer.h"

namespace parbench {

SymbolicView StageParts::input_of(int index, std::size_t which) const {
  const int producer = layer(index).inputs.at(which);
  if (producer >= range.first) return memory_of(producer).output;
  return inputs.view(Space::input, producer);
}

SymbolicView StageParts::statistics_of(int index) const {
  const std::size_t begin = statistics_offset(*range.network, index);
  return {Space::statistics, begin, statistics_offset(*range.network, index + 1) - begin};
}

bool StageParts::backward_reads(int index) const {
  if (layer(index).kind->backward_reads_output(work_of(index))) return true;
  for (int reader = index + 1; reader <= range.last; ++reader) {
    const Layer& one = layer(reader);
    for (std::size_t which = 0; which < one.inputs.size(); ++which) {
      if (one.inputs[which] == index && one.kind->backward_reads_input(which, work_of(reader))) {
        return true;
      }
    }
  }
  return false;
}

bool StageParts::shares_gradient_with_later(int index) const {
  for (int later = index + 1; later <= range.last; ++later) {
    if (range.network->owner_of(later) == range.network->owner_of(index)) return true;
  }
  return false;
}

bool StageParts::leaves_stage(int index) const {
  const int end = static_cast<int>(range.network->layers.size()) - 1;
  return index == end || layer(end).reads(index) || outputs.has(index);
}

bool StageParts::leaves_unit(int index) const {
  if (leaves_stage(index)) return true;
  for (int reader = index + 1; reader <= range.last; ++reader) {
    if (layer(reader).unit != layer(index).unit && layer(reader).reads(index)) return true;
  }
  return false;
}

}  // namespace parbench
