// Plans, fills and checks collectives. Data consists of integers that are small enough for exact
// sums in f32, so that every order of additions gives the same result.
#include "scenarios/collectives/exchange.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/base/units/units.h"
#include "scenarios/framework/collectives/member_collectives.h"

namespace parbench {
namespace {

/// Returns element `element` of a member's data, between −30 and 30. Bits are mixed, so that
/// elements at regular distances differ.
float number_at(int member, std::int64_t element) {
  constexpr std::uint32_t range = 61;
  std::uint32_t bits = static_cast<std::uint32_t>(element) * 2654435761U +
                       static_cast<std::uint32_t>(member) * 40503U;
  bits ^= bits >> 15U;
  return static_cast<float>(static_cast<int>(bits % range) - 30);
}

/// One collective with its memory.
struct ExchangeData {
  Exchange exchange;
  std::vector<std::int64_t> blocks;
  std::vector<Tensor> data;  // by member

  [[nodiscard]] int members() const { return static_cast<int>(blocks.size()); }
  [[nodiscard]] std::int64_t count() const {
    return std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
  }
  [[nodiscard]] float sum_at(std::int64_t element) const {
    float sum = 0;
    for (int member = 0; member < members(); ++member) sum += number_at(member, element);
    return sum;
  }
};

/// Returns a member's initial numbers, which all cases of that size share.
BufferView initial_numbers(Context& context, int member, std::int64_t count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
  return context.shared(member, fmt::format("numbers of collectives, {} bytes", bytes), bytes,
                        [&context, member, count, bytes](const BufferView& view) {
                          std::vector<float> numbers(static_cast<std::size_t>(count));
                          for (std::int64_t i = 0; i < count; ++i) {
                            numbers[static_cast<std::size_t>(i)] = number_at(member, i);
                          }
                          const Buffer host(reinterpret_cast<std::byte*>(numbers.data()), bytes,
                                            MemoryKind::pageable, [](std::byte*) {});
                          Stream& stream = context.stream(member, StreamKind::compute);
                          stream.copy(view, BufferView(host));
                          stream.synchronize();
                        });
}

/// Makes a member that copies on a lane of its own, or on its only lane if the device has host
/// memory: a second stream would share the device's cores and only add synchronisation.
Member make_member(CaseParts& parts, int device) {
  Member made = member_on(device, add_lane(parts, device, StreamKind::compute));
  const bool one_lane = parts.context.device(device).info().host_memory;
  if (!one_lane) made.copies = add_lane(parts, device, StreamKind::copy);
  return made;
}

/// Adds a member's memory for one collective.
void add_memory(CaseParts& parts, ExchangeData& all, Member& member) {
  const Collective collective = all.exchange.collective;
  const BufferView initial = initial_numbers(parts.context, member.device, all.count());
  all.data.push_back(parts.data.tensor(
      member.device, canonical({received_elements(collective, all.blocks, member.device)})));
  member.data = all.data.back().view;
  if (has_input(collective)) {
    member.input = initial;
    parts.data.poison(all.data.back());
  } else {
    parts.data.at_reset(
        member.device, 0,
        [view = member.data, initial](Stream& stream, BufferView) { stream.copy(view, initial); });
  }
}

/// Returns the communicator for an exchange, or throws Unsupported.
Communicator& communicator_for(CaseParts& parts, const ExchangeData& all) {
  Communicator* communicator = all.exchange.over_ranks
                                   ? parts.context.communicator(*all.exchange.over_ranks)
                                   : parts.context.communicator();
  if (communicator == nullptr) {
    throw Unsupported("no library joins these devices; use --strategy direct, ring or tree");
  }
  if (has_blocks(all.exchange.collective) && all.count() % all.members() != 0) {
    throw Unsupported(
        fmt::format("{} needs blocks of equal sizes; use a --size that is a multiple of {}",
                    communicator->name(), all.members() * static_cast<int>(sizeof(float))));
  }
  return *communicator;
}

/// Adds the tasks of a collective. Returns its method for the report: the number of messages, or
/// the communicator's method.
std::string add_call(CaseParts& parts, const ExchangeData& all,
                     const std::vector<Member>& members) {
  const Collective collective = all.exchange.collective;
  const std::string name(name_of(collective));
  if (!all.exchange.algorithm) {
    Communicator& communicator = communicator_for(parts, all);
    static_cast<void>(add_to_all(parts.plan, name, members, communicator, collective));
    return communicator.method(collective, members.front().data.bytes);
  }
  const Messages messages =
      pipelined(rounds_of(collective, *all.exchange.algorithm, all.blocks), chunk_elements);
  const Additions additions(messages, parts, members);
  static_cast<void>(add_messages(parts.plan, name, messages, members, sizeof(float), &additions));
  return fmt::format("{} of at most {}", messages.size(),
                     format_bytes(chunk_elements * sizeof(float)));
}

// --- verification ---

/// Compares elements of a member's array, from `first` on, with want(0), want(1), ….
std::optional<std::string> compare_run(const std::vector<float>& got, std::int64_t first,
                                       std::int64_t count, const auto& want) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float found = got.at(static_cast<std::size_t>(first + i));
    if (found == want(i)) continue;
    return fmt::format("element {} is {}, expected {}", first + i, found, want(i));
  }
  return std::nullopt;
}

/// Returns the first error in a member's array. Undefined blocks are skipped: blocks of other
/// members after a reduce-scatter, and arrays of all members except the root after a reduce.
std::optional<std::string> wrong_at(const ExchangeData& all, int member,
                                    const std::vector<float>& got) {
  const std::vector<std::int64_t> first = first_elements(all.blocks);
  const std::int64_t own = first[static_cast<std::size_t>(member)];
  const std::int64_t own_count = all.blocks[static_cast<std::size_t>(member)];
  const auto sum_from = [&](std::int64_t from) {
    return [&all, from](std::int64_t i) { return all.sum_at(from + i); };
  };
  const auto of_member = [](int from, std::int64_t at) {
    return [from, at](std::int64_t i) { return number_at(from, at + i); };
  };
  switch (all.exchange.collective) {
    case Collective::all_reduce:
      return compare_run(got, 0, all.count(), sum_from(0));
    case Collective::reduce:
      return compare_run(got, 0, member == 0 ? all.count() : 0, sum_from(0));
    case Collective::reduce_scatter:
      return compare_run(got, own, own_count, sum_from(own));
    case Collective::broadcast:
      return compare_run(got, 0, all.count(), of_member(0, 0));
    case Collective::send_recv:
      return compare_run(got, 0, all.count(),
                         of_member((member + all.members() - 1) % all.members(), 0));
    case Collective::all_gather:
    case Collective::all_to_all:
      break;
  }
  const bool gathers = all.exchange.collective == Collective::all_gather;
  for (int from = 0; from < all.members(); ++from) {
    const auto block = static_cast<std::size_t>(from);
    const std::int64_t at = gathers ? first[block] : own;
    const auto wrong = compare_run(got, gathers ? at : from * own_count,
                                   gathers ? all.blocks[block] : own_count, of_member(from, at));
    if (wrong) return wrong;
  }
  return std::nullopt;
}

void add_check(CaseParts& parts, const std::shared_ptr<ExchangeData>& all) {
  const auto check = [&parts, all]() -> std::optional<std::string> {
    for (int member = 0; member < all->members(); ++member) {
      const Tensor& data = all->data[static_cast<std::size_t>(member)];
      if (data.desc.bytes == 0) continue;
      if (auto wrong = wrong_at(*all, member, parts.data.read(data))) {
        return fmt::format("member {}: {}", member, *wrong);
      }
    }
    return std::nullopt;
  };
  parts.checks.push_back({"every number equal to the exact result", check});
}

}  // namespace

void plan_exchange(CaseParts& parts, const Exchange& exchange) {
  const int devices = parts.context.device_count();
  std::vector<Member> members;
  for (int device = 0; device < devices; ++device) members.push_back(make_member(parts, device));
  for (std::int64_t call = 0; call < exchange.calls; ++call) {
    const auto all = std::make_shared<ExchangeData>();
    all->exchange = exchange;
    all->blocks = split_evenly(exchange.bytes / static_cast<std::int64_t>(sizeof(float)), devices);
    for (Member& member : members) add_memory(parts, *all, member);
    const std::string note = add_call(parts, *all, members);
    if (call == 0) parts.notes.emplace_back(exchange.algorithm ? "messages" : "method", note);
    add_check(parts, all);
  }
  parts.reads_borrowed_memory = !has_input(exchange.collective);
}

}  // namespace parbench
