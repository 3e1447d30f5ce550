// Rules about ranks for which other ranks wait.
#include "reports/findings/rank_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/units/units.h"
#include "reports/findings/dependency_rules.h"
#include "reports/model/disturbances.h"
#include "reports/statistics/conditions.h"
#include "reports/statistics/statistics.h"
#include "scenarios/plan/graph.h"

namespace parbench::report {
namespace {

constexpr int min_samples = 6;
constexpr double slowest_rank_share = 0.05;  // min difference in waits, as a share of the time
constexpr double error_rate = 0.05;          // max probability of naming a rank if all are alike

struct Slowest {
  std::size_t rank = 0;
  int samples = 0;  // number of samples in which the rank waited least
  // for each sample: how much less the rank waited than any other, as a fraction of the sample's
  // time
  std::vector<double> leads = {};
};

/// Returns the rank that waits least in the largest number of samples.
Slowest slowest_of(const std::vector<const Sample*>& samples) {
  const std::size_t ranks = samples.front()->rank_waits.size();
  std::vector<Slowest> all(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    all[rank].rank = rank;
    for (const Sample* sample : samples) {
      double others = std::numeric_limits<double>::infinity();
      for (std::size_t other = 0; other < ranks; ++other) {
        if (other != rank) others = std::min(others, sample->rank_waits[other]);
      }
      const double lead = (others - sample->rank_waits[rank]) / sample->seconds;
      all[rank].leads.push_back(lead);
      if (lead > 0) ++all[rank].samples;
    }
  }
  return *std::ranges::max_element(all, {}, &Slowest::samples);
}

/// Returns an upper limit of the probability that any of `ranks` equal ranks is the slowest in at
/// least `successes` of `trials` samples: the tail of the binomial distribution, times the number
/// of ranks.
double chance_of(int successes, int trials, std::size_t ranks) {
  const double p = 1 / static_cast<double>(ranks);
  double tail = 0;
  for (int k = successes; k <= trials; ++k) {
    const double ways =
        std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0);
    tail += std::exp(ways + k * std::log(p) + (trials - k) * std::log1p(-p));
  }
  return static_cast<double>(ranks) * tail;
}

/// Returns "rank 1 (node2)"; devices of ranks have names such as "node2/1/cpu:0".
std::string name_of(std::size_t rank, const CaseResult& one) {
  std::string name = fmt::format("rank {}", rank);
  const std::string part = fmt::format("/{}/", rank);
  for (const DeviceMemory& memory : one.memory) {
    const std::size_t begin = memory.device.find(part);
    if (begin != std::string::npos)
      return fmt::format("{} ({})", name, memory.device.substr(0, begin));
  }
  return name;
}

/// Returns whether the profile contradicts that a rank waits least. The profile confirms this if
/// one of the rank's devices is idle, or communicates without computing, for a time that is shorter
/// than that of each device of other ranks by at least 5% of the span. The check is needed because
/// the waits in the samples include those that computations hide.
bool is_contradicted(std::size_t rank, const CaseResult& one) {
  if (!one.profile) return false;
  const std::string part = fmt::format("/{}/", rank);
  double own = std::numeric_limits<double>::infinity();
  double others = own;
  for (const DeviceMetrics& device : one.profile->metrics.devices) {
    double& min = device.device.find(part) == std::string::npos ? others : own;
    min = std::min(min, device.idle + device.exposed_communication);
  }
  return std::isfinite(own) && std::isfinite(others) &&
         others - own < slowest_rank_share * one.profile->metrics.span;
}

/// Returns ", because node2/1/cpu:0 computes 12% longer than the mean", which means a larger share
/// of the work. Empty if the profile does not show this for the rank, or other programs may have
/// slowed it down.
std::string cause_of(std::size_t rank, const CaseResult& one, double lead) {
  if (!one.profile || one.profile->deviation) return {};
  if (is_disturbed(one) || load_cost(one) >= lead) return {};
  const auto busiest = busiest_device(Profiled(one));
  if (!busiest || busiest->device.find(fmt::format("/{}/", rank)) == std::string::npos) return {};
  return fmt::format(", because {} computes {} longer than the mean", busiest->device,
                     format_percent(busiest->excess, 0));
}

/// Returns whether the ranks of a case ran on several hosts.
bool has_several_hosts(const CaseResult& one) {
  std::set<std::string_view> hosts;
  for (const DeviceMemory& memory : one.memory) hosts.insert(host_of(memory.device));
  return hosts.size() > 1;
}

}  // namespace

std::optional<Remark> slowest_rank(const CaseResult& one, const Roles& /*roles*/) {
  // The finding `central-device` explains the waits.
  if (one.profile && has_central_device(Profiled(one))) return {};
  std::vector<const Sample*> samples;
  std::vector<double> times;
  std::vector<double> skews;
  for (const Sample& sample : one.samples) {
    if (sample.rank_waits.size() < 2 || sample.seconds <= 0) continue;
    if (!samples.empty() && samples.front()->rank_waits.size() != sample.rank_waits.size())
      return {};
    samples.push_back(&sample);
    times.push_back(sample.seconds);
    skews.push_back(sample.start_skew);
  }
  const int count = static_cast<int>(samples.size());
  if (count < min_samples) return {};
  const Slowest slowest = slowest_of(samples);
  const double lead = median(slowest.leads);
  const double skew = median(skews);
  // Ranks leave the barrier before an execution about as far apart as they reach it, and the last
  // rank to leave waits least.
  if (lead < slowest_rank_share || lead * median(times) <= skew) return {};
  if (chance_of(slowest.samples, count, samples.front()->rank_waits.size()) > error_rate) return {};
  if (is_contradicted(slowest.rank, one)) return {};
  const bool is_pair = samples.front()->rank_waits.size() == 2;
  const std::string cause = cause_of(slowest.rank, one, lead);
  const std::string advice =
      fmt::format("comparing its share of the work with that of {}; where shares are equal, {}",
                  is_pair ? "the other rank" : "the others",
                  has_several_hosts(one) ? "the load and the clocks of its host"
                                         : "looking for other programs on its cores");
  return Remark{
      fmt::format(
          "{} waited least for messages in {} of {} samples, at the median {} of "
          "the time less than {}{}. Ranks began {} apart, which is not part of the time",
          name_of(slowest.rank, one), slowest.samples, count, format_percent(lead, 0),
          is_pair ? "the other rank, which waits for it" : "any other rank: they wait for it",
          cause, format_duration(skew)),
      cause.empty() ? advice : "",
      {{"rank", static_cast<double>(slowest.rank)},
       {"samples", static_cast<double>(slowest.samples)},
       {"share", lead},
       {"start skew", skew}},
      lead};
}

}  // namespace parbench::report
