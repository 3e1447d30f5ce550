// Cases of scenario collectives, for its tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "scenarios/framework/requests.h"

namespace parbench::test {

inline CaseSpec case_of(const Scenario& scenario, const std::string& collective,
                        const std::string& strategy, std::int64_t bytes, int devices) {
  Scenario::Request request;
  request.spec.scenario = scenario.name();
  request.spec.strategy = strategy;
  request.spec.parameters.set("collective", collective);
  request.spec.parameters.set("size", std::to_string(bytes));
  request.device_count = devices;
  request.given = {"strategy", "collective", "size"};
  const auto resolved = requested_case(scenario, request);
  if (!resolved) ADD_FAILURE() << collective << " by " << strategy << " makes no case";
  return resolved.value_or(request.spec);
}

/// The same case with several collectives in a row.
inline CaseSpec with_calls(CaseSpec spec, std::int64_t calls) {
  spec.parameters.set("calls", calls);
  return spec;
}

}  // namespace parbench::test
