// Requests to a scenario as the sweep makes them, and what the scenario makes of them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/framework/requests.h"
#include "scenarios/framework/scenario.h"

namespace parbench::test {

/// A fixture of tests of one scenario, which need no device.
struct Resolving : testing::Test {
  explicit Resolving(std::unique_ptr<Scenario> with) : scenario(std::move(with)) {}

  /// Values of axes, and the flags that the user gave.
  [[nodiscard]] Scenario::Request request_of(const std::string& strategy,
                                             const std::vector<Parameter>& values,
                                             std::vector<std::string> given = {},
                                             int devices = 2) const {
    Scenario::Request made;
    made.spec.scenario = scenario->name();
    made.spec.strategy = strategy;
    for (const Parameter& value : values) made.spec.parameters.set(value.name, value.value);
    made.given = std::move(given);
    made.device_count = devices;
    return made;
  }

  [[nodiscard]] std::string name_of(const Scenario::Request& made) const {
    const auto spec = requested_case(*scenario, made);
    return spec ? spec->name() : "no case";
  }

  [[nodiscard]] std::string refusal(const Scenario::Request& made) const {
    try {
      return "not refused: " + name_of(made);
    } catch (const UsageError& error) {
      return error.what();
    }
  }

  [[nodiscard]] std::string reference_of(const Scenario::Request& made) const {
    const auto reference = scenario->reference(*requested_case(*scenario, made));
    return reference ? reference->name() : "none";
  }

  std::unique_ptr<Scenario> scenario;
};

}  // namespace parbench::test
