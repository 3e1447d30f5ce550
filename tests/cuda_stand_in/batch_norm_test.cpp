// Batch normalisation with `--autotune` on the stand-in: cuDNN or kernels of this project,
// whichever takes less time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/graph.h"
#include "tests/cuda_stand_in/stand_in.h"
#include "tests/kernels/harness.h"
#include "tests/kernels/ops/naive.h"
#include "tests/support/temporary_folder.h"

namespace parbench::test {
namespace {

using testing::StartsWith;

constexpr std::chrono::milliseconds long_pause(100);
const char* const tuning_variable = "PARBENCH_TUNING_CACHE";

struct Norm {
  const char* name;
  OpDesc desc;
  double tolerance;
  InPlace in_place = {};
};

std::vector<Norm> norms() {
  const Shape shape{4, 24, 9, 7};
  constexpr DType f32 = DType::f32;
  constexpr DType bf16 = DType::bf16;
  constexpr double exact_sums = 2e-5;
  constexpr double bf16_rounding = 1e-2;
  const InPlace same{{"diff_source", "diff_destination"}};
  return {{"forward", BatchNormForward{shape, f32, false, 1e-2F, 0.7F}, exact_sums},
          {"forward_bf16", BatchNormForward{shape, bf16}, bf16_rounding},
          {"backward", BatchNormBackward{shape}, exact_sums},
          {"backward_in_place", BatchNormBackward{shape}, exact_sums, same},
          {"backward_added", BatchNormBackward{shape, f32, false, 1e-5F, true}, exact_sums},
          {"backward_relu", BatchNormBackward{shape, f32, true}, exact_sums},
          {"backward_relu_in_place", BatchNormBackward{shape, f32, true}, exact_sums, same},
          {"backward_relu_bf16", BatchNormBackward{shape, bf16, true, 1e-5F, true}, bf16_rounding}};
}

class BatchNormOnStandIn : public testing::Test {
 protected:
  BatchNormOnStandIn() { setenv(tuning_variable, "", 1); }
  ~BatchNormOnStandIn() override {
    stand_in::recover();
    unsetenv(tuning_variable);
  }

  /// Opens a device that measures kernels, without the measurements of earlier ones.
  static Bench open_tuned(const char* name) {
    std::string why;
    auto bench = Bench::open({name, 1}, why, {.autotune = true});
    EXPECT_TRUE(bench.has_value()) << why;
    return *std::move(bench);
  }

  /// Opens a device with a file in which cuDNN is the choice for each of `norms`, whatever a busy
  /// machine would measure.
  [[nodiscard]] Bench open_with_cudnn() const {
    const std::filesystem::path file = folder_ / "tuning";
    setenv(tuning_variable, file.c_str(), 1);
    {
      const Bench bench = open_tuned("cuda:0");
      for (const Norm& one : norms()) {
        const Trial trial(bench, one.desc, one.in_place);
      }
    }
    std::istringstream lines(text_of(file));
    std::string changed;
    for (std::string line; std::getline(lines, line);) {
      changed += line.substr(0, line.rfind('\t')) + "\t1\n";
    }
    folder_.write("tuning", changed);
    return open_tuned("cuda:0");
  }

  TemporaryFolder folder_;
};

constexpr const char* by_cudnn = "cuDNN batch normalisation";
constexpr const char* by_kernels = "CUDA kernels";

TEST_F(BatchNormOnStandIn, OfCudnnEqualsNaiveLoops) {
  const Bench bench = open_with_cudnn();
  for (const Norm& one : norms()) {
    SCOPED_TRACE(one.name);
    Trial trial(bench, one.desc, one.in_place);
    ASSERT_EQ(trial.op().implementation(), by_cudnn);
    EXPECT_EQ(trial.op().chosen_by(), ChosenBy::measuring);
    for (const std::uint64_t seed : {1, 2}) {
      Tensors inputs = trial.draw_inputs(seed);
      const Tensors got = trial.run(inputs);
      inputs.merge(trial.companion_outputs());
      for (const auto& [role, values] : naive(one.desc, inputs)) {
        expect_close(role, got.find(role)->second, values, one.tolerance, 1e-7);
      }
    }
  }
}

TEST_F(BatchNormOnStandIn, IsOfKernelsWhereCudnnTakesLonger) {
  stand_in::slow_batch_norm(long_pause);
  const Bench bench = open_tuned("cuda:0");
  for (const Norm& one : norms()) {
    SCOPED_TRACE(one.name);
    const auto op = bench.prepare(one.desc);
    EXPECT_THAT(op->implementation(), StartsWith(by_kernels));
    EXPECT_EQ(op->chosen_by(), ChosenBy::measuring);
  }
}

// The kernels compute the ReLU in the same pass.
TEST_F(BatchNormOnStandIn, ForwardWithReluIsOfKernels) {
  const Bench bench = open_tuned("cuda:0");
  const auto op = bench.prepare(BatchNormForward{{4, 24, 9, 7}, DType::f32, true});
  EXPECT_THAT(op->implementation(), StartsWith(by_kernels));
  EXPECT_EQ(op->chosen_by(), ChosenBy::library);
}

TEST_F(BatchNormOnStandIn, IsOfKernelsOnPartsOfAGpu) {
  const Bench bench = open_tuned("cuda:0/1");
  for (const Norm& one : norms()) {
    SCOPED_TRACE(one.name);
    EXPECT_THAT(bench.prepare(one.desc)->implementation(), StartsWith(by_kernels));
  }
}

TEST_F(BatchNormOnStandIn, IsOfKernelsWithoutTuning) {
  std::string why;
  const auto bench = Bench::open({"cuda:0", 1}, why);
  ASSERT_TRUE(bench.has_value()) << why;
  for (const Norm& one : norms()) {
    EXPECT_THAT(bench->prepare(one.desc)->implementation(), StartsWith(by_kernels)) << one.name;
  }
}

TEST_F(BatchNormOnStandIn, KeepsItsChoiceInTheFile) {
  const std::filesystem::path file = folder_ / "tuning";
  setenv(tuning_variable, file.c_str(), 1);
  const BatchNormForward norm{{4, 24, 9, 7}};
  stand_in::slow_batch_norm(long_pause);
  EXPECT_THAT(open_tuned("cuda:0").prepare(norm)->implementation(), StartsWith(by_kernels));
  stand_in::slow_batch_norm({});
  EXPECT_THAT(open_tuned("cuda:0").prepare(norm)->implementation(), StartsWith(by_kernels));
  EXPECT_EQ(open_with_cudnn().prepare(norm)->implementation(), by_cudnn);
}

// The emulation of a large grid takes far longer than plain loops.
TEST_F(BatchNormOnStandIn, IsOfCudnnWhereItTakesLess) {
  const auto op = open_tuned("cuda:0").prepare(BatchNormForward{{8, 64, 24, 24}});
  EXPECT_EQ(op->implementation(), by_cudnn);
  EXPECT_EQ(op->chosen_by(), ChosenBy::measuring);
}

/// Executes an operation by capturing it and launching the graph.
class CapturedOp final : public Op {
 public:
  explicit CapturedOp(Op& op) : op_(op) {
    name_ = op.name();
    arguments_ = op.arguments();
    scratch_bytes_ = op.scratch_bytes();
  }
  void enqueue(Stream& stream, std::span<const BufferView> views) override {
    graph_ = stream.capture([&] { op_.enqueue(stream, views); });
    graph_->launch();
  }

 private:
  Op& op_;
  std::unique_ptr<Graph> graph_;
};

TEST_F(BatchNormOnStandIn, GraphsComputeTheSameBits) {
  const Bench bench = open_with_cudnn();
  for (const Norm& one : norms()) {
    SCOPED_TRACE(one.name);
    Trial trial(bench, one.desc, one.in_place);
    const Tensors inputs = trial.draw_inputs(1);
    const Tensors want = trial.run(inputs);
    CapturedOp captured(trial.op());
    EXPECT_EQ(trial.run_with(captured, inputs), want);
  }
}

TEST_F(BatchNormOnStandIn, MakesNothingDuringAStep) {
  const Bench bench = open_with_cudnn();
  for (const Norm& one : norms()) {
    SCOPED_TRACE(one.name);
    Trial trial(bench, one.desc, one.in_place);
    bench.stream().reserve_scratch(trial.op().scratch_bytes());
    const auto before = stand_in::live_objects();
    for (int i = 0; i < 2; ++i) bench.run(trial.op(), trial.views());
    EXPECT_EQ(stand_in::live_objects(), before);
    EXPECT_GT(before.at("cuDNN tensor"), 0);
  }
}

TEST_F(BatchNormOnStandIn, GivesBackItsDescriptors) {
  const auto before = stand_in::live_objects();
  {
    const Bench bench = open_tuned("cuda:0");
    for (const Norm& one : norms()) (void)bench.prepare(one.desc);
  }
  EXPECT_EQ(stand_in::live_objects(), before);
}

}  // namespace
}  // namespace parbench::test
