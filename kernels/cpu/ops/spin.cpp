// Keeps a core busy for a known time.
#include <chrono>
#include <cstring>

#include "kernels/base/random.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"

namespace parbench::cpu {
namespace {

using Clock = std::chrono::steady_clock;

class SpinOp final : public CpuOp {
 public:
  explicit SpinOp(const Spin& desc) : CpuOp(desc), desc_(desc) {
    add_tensors(*this);
    // mean duration of an execution
    set_seconds(std::chrono::duration<double>(desc.duration).count());
    set_implementation("steady_clock");
  }

  // The random factor depends on how often this operation has been executed, not on the counter, so
  // that resetting the counter does not repeat the noise.
  void execute(const Execution& /*execution*/, std::span<std::byte* const> arguments) override {
    const Clock::time_point begin = Clock::now();
    const Clock::time_point end = begin + next_duration();
    std::uint64_t count = 0;
    std::memcpy(&count, arguments[0], sizeof(count));
    ++count;
    std::memcpy(arguments[0], &count, sizeof(count));
    while (Clock::now() < end) {
    }
  }

 private:
  Clock::duration next_duration() {
    const RandomWords words = random_words({desc_.seed, 0}, executions_++);
    const double unit = static_cast<double>(words.x) * 0x1p-32;
    const double factor = 1 + desc_.noise * (2 * unit - 1);
    return std::chrono::duration_cast<Clock::duration>(desc_.duration * factor);
  }

  Spin desc_;
  std::uint64_t executions_ = 0;
};

}  // namespace

Planned plan(const Spin& desc) { return std::make_unique<SpinOp>(desc); }

}  // namespace parbench::cpu
