// Whole numbers that are small enough for exact sums in f32, so that every order of additions gives
// the same result.
#include "scenarios/collectives/exchange.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/base/units/units.h"

namespace parbench {
namespace {

/// What rank `rank` brings as its `element`: between −30 and 30. Mixed bits, so that elements at
/// regular distances differ.
float number_at(int rank, std::int64_t element) {
  constexpr std::uint32_t range = 61;
  std::uint32_t bits =
      static_cast<std::uint32_t>(element) * 2654435761U + static_cast<std::uint32_t>(rank) * 40503U;
  bits ^= bits >> 15U;
  return static_cast<float>(static_cast<int>(bits % range) - 30);
}

/// One collective with its memory.
struct ExchangeData {
  Exchange exchange;
  std::vector<std::int64_t> blocks;
  std::vector<Tensor> data;  // by rank

  [[nodiscard]] int ranks() const { return static_cast<int>(blocks.size()); }
  [[nodiscard]] std::int64_t count() const {
    return std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
  }
  [[nodiscard]] float sum_at(std::int64_t element) const {
    float sum = 0;
    for (int rank = 0; rank < ranks(); ++rank) sum += number_at(rank, element);
    return sum;
  }
};

/// A rank's numbers, which all cases of that size share.
BufferView initial_numbers(Context& context, int rank, std::int64_t count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
  return context.shared(rank, fmt::format("numbers of collectives, {} bytes", bytes), bytes,
                        [&context, rank, count, bytes](const BufferView& view) {
                          std::vector<float> numbers(static_cast<std::size_t>(count));
                          for (std::int64_t i = 0; i < count; ++i) {
                            numbers[static_cast<std::size_t>(i)] = number_at(rank, i);
                          }
                          const Buffer host(reinterpret_cast<std::byte*>(numbers.data()), bytes,
                                            MemoryKind::pageable, [](std::byte*) {});
                          Stream& stream = context.stream(rank, StreamKind::compute);
                          stream.copy(view, BufferView(host));
                          stream.synchronize();
                        });
}

/// Streams of a device that computes in the host's memory share its cores: a second one would add
/// waiting between the two and nothing else.
Rank lanes_of_rank(CaseParts& parts, int rank) {
  Rank made;
  made.compute = add_lane(parts, rank, StreamKind::compute);
  const bool one_lane = parts.context.device(rank).info().host_memory;
  made.copies = one_lane ? made.compute : add_lane(parts, rank, StreamKind::copy);
  return made;
}

/// With memory of its own.
Rank rank_of_call(CaseParts& parts, ExchangeData& all, int rank, Rank made) {
  const Collective collective = all.exchange.collective;
  const BufferView initial = initial_numbers(parts.context, rank, all.count());
  all.data.push_back(
      parts.data.tensor(rank, canonical({received_elements(collective, all.blocks, rank)})));
  made.data = all.data.back().view;
  if (has_input(collective)) {
    made.input = initial;
    parts.data.poison(all.data.back());
  } else {
    parts.data.at_reset(rank, 0, [view = made.data, initial](Stream& stream, BufferView) {
      stream.copy(view, initial);
    });
  }
  return made;
}

/// Returns the communicator for an exchange, or throws Unsupported.
Communicator& communicator_for(CaseParts& parts, const ExchangeData& all) {
  Communicator* communicator = all.exchange.over_ranks
                                   ? parts.context.communicator(*all.exchange.over_ranks)
                                   : parts.context.communicator();
  if (communicator == nullptr) {
    throw Unsupported("no library joins these devices; use --strategy direct, ring or tree");
  }
  if (has_blocks(all.exchange.collective) && all.count() % all.ranks() != 0) {
    throw Unsupported(
        fmt::format("{} needs blocks of equal sizes; use a --size that is a multiple of {}",
                    communicator->name(), all.ranks() * static_cast<int>(sizeof(float))));
  }
  return *communicator;
}

/// Returns how many messages there are.
std::string add_algorithm(CaseParts& parts, const ExchangeData& all,
                          const std::vector<Rank>& ranks) {
  const Messages messages = pipelined(
      rounds_of(all.exchange.collective, *all.exchange.algorithm, all.blocks), chunk_elements);
  std::vector<int> devices;
  std::vector<Stream*> streams;
  for (const Rank& rank : ranks) {
    devices.push_back(static_cast<int>(devices.size()));
    streams.push_back(&stream_of(parts, rank.compute));
  }
  const Additions additions(messages, parts.data, parts.ops, devices, streams);
  static_cast<void>(add_messages(parts.plan, std::string(name_of(all.exchange.collective)),
                                 messages, ranks, sizeof(float), &additions));
  return fmt::format("{} of at most {}", messages.size(),
                     format_bytes(chunk_elements * sizeof(float)));
}

/// Returns what the report says of how it is done.
std::string add_call(CaseParts& parts, const ExchangeData& all, const std::vector<Rank>& ranks) {
  if (all.exchange.algorithm) return add_algorithm(parts, all, ranks);
  Communicator& communicator = communicator_for(parts, all);
  const Collective collective = all.exchange.collective;
  static_cast<void>(
      add_to_all(parts.plan, std::string(name_of(collective)), ranks, communicator, collective));
  return communicator.method(collective, ranks.front().data.bytes);
}

// --- verification ---

/// Compares elements of a rank's array from `first` on with what `want` gives for 0, 1, ….
std::optional<std::string> compare_run(const std::vector<float>& got, std::int64_t first,
                                       std::int64_t count, const auto& want) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float found = got.at(static_cast<std::size_t>(first + i));
    if (found == want(i)) continue;
    return fmt::format("element {} is {}, expected {}", first + i, found, want(i));
  }
  return std::nullopt;
}

/// What is wrong in the array of a rank. Blocks of other ranks are undefined after a
/// reduce-scatter, and all of other ranks but the root after a reduce.
std::optional<std::string> wrong_at(const ExchangeData& all, int rank,
                                    const std::vector<float>& got) {
  const std::vector<std::int64_t> first = first_elements(all.blocks);
  const std::int64_t own = first[static_cast<std::size_t>(rank)];
  const std::int64_t own_count = all.blocks[static_cast<std::size_t>(rank)];
  const auto sum_from = [&](std::int64_t from) {
    return [&all, from](std::int64_t i) { return all.sum_at(from + i); };
  };
  const auto of_rank = [](int from, std::int64_t at) {
    return [from, at](std::int64_t i) { return number_at(from, at + i); };
  };
  switch (all.exchange.collective) {
    case Collective::all_reduce:
      return compare_run(got, 0, all.count(), sum_from(0));
    case Collective::reduce:
      return compare_run(got, 0, rank == 0 ? all.count() : 0, sum_from(0));
    case Collective::reduce_scatter:
      return compare_run(got, own, own_count, sum_from(own));
    case Collective::broadcast:
      return compare_run(got, 0, all.count(), of_rank(0, 0));
    case Collective::send_recv:
      return compare_run(got, 0, all.count(), of_rank((rank + all.ranks() - 1) % all.ranks(), 0));
    case Collective::all_gather:
    case Collective::all_to_all:
      break;
  }
  const bool gathers = all.exchange.collective == Collective::all_gather;
  for (int from = 0; from < all.ranks(); ++from) {
    const auto block = static_cast<std::size_t>(from);
    const std::int64_t at = gathers ? first[block] : own;
    const auto wrong = compare_run(got, gathers ? at : from * own_count,
                                   gathers ? all.blocks[block] : own_count, of_rank(from, at));
    if (wrong) return wrong;
  }
  return std::nullopt;
}

void add_check(CaseParts& parts, const std::shared_ptr<ExchangeData>& all) {
  const auto check = [&parts, all]() -> std::optional<std::string> {
    for (int rank = 0; rank < all->ranks(); ++rank) {
      const Tensor& data = all->data[static_cast<std::size_t>(rank)];
      if (data.desc.bytes == 0) continue;
      if (auto wrong = wrong_at(*all, rank, parts.data.read(data))) {
        return fmt::format("rank {}: {}", rank, *wrong);
      }
    }
    return std::nullopt;
  };
  parts.checks.push_back({"every number equal to the exact result", check});
}

}  // namespace

void plan_exchange(CaseParts& parts, const Exchange& exchange) {
  const int devices = parts.context.device_count();
  std::vector<Rank> lanes;
  for (int rank = 0; rank < devices; ++rank) lanes.push_back(lanes_of_rank(parts, rank));
  for (std::int64_t call = 0; call < exchange.calls; ++call) {
    const auto all = std::make_shared<ExchangeData>();
    all->exchange = exchange;
    all->blocks = split_evenly(exchange.bytes / static_cast<std::int64_t>(sizeof(float)), devices);
    std::vector<Rank> ranks;
    for (int rank = 0; rank < devices; ++rank) {
      ranks.push_back(rank_of_call(parts, *all, rank, lanes[static_cast<std::size_t>(rank)]));
    }
    const std::string note = add_call(parts, *all, ranks);
    if (call == 0) parts.notes.emplace_back(exchange.algorithm ? "messages" : "method", note);
    add_check(parts, all);
  }
  parts.reads_borrowed_memory = !has_input(exchange.collective);
}

}  // namespace parbench
