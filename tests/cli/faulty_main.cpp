// parbench with two scenarios whose strategies fail on purpose, for the tests of real processes.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/program.h"
#include "kernels/base/error.h"
#include "kernels/cpu/runtime/cpu_op.h"
#include "scenarios/framework/scenario.h"
#include "scenarios/plan/schedules/partition.h"

namespace {

using namespace parbench;

/// How many processes of this program were started before with the same environment; 0 where
/// FAULTY_COUNTER names no file to count in.
int earlier_processes() {
  const char* const path = std::getenv("FAULTY_COUNTER");
  if (path == nullptr) return 0;
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::app);
  const auto earlier = std::distance(std::istreambuf_iterator<char>(file), {});
  file.clear();
  file << '.' << std::flush;
  return static_cast<int>(earlier);
}

/// The first process of a run over several processes starts the others.
bool is_first_process = false;
bool is_second_process = false;

/// Throws in the worker thread of its stream.
class ThrowingOp : public cpu::CpuOp {
 public:
  explicit ThrowingOp(int stream_threads) : CpuOp("throwing") { threads = stream_threads; }
  void execute(const cpu::Execution&, std::span<std::byte* const>) override {
    throw Error("planted failure of a kernel");
  }
};

/// Says that it has begun, and does not end while a test waits.
class StuckOp : public cpu::CpuOp {
 public:
  explicit StuckOp(int stream_threads) : CpuOp("stuck") { threads = stream_threads; }
  void execute(const cpu::Execution&, std::span<std::byte* const>) override {
    std::fputs("stuck has begun\n", stderr);
    std::this_thread::sleep_for(std::chrono::minutes(1));
    std::fputs("stuck has ended\n", stderr);
  }
};

std::chrono::nanoseconds duration_of(const std::string& strategy) {
  if (strategy == "slow") return std::chrono::milliseconds(100);
  return std::chrono::milliseconds(1);
}

class FaultyCase : public Case {
 public:
  FaultyCase(const CaseSpec& spec, Context& context)
      : strategy_(spec.strategy),
        hangs_(spec.strategy == "hangs" ||
               (spec.strategy == "hangs-later" && spec.scenario == "later")) {
    Stream& stream = context.stream(0, StreamKind::compute);
    counter_ = context.borrow(0, strategy_ == "memory" ? std::size_t{1} << 50U : sizeof(long));
    op_ = make_op(context.device(0), stream.threads());
    stream.reserve_scratch(op_->scratch_bytes());
    const LaneId lane = plan_.add_lane("lane", stream);
    OpCall call{op_.get(), {}};
    if (!op_->arguments().empty()) call.views.push_back(counter_);
    plan_.add({.name = "work", .lanes = {lane}}, {std::move(call)});
  }

  [[nodiscard]] const Plan& plan() const override { return plan_; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> notes() const override {
    if (strategy_ != "one-cut") return {};
    return {{std::string(only_cut_note), "head"}};
  }
  void reset() override {
    if (hangs_) hang();
    if ((strategy_ == "crashes-first" && is_first_process) ||
        (strategy_ == "crashes-second" && is_second_process)) {
      std::fputs("planted: this is the end\n", stderr);
      std::abort();
    }
    if (strategy_ == "late-second" && is_second_process) {
      std::this_thread::sleep_for(std::chrono::seconds(6));
    }
    if (strategy_ == "silent-second" && is_second_process) {
      std::this_thread::sleep_for(std::chrono::hours(1));
    }
    if (strategy_ == "loses") throw DeviceLost("cpu", "planted: the device fell off");
    std::memset(counter_.data(), 0, sizeof(long));
  }
  [[nodiscard]] std::vector<Output> outputs() override {
    const bool wrong = strategy_ == "wrong" || (strategy_ == "wrong-second" && is_second_process);
    const float last = wrong ? 4.0F : 3.0F;
    return {{"result", [last] { return std::vector<float>{1.0F, 2.0F, last}; }}};
  }
  [[nodiscard]] std::string checked() const override { return "nothing: the result is planted"; }
  [[nodiscard]] Amount amount() const override { return {1, "items"}; }

 private:
  /// As if a wait had passed its limit, which is half an hour: the work goes on.
  void hang() {
    Stream& stream = *plan_.streams().front();
    op_->enqueue(stream, {});
    throw TimedOut("planted: the stream did not finish");
  }

  [[nodiscard]] std::unique_ptr<Op> make_op(Device& device, int threads) const {
    if (strategy_ == "throws") return std::make_unique<ThrowingOp>(threads);
    if (strategy_ == "stuck" || hangs_) return std::make_unique<StuckOp>(threads);
    return device.prepare(Spin{.duration = duration_of(strategy_)}, threads);
  }

  std::string strategy_;
  bool hangs_;
  BufferView counter_;
  std::unique_ptr<Op> op_;
  Plan plan_;
};

Axis size_axis() {
  Axis axis;
  axis.name = "size";
  axis.description = "has no effect";
  axis.quick = {std::int64_t{1}};
  axis.published = {std::int64_t{2}};
  axis.max = 8;
  return axis;
}

class FaultyScenario : public Scenario {
 public:
  explicit FaultyScenario(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view question() const override { return "What if it fails?"; }
  [[nodiscard]] const std::vector<Strategy>& strategies() const override { return strategies_; }
  [[nodiscard]] const std::vector<Axis>& axes() const override { return axes_; }
  [[nodiscard]] std::string_view baseline() const override { return "right"; }
  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override {
    return std::make_unique<FaultyCase>(spec, context);
  }
  [[nodiscard]] std::optional<CaseSpec> reference(const CaseSpec& spec) const override {
    CaseSpec right = spec;
    right.strategy = "right";
    return right;
  }
  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>&,
                                  const PossiblyFastest&) const override {
    return {"it has an answer"};
  }

 private:
  std::string name_;
  std::vector<Strategy> strategies_{
      {"right", "works"},
      {"wrong", "computes a wrong result"},
      {"throws", "throws"},
      {"memory", "asks for a pebibyte"},
      {"slow", "takes a while"},
      {"stuck", "takes a minute for one execution"},
      {"hangs", "is not done when a wait passes its limit"},
      {"hangs-later", "does so in the second scenario only"},
      {"one-cut", "says that a model can be cut at one point only"},
      {"loses", "loses its device"},
      {"wrong-second", "computes a wrong result in the second process"},
      {"crashes-first", "ends the first process"},
      {"crashes-second", "ends the second process"},
      {"late-second", "takes six seconds longer in the second process"},
      {"silent-second", "stays silent in the second process"},
  };
  std::vector<Axis> axes_{size_axis()};
};

}  // namespace

int main(int count, char** words) {
  const int earlier = earlier_processes();
  is_first_process = earlier == 1;
  is_second_process = earlier == 2;
  ScenarioList scenarios;
  scenarios.push_back(std::make_unique<FaultyScenario>("faulty"));
  scenarios.push_back(std::make_unique<FaultyScenario>("later"));
  return run_program({words, words + count}, scenarios);
}
