// What an operation accepts as the tensors of its operands.
#include "kernels/core/described_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace parbench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Product final : public DescribedOp {
 public:
  Product() : DescribedOp(Gemm{.m = 2, .n = 3, .k = 4}) {}
  void enqueue(Stream& /*stream*/, std::span<const BufferView> /*views*/) override {}
};

TEST(DescribedOp, TakesOneTensorOfTheRightShapeAndTypeForEachOperand) {
  Product product;
  product.add_tensor(canonical({2, 4}));
  EXPECT_THAT(
      [&] {
        product.add_tensor(canonical({3, 4}));
      },
      ThrowsMessage<std::logic_error>(HasSubstr("gemm: b must be f32 4x3, not f32 3x4")));
  EXPECT_THAT(
      [&] {
        product.add_tensor(canonical({4, 3}, DType::bf16));
      },
      ThrowsMessage<std::logic_error>(HasSubstr("not bf16 4x3")));
  product.add_tensor(canonical({4, 3}));
  EXPECT_THAT([&] { product.check_complete(); },
              ThrowsMessage<std::logic_error>(HasSubstr("gemm: c has no tensor")));
  product.add_tensor(canonical({2, 3}));
  product.check_complete();
  EXPECT_THAT(
      [&] {
        product.add_tensor(canonical({2, 3}));
      },
      ThrowsMessage<std::logic_error>(HasSubstr("no more than 3 operands")));
}

}  // namespace
}  // namespace parbench
