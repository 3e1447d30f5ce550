// What all communicators ask of their callers, and the work of collectives.
#include "kernels/core/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace parbench {

std::string_view name_of(Collective collective) {
  return collective == Collective::all_reduce ? "all-reduce" : "all-gather";
}

Work work_of(Collective collective, std::size_t ranks, std::size_t bytes) {
  const double sent = static_cast<double>(ranks - 1) * static_cast<double>(bytes);
  if (collective == Collective::all_gather) return {.flops = 0, .bytes = 2 * sent};
  return {.flops = sent / sizeof(float), .bytes = 2 * 2 * sent};
}

void Communicator::enqueue(Collective collective, std::span<Stream* const> streams,
                           std::span<const BufferView> data) {
  const auto ranks = static_cast<std::size_t>(size());
  if (streams.size() != ranks || data.size() != ranks) {
    throw std::invalid_argument(fmt::format("{} joins {} ranks, not {} streams and {} views",
                                            name(), ranks, streams.size(), data.size()));
  }
  const std::size_t bytes = data.front().bytes;
  if (std::ranges::any_of(data, [&](const BufferView& view) { return view.bytes != bytes; })) {
    throw std::invalid_argument(name() + ": a collective needs data of equal sizes");
  }
  const std::size_t unit = collective == Collective::all_gather ? ranks : sizeof(float);
  if (bytes % unit != 0) {
    throw std::invalid_argument(
        fmt::format("{}: {} bytes are no multiple of {}", name(), bytes, unit));
  }
  enqueue_checked(collective, streams, data);
}

}  // namespace parbench
