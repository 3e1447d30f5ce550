// Measures all-reduces on the stream of the device where they will run.
#include "scenarios/framework/ranks/all_reduce_choices.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>

#include "kernels/core/device.h"

namespace parbench {
namespace {

constexpr std::size_t largest_measured = std::size_t{16} << 20;
constexpr std::size_t rounds = 3;
constexpr double clearly_slower = 1.05;

/// Returns the number of consecutive all-reduces of one measurement. Short ones are repeated,
/// because waking up a thread takes longer than one of them.
int calls_of(std::size_t bytes) {
  if (bytes <= std::size_t{64} << 10) return 16;
  return bytes <= std::size_t{1} << 20 ? 4 : 1;
}

}  // namespace

std::vector<RankAllReduce> possible_all_reduces(const RankLink& link, const RankSet& set,
                                                std::size_t bytes) {
  std::vector<RankAllReduce> ways;
  for (const RankAllReduce by : all_rank_all_reduces) {
    if (link.offers(by, set, bytes)) ways.push_back(by);
  }
  return ways;
}

RankAllReduce fastest_of(std::span<const RankAllReduce> ways, std::span<const double> seconds) {
  std::vector<double> best(ways.size(), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    double& of_way = best[i % ways.size()];
    of_way = std::min(of_way, seconds[i]);
  }
  const double limit = clearly_slower * std::ranges::min(best);
  const auto first = std::ranges::find_if(best, [&](double one) { return one <= limit; });
  return ways[static_cast<std::size_t>(first - best.begin())];
}

std::vector<double> AllReduceChoices::measured(std::span<const RankAllReduce> ways,
                                               const RankSet& set, std::size_t bytes, Stream* own) {
  std::vector<double> seconds(ways.size() * rounds);
  std::vector<float> zeros;  // sums of zeros stay finite, whatever their number
  if (own != nullptr) zeros.resize(bytes / sizeof(float));
  // Times each way in every round, after an all-reduce that synchronises the ranks.
  HostWork work([&] {
    const auto all_reduce = [&](RankAllReduce by) {
      ranks_.link().all_reduce(by, set, reinterpret_cast<std::byte*>(zeros.data()), bytes);
    };
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      const RankAllReduce by = ways[i % ways.size()];
      const int calls = calls_of(bytes);
      all_reduce(by);
      const auto begin = std::chrono::steady_clock::now();
      for (int call = 0; call < calls; ++call) all_reduce(by);
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
      seconds[i] = passed.count() / calls;
    }
  });
  static_cast<void>(ranks_.largest({}));  // throws on all ranks if one had no memory
  ranks_.exchange([&] {
    if (own == nullptr) return;
    own->perform(work);
    own->synchronize();
  });
  return ranks_.largest(seconds);
}

void AllReduceChoices::prepare(const RankSet& set) {
  if (!measures_) return;
  static_cast<void>(ranks_.largest({}));  // throws on all ranks if one has failed
  ranks_.exchange([&] { ranks_.link().prepare(set); });
}

RankAllReduce AllReduceChoices::choose(const RankSet& set, std::size_t bytes, Stream* own) {
  const std::size_t size = std::bit_ceil(std::max(bytes, sizeof(float)));
  std::vector<int> distances;
  for (const int rank : set.ranks) distances.push_back(rank - set.ranks.front());
  const std::size_t measured_size = std::min(size, largest_measured);
  const std::vector<RankAllReduce> ways = possible_all_reduces(ranks_.link(), set, measured_size);
  const std::tuple key(std::move(distances), ways, measured_size);
  const auto known = chosen_.find(key);
  if (known != chosen_.end()) return known->second;
  RankAllReduce choice = RankAllReduce::library;
  if (measures_ && ways.size() > 1) {
    choice = fastest_of(ways, measured(ways, set, measured_size, own));
  }
  chosen_.emplace(key, choice);
  return choice;
}

}  // namespace parbench
