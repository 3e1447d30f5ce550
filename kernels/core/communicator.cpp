// Argument checks shared by all communicators, and names and work of collectives.
#include "kernels/core/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace parbench {
namespace {

bool adds(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce_scatter ||
         collective == Collective::reduce;
}

/// Returns the number of bytes of which the size of a member's data must be a multiple: the size of
/// an element (f32 for sums, otherwise a byte), times the number of members if there are blocks.
std::size_t granularity_of(Collective collective, std::size_t members) {
  return (adds(collective) ? sizeof(float) : 1) * (has_blocks(collective) ? members : 1);
}

}  // namespace

std::string_view name_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return "all-reduce";
    case Collective::all_gather:
      return "all-gather";
    case Collective::reduce_scatter:
      return "reduce-scatter";
    case Collective::broadcast:
      return "broadcast";
    case Collective::reduce:
      return "reduce";
    case Collective::all_to_all:
      return "all-to-all";
    case Collective::send_recv:
      break;
  }
  return "send-recv";
}

bool has_input(Collective collective) {
  return collective == Collective::all_to_all || collective == Collective::send_recv;
}

bool has_blocks(Collective collective) {
  return collective == Collective::all_gather || collective == Collective::reduce_scatter ||
         collective == Collective::all_to_all;
}

Work work_of(Collective collective, std::size_t members, std::size_t bytes) {
  const double others = static_cast<double>(members - 1) * static_cast<double>(bytes);
  double sent = others;
  if (collective == Collective::all_reduce) sent = 2 * others;
  if (collective == Collective::send_recv) sent = others + static_cast<double>(bytes);
  return {.flops = adds(collective) ? others / sizeof(float) : 0, .bytes = 2 * sent};
}

void Communicator::enqueue(Collective collective, std::span<Stream* const> streams,
                           std::span<const BufferView> data, std::span<const BufferView> inputs) {
  const auto members = static_cast<std::size_t>(size());
  if (streams.size() != members || data.size() != members) {
    throw std::invalid_argument(fmt::format("{} joins {} members, not {} streams and {} views",
                                            name(), members, streams.size(), data.size()));
  }
  const std::size_t bytes = data.front().bytes;
  const auto has_other_size = [&](const BufferView& view) { return view.bytes != bytes; };
  if (std::ranges::any_of(data, has_other_size) || std::ranges::any_of(inputs, has_other_size)) {
    throw std::invalid_argument(name() + ": a collective needs data of equal sizes");
  }
  if (inputs.size() != (has_input(collective) ? members : 0)) {
    throw std::invalid_argument(fmt::format("{}: {} inputs are given for {} of {} members", name(),
                                            inputs.size(), name_of(collective), members));
  }
  const std::size_t granularity = granularity_of(collective, members);
  if (bytes % granularity != 0) {
    throw std::invalid_argument(
        fmt::format("{}: {} bytes are not a multiple of {}", name(), bytes, granularity));
  }
  enqueue_checked(collective, streams, data, inputs);
}

}  // namespace parbench
