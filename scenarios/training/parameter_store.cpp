// Offsets and packed copies of parameters.
#include "scenarios/training/parameter_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/round_up.h"
#include "scenarios/training/region.h"

namespace parbench {

void ParameterStore::add(ParameterSpec spec, TensorDesc master) {
  const std::size_t size = round_up(master.bytes, RegionPlanner::alignment);
  entries_.push_back({std::move(spec), std::move(master), bytes_});
  bytes_ += size;
}

const ParameterStore::Entry& ParameterStore::entry(int layer, std::string_view role) const {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.spec.layer == layer && entry.spec.role == role;
  });
  if (found == entries_.end()) {
    throw std::logic_error(fmt::format("layer {} has no parameter {}", layer, role));
  }
  return *found;
}

BufferView ParameterStore::gradient(int layer, std::string_view role) const {
  const Entry& found = entry(layer, role);
  return symbolic(Space::gradients, found.offset, found.master.bytes);
}

BufferView ParameterStore::parameter(int layer, std::string_view role, const TensorDesc& wanted) {
  const Entry& found = entry(layer, role);
  const BufferView master = symbolic(Space::parameters, found.offset, found.master.bytes);
  if (wanted == found.master) return master;
  for (const Packed& packed : packed_) {
    if (packed.layer == layer && packed.role == role && packed.tensor == wanted) return packed.view;
  }
  const BufferView view = symbolic(Space::packed, packed_bytes_, wanted.bytes);
  packed_bytes_ += round_up(wanted.bytes, RegionPlanner::alignment);
  packed_.push_back({layer, std::string(role), wanted, view});
  Op& reorder = ops_.prepare(stream_, Reorder{.source = found.master, .destination = wanted});
  packing_.push_back(bind(reorder, {{"source", master}, {"destination", view}}));
  return view;
}

std::string ParameterStore::layout_key() const {
  std::string key;
  for (const Entry& entry : entries_) {
    key += fmt::format("{}:{};", entry.spec.name, entry.master.layout.name());
  }
  return key;
}

}  // namespace parbench
