// All strategies on the devices of this machine, CPU devices and parts of a GPU: real kernels, real
// streams, verified results.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/execution/executor.h"
#include "bench/execution/submit_mode.h"
#include "bench/execution/verification.h"
#include "kernels/base/error.h"
#include "scenarios/branch/branch.h"
#include "scenarios/collectives/collectives.h"
#include "scenarios/data_parallel/data_parallel.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/graph/graph.h"
#include "scenarios/hybrid/hybrid.h"
#include "scenarios/inter_op/inter_op.h"
#include "scenarios/matmul/matmul.h"
#include "scenarios/overlap/overlap.h"
#include "scenarios/pipeline/pipeline.h"
#include "scenarios/selftest/selftest.h"
#include "scenarios/tensor_parallel/tensor_parallel.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/support/cpu_devices.h"
#include "tests/support/machine.h"
#include "tests/support/other_device.h"
#include "tests/support/required_devices.h"

namespace parbench::test {
namespace {

struct DeviceCase {
  std::string name;
  std::unique_ptr<Scenario> (*make)();
  std::vector<Parameter> values;
  int devices = 1;
  DType dtype = DType::f32;
  bool mixed = false;                        // every second device is another backend's
  std::vector<std::string> strategies = {};  // that have such a case; empty: all
  bool on_gpu = false;  // a whole one, two parts of one, or beside a CPU device
};

void PrintTo(const DeviceCase& one, std::ostream* out) { *out << one.name; }

/// Opens the devices of a case; none, with the reason in `why`, where this machine lacks them.
std::vector<std::unique_ptr<Device>> devices_of(const DeviceCase& one, const Scenario& scenario,
                                                std::string& why) {
  if (one.on_gpu) {
    const char* both = one.mixed ? "cpu:0,cuda:0" : "cuda:0/0,cuda:0/1";
    try {
      return machine().open(one.devices == 1 ? "cuda:0" : both);
    } catch (const Error& error) {
      why = error.what();
      return {};
    }
  }
  if (machine().find("cpu")->device_limit() < one.devices) {
    why = fmt::format("needs {} CPU devices", one.devices);
    return {};
  }
  if (one.mixed) return mixed_devices(one.devices);
  return cpu_devices(one.devices, machine(), scenario.wants_copy_core());
}

/// The device of strategy all-cores; null: the devices of the case have none.
std::unique_ptr<Device> whole_of(const DeviceCase& one) {
  if (one.mixed || one.devices == 1) return nullptr;
  return machine().open_whole(one.on_gpu ? "cuda:0/0,cuda:0/1" : "cpu:0,cpu:1");
}

/// A part of a GPU is used by one host thread at a time.
bool can_submit(const Plan& plan) {
  const auto takes_one = [](const Stream* stream) {
    return stream->device().one_launching_thread();
  };
  return plan.graph().submit != SubmitMode::thread_per_lane ||
         std::ranges::none_of(plan.streams(), takes_one);
}

/// A scenario on the devices of its case.
class DeviceCases : public testing::TestWithParam<DeviceCase> {
 protected:
  void SetUp() override {
    const DeviceCase& one = GetParam();
    scenario_ = one.make();
    std::string why;
    auto devices = devices_of(one, *scenario_, why);
    if (devices.empty()) SKIP_WITHOUT_DEVICES(one.on_gpu ? "cuda:0" : "cpu:0", why);
    context_ =
        std::make_unique<Context>(std::move(devices), Context::Options{.seed = 3}, whole_of(one));
  }

  [[nodiscard]] CaseSpec spec(const Strategy& strategy) const {
    const DeviceCase& one = GetParam();
    CaseSpec spec = spec_of(*scenario_, strategy.name, one.values, one.devices, !one.mixed);
    spec.dtype = one.dtype;
    return spec;
  }

  [[nodiscard]] std::unique_ptr<Case> ready(const CaseSpec& spec) const {
    return ready_case(*scenario_, spec, *context_);
  }

  [[nodiscard]] const Scenario& scenario() const { return *scenario_; }

  /// How much roundings change the outputs of a case, where it trains.
  [[nodiscard]] Sensitivities sensitivities_of(const CaseSpec& spec,
                                               const OutputValues& outputs) const {
    Sensitivities found;
    if (!trains(spec)) return found;
    Context& context = context_of(spec, *context_);
    for (const int perturbation : {1, -1, 2, -2}) {
      context.set_perturbation(perturbation);
      const auto changed = ready(spec);
      Executor(changed->plan()).run();
      add_changes(found, *changed, outputs);
    }
    context.set_perturbation(0);
    return found;
  }

  [[nodiscard]] std::vector<Strategy> strategies() const {
    std::vector<Strategy> chosen = scenario_->strategies();
    const std::vector<std::string>& only = GetParam().strategies;
    std::erase_if(chosen, [&](const Strategy& one) {
      if (one.name == all_cores && context_->whole() == nullptr) return true;
      return !only.empty() && std::ranges::find(only, one.name) == only.end();
    });
    return chosen;
  }

 private:
  std::unique_ptr<Scenario> scenario_;
  std::unique_ptr<Context> context_;
};

OutputValues run_and_read(Case& subject) {
  Executor executor(subject.plan());
  executor.run();
  return read_outputs(subject);
}

/// The same of the second replay of a graph, with nothing left over from before it.
OutputValues replay_and_read(Case& subject, SubmitMode mode) {
  Executor executor(subject.plan(), mode);
  executor.prepare_graph();
  executor.run();
  subject.forget();
  subject.reset();
  EXPECT_TRUE(subject.check()) << "what has not run passes for right";
  executor.run();
  return read_outputs(subject);
}

TEST_P(DeviceCases, AreRight) {
  for (const Strategy& strategy : strategies()) {
    SCOPED_TRACE(strategy.name);
    const CaseSpec wanted = spec(strategy);
    std::unique_ptr<Case> subject;
    try {
      subject = ready(wanted);
    } catch (const Unsupported& reason) {
      ASSERT_NE(wanted.dtype, DType::f32) << reason.what();
      continue;
    }
    if (!can_submit(subject->plan())) continue;
    EXPECT_TRUE(subject->check()) << "what has not run passes for right";
    const OutputValues got = run_and_read(*subject);
    EXPECT_EQ(subject->check(), std::nullopt);
    EXPECT_NE(subject->checked(), "");
    if (const auto reference = reference_of(scenario(), wanted)) {
      const auto other = ready(*reference);
      const OutputValues want = run_and_read(*other);
      const Tolerance tolerance = tolerance_of_case(wanted, *subject);
      report::Verification verdict = compare(as_outputs(got), want, tolerance);
      if (!verdict.passed)
        verdict = compare(as_outputs(got), want, tolerance, sensitivities_of(*reference, want));
      EXPECT_TRUE(verdict.passed) << verdict.detail;
    }
  }
}

TEST_P(DeviceCases, GiveTheSameBitsAsGraphs) {
  for (const Strategy& strategy : strategies()) {
    SCOPED_TRACE(strategy.name);
    CaseSpec wanted = spec(strategy);
    try {
      const auto subject = ready(wanted);
      if (subject->plan().graph().submit == SubmitMode::thread_per_lane) continue;  // not captured
      wanted.graph = true;
      const OutputValues replayed =
          replay_and_read(*subject, submit_mode_of(wanted, subject->plan()));
      EXPECT_EQ(subject->check(), std::nullopt);
      subject->forget();
      subject->reset();
      EXPECT_EQ(replayed, run_and_read(*subject));
    } catch (const Unsupported& reason) {
      EXPECT_TRUE(GetParam().mixed || wanted.dtype != DType::f32) << reason.what();
    }
  }
}

DeviceCase mixed(const std::string& name, std::unique_ptr<Scenario> (*make)(),
                 const std::vector<Parameter>& values) {
  return {name, make, values, 2, DType::f32, true};
}

/// A collective of more than one chunk by all algorithms that it has.
DeviceCase collective(const std::string& test, const std::string& name,
                      std::vector<std::string> strategies, bool is_mixed = false) {
  return {"collectives_" + test,
          make_collectives,
          {{"collective", name}, {"size", "1200012"}},
          2,
          DType::f32,
          is_mixed,
          std::move(strategies)};
}

/// A block of a transformer by every strategy of tensor parallelism.
DeviceCase divided_transformer(const std::string& name, DType dtype = DType::f32) {
  return {name,
          make_tensor_parallel,
          {{"block", "transformer"},
           {"batch", 3},
           {"hidden", 24},
           {"heads", 2},
           {"sequence", 6},
           {"optimizer", "adam"}},
          2,
          dtype};
}

/// A pipeline of a small recurrent language model.
DeviceCase recurrent(const std::string& name, std::vector<Parameter> values,
                     DType dtype = DType::f32) {
  for (const Parameter& size :
       {Parameter{"model", "rnn-lm"}, Parameter{"batch", 5}, Parameter{"vocabulary", 40},
        Parameter{"embedding", 12}, Parameter{"hidden", 16}, Parameter{"sequence", 6}}) {
    values.push_back(size);
  }
  return {name, make_pipeline, std::move(values), 2, dtype};
}

std::vector<DeviceCase> device_cases() {
  return {
      DeviceCase{
          "branch", make_branch, {{"batch", 3}, {"channels", 16}, {"image", 9}, {"branches", 5}}},
      DeviceCase{"branch_odd_channels",
                 make_branch,
                 {{"batch", 2}, {"channels", 5}, {"image", 7}, {"branches", 3}}},
      DeviceCase{"branch_bf16",
                 make_branch,
                 {{"batch", 2}, {"channels", 16}, {"image", 8}, {"branches", 4}},
                 1,
                 DType::bf16},
      DeviceCase{"data_parallel_linear",
                 make_data_parallel,
                 {{"model", "linear"}, {"optimizer", "adam"}, {"clip", 0.01}, {"bucket", 1}},
                 2},
      DeviceCase{"data_parallel_normalised",
                 make_data_parallel,
                 {{"model", "resnet18"}, {"batch", 5}, {"image", 64}, {"bucket", 5}, {"stage", 3}},
                 2},
      DeviceCase{
          "data_parallel_recurrent",
          make_data_parallel,
          {{"model", "rnn-lm-tiny"}, {"batch", 7}, {"bucket", 1}, {"clip", 0.5}, {"stage", 2}},
          2},
      DeviceCase{"data_parallel_tied",
                 make_data_parallel,
                 {{"model", "gpt-tiny"},
                  {"head", "tied"},
                  {"batch", 3},
                  {"bucket", 1},
                  {"clip", 0.1},
                  {"stage", 3}},
                 2,
                 DType::f32,
                 false,
                 {"sharded"}},
      DeviceCase{"data_parallel_accumulated",
                 make_data_parallel,
                 {{"model", "resnet18"}, {"batch", 9}, {"image", 64}, {"accumulate", 2}},
                 2},
      DeviceCase{"data_parallel_transformer_bf16",
                 make_data_parallel,
                 {{"model", "gpt-tiny"},
                  {"batch", 3},
                  {"bucket", 1},
                  {"optimizer", "momentum"},
                  {"stage", 3}},
                 2,
                 DType::bf16},
      DeviceCase{"graph_mlp", make_graph, {{"dag", "mlp"}, {"features", 33}, {"batch", 7}}, 2},
      DeviceCase{"graph_mlp_bf16",
                 make_graph,
                 {{"dag", "mlp"}, {"features", 32}, {"batch", 6}},
                 2,
                 DType::bf16},
      DeviceCase{"graph_diamonds",
                 make_graph,
                 {{"dag", "diamonds"}, {"features", 24}, {"batch", 5}, {"nodes", 42}},
                 2},
      DeviceCase{"graph_layered",
                 make_graph,
                 {{"dag", "layered"}, {"features", 24}, {"batch", 5}, {"nodes", 40}, {"draw", 7}},
                 2},
      DeviceCase{"graph_network", make_graph, {{"dag", "network"}, {"batch", 2}, {"image", 32}}, 2},
      DeviceCase{"graph_network_bf16",
                 make_graph,
                 {{"dag", "network"}, {"model", "unet-tiny"}, {"batch", 3}, {"image", 16}},
                 2,
                 DType::bf16},
      DeviceCase{"graph_network_of_tokens",
                 make_graph,
                 {{"dag", "network"}, {"model", "gpt-tiny"}, {"batch", 3}},
                 2},
      DeviceCase{"inter_op",
                 make_inter_op,
                 {{"model", "resnet18"}, {"batch", 2}, {"image", 32}},
                 1,
                 DType::f32,
                 false,
                 {"one-stream", "levels", "list", "stages"}},
      DeviceCase{"inter_op_bf16",
                 make_inter_op,
                 {{"model", "googlenet"}, {"batch", 2}, {"image", 32}},
                 1,
                 DType::bf16},
      DeviceCase{"inter_op_modules",
                 make_inter_op,
                 {{"model", "googlenet"}, {"batch", 2}, {"image", 32}, {"streams", 3}}},
      DeviceCase{"hybrid_replicas",
                 make_hybrid,
                 {{"model", "resnet18"}, {"batch", 9}, {"image", 64}, {"layout", "dp2"}},
                 2},
      DeviceCase{"hybrid_stages",
                 make_hybrid,
                 {{"model", "rnn-lm-tiny"},
                  {"batch", 6},
                  {"layout", "pp2"},
                  {"schedule", "1f1b"},
                  {"clip", 0.5}},
                 2},
      DeviceCase{"hybrid_ranks",
                 make_hybrid,
                 {{"model", "gpt-tiny"}, {"batch", 3}, {"layout", "tp2"}, {"optimizer", "adamw"}},
                 2},
      divided_transformer("tensor_parallel_transformer"),
      divided_transformer("tensor_parallel_transformer_bf16", DType::bf16),
      DeviceCase{"tensor_parallel_mlp",
                 make_tensor_parallel,
                 {{"block", "mlp"}, {"batch", 2}, {"hidden", 20}, {"sequence", 8}},
                 2},
      collective("all_reduce", "all-reduce", {"direct", "ring", "tree"}),
      collective("all_gather", "all-gather", {"direct", "ring", "tree"}),
      collective("reduce_scatter", "reduce-scatter", {"direct", "ring", "tree"}),
      collective("broadcast", "broadcast", {"direct", "ring", "tree"}),
      collective("reduce", "reduce", {"direct", "ring", "tree"}),
      collective("all_to_all", "all-to-all", {"direct", "ring"}),
      collective("send_recv", "send-recv", {"direct"}),
      collective("all_reduce_mixed", "all-reduce", {"direct", "ring", "tree"}, true),
      DeviceCase{"matmul", make_matmul, {{"n", 67}, {"count", 5}}, 2},
      DeviceCase{"matmul_bf16", make_matmul, {{"n", 64}, {"count", 3}}, 2, DType::bf16},
      DeviceCase{"overlap_d2h",
                 make_overlap,
                 {{"n", 70}, {"inner", 9}, {"count", 9}, {"direction", "d2h"}, {"chunk", 32}}},
      DeviceCase{
          "overlap_d2h_fresh",
          make_overlap,
          {{"n", 70}, {"inner", 9}, {"count", 9}, {"direction", "d2h"}, {"memory", "fresh"}}},
      DeviceCase{
          "overlap_h2d",
          make_overlap,
          {{"n", 70}, {"inner", 9}, {"count", 9}, {"direction", "h2d"}, {"memory", "pageable"}}},
      DeviceCase{"pipeline_toy", make_pipeline, {{"model", "toy"}, {"batch", 7}, {"split", 3}}, 2},
      DeviceCase{"pipeline_toy_bf16",
                 make_pipeline,
                 {{"model", "toy"}, {"batch", 7}, {"split", 3}},
                 2,
                 DType::bf16},
      DeviceCase{
          "pipeline_toy_1f1b",
          make_pipeline,
          {{"model", "toy"}, {"split", "9+9+2"}, {"schedule", "1f1b"}, {"partition", "balanced"}},
          2},
      DeviceCase{"pipeline_toy_adamw_clipped",
                 make_pipeline,
                 {{"model", "toy"}, {"split", 7}, {"optimizer", "adamw"}, {"clip", 0.01}},
                 2},
      DeviceCase{"pipeline_momentum_clipped",
                 make_pipeline,
                 {{"model", "resnet18"},
                  {"batch", 4},
                  {"image", 32},
                  {"split", 2},
                  {"optimizer", "momentum"},
                  {"clip", 0.5}},
                 2},
      DeviceCase{"pipeline_recompute",
                 make_pipeline,
                 {{"model", "resnet18"},
                  {"batch", 4},
                  {"image", 32},
                  {"split", 2},
                  {"recompute", "block"}},
                 2},
      DeviceCase{"pipeline_transformer_adamw_recompute_bf16",
                 make_pipeline,
                 {{"model", "gpt-tiny"},
                  {"batch", 4},
                  {"split", 2},
                  {"optimizer", "adamw"},
                  {"clip", 0.5},
                  {"recompute", "block"}},
                 2,
                 DType::bf16},
      DeviceCase{"pipeline_tied_head_adamw_clipped",
                 make_pipeline,
                 {{"model", "gpt-tiny"},
                  {"batch", 5},
                  {"split", 2},
                  {"head", "tied"},
                  {"schedule", "1f1b"},
                  {"optimizer", "adamw"},
                  {"clip", 0.5}},
                 2},
      DeviceCase{"pipeline_tied_head_bf16",
                 make_pipeline,
                 {{"model", "gpt-tiny"}, {"batch", 4}, {"split", 2}, {"head", "tied"}},
                 2,
                 DType::bf16},
      mixed("pipeline_tied_head_mixed", make_pipeline,
            {{"model", "gpt-tiny"}, {"batch", 4}, {"split", 2}, {"head", "tied"}}),
      DeviceCase{"pipeline_unet",
                 make_pipeline,
                 {{"model", "unet-tiny"}, {"batch", 4}, {"image", 16}, {"split", 2}},
                 2},
      DeviceCase{"pipeline_unet_1f1b_recompute",
                 make_pipeline,
                 {{"model", "unet-tiny"},
                  {"batch", 5},
                  {"image", 16},
                  {"split", "2+2+1"},
                  {"schedule", "1f1b"},
                  {"partition", "up.1"},
                  {"recompute", "block"}},
                 2},
      DeviceCase{"pipeline_published_partition",
                 make_pipeline,
                 {{"batch", 5}, {"image", 32}, {"split", 3}, {"partition", "published"}},
                 2},
      DeviceCase{"pipeline_named_partition_1f1b",
                 make_pipeline,
                 {{"batch", 6},
                  {"image", 32},
                  {"split", "2+2+2"},
                  {"partition", "layer4.1"},
                  {"schedule", "1f1b"}},
                 2},
      DeviceCase{"pipeline_balanced_partition_bf16",
                 make_pipeline,
                 {{"batch", 4}, {"image", 32}, {"split", 2}, {"partition", "balanced"}},
                 2,
                 DType::bf16},
      recurrent("pipeline_recurrent", {{"split", 2}}),
      recurrent("pipeline_recurrent_1f1b",
                {{"split", "2+2+1"}, {"schedule", "1f1b"}, {"partition", "lstm.1"}}),
      recurrent("pipeline_recurrent_bf16", {{"split", 3}, {"partition", "head"}}, DType::bf16),
      mixed("graph_mlp_mixed", make_graph, {{"dag", "mlp"}, {"features", 16}, {"batch", 5}}),
      mixed("graph_layered_mixed", make_graph,
            {{"dag", "layered"}, {"features", 16}, {"batch", 5}, {"nodes", 40}}),
      mixed("matmul_mixed", make_matmul, {{"n", 33}, {"count", 3}}),
      mixed(
          "pipeline_toy_mixed", make_pipeline,
          {{"model", "toy"}, {"split", "9+9+2"}, {"schedule", "1f1b"}, {"partition", "balanced"}}),
      mixed("pipeline_clipped_mixed", make_pipeline,
            {{"model", "toy"}, {"split", 8}, {"optimizer", "adam"}, {"clip", 0.01}}),
      mixed("pipeline_mixed", make_pipeline,
            {{"batch", 5}, {"image", 32}, {"split", 3}, {"partition", "published"}}),
      mixed("selftest_mixed", make_selftest, {{"tasks", 5}, {"duration", "10us"}}),
      DeviceCase{"selftest", make_selftest, {{"tasks", 4}, {"duration", "10us"}}},
      DeviceCase{"selftest_two_devices", make_selftest, {{"tasks", 5}, {"duration", "10us"}}, 2},
  };
}

/// The same on a GPU, where this build has a backend for GPUs.
std::vector<DeviceCase> gpu_cases() {
  if (machine().find("cuda") == nullptr) return {};
  std::vector<DeviceCase> cases = device_cases();
  for (DeviceCase& one : cases) one.on_gpu = true;
  return cases;
}

std::string name_of(const testing::TestParamInfo<DeviceCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Scenarios, DeviceCases, testing::ValuesIn(device_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Partitions, DeviceCases, testing::ValuesIn(gpu_cases()), name_of);

}  // namespace
}  // namespace parbench::test
