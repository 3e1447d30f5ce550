// Algorithms of collectives. Reductions use the messages of a gather or a broadcast in reverse
// order and direction, with additions instead of copies.
#include "scenarios/framework/collectives/algorithms.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace parbench {
namespace {

using Rounds = std::vector<Messages>;

constexpr int root = 0;

int modulo(int value, int size) { return ((value % size) + size) % size; }

/// Blocks of a collective's arrays.
class BlockLayout {
 public:
  explicit BlockLayout(const std::vector<std::int64_t>& blocks)
      : blocks_(blocks), first_(first_elements(blocks)) {}

  [[nodiscard]] int members() const { return static_cast<int>(blocks_.size()); }
  [[nodiscard]] std::int64_t total() const {
    return std::accumulate(blocks_.begin(), blocks_.end(), std::int64_t{0});
  }
  [[nodiscard]] std::int64_t first(int block) const { return first_.at(index(block)); }
  [[nodiscard]] std::int64_t count(int block) const { return blocks_.at(index(block)); }

  /// Returns a message with a block, to the same position of another member's array.
  [[nodiscard]] Message of_block(int from, int to, int block) const {
    return {.from = from, .to = to, .first = first(block), .count = count(block), .block = block};
  }
  /// Returns a message with the whole array.
  [[nodiscard]] Message of_all(int from, int to) const {
    return {.from = from, .to = to, .count = total()};
  }

 private:
  [[nodiscard]] std::size_t index(int block) const {
    return static_cast<std::size_t>(modulo(block, members()));
  }

  const std::vector<std::int64_t>& blocks_;
  std::vector<std::int64_t> first_;
};

// --- every block to every member ---

Rounds gather_directly(const BlockLayout& layout) {
  Messages messages;
  const int p = layout.members();
  for (int distance = 1; distance < p; ++distance) {
    for (int to = 0; to < p; ++to) {
      const int from = modulo(to + distance, p);
      messages.push_back(layout.of_block(from, to, from));
    }
  }
  return {messages};
}

/// In the first round, each member m sends its own block; later it forwards the block that it
/// received in the previous round. `direction`: 1 to member m + 1, −1 to member m − 1.
Rounds gather_in_ring(const BlockLayout& layout, int direction) {
  const int p = layout.members();
  Rounds rounds;
  for (int round_number = 0; round_number < p - 1; ++round_number) {
    Messages& round = rounds.emplace_back();
    for (int m = 0; m < p; ++m) {
      round.push_back(
          layout.of_block(m, modulo(m + direction, p), modulo(m - direction * round_number, p)));
    }
  }
  return rounds;
}

/// In each round, member m has blocks m … m + have − 1 and gets up to as many more from member
/// m + have.
Rounds gather_in_trees(const BlockLayout& layout) {
  const int p = layout.members();
  Rounds rounds;
  for (int have = 1; have < p; have *= 2) {
    Messages& round = rounds.emplace_back();
    for (int to = 0; to < p; ++to) {
      for (int i = have; i < std::min(2 * have, p); ++i) {
        round.push_back(layout.of_block(modulo(to + have, p), to, modulo(to + i, p)));
      }
    }
  }
  return rounds;
}

Rounds gather(const BlockLayout& layout, Algorithm algorithm) {
  if (algorithm == Algorithm::direct) return gather_directly(layout);
  return algorithm == Algorithm::ring ? gather_in_ring(layout, 1) : gather_in_trees(layout);
}

// --- the root's array to every member ---

Rounds broadcast_directly(const BlockLayout& layout) {
  Messages messages;
  for (int to = 1; to < layout.members(); ++to) messages.push_back(layout.of_all(root, to));
  return {messages};
}

Rounds broadcast_in_ring(const BlockLayout& layout) {
  Rounds rounds;
  for (int to = 1; to < layout.members(); ++to) rounds.push_back({layout.of_all(to - 1, to)});
  return rounds;
}

Rounds broadcast_in_tree(const BlockLayout& layout) {
  const auto p = static_cast<unsigned>(layout.members());
  Rounds rounds;
  for (unsigned distance = std::bit_ceil(p) / 2; distance > 0; distance /= 2) {
    Messages& round = rounds.emplace_back();
    for (unsigned from = 0; from + distance < p; from += 2 * distance) {
      round.push_back(layout.of_all(static_cast<int>(from), static_cast<int>(from + distance)));
    }
  }
  return rounds;
}

Rounds broadcast(const BlockLayout& layout, Algorithm algorithm) {
  if (algorithm == Algorithm::direct) return broadcast_directly(layout);
  return algorithm == Algorithm::ring ? broadcast_in_ring(layout) : broadcast_in_tree(layout);
}

// --- sums ---

/// Reverses rounds that distribute copies, so that they add up the members' data instead.
Rounds summed_backwards(Rounds rounds) {
  std::ranges::reverse(rounds);
  for (Messages& round : rounds) {
    for (Message& message : round) {
      std::swap(message.from, message.to);
      message.adds = true;
    }
  }
  return rounds;
}

Rounds reduce_scatter(const BlockLayout& layout, Algorithm algorithm) {
  // The direction is −1, so that the reversed messages go from member m to member m + 1.
  return summed_backwards(algorithm == Algorithm::ring ? gather_in_ring(layout, -1)
                                                       : gather(layout, algorithm));
}

Rounds named(Rounds rounds, std::string_view phase) {
  for (Messages& round : rounds) {
    for (Message& message : round) message.phase = phase;
  }
  return rounds;
}

Rounds all_reduce(const BlockLayout& layout, Algorithm algorithm) {
  const bool in_tree = algorithm == Algorithm::tree;
  Rounds rounds = in_tree ? named(summed_backwards(broadcast(layout, algorithm)), "reduce")
                          : named(reduce_scatter(layout, algorithm), "scatter");
  Rounds then = in_tree ? named(broadcast(layout, algorithm), "broadcast")
                        : named(gather(layout, algorithm), "gather");
  std::ranges::move(then, std::back_inserter(rounds));
  return rounds;
}

// --- collectives with inputs ---

Message exchanged(const BlockLayout& layout, int from, int to) {
  return {.from = from,
          .to = to,
          .first = from * layout.count(to),
          .count = layout.count(to),
          .from_input = true,
          .source_first = layout.first(to),
          .block = to};
}

Rounds all_to_all(const BlockLayout& layout, Algorithm algorithm) {
  const int p = layout.members();
  Rounds rounds(algorithm == Algorithm::ring ? static_cast<std::size_t>(p) : 1);
  for (int round_number = 0; round_number < p; ++round_number) {
    Messages& round = algorithm == Algorithm::ring ? rounds[static_cast<std::size_t>(round_number)]
                                                   : rounds.front();
    for (int from = 0; from < p; ++from) {
      const int to = algorithm == Algorithm::ring ? modulo(from + round_number, p) : round_number;
      round.push_back(exchanged(layout, from, to));
    }
  }
  return rounds;
}

Rounds send_to_next(const BlockLayout& layout) {
  Messages messages;
  for (int from = 0; from < layout.members(); ++from) {
    Message message = layout.of_all(from, modulo(from + 1, layout.members()));
    message.from_input = true;
    messages.push_back(message);
  }
  return {messages};
}

}  // namespace

std::string_view name_of(Algorithm algorithm) {
  if (algorithm == Algorithm::direct) return "direct";
  return algorithm == Algorithm::ring ? "ring" : "tree";
}

bool has_algorithm(Collective collective, Algorithm algorithm) {
  if (collective == Collective::send_recv) return algorithm == Algorithm::direct;
  return collective != Collective::all_to_all || algorithm != Algorithm::tree;
}

std::vector<Messages> rounds_of(Collective collective, Algorithm algorithm,
                                const std::vector<std::int64_t>& blocks) {
  if (blocks.empty() || !has_algorithm(collective, algorithm)) {
    throw std::invalid_argument(fmt::format("no {} by algorithm {} between {} members",
                                            name_of(collective), name_of(algorithm),
                                            blocks.size()));
  }
  const BlockLayout layout(blocks);
  switch (collective) {
    case Collective::all_reduce:
      return all_reduce(layout, algorithm);
    case Collective::all_gather:
      return gather(layout, algorithm);
    case Collective::reduce_scatter:
      return reduce_scatter(layout, algorithm);
    case Collective::broadcast:
      return broadcast(layout, algorithm);
    case Collective::reduce:
      return summed_backwards(broadcast(layout, algorithm));
    case Collective::all_to_all:
      return all_to_all(layout, algorithm);
    case Collective::send_recv:
      return send_to_next(layout);
  }
  throw std::logic_error("a collective of an unknown kind");
}

std::int64_t received_elements(Collective collective, const std::vector<std::int64_t>& blocks,
                               int member) {
  if (collective != Collective::all_to_all) {
    return std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
  }
  return blocks.at(static_cast<std::size_t>(member)) * static_cast<std::int64_t>(blocks.size());
}

}  // namespace parbench
