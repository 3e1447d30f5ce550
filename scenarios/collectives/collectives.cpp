// Parameters, metrics and cases of scenario collectives.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/collectives/answer.h"
#include "scenarios/collectives/bandwidth.h"
#include "scenarios/collectives/exchange.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/framework/requests.h"

namespace parbench {
namespace {

constexpr std::string_view by_nccl = "nccl";

Collective collective_named(std::string_view name) {
  const auto* const found =
      std::ranges::find(all_collectives, name, [](Collective one) { return name_of(one); });
  if (found == all_collectives.end()) {
    throw std::invalid_argument(fmt::format("no collective is named '{}'", name));
  }
  return *found;
}

Collective collective_in(const CaseSpec& spec) {
  return collective_named(spec.parameters.text("collective"));
}

/// Returns the algorithm of a strategy; nothing for strategies with one task over all devices.
std::optional<Algorithm> algorithm_named(std::string_view strategy) {
  const auto* const found =
      std::ranges::find(all_algorithms, strategy, [](Algorithm one) { return name_of(one); });
  if (found == all_algorithms.end()) return std::nullopt;
  return *found;
}

/// Returns the kind of all-reduce of a strategy between ranks; nothing for strategies that do not
/// need ranks.
std::optional<RankAllReduce> over_ranks_named(std::string_view strategy) {
  const auto* const found = std::ranges::find(all_rank_all_reduces, strategy,
                                              [](RankAllReduce one) { return name_of(one); });
  if (found == all_rank_all_reduces.end()) return std::nullopt;
  return *found;
}

const std::vector<Strategy> strategy_list = {
    {"direct", "every device copies the data that it needs directly from the devices that have it"},
    {"ring", "each device sends to one neighbour only, in chunks that follow each other"},
    {"tree", "binomial trees: few rounds, for small messages"},
    {std::string(by_nccl), "the collective of NCCL, between GPUs"},
    {"mpi", "the collective of the MPI library, between ranks (mpirun, srun)"},
    {"shared-memory",
     "all-reduces of up to 8 KiB between ranks of one machine, which read each other's data"},
    {"doubling",
     "all-reduces between ranks: pairs exchange sums, and their distance doubles in each round"},
    {"rank-ring", "all-reduces between ranks: messages around a ring, as one task"},
    {"hierarchical",
     "all-reduces between ranks of several machines: rings within each machine and between "
     "machines"},
};

/// Returns "direct" or "direct or ring": the algorithms of a collective.
std::string algorithms_of(Collective collective) {
  std::vector<std::string_view> names;
  for (const Algorithm one : all_algorithms) {
    if (has_algorithm(collective, one)) names.push_back(name_of(one));
  }
  return fmt::format("{}", fmt::join(names, " or "));
}

std::vector<std::string> names_of_collectives() {
  std::vector<std::string> names;
  for (const Collective one : all_collectives) names.emplace_back(name_of(one));
  return names;
}

/// Returns sizes from 8 bytes to 128 MiB, each twice the previous one, as in the first example of
/// nccl-tests.
std::vector<Value> doubling_sizes() {
  std::vector<Value> sizes;
  for (const std::string_view unit : {"", "KiB", "MiB"}) {
    for (int number = unit.empty() ? 8 : 1; number <= (unit == "MiB" ? 128 : 512); number *= 2) {
      sizes.emplace_back(fmt::format("{}{}", number, unit));
    }
  }
  return sizes;
}

std::int64_t size_in(const CaseSpec& spec) { return bytes_of(spec.parameters.text("size")); }

std::vector<Axis> axes_of_collectives() {
  return {
      {.name = "collective",
       .description =
           "the collective; send-recv: all devices send to their next one at the same time",
       .kind = AxisKind::choice,
       .quick = {"all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all",
                 "send-recv"},
       .published = {"all-reduce"},
       .choices = names_of_collectives()},
      {.name = "size",
       .description = "bytes of each device's whole array of f32 numbers",
       .kind = AxisKind::bytes,
       .quick = {"4KiB", "256KiB", "16MiB"},
       .published = doubling_sizes(),
       .min = sizeof(float),
       .max = 0x1p40},
      {.name = "calls",
       .description = "collectives in a row in each execution, whose time is that of all of them; "
                      "default: 1",
       .kind = AxisKind::integer,
       .max = 1 << 20},
  };
}

/// Returns why strategies that need ranks are not available; nothing if they are.
std::optional<Obstacle> obstacle_of_ranks(const Scenario::Request& request) {
  const std::string& strategy = request.spec.strategy;
  if (!request.devices_over_ranks) {
    return Obstacle{{"strategy"},
                    fmt::format("--strategy {} needs several ranks; start parbench with mpirun or "
                                "srun",
                                strategy)};
  }
  if (request.devices_are_cpus) return std::nullopt;
  return Obstacle{
      {"strategy"},
      fmt::format("--strategy {}: CPU devices are required on all ranks; use --strategy nccl",
                  strategy)};
}

/// Returns why an all-reduce between ranks cannot be done in the way `by`; nothing if it can.
std::optional<Obstacle> obstacle_of_all_reduce(const Scenario::Request& request, RankAllReduce by) {
  if (by == RankAllReduce::library) return std::nullopt;
  const Collective collective = collective_in(request.spec);
  if (collective != Collective::all_reduce) {
    return Obstacle{{},
                    fmt::format("--strategy {}: it does not do {}; use mpi or {}", name_of(by),
                                name_of(collective), algorithms_of(collective))};
  }
  const auto& possible = request.rank_all_reduces;
  const bool is_possible = std::ranges::find(possible, by) != possible.end();
  if (by == RankAllReduce::shared_memory && !is_possible) {
    return Obstacle{
        {},
        fmt::format(
            "--strategy {} needs at most {} ranks on one machine, which share memory; use mpi or "
            "rank-ring",
            name_of(by), max_sharing_ranks)};
  }
  if (by == RankAllReduce::hierarchical && !is_possible) {
    return Obstacle{{},
                    fmt::format("--strategy {} needs several machines with the same number of "
                                "ranks, at least two on each; use rank-ring",
                                name_of(by))};
  }
  if (by == RankAllReduce::shared_memory &&
      std::cmp_greater(size_in(request.spec), max_shared_bytes)) {
    return Obstacle{{},
                    fmt::format("--strategy {}: --size {} is above 8KiB; use rank-ring",
                                name_of(by), request.spec.parameters.text("size"))};
  }
  const auto devices = static_cast<unsigned>(request.device_count);
  if (by == RankAllReduce::doubling && !std::has_single_bit(devices)) {
    return Obstacle{
        {},
        fmt::format("--strategy {} needs a power of two of ranks, not {}; use rank-ring",
                    name_of(by), devices)};
  }
  return std::nullopt;
}

class Collectives final : public Scenario {
 public:
  [[nodiscard]] std::string_view name() const override { return "collectives"; }
  [[nodiscard]] std::string_view question() const override {
    return "How fast do my devices exchange data, and by which algorithm?";
  }
  [[nodiscard]] const std::vector<Strategy>& strategies() const override { return strategy_list; }
  [[nodiscard]] const std::vector<Axis>& axes() const override { return axes_; }
  [[nodiscard]] std::string_view baseline() const override { return "direct"; }
  [[nodiscard]] int default_devices() const override { return 2; }
  [[nodiscard]] bool runs_over_ranks() const override { return true; }
  [[nodiscard]] int min_devices() const override { return 2; }
  /// As in nccl-tests, a sample is the mean of 20 executions; three samples give an interval.
  [[nodiscard]] Sampling published_sampling() const override {
    return {.samples = 3, .iterations = 20};
  }

  [[nodiscard]] Resolution resolve(const Request& request) const override {
    CaseSpec spec = request.spec;
    const std::int64_t bytes = size_in(spec);
    constexpr auto number = static_cast<std::int64_t>(sizeof(float));
    if (bytes % number != 0) {
      return Obstacle{
          {"size"},
          fmt::format("--size {} is not a multiple of {} bytes, the size of an f32 number", bytes,
                      number)};
    }
    if (request.device_count < min_devices()) {
      return Obstacle{{"strategy"}, too_few_devices(request)};
    }
    const auto algorithm = algorithm_named(spec.strategy);
    if (algorithm && !has_algorithm(collective_in(spec), *algorithm)) {
      return Obstacle{
          {},
          fmt::format("--strategy {}: it does not do {}; use {}", spec.strategy,
                      name_of(collective_in(spec)), algorithms_of(collective_in(spec)))};
    }
    if (const auto by = over_ranks_named(spec.strategy)) {
      if (auto obstacle = obstacle_of_ranks(request)) return *std::move(obstacle);
      if (auto obstacle = obstacle_of_all_reduce(request, *by)) return *std::move(obstacle);
    }
    if (spec.strategy == by_nccl && request.devices_over_ranks && request.devices_are_cpus) {
      return Obstacle{
          {"strategy"},
          "--strategy nccl needs GPUs; use --strategy mpi for CPU devices of several ranks"};
    }
    if (spec.strategy == by_nccl && request.devices_are_cpus) {
      return Obstacle{{"strategy"},
                      "--strategy nccl needs GPUs; use direct, ring or tree for CPU devices"};
    }
    // The quick preset omits NCCL unless the user sets --strategy.
    const bool from_quick = request.preset == Preset::quick && spec.strategy == by_nccl &&
                            !request.was_given("strategy");
    if (from_quick) return not_in_preset("strategy", spec.strategy);
    if (calls_in(spec) == 1) spec.parameters.imply("calls", std::int64_t{1});
    spec.parameters.set("devices", std::int64_t{request.device_count});
    return spec;
  }

  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override {
    if (spec.dtype != DType::f32) {
      throw Unsupported("collectives compute sums in f32 only; use --dtype f32");
    }
    auto parts = std::make_unique<CaseParts>(context);
    const std::int64_t bytes = size_in(spec);
    plan_exchange(*parts, {.collective = collective_in(spec),
                           .bytes = bytes,
                           .algorithm = algorithm_named(spec.strategy),
                           .over_ranks = over_ranks_named(spec.strategy),
                           .calls = calls_in(spec)});
    parts->amount = {static_cast<double>(bytes * calls_in(spec)), "B"};
    return make_case(std::move(parts));
  }

  [[nodiscard]] std::vector<Metric> metrics(const CaseSpec& spec) const override {
    const Collective collective = collective_in(spec);
    const double factor =
        bus_factor(collective, static_cast<int>(spec.parameters.integer("devices")));
    const double moved = factor * static_cast<double>(size_in(spec) * calls_in(spec));
    std::vector<Metric> metrics{
        {.name = std::string(bus_bandwidth),
         .others = {},
         .value = [moved](std::span<const double> seconds,
                          std::span<const double> /*medians*/) { return moved / seconds[0]; },
         .unit = "B"}};
    if (collective == Collective::send_recv) return metrics;
    CaseSpec link = with_strategy(spec, "direct");
    link.parameters.set("collective", std::string(name_of(Collective::send_recv)));
    metrics.push_back(
        {.name = "of send-recv",
         .others = {link},
         .value = [factor](std::span<const double> seconds, std::span<const double> /*medians*/) {
           return factor * seconds[1] / seconds[0];
         }});
    return metrics;
  }

  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override {
    return collectives_answer(outcomes, possibly_fastest);
  }

 private:
  std::vector<Axis> axes_ = axes_of_collectives();
};

}  // namespace

std::unique_ptr<Scenario> make_collectives() { return std::make_unique<Collectives>(); }

}  // namespace parbench
