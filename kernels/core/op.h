// A planned operation: its arguments, its cost, and how it is enqueued.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/tensor.h"
#include "kernels/base/work.h"
#include "kernels/core/buffer.h"
#include "kernels/core/stream.h"
#include "kernels/ops/operands.h"

namespace parbench {

/// One argument of an operation, in the order in which `enqueue` takes them.
struct Argument {
  std::string_view role;  // of the operand (kernels/ops/operands.h)
  Access access = Access::read;
  TensorDesc tensor;
};

/// How an operation's kernel was chosen from those that a library has for it.
enum class ChosenBy {
  library,     // the device measures none, or there was nothing to choose from
  measuring,   // `--autotune`
  heuristics,  // `--autotune` too, but tuning had no time or memory left to measure this one
};

/// A planned, executable operation. Made by Device::prepare, which does everything slow. One Op
/// runs on one stream at a time: streams that run at once need an Op each.
class Op {
 public:
  virtual ~Op() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<Argument>& arguments() const { return arguments_; }
  [[nodiscard]] const Work& work() const { return work_; }
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_bytes_; }
  /// The kernel that the vendor's library chose, as the library names it.
  [[nodiscard]] const std::string& implementation() const { return implementation_; }
  /// Whether that is the library's reference implementation: correct, but a plain loop, often a
  /// hundred times slower than an optimised kernel.
  [[nodiscard]] bool is_reference() const { return is_reference_; }
  [[nodiscard]] ChosenBy chosen_by() const { return chosen_by_; }

  /// The tensor of an argument by role. Throws std::out_of_range for a role it does not have.
  [[nodiscard]] const TensorDesc& tensor(std::string_view role) const;
  [[nodiscard]] bool has(std::string_view role) const;

  /// Enqueues one execution. `views` has one entry per argument, in their order and at least as
  /// large; the stream must belong to the device and have the threads that the operation was
  /// prepared for.
  virtual void enqueue(Stream& stream, std::span<const BufferView> views) = 0;

 protected:
  std::string name_;
  std::vector<Argument> arguments_;
  Work work_;
  std::size_t scratch_bytes_ = 0;
  std::string implementation_;
  bool is_reference_ = false;
  ChosenBy chosen_by_ = ChosenBy::library;
};

}  // namespace parbench
