#include "kernels/core/op.h"

#include <algorithm>
#include <stdexcept>

namespace parbench {
namespace {

auto find(const std::vector<Argument>& arguments, std::string_view role) {
  return std::ranges::find(arguments, role, &Argument::role);
}

}  // namespace

const TensorDesc& Op::tensor(std::string_view role) const {
  const auto found = find(arguments_, role);
  if (found == arguments_.end()) {
    throw std::out_of_range(name_ + " has no argument " + std::string(role));
  }
  return found->tensor;
}

bool Op::has(std::string_view role) const { return find(arguments_, role) != arguments_.end(); }

}  // namespace parbench
