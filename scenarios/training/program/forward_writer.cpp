// Which outputs are kept, and the layers in their order.
#include "scenarios/training/program/forward_writer.h"

#include <algorithm>
#include <string>

#include "kernels/base/round_up.h"

namespace parbench {

std::vector<OpCall> ForwardWriter::write() {
  for (int index = parts().range.first; index <= parts().range.last; ++index) {
    write_layer(index, [&](const Layer& layer) { layer.kind->write_forward(*this); });
    release_what_was_read_last_by(index);
  }
  return std::move(calls());
}

BufferView ForwardWriter::kept_memory(std::size_t bytes) {
  const BufferView view = symbolic(Space::activations, activation_bytes_, bytes);
  activation_bytes_ += round_up(bytes, RegionPlanner::alignment);
  return view;
}

BufferView ForwardWriter::place_output(std::size_t bytes) {
  BufferView& output = parts().memory_of(index()).output;
  if (is_kept(index())) {
    output = kept_memory(bytes);
  } else {
    const std::size_t offset = region_.acquire(bytes);
    transient_outputs_.emplace(last_reader(index()), offset);
    output = symbolic(Space::transient, offset, bytes);
  }
  return output;
}

BufferView ForwardWriter::keep(std::string_view name, std::size_t bytes) {
  return parts().memory_of(index()).kept[std::string(name)] = kept_memory(bytes);
}

BufferView ForwardWriter::statistics() const {
  const Network& network = *parts().range.network;
  const std::size_t begin = statistics_offset(network, index());
  return symbolic(Space::statistics, begin, statistics_offset(network, index() + 1) - begin);
}

/// Also what leaves the stage, and what checks of the step read: both sides of the last layer.
bool ForwardWriter::is_kept(int index) const {
  const StageRange& range = parts().range;
  if (index == range.last || parts().layer(index).kind->backward_reads_output()) return true;
  for (int reader = index + 1; reader <= range.last; ++reader) {
    const Layer& layer = parts().layer(reader);
    const bool is_end = range.is_last() && reader == range.last;
    for (std::size_t which = 0; which < layer.inputs.size(); ++which) {
      if (layer.inputs[which] != index) continue;
      if (is_end || layer.kind->backward_reads_input(which)) return true;
    }
  }
  return false;
}

int ForwardWriter::last_reader(int index) const {
  int last = index;
  for (int reader = index + 1; reader <= parts().range.last; ++reader) {
    const std::vector<int>& inputs = parts().layer(reader).inputs;
    if (std::ranges::find(inputs, index) != inputs.end()) last = reader;
  }
  return last;
}

void ForwardWriter::release_what_was_read_last_by(int reader) {
  const auto [begin, end] = transient_outputs_.equal_range(reader);
  for (auto one = begin; one != end; ++one) region_.release(one->second);
  transient_outputs_.erase(begin, end);
}

}  // namespace parbench
