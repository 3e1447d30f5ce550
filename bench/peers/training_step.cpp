// ResNet-50's training step behind a line protocol, so that another process can alternate with it.
#include <algorithm>
#include <iostream>
#include <string>

#include "bench/execution/executor.h"
#include "bench/peers/comparisons.h"
#include "bench/peers/workload.h"
#include "kernels/base/error.h"
#include "scenarios/framework/scenario.h"
#include "scenarios/models/models.h"

namespace parbench::peers {
namespace {

constexpr std::string_view scenario_name = "pipeline";

std::int64_t parameter_count(std::int64_t image) {
  std::int64_t count = 0;
  for (const ParameterSpec& parameter : resnet(50, image).parameters()) {
    count += element_count(parameter.shape);
  }
  return count;
}

/// Throws UsageError for sizes that no kernel takes.
CaseSpec single_device_case(const Scenario& scenario, std::int64_t batch, std::int64_t image) {
  Scenario::Request request;
  request.spec.scenario = scenario_name;
  request.spec.strategy = "single";
  request.spec.parameters.set("batch", batch);
  request.spec.parameters.set("image", image);
  request.given = {"batch", "image"};
  return scenario.resolve(request).value();
}

}  // namespace

void serve_training_steps(std::int64_t batch, std::int64_t image) {
  const ScenarioList scenarios = built_in_scenarios();
  const auto found = std::ranges::find_if(
      scenarios, [](const auto& scenario) { return scenario->name() == scenario_name; });
  if (found == scenarios.end()) throw Error("this build has no scenario pipeline");

  Context context(open_whole_machine(), {});
  const CaseSpec spec = single_device_case(**found, batch, image);
  context.begin_case();
  const std::unique_ptr<Case> subject = (*found)->prepare(spec, context);
  context.commit();
  Executor executor(subject->plan());
  subject->reset();
  (void)executor.run();

  const Json ready{{"name", spec.name()},
                   {"parameters", parameter_count(image)},
                   {"threads", context.stream(0, StreamKind::compute).threads()}};
  std::cout << ready.dump() << '\n' << std::flush;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << Json(executor.run().wall_seconds).dump() << '\n' << std::flush;
  }
}

}  // namespace parbench::peers
