// TF32 reaches every product of every case, and only where it was asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/run/case_expansion.h"
#include "kernels/machine/machine.h"

namespace parbench {
namespace {

/// Plans only: what it makes runs nowhere.
class PlanningStream final : public Stream {
 public:
  PlanningStream(Device& device, std::unique_ptr<Stream> real)
      : device_(device), real_(std::move(real)) {}
  Device& device() const override { return device_; }
  int threads() const override { return real_->threads(); }
  std::size_t scratch_bytes() const override { return real_->scratch_bytes(); }
  void copy(BufferView /*destination*/, BufferView /*source*/) override {}
  void record(Event& /*event*/) override {}
  void wait(Event& /*event*/) override {}
  void synchronize(std::chrono::milliseconds /*limit*/) override {}

 private:
  void grow_scratch(std::size_t /*bytes*/) override {}

  Device& device_;
  std::unique_ptr<Stream> real_;
};

/// A CPU device that writes down how products are to multiply and plans them as f32.
class PlanningDevice final : public Device {
 public:
  explicit PlanningDevice(std::vector<MathMode>& modes)
      : modes_(modes), real_(std::move(parbench::Machine().open("cpu:0").front())) {}

  const DeviceInfo& info() const override { return real_->info(); }
  AvailableMemory available_memory() const override { return real_->available_memory(); }
  std::unique_ptr<Stream> make_stream(StreamKind kind, int /*index*/, int /*sharers*/) override {
    return std::make_unique<PlanningStream>(*this, real_->make_stream(kind));
  }
  std::unique_ptr<Event> make_event(EventKind kind) override { return real_->make_event(kind); }
  Buffer allocate(std::size_t bytes, MemoryKind kind) override {
    return real_->allocate(bytes, kind);
  }
  void grow(Buffer& buffer, std::size_t bytes, MemoryKind kind) override {
    real_->grow(buffer, bytes, kind);
  }
  std::unique_ptr<Op> prepare(const OpDesc& desc, int threads) override {
    OpDesc strict = desc;
    std::visit(
        [this](auto& one) {
          if constexpr (requires { one.math; }) {
            modes_.push_back(std::exchange(one.math, MathMode::strict));
          }
        },
        strict);
    return real_->prepare(strict, threads);
  }
  TensorDesc activation(const Shape& shape, DType dtype) const override {
    return real_->activation(shape, dtype);
  }

 private:
  std::vector<MathMode>& modes_;
  std::unique_ptr<Device> real_;
};

/// Of the products that a case plans on two devices.
std::vector<MathMode> modes_of(const Scenario& scenario, const CaseSpec& spec) {
  std::vector<MathMode> modes;
  std::vector<std::unique_ptr<Device>> devices;
  for (int i = 0; i < 2; ++i) devices.push_back(std::make_unique<PlanningDevice>(modes));
  Context context(std::move(devices), {.measures = false});
  context.begin_case();
  (void)scenario.prepare(spec, context);
  return modes;
}

struct Sweep {
  std::string label;
  std::string scenario;
  AxisValues axes;
  std::vector<std::string> strategies = {};
};
void PrintTo(const Sweep& sweep, std::ostream* out) { *out << sweep.label; }

class MathModeOfCases : public testing::TestWithParam<Sweep> {};

TEST_P(MathModeOfCases, IsTheOneOfDtype) {
  const ScenarioList scenarios = built_in_scenarios();
  const Scenario& scenario = **std::ranges::find(scenarios, GetParam().scenario, &Scenario::name);
  for (const char* dtype : {"f32", "tf32"}) {
    RunOptions options;
    options.scenarios = {&scenario};
    options.strategies = GetParam().strategies;
    options.axes = GetParam().axes;
    options.format = *number_format_named(dtype);
    std::size_t products = 0;
    for (const CaseSpec& spec : expand(options, scenario, {.device_count = 2}).cases) {
      EXPECT_EQ(spec.name().ends_with("/dtype:tf32"), options.format.math == MathMode::tf32);
      for (const MathMode math : modes_of(scenario, spec)) {
        ++products;
        ASSERT_EQ(math, options.format.math) << spec.name();
      }
    }
    EXPECT_GT(products, 0U) << "no product was checked";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios, MathModeOfCases,
    testing::Values(
        Sweep{"branch", "branch", {{"image", {std::int64_t{8}}}, {"branches", {std::int64_t{3}}}}},
        Sweep{"matmul", "matmul", {{"n", {std::int64_t{16}}}, {"count", {std::int64_t{3}}}}},
        Sweep{"overlap", "overlap", {{"n", {std::int64_t{16}}}, {"count", {std::int64_t{3}}}}},
        Sweep{"toy", "pipeline", {{"model", {"toy"}}, {"split", {std::int64_t{5}}}}},
        Sweep{"resnet50",
              "pipeline",
              {{"batch", {std::int64_t{2}}}, {"image", {std::int64_t{32}}}},
              {"single"}}),
    [](const auto& instance) { return instance.param.label; });

}  // namespace
}  // namespace parbench
