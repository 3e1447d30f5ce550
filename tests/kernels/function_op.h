// An operation of CPU devices that runs a function of the test in the stream's worker.
#pragma once

#include <functional>
#include <span>
#include <utility>

#include "kernels/cpu/runtime/cpu_op.h"

namespace parbench::test {

/// Prepared for streams of one thread.
class FunctionOp final : public cpu::CpuOp {
 public:
  explicit FunctionOp(std::function<void()> function)
      : cpu::CpuOp("function"), function_(std::move(function)) {}
  void execute(const cpu::Execution& /*execution*/,
               std::span<std::byte* const> /*arguments*/) override {
    function_();
  }

 private:
  std::function<void()> function_;
};

}  // namespace parbench::test
