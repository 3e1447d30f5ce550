// Bus bandwidths, and fits of latency and bandwidth.
#include "scenarios/collectives/bandwidth.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace parbench {

double bus_factor(Collective collective, int members) {
  const double share = static_cast<double>(members - 1) / members;
  switch (collective) {
    case Collective::all_reduce:
      return 2 * share;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return share;
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::send_recv:
      break;
  }
  return 1;
}

std::optional<LatencyFit> fit_latency(const std::vector<TimeOfSize>& times) {
  constexpr std::size_t parameters = 2;
  std::set<double> sizes;
  for (const TimeOfSize& one : times) sizes.insert(one.bytes);
  if (sizes.size() <= parameters) return std::nullopt;
  const auto weighted_sum = [&](const auto& value) {
    double sum = 0;
    for (const TimeOfSize& one : times) sum += value(one) / (one.error * one.error);
    return sum;
  };
  const double weight = weighted_sum([](const TimeOfSize&) { return 1.0; });
  const double mean_bytes = weighted_sum([](const auto& one) { return one.bytes; }) / weight;
  const double mean_seconds = weighted_sum([](const auto& one) { return one.seconds; }) / weight;
  const double spread =
      weighted_sum([&](const auto& one) { return std::pow(one.bytes - mean_bytes, 2); });
  LatencyFit fit;
  fit.seconds_per_byte = weighted_sum([&](const auto& one) {
                           return (one.bytes - mean_bytes) * (one.seconds - mean_seconds);
                         }) /
                         spread;
  if (!(fit.seconds_per_byte > 0)) return std::nullopt;
  fit.latency = mean_seconds - fit.seconds_per_byte * mean_bytes;
  const double deviations = weighted_sum([&](const auto& one) {
    return std::pow(one.seconds - fit.latency - fit.seconds_per_byte * one.bytes, 2);
  });
  for (const TimeOfSize& one : times) {
    const double line = fit.latency + fit.seconds_per_byte * one.bytes;
    if (!(line > 0)) continue;
    fit.largest_deviation = std::max(fit.largest_deviation, std::abs(one.seconds - line) / line);
  }
  const auto freedom = static_cast<double>(times.size() - parameters);
  const double enlarged = std::max(1.0, std::sqrt(deviations / freedom));
  fit.seconds_per_byte_error = enlarged / std::sqrt(spread);
  fit.latency_error = enlarged * std::sqrt(1 / weight + mean_bytes * mean_bytes / spread);
  return fit;
}

}  // namespace parbench
