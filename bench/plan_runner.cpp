// Adapts the executor to the interface that the session is tested against.
#include "bench/plan_runner.h"

#include "bench/executor.h"

namespace parbench {
namespace {

class ExecutorRunner : public PlanRunner {
 public:
  explicit ExecutorRunner(const Plan& plan) : executor_(plan) {}

  Timing run() override {
    const Executor::Timing timing = executor_.run();
    return {timing.seconds, timing.wall_seconds};
  }

  std::vector<double> measure_task_seconds(int repeats, double budget_seconds) override {
    return executor_.measure_task_seconds(repeats, budget_seconds);
  }

 private:
  Executor executor_;
};

}  // namespace

std::unique_ptr<PlanRunner> make_plan_runner(const Plan& plan) {
  return std::make_unique<ExecutorRunner>(plan);
}

}  // namespace parbench
