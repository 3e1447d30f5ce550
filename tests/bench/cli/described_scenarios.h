// Scenarios that are only described, never prepared: for tests of the command line and of sweeps.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/framework/scenario.h"

namespace parbench::test {

inline Axis make_axis(std::string name, AxisKind kind, std::vector<Value> quick,
                      std::vector<std::string> strategies = {}) {
  Axis axis;
  axis.name = std::move(name);
  axis.description = "description of " + axis.name;
  axis.kind = kind;
  axis.quick = quick;
  axis.published = std::move(quick);
  axis.max = 4096;
  axis.strategies = std::move(strategies);
  return axis;
}

/// Refuses a split above the batch, as the pipeline does; shows the number of devices in the name
/// when there are several.
class DescribedScenario : public Scenario {
 public:
  DescribedScenario(std::string name, std::vector<Strategy> strategies, std::vector<Axis> axes)
      : name_(std::move(name)), strategies_(std::move(strategies)), axes_(std::move(axes)) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view question() const override { return "Is it fast?"; }
  [[nodiscard]] const std::vector<Strategy>& strategies() const override { return strategies_; }
  [[nodiscard]] const std::vector<Axis>& axes() const override { return axes_; }
  [[nodiscard]] std::string_view baseline() const override { return strategies_.front().name; }
  [[nodiscard]] Resolution resolve(const Request& request) const override {
    CaseSpec spec = request.spec;
    const Value* split = spec.parameters.find("split");
    const Value* batch = spec.parameters.find("batch");
    if (split != nullptr && batch != nullptr && split->index() == 0 && *split > *batch) {
      return Obstacle{
          {"split", "batch"},
          fmt::format("--split {} is above the batch of {}", to_string(*split), to_string(*batch))};
    }
    if (request.device_count > 1) {
      spec.parameters.set("devices", std::int64_t{request.device_count});
    }
    return spec;
  }
  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec&, Context&) const override {
    throw Unsupported("a described scenario cannot be prepared");
  }
  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>&,
                                  const PossiblyFastest&) const override {
    return {};
  }

 private:
  std::string name_;
  std::vector<Strategy> strategies_;
  std::vector<Axis> axes_;
};

/// "pipe" with single and pipeline, axes batch, split (of pipeline) and the hidden slowdown; "mat"
/// with alone and streams, axes n, batch, streams (of streams) and pause (of alone).
inline ScenarioList described_scenarios() {
  using enum AxisKind;
  Axis slowdown = make_axis("slowdown", real, {0.0});
  slowdown.min = 0;
  slowdown.identity = false;
  Axis pause = make_axis("pause", duration, {std::string("1us")}, {"alone"});
  pause.max = 1e9;
  ScenarioList list;
  list.push_back(std::make_unique<DescribedScenario>(
      "pipe", std::vector<Strategy>{{"single", "one device"}, {"pipeline", "micro-batches"}},
      std::vector<Axis>{make_axis("batch", integer, {std::int64_t{12}}),
                        make_axis("split", sizes, {std::int64_t{1}, std::int64_t{6}}, {"pipeline"}),
                        slowdown}));
  list.push_back(std::make_unique<DescribedScenario>(
      "mat", std::vector<Strategy>{{"alone", "each alone"}, {"streams", "S streams"}},
      std::vector<Axis>{make_axis("n", integer, {std::int64_t{64}}),
                        make_axis("batch", integer, {std::int64_t{2}}),
                        make_axis("streams", integer, {std::int64_t{2}}, {"streams"}), pause}));
  return list;
}

}  // namespace parbench::test
