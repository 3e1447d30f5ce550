// Cases and references of scenario tensor-parallel, and its plans on CPU devices.
#include "scenarios/framework/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scenarios/framework/built_in.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/scenarios/resolving.h"
#include "tests/scenarios/training/step/grid_runs.h"

namespace parbench::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> sharded{"data-parallel", "tensor-parallel", "sequence-parallel"};

std::vector<Parameter> tiny(const std::string& block) {
  std::vector<Parameter> values{{"model", block + "-block"},
                                {"batch", std::int64_t{3}},
                                {"hidden", std::int64_t{32}},
                                {"sequence", std::int64_t{4}}};
  if (block == "transformer") values.push_back({"heads", std::int64_t{4}});
  return values;
}

struct TensorParallelTest : Resolving {
  TensorParallelTest() : Resolving(make_tensor_parallel()) {}
};

TEST_F(TensorParallelTest, NamesShowTheModelAndTheDevices) {
  EXPECT_EQ(requested_case(*scenario, request_of("single", tiny("transformer")))->name(),
            "tensor-parallel/single/batch:3/heads:4/hidden:32/sequence:4");
  EXPECT_EQ(requested_case(*scenario, request_of("sequence-parallel", tiny("perceptron")))->name(),
            "tensor-parallel/sequence-parallel/model:perceptron-block/batch:3/hidden:32/sequence:4/"
            "devices:2");
}

TEST_F(TensorParallelTest, TheReferenceIsOneDevice) {
  for (const std::string& strategy : sharded) {
    const CaseSpec spec = *requested_case(*scenario, request_of(strategy, tiny("transformer")));
    EXPECT_EQ(scenario->reference(spec),
              *requested_case(*scenario, request_of("single", tiny("transformer"))));
  }
}

TEST_F(TensorParallelTest, RefusesWhatCannotBeDivided) {
  const auto with = [](const std::string& name, std::int64_t value) {
    std::vector<Parameter> values = tiny("transformer");
    std::ranges::find(values, name, &Parameter::name)->value = value;
    return values;
  };
  EXPECT_THAT(refusal(request_of("tensor-parallel", tiny("transformer"), {"strategy"}, 3)),
              HasSubstr("4 heads, which cannot be divided into 3 shards"));
  EXPECT_EQ(requested_case(*scenario,
                           request_of("tensor-parallel", with("sequence", 6), {"sequence"}, 3)),
            std::nullopt);
  EXPECT_THAT(refusal(request_of("single", with("heads", 3), {"heads"})),
              HasSubstr("--heads 3 does not divide --hidden 32"));
  EXPECT_THAT(refusal(request_of("sequence-parallel", with("sequence", 5), {"sequence"})),
              HasSubstr("5 positions cannot be divided into 2 shards; use a multiple of 2"));
  EXPECT_THAT(refusal(request_of("data-parallel", with("batch", 1), {"batch"})),
              HasSubstr("1 cannot be divided over 2 replicas; use another batch of at least 2"));
  EXPECT_THAT(refusal(request_of("single", tiny("perceptron"), {"heads"})),
              HasSubstr("is not a size of model perceptron-block"));
  EXPECT_THAT(refusal(request_of("tensor-parallel", tiny("perceptron"), {"strategy"}, 1)),
              HasSubstr("at least two devices"));
}

TEST_F(TensorParallelTest, GathersWholeWordsOnly) {
  Scenario::Request odd = request_of("sequence-parallel",
                                     {{"model", "perceptron-block"},
                                      {"batch", std::int64_t{1}},
                                      {"hidden", std::int64_t{3}},
                                      {"sequence", std::int64_t{6}}},
                                     {"hidden"});
  EXPECT_TRUE(requested_case(*scenario, odd));
  odd.spec.dtype = DType::bf16;
  EXPECT_THAT(refusal(odd), HasSubstr("9 bf16 values"));
}

struct Block {
  std::string name;
  int devices = 2;
};

void PrintTo(const Block& one, std::ostream* out) { *out << one.name << one.devices; }

struct TensorParallelPlans : testing::TestWithParam<Block> {
  std::unique_ptr<Scenario> scenario = make_tensor_parallel();
  [[nodiscard]] std::vector<CaseSpec> specs() const {
    std::vector<CaseSpec> all;
    for (const std::string& strategy : sharded) {
      if (strategy == "data-parallel" && GetParam().devices > 3) continue;  // three samples
      all.push_back(spec_of(*scenario, strategy, tiny(GetParam().name), GetParam().devices));
    }
    return all;
  }
};

TEST_P(TensorParallelPlans, HaveNoRaces) {
  const auto context = context_with_shared_cores(GetParam().devices);
  for (const CaseSpec& spec : specs()) {
    EXPECT_THAT(races(ready_case(*scenario, spec, *context)->plan()), IsEmpty()) << spec.name();
  }
}

TEST_P(TensorParallelPlans, NeedEveryTask) {
  const int devices = GetParam().devices;
  const std::size_t every = devices > 2 ? 11 : 1;  // rings of four have hundreds of tasks
  for (const CaseSpec& spec : specs()) {
    expect_every_task_needed(*scenario, spec, devices, every);
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, TensorParallelPlans,
                         testing::Values(Block{"perceptron", 2}, Block{"transformer", 2},
                                         Block{"transformer", 4}),
                         [](const auto& one) {
                           return one.param.name + "On" + std::to_string(one.param.devices);
                         });

TEST_F(TensorParallelTest, APairCommunicatesOnceInEachPass) {
  const auto context = context_with_shared_cores(2);
  const CaseSpec spec = spec_of(*scenario, "tensor-parallel", tiny("perceptron"), 2);
  const auto subject = ready_case(*scenario, spec, *context);
  int forward = 0;
  int backward = 0;
  for (const Task& task : subject->plan().graph().tasks) {
    if (!task.name.starts_with("all-reduce")) continue;
    EXPECT_EQ(task.kind, TaskKind::communication);
    forward += task.name.find("forward") != std::string::npos ? 1 : 0;
    backward += task.name.find("backward") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(forward, 4) << "a ring of two: an addition and a copy for each";
  EXPECT_EQ(backward, 4);
}

TEST_F(TensorParallelTest, DevicesHoldLessThanOneAlone) {
  const auto bytes = [&](const std::string& strategy) {
    const auto context = context_with_shared_cores(2);
    std::vector<Parameter> values = tiny("transformer");
    std::ranges::find(values, "hidden", &Parameter::name)->value = std::int64_t{64};
    std::ranges::find(values, "sequence", &Parameter::name)->value = std::int64_t{128};
    const auto subject = ready_case(*scenario, spec_of(*scenario, strategy, values, 2), *context);
    return context->case_bytes(1) > 0 ? context->case_bytes(1) : context->case_bytes(0);
  };
  EXPECT_LT(bytes("tensor-parallel"), bytes("single"));
  EXPECT_LT(bytes("sequence-parallel"), bytes("tensor-parallel"));
}

}  // namespace
}  // namespace parbench::test
