// A planned operation: its arguments, its work, and how it is enqueued.
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
  std::string_view role;  // role of the operand (kernels/ops/operands.h)
  Access access = Access::read;
  TensorDesc tensor;
};

/// How the kernel of an operation was chosen among the kernels of a library.
enum class ChosenBy {
  library,     // by the library: the device does not measure kernels, or there was only one
  measuring,   // by `--autotune`
  heuristics,  // by the library, because `--autotune` had no time or memory left to measure
};

/// A planned, executable operation. Device::prepare makes it and does all slow work in advance. An
/// Op runs on one stream at a time; streams that run concurrently need an Op each.
class Op {
 public:
  virtual ~Op() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<Argument>& arguments() const { return arguments_; }
  [[nodiscard]] const Work& work() const { return work_; }
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_bytes_; }
  /// Name of the kernel in the vendor's library, or a description of this project's kernel.
  [[nodiscard]] const std::string& implementation() const { return implementation_; }
  /// Whether the kernel is the library's reference implementation: a plain loop, far slower than an
  /// optimised kernel.
  [[nodiscard]] bool is_reference() const { return is_reference_; }
  [[nodiscard]] ChosenBy chosen_by() const { return chosen_by_; }

  /// Returns the tensor of the argument with that role. Throws std::out_of_range if there is none.
  [[nodiscard]] const TensorDesc& tensor(std::string_view role) const;
  [[nodiscard]] bool has(std::string_view role) const;

  /// Enqueues one execution. `views` has one view per argument, in the same order and at least as
  /// large as the argument. The stream must belong to the device and have the number of threads for
  /// which the operation was prepared.
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
