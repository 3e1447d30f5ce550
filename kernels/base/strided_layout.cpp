#include "kernels/base/strided_layout.h"

namespace parbench {

std::vector<LayoutPart> parts_of(const TensorDesc& tensor) {
  if (!tensor.layout.is_canonical()) {
    const auto* layout = dynamic_cast<const StridedLayout*>(tensor.layout.detail());
    return layout == nullptr ? std::vector<LayoutPart>{} : layout->parts(tensor.shape);
  }
  std::vector<LayoutPart> parts(tensor.shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = parts.size(); d-- > 0; stride *= tensor.shape[d]) {
    parts[d] = {.dimension = d, .extent = tensor.shape[d], .stride = stride};
  }
  return parts;
}

}  // namespace parbench
