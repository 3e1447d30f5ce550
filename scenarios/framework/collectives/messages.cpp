// Divides arrays into blocks and messages into chunks.
#include "scenarios/framework/collectives/messages.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>

namespace parbench {
namespace {

/// Number of chunks by which a round is behind the previous one. With two, a member seldom waits:
/// the chunk that it needs next was finished while the member processed the previous chunk.
constexpr int chunks_between_rounds = 2;

/// A message with its position in the pipeline.
struct Scheduled {
  int turn = 0;
  Message message;
};

void append_chunks(std::vector<Scheduled>& all, const Message& whole, std::int64_t chunk,
                   int round) {
  const std::int64_t length = chunk > 0 ? chunk : std::max<std::int64_t>(whole.count, 1);
  const int chunks = std::max(1, static_cast<int>((whole.count + length - 1) / length));
  for (int index = 0; index < chunks; ++index) {
    const std::int64_t offset = index * length;
    Message part = whole;
    part.first += offset;
    part.source_first += offset;
    part.count = std::min(length, whole.count - offset);
    part.chunk = index;
    part.chunks = chunks;
    all.push_back({.turn = index + round * chunks_between_rounds, .message = part});
  }
}

}  // namespace

std::vector<std::int64_t> split_evenly(std::int64_t total, int parts) {
  if (parts < 1) throw std::invalid_argument("a split needs at least one part");
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(parts), total / parts);
  for (std::int64_t i = 0; i < total % parts; ++i) ++sizes[static_cast<std::size_t>(i)];
  return sizes;
}

std::vector<std::int64_t> first_elements(const std::vector<std::int64_t>& blocks) {
  std::vector<std::int64_t> first(blocks.size());
  std::exclusive_scan(blocks.begin(), blocks.end(), first.begin(), std::int64_t{0});
  return first;
}

Messages pipelined(const std::vector<Messages>& rounds, std::int64_t chunk) {
  std::vector<Scheduled> all;
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    for (const Message& message : rounds[round]) {
      append_chunks(all, message, chunk, static_cast<int>(round));
    }
  }
  std::ranges::stable_sort(all, {}, &Scheduled::turn);
  Messages messages;
  messages.reserve(all.size());
  for (const Scheduled& one : all) messages.push_back(one.message);
  return messages;
}

}  // namespace parbench
