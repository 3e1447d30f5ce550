// Binding of memory to arguments, and what it refuses.
#include "scenarios/framework/op_set.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "scenarios/framework/symbolic.h"
#include "tests/scenarios/fake_device.h"

namespace parbench::test {
namespace {

struct OpSetTest : testing::Test {
  Context context = fake_context(1);
  Stream& stream = context.stream(0, StreamKind::compute);
  OpSet ops;
  Buffer small = context.device(0).allocate(16, MemoryKind::device);
  Buffer large = context.device(0).allocate(64, MemoryKind::device);
};

TEST_F(OpSetTest, ReservesScratchOnTheStream) {
  EXPECT_EQ(stream.scratch_bytes(), 0);
  const Op& op = ops.prepare(stream, Accumulate{4});
  EXPECT_GE(stream.scratch_bytes(), op.scratch_bytes());
}

TEST_F(OpSetTest, SharesOperationsOfEqualDescriptionsOnOneStream) {
  Stream& other = context.stream(0, StreamKind::compute, 1, 2);
  Op& op = ops.prepare_shared(stream, Accumulate{4});
  EXPECT_EQ(&ops.prepare_shared(stream, Accumulate{4}), &op);
  EXPECT_NE(&ops.prepare_shared(stream, Accumulate{8}), &op);
  EXPECT_NE(&ops.prepare_shared(stream, Fill{.count = 4}), &op);
  EXPECT_NE(&ops.prepare_shared(stream, Fill{.count = 4, .low = 0}),
            &ops.prepare_shared(stream, Fill{.count = 4}));
  EXPECT_NE(&ops.prepare_shared(other, Accumulate{4}), &op);
  EXPECT_NE(&ops.prepare(stream, Accumulate{4}), &op);
}

TEST_F(OpSetTest, BindsByRoleInAnyOrder) {
  Op& op = ops.prepare(stream, Accumulate{4});
  const OpCall call = bind(op, {{"destination", large}, {"source", small}});
  ASSERT_EQ(call.views.size(), 2);
  EXPECT_EQ(call.views[0].buffer, &small);
  EXPECT_EQ(call.views[1].buffer, &large);
}

TEST_F(OpSetTest, RefusesMistakes) {
  Op& op = ops.prepare(stream, Accumulate{8});
  EXPECT_THROW((void)bind(op, {{"source", large}}), std::invalid_argument);
  EXPECT_THROW((void)bind(op, {{"source", large}, {"source", large}}), std::invalid_argument);
  EXPECT_THROW((void)bind(op, {{"source", large}, {"result", large}}), std::invalid_argument);
  EXPECT_THROW((void)bind(op, {{"source", large}, {"destination", small}}), std::invalid_argument);
}

TEST_F(OpSetTest, RebasesSymbolicCalls) {
  Op& op = ops.prepare(stream, Accumulate{4});
  const SymbolicView memory = BufferView(small);
  const SymbolicCall call =
      bind<SymbolicView>(op, {{"destination", {Space::gradients, 8, 16}}, {"source", memory}});
  EXPECT_THROW((void)rebase(call, {}), std::logic_error) << "the space has no memory";
  Bases bases;
  bases.at(static_cast<std::size_t>(Space::gradients)) = BufferView(large).part(4, 28);
  const OpCall bound = rebase(call, bases);
  ASSERT_EQ(bound.views.size(), 2);
  EXPECT_EQ(bound.views[0].buffer, &small);
  EXPECT_EQ(bound.views[0].offset, 0);
  EXPECT_EQ(bound.views[1].buffer, &large);
  EXPECT_EQ(bound.views[1].offset, 4 + 8);
  EXPECT_EQ(bound.views[1].bytes, 16);
  EXPECT_THROW((void)bind<SymbolicView>(op, {{"source", memory}, {"destination", {}}}),
               std::invalid_argument);
}

}  // namespace
}  // namespace parbench::test
