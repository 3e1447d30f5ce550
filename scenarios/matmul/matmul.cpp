// Scenario matmul: independent matrix products on devices and streams, and products shared by
// several devices.
#include <fmt/format.h>

#include <numeric>

#include "kernels/base/units/units.h"
#include "kernels/ops/flops.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/framework/requests.h"
#include "scenarios/matmul/answer.h"
#include "scenarios/matmul/matmul_plans.h"

namespace parbench {
namespace {

bool is_sharded(const CaseSpec& spec) {
  return spec.strategy == "column-sharded" || spec.strategy == "row-sharded";
}

bool uses_all_devices(const CaseSpec& spec) {
  return spec.strategy != "alone" && spec.strategy != "streams";
}

MatmulSizes sizes_of(const CaseSpec& spec) {
  return {.n = spec.parameters.integer("n"),
          .count = spec.parameters.integer("count"),
          .dtype = spec.dtype,
          .math = spec.math};
}

CaseSpec alone_on_first(const CaseSpec& spec) {
  CaseSpec alone = with_strategy(spec, "alone", {"streams", "devices"});
  alone.parameters.set("device", std::int64_t{0});
  return alone;
}

/// Returns the number of devices whose products a case computes.
std::int64_t owners_of(const CaseSpec& spec) {
  return uses_all_devices(spec) ? spec.parameters.integer(devices_parameter) : 1;
}

std::vector<int> all_owners(const CaseSpec& spec) {
  std::vector<int> owners(static_cast<std::size_t>(owners_of(spec)));
  std::iota(owners.begin(), owners.end(), 0);
  return owners;
}

void plan_strategy(CaseParts& parts, const CaseSpec& spec) {
  const MatmulSizes sizes = sizes_of(spec);
  if (is_sharded(spec)) {
    return plan_sharded_products(
        parts, sizes, spec.strategy == "row-sharded" ? Sharding::rows : Sharding::columns);
  }
  if (spec.strategy == "alone") {
    const int device = static_cast<int>(spec.parameters.integer("device"));
    return plan_products(parts, sizes, {device}, 1, false);
  }
  if (spec.strategy == "streams") {
    const int streams = static_cast<int>(spec.parameters.integer("streams"));
    return plan_products(parts, sizes, {0}, streams, false);
  }
  plan_products(parts, sizes, all_owners(spec), 1, spec.strategy == "sequential");
}

const std::vector<Strategy> strategy_list = {
    {"alone", "the products of one device, nothing else running"},
    {"sequential", "all devices' products, one device after the other"},
    {std::string(all_cores),
     "all devices' products on one device with the cores of all devices (for parts of a GPU: the "
     "whole GPU)"},
    {"concurrent", "all devices' products at once"},
    {"streams", "the products of the first device distributed over --streams streams there"},
    {"column-sharded",
     "every product on all devices: each has columns of the second factor, then an all-gather"},
    {"row-sharded",
     "every product on all devices: each has rows of the second factor, then an all-reduce"},
};

const std::vector<Axis> axis_list = {
    {.name = "n",
     .description = "rows and columns of the square matrices",
     .quick = {128, 1024},
     .published = {4000},
     .max = 65536},
    {.name = "count",
     .description = "independent products for each device",
     .quick = {10},
     .published = {50},
     .max = 10000},
    {.name = "device",
     .description = "the device that works alone",
     .quick = {0, 1, 2, 3, 4, 5, 6, 7},
     .published = {0, 1, 2, 3, 4, 5, 6, 7},
     .min = 0,
     .max = 1023,
     .strategies = {"alone"}},
    {.name = "streams",
     .description = "streams that share the first device; at most one per product",
     .quick = {2},
     .published = {2, 8, 50},
     .max = 1024,
     .strategies = {"streams"}},
};

/// Fifty products on each of two GPUs, separately and concurrently.
std::vector<Published> published_figures() {
  const Parameter n{"n", std::int64_t{4000}};
  const Parameter count{"count", std::int64_t{50}};
  const std::vector<Parameter> first{n, count, {"device", std::int64_t{0}}};
  const std::vector<Parameter> second{n, count, {"device", std::int64_t{1}}};
  const std::string pytorch = "Dive into Deep Learning 13.3.1, PyTorch";
  const std::string mxnet = "Dive into Deep Learning 13.3.1, MXNet";
  return {{"alone", first, pytorch, 0.4967},        {"alone", second, pytorch, 0.5151},
          {"concurrent", {n, count}, pytorch, 0.5}, {"alone", first, mxnet, 0.5233},
          {"alone", second, mxnet, 0.5158},         {"concurrent", {n, count}, mxnet, 0.5214}};
}

class Matmul final : public Scenario {
 public:
  std::string_view name() const override { return "matmul"; }
  std::string_view question() const override {
    return "How much do independent matrix products gain from several devices, from streams on one "
           "device, and from being divided between devices?";
  }
  const std::vector<Strategy>& strategies() const override { return strategy_list; }
  const std::vector<Axis>& axes() const override { return axis_list; }
  std::string_view baseline() const override { return "sequential"; }
  int default_devices() const override { return 2; }
  [[nodiscard]] bool runs_over_ranks() const override { return true; }
  /// The published experiment is one run; three give an interval.
  Sampling published_sampling() const override { return {.samples = 3, .iterations = 1}; }

  std::vector<Published> published() const override { return published_figures(); }

  Resolution resolve(const Request& request) const override {
    CaseSpec spec = request.spec;
    const int devices = request.device_count;
    if (spec.strategy == "alone" && spec.parameters.integer("device") >= devices) {
      return Obstacle{
          {"device"},
          fmt::format("--device {} does not exist: this run has {}, numbered from 0",
                      spec.parameters.integer("device"), format_count(devices, "device"))};
    }
    if (spec.strategy == "streams" &&
        spec.parameters.integer("streams") > spec.parameters.integer("count")) {
      return Obstacle{
          {"streams"},
          fmt::format("--streams {} is more than the {}; use at most one stream a product",
                      spec.parameters.integer("streams"),
                      format_count(spec.parameters.integer("count"), "product"))};
    }
    if (!uses_all_devices(spec)) return spec;
    if (devices < 2 && spec.strategy != "sequential") {
      return Obstacle{{"strategy"}, too_few_devices(request)};
    }
    if (spec.strategy == "row-sharded" && spec.dtype != DType::f32) {
      return Obstacle{{"strategy"},
                      "--strategy row-sharded adds up partial sums in f32 only; use --dtype f32"};
    }
    if (is_sharded(spec) && spec.parameters.integer("n") < devices) {
      return Obstacle{{"n"},
                      fmt::format("--n {} cannot be divided between {} devices; use at least {}",
                                  spec.parameters.integer("n"), devices, devices)};
    }
    spec.parameters.set("devices", std::int64_t{devices});
    return spec;
  }

  std::unique_ptr<Case> prepare(const CaseSpec& spec, Context& context) const override {
    if (spec.strategy == "row-sharded" && spec.dtype != DType::f32) {
      throw Unsupported("row-sharded adds up partial sums in f32 only; use --dtype f32");
    }
    auto parts = std::make_unique<CaseParts>(context);
    plan_strategy(*parts, spec);
    const MatmulSizes sizes = sizes_of(spec);
    const std::int64_t devices = owners_of(spec);
    parts->tolerance = tolerance_of(spec.format());
    const double product = flops_of(Gemm{.m = sizes.n, .n = sizes.n, .k = sizes.n});
    parts->amount = {product * static_cast<double>(sizes.count * devices), "FLOP"};
    if (is_sharded(spec)) {
      parts->notes.emplace_back(
          "work", fmt::format("{} products, as many as all devices have in the other strategies",
                              sizes.count * devices));
    }
    return make_case(std::move(parts));
  }

  std::optional<CaseSpec> reference(const CaseSpec& spec) const override {
    if (spec.strategy == "concurrent") {
      return with_strategy(spec, "sequential");
    }
    if (is_sharded(spec) || spec.strategy == "streams") return alone_on_first(spec);
    return std::nullopt;
  }

  /// Keeps the number of devices, because the single device of an all-cores case computes the
  /// products of all devices.
  CaseSpec undivided(const CaseSpec& spec) const override {
    return with_strategy(spec, "sequential");
  }

  /// Streams share the first device, so the baseline is that device alone.
  bool is_baseline_of(const CaseSpec& candidate, const CaseSpec& spec) const override {
    if (spec.strategy == "streams") return candidate == alone_on_first(spec);
    return Scenario::is_baseline_of(candidate, spec);
  }

  std::string_view baseline_strategy_of(const CaseSpec& spec) const override {
    return spec.strategy == "streams" ? "alone" : baseline();
  }

  /// A device alone does only its part of the work.
  bool comparable(const CaseSpec& spec) const override { return spec.strategy != "alone"; }

  Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                    const PossiblyFastest& possibly_fastest) const override {
    return matmul_answer(outcomes, possibly_fastest);
  }
};

}  // namespace

std::unique_ptr<Scenario> make_matmul() { return std::make_unique<Matmul>(); }

}  // namespace parbench
