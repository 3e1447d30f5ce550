// List of the backends in this build.
#include <utility>

#include "kernels/cpu/device/backend.h"
#include "kernels/cpu/runtime/waiting.h"
#include "kernels/machine/machine.h"
#ifdef PARBENCH_CUDA
#include "kernels/cuda/device/backend.h"
#endif

namespace parbench {

void prepare_process(char* const* arguments) { cpu::adopt_waiting_policy(arguments); }

Machine::Machine() {
  backends_.push_back(cpu::make_backend());
#ifdef PARBENCH_CUDA
  const bool default_one = backends_.emplace_back(cuda::make_backend())->device_count() > 0;
  if (default_one) std::swap(backends_.front(), backends_.back());
#endif
}

std::vector<Machine::Missing> Machine::missing_backends() {
#ifdef PARBENCH_CUDA
  return {};
#else
  return {{"cuda", "not in this build (scripts/cuda-libraries fetches what building it takes)"}};
#endif
}

std::string_view Machine::request_examples() {
#ifdef PARBENCH_CUDA
  return "a count, or names like cpu:0,cpu:1 or cuda:0 or cuda:0/0,cuda:0/1 (parts of one GPU)";
#else
  return "a count, or names like cpu:0,cpu:1";
#endif
}

}  // namespace parbench
