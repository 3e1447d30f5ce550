// Offsets and packed copies of parameters.
#include "scenarios/training/program/parameter_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "kernels/base/round_up.h"
#include "scenarios/plan/region.h"

namespace parbench {
namespace {

constexpr std::size_t bf16_in_f32 = sizeof(float) / sizeof(std::uint16_t);

/// Returns whether `wanted` is the f32 master in bf16, with the same shape and layout, and neither
/// has padding.
bool is_conversion(const TensorDesc& master, const TensorDesc& wanted) {
  const auto count = static_cast<std::size_t>(element_count(master.shape));
  return master.dtype == DType::f32 && wanted.dtype == DType::bf16 &&
         master.shape == wanted.shape && master.layout == wanted.layout &&
         master.bytes == count * size_of(DType::f32) &&
         wanted.bytes == count * size_of(DType::bf16);
}

}  // namespace

// A bf16 copy is at half of its master's offset, both counted from the first converted parameter
// (Image). Sizes are rounded up to twice the alignment, so that both offsets are aligned.
void ParameterStore::add(ParameterSpec spec, TensorDesc master) {
  if (image_) throw std::logic_error("parameters are added before they are converted");
  const std::size_t size = round_up(master.bytes, bf16_in_f32 * RegionPlanner::alignment);
  entries_.push_back({std::move(spec), std::move(master), bytes_});
  bytes_ += size;
  bytes_of_own_ = bytes_;
}

void ParameterStore::add_copy(ParameterSpec spec, TensorDesc master) {
  const std::size_t own = bytes_of_own_;
  add(std::move(spec), std::move(master));
  entries_.back().is_copy = true;
  bytes_of_own_ = own;
}

const ParameterStore::Entry& ParameterStore::entry(int layer, std::string_view role) const {
  const auto shared = owners_.find(layer);
  const int owner = shared == owners_.end() ? layer : shared->second;
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.spec.layer == owner && entry.spec.role == role;
  });
  if (found == entries_.end()) {
    throw std::logic_error(fmt::format("layer {} has no parameter {}", layer, role));
  }
  return *found;
}

SymbolicView ParameterStore::gradient(int layer, std::string_view role) const {
  const Entry& found = entry(layer, role);
  return {Space::gradients, found.offset, found.master.bytes};
}

std::optional<SymbolicView> ParameterStore::found(int layer, std::string_view role,
                                                  const TensorDesc& wanted) const {
  const Entry& one = entry(layer, role);
  if (wanted == one.master) return SymbolicView(Space::parameters, one.offset, one.master.bytes);
  for (const Packed& packed : packed_) {
    if (packed.layer == layer && packed.role == role && packed.tensor == wanted) return packed.view;
  }
  return std::nullopt;
}

SymbolicView ParameterStore::parameter(int layer, std::string_view role, const TensorDesc& wanted) {
  if (const auto known = found(layer, role, wanted)) return *known;
  const Entry& one = entry(layer, role);
  const bool in_image =
      is_conversion(one.master, wanted) && (!image_ || one.offset >= image_->first);
  const SymbolicView view = in_image ? converted(one, wanted) : reordered(one, wanted);
  packed_.push_back({layer, std::string(role), wanted, view});
  return view;
}

SymbolicView ParameterStore::converted(const Entry& entry, const TensorDesc& wanted) {
  if (!image_) {
    image_ = {entry.offset, packed_bytes_};
    const std::size_t masters = bytes_ - entry.offset;
    packed_bytes_ += masters / bf16_in_f32;
    const auto count = static_cast<std::int64_t>(masters / sizeof(float));
    Op& convert = ops_.prepare(stream_, Reorder{.source = canonical({count}),
                                                .destination = canonical({count}, DType::bf16)});
    packing_.push_back(bind<SymbolicView>(
        convert,
        {{"source", SymbolicView(Space::parameters, image_->first, masters)},
         {"destination", SymbolicView(Space::packed, image_->base, masters / bf16_in_f32)}}));
  }
  return {Space::packed, image_->base + (entry.offset - image_->first) / bf16_in_f32, wanted.bytes};
}

SymbolicView ParameterStore::reordered(const Entry& entry, const TensorDesc& wanted) {
  const SymbolicView view = SymbolicView(Space::packed, packed_bytes_, wanted.bytes);
  packed_bytes_ += round_up(wanted.bytes, RegionPlanner::alignment);
  Op& reorder = ops_.prepare(stream_, Reorder{.source = entry.master, .destination = wanted});
  packing_.push_back(bind<SymbolicView>(
      reorder, {{"source", SymbolicView(Space::parameters, entry.offset, entry.master.bytes)},
                {"destination", view}}));
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
