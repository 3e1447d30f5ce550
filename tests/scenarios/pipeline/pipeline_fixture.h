// Requests of scenario pipeline.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenarios/framework/built_in.h"
#include "tests/scenarios/resolving.h"

namespace parbench::test {

struct PipelineTest : Resolving {
  PipelineTest() : Resolving(make_pipeline()) {}

  [[nodiscard]] Scenario::Request request(const std::string& strategy,
                                          const std::vector<Parameter>& values,
                                          std::vector<std::string> given = {},
                                          int devices = 2) const {
    std::vector<Parameter> all{{"model", std::string("resnet50")}, {"image", std::int64_t{128}}};
    all.insert(all.end(), values.begin(), values.end());
    return request_of(strategy, all, std::move(given), devices);
  }
};

}  // namespace parbench::test
