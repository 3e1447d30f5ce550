#include "kernels/cpu/onednn/matrix_product.h"

#include "kernels/cpu/onednn/layout.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {

using dnnl::memory;

memory::desc matrix_desc(std::int64_t rows, std::int64_t columns, bool transposed, DType dtype,
                         std::int64_t batch) {
  memory::dims extents{rows, columns};
  memory::dims strides = transposed ? memory::dims{1, rows} : memory::dims{columns, 1};
  if (batch > 1) {
    extents.insert(extents.begin(), batch);
    strides.insert(strides.begin(), rows * columns);
  }
  return {extents, data_type_of(dtype), strides};
}

dnnl::matmul::primitive_desc plan_matrix_product(const memory::desc& left,
                                                 const memory::desc& right,
                                                 const memory::desc& result, bool accumulate) {
  dnnl::primitive_attr attributes = user_scratchpad();
  if (accumulate) {
    dnnl::post_ops operations;
    operations.append_sum(1.0F);
    attributes.set_post_ops(operations);
  }
  return {{left, right, result}, attributes, engine()};
}

MatrixProduct::MatrixProduct(const dnnl::matmul::primitive_desc& plan)
    : kernel_(plan.impl_info_str()), call_(plan, dnnl::matmul(plan)) {
  call_.add(DNNL_ARG_SRC, plan.src_desc());
  call_.add(DNNL_ARG_WEIGHTS, plan.weights_desc());
  call_.add(DNNL_ARG_DST, plan.dst_desc());
}

}  // namespace parbench::cpu
