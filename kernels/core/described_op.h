// Base of the operations of all backends: arguments and work, collected during planning.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/core/op.h"

namespace parbench {

class DescribedOp : public Op {
 public:
  /// Constructs an operation with the operands of `desc`. The subclass must then call `add_tensor`
  /// for each operand, in order.
  explicit DescribedOp(const OpDesc& desc);
  /// Constructs an operation without arguments.
  explicit DescribedOp(std::string_view name) { name_ = name; }

  [[nodiscard]] const std::vector<Operand>& operands() const { return operands_; }
  /// Appends the next operand as an argument and counts its traffic. Throws std::logic_error if all
  /// operands were added, or if shape or type differ from those of an operand that is not opaque.
  void add_tensor(TensorDesc tensor);
  /// Throws std::logic_error unless `add_tensor` has been called for every operand.
  void check_complete() const;

  void set_flops(double flops) { work_.flops = flops; }
  void set_seconds(double seconds) { work_.seconds = seconds; }
  void set_implementation(std::string_view name, ChosenBy by = ChosenBy::library) {
    implementation_ = name;
    chosen_by_ = by;
  }

  /// Alignment of scratch memory in bytes; suffices for the vendors' libraries.
  static constexpr std::size_t scratch_alignment = 256;
  /// Reserves scratch memory for this operation. Returns its offset in the stream's scratch memory,
  /// a multiple of `scratch_alignment`.
  std::size_t add_scratch(std::size_t bytes);

  static constexpr std::size_t max_arguments = 12;

  /// Computes the addresses of an execution's arguments. Throws std::invalid_argument, with the
  /// operation's name, if the number of views is wrong, or if a view is too small or not backed by
  /// memory (BufferView::is_backed). `stream`: name of the stream, for the last of these errors.
  void resolve(std::span<const BufferView> views, std::string_view stream,
               std::span<std::byte*> addresses) const;

 private:
  std::vector<Operand> operands_;
};

/// Returns the address of a view. Throws std::invalid_argument, with the names of the command, its
/// stream and the view's role, if the view is not backed by memory.
[[nodiscard]] std::byte* resolved(const BufferView& view, std::string_view command,
                                  std::string_view stream, std::string_view role);

/// Throws std::invalid_argument unless source and destination of a copy have equal sizes.
void check_copy(const BufferView& destination, const BufferView& source, std::string_view stream);

}  // namespace parbench
