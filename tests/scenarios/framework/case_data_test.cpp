// Filling, poisoning and reading of tensors, across layouts.
#include "scenarios/framework/case_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/base/bfloat16.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"
#include "tests/scenarios/fake_device.h"

namespace parbench::test {
namespace {

std::vector<float> drawn(std::int64_t count, std::uint64_t seed, std::uint64_t subsequence) {
  std::vector<float> values(static_cast<std::size_t>(count));
  generate_uniform(values, 0, {seed, subsequence}, -1.0F, 1.0F);
  return values;
}

struct CaseDataTest : testing::Test {
  Context context = fake_context(1, {.seed = 9});
  CaseData data{context};

  Tensor activation(const Shape& shape) {
    return data.tensor(0, context.device(0).activation(shape, DType::f32));
  }
  void ready() {
    data.finish();
    context.commit();
    data.reset();
  }
};

TEST_F(CaseDataTest, NumbersDoNotDependOnTheLayout) {
  const Tensor plain = data.tensor(0, canonical({2, 3, 4, 5}));
  const Tensor blocked = activation({2, 3, 4, 5});
  data.fill(plain, 7);
  data.fill(blocked, 7);
  ready();
  EXPECT_EQ(data.read(plain), drawn(120, 9, 7));
  EXPECT_EQ(data.read(blocked), drawn(120, 9, 7));
}

TEST_F(CaseDataTest, StagingTakesMemoryThatHasBeenLent) {
  const Tensor blocked = activation({2, 3, 4, 5});
  data.fill(blocked, 7);
  const BufferView lent = context.borrow(0, 120 * sizeof(float));
  data.lend_staging(0, lent.part(0, 8));
  data.lend_staging(0, lent);
  const std::size_t before = context.case_bytes(0);
  ready();
  EXPECT_EQ(context.case_bytes(0), before);
  EXPECT_EQ(data.read(blocked), drawn(120, 9, 7));
}

TEST_F(CaseDataTest, StagingIsBorrowedWhereTooLittleHasBeenLent) {
  const Tensor blocked = activation({2, 3, 4, 5});
  data.fill(blocked, 7);
  data.lend_staging(0, context.borrow(0, 119 * sizeof(float)));
  const std::size_t before = context.case_bytes(0);
  ready();
  EXPECT_EQ(context.case_bytes(0), before + Context::alignment);
  EXPECT_EQ(data.read(blocked), drawn(120, 9, 7));
}

TEST_F(CaseDataTest, SlabsAreTheEntriesOfTheOutermostDimension) {
  const Tensor blocked = activation({3, 2, 4, 5});
  const Tensor matrix = data.tensor(0, canonical({3, 7}));
  data.fill(blocked, 1);
  data.fill(matrix, 2);
  ready();
  const std::vector<float> whole = data.read(blocked);
  EXPECT_EQ(data.read_slab(blocked, 2), std::vector<float>(whole.begin() + 80, whole.end()));
  const std::vector<float> rows = data.read(matrix);
  EXPECT_EQ(data.read_slab(matrix, 1), std::vector<float>(rows.begin() + 7, rows.begin() + 14));
}

TEST_F(CaseDataTest, PiecesAreDrawnIndependently) {
  const Tensor tensor = data.tensor(0, canonical({10}));
  data.fill(tensor, {{4, 3}, {6, 5}});
  ready();
  std::vector<float> expected = drawn(4, 9, 3);
  const std::vector<float> rest = drawn(6, 9, 5);
  expected.insert(expected.end(), rest.begin(), rest.end());
  EXPECT_EQ(data.read(tensor), expected);
}

TEST_F(CaseDataTest, PiecesMustMakeUpTheTensor) {
  const Tensor tensor = data.tensor(0, canonical({10}));
  EXPECT_THROW(data.fill(tensor, {{4, 3}, {5, 5}}), std::invalid_argument);
}

TEST_F(CaseDataTest, HostMemoryIsFilledWithTheSameNumbers) {
  const Tensor pinned = data.tensor(0, canonical({33}), MemoryKind::pinned);
  const Tensor pageable = data.tensor(0, canonical({33}), MemoryKind::pageable);
  data.fill(pinned, 4);
  data.fill(pageable, 4);
  ready();
  EXPECT_EQ(data.read(pinned), drawn(33, 9, 4));
  EXPECT_EQ(data.read(pageable), drawn(33, 9, 4));
}

TEST_F(CaseDataTest, PoisonComesOnceAndFillsComeBack) {
  const Tensor input = data.tensor(0, canonical({8}));
  const Tensor result = data.tensor(0, canonical({8}));
  const Tensor on_host = data.tensor(0, canonical({8}), MemoryKind::pinned);
  data.fill(input, 1);
  data.poison(result);
  data.poison(on_host);
  ready();
  EXPECT_TRUE(std::isnan(data.read(result).front()));
  EXPECT_TRUE(std::isnan(data.read(on_host).back()));
  const std::vector<float> original = data.read(input);
  input.view.data()[0] = std::byte{0x11};
  std::fill_n(result.view.data(), result.view.bytes, std::byte{0});
  data.reset();
  EXPECT_EQ(data.read(input), original);
  EXPECT_EQ(data.read(result).front(), 0.0F);
}

TEST_F(CaseDataTest, PoisonComesAgainOnceTheFirstResetIsForgotten) {
  const Tensor result = data.tensor(0, canonical({8}));
  data.poison(result);
  ready();
  std::fill_n(result.view.data(), result.view.bytes, std::byte{0});
  data.forget();
  data.reset();
  EXPECT_TRUE(std::isnan(data.read(result).front()));
}

// Two elements of bf16 lie in a word; the last word of an odd number of them is half used.
TEST_F(CaseDataTest, EveryPoisonedElementIsNotANumber) {
  const Tensor result = data.tensor(0, canonical({3}, DType::bf16));
  const Tensor on_host = data.tensor(0, canonical({3}, DType::bf16), MemoryKind::pinned);
  data.poison(result);
  data.poison(on_host);
  ready();
  for (const Tensor& tensor : {result, on_host}) {
    std::array<std::uint16_t, 3> elements{};
    data.read_bytes(0, tensor.view, elements.data());
    for (const std::uint16_t element : elements) EXPECT_TRUE(std::isnan(from_bf16(element)));
  }
}

TEST_F(CaseDataTest, CasesReadThroughOneBufferThatIsPartOfNone) {
  const Tensor first = activation({2, 3, 4, 5});
  ready();
  const std::size_t bytes = context.case_bytes(0);
  (void)data.read(first);
  EXPECT_EQ(context.case_bytes(0), bytes);

  context.begin_case();
  CaseData other(context);
  const Tensor second = other.tensor(0, context.device(0).activation({2, 3, 4, 5}, DType::f32));
  other.fill(second, 7);
  other.finish();
  context.commit();
  other.reset();
  const std::byte* memory = context.readback(0, second.desc.bytes).data();
  const std::vector<float> values = other.read(second);
  EXPECT_EQ(context.readback(0, second.desc.bytes).data(), memory);
  EXPECT_EQ(std::memcmp(memory, values.data(), second.desc.bytes), 0);
}

TEST_F(CaseDataTest, ZeroComesAtEveryReset) {
  const Tensor counter = data.tensor(0, canonical({2}));
  data.zero(counter);
  ready();
  std::fill_n(counter.view.data(), counter.view.bytes, std::byte{1});
  data.reset();
  EXPECT_EQ(data.read(counter), (std::vector<float>{0, 0}));
}

/// Two devices that count how often their streams were synchronised.
struct FailingResetTest : testing::Test {
  FailingResetTest() {
    for (int device = 0; device < 2; ++device) {
      fake(context, device).on_synchronize = [this, device] { ++synchronized[device]; };
    }
  }

  Context context = fake_context(2);
  CaseData data{context};
  std::array<int, 2> synchronized{};
};

TEST_F(FailingResetTest, NothingStaysQueuedWhenAStepThrows) {
  data.zero(data.tensor(0, canonical({8})));
  data.at_reset(1, 0, [](Stream&, BufferView) { throw Error("no room for this step"); });
  data.finish();
  context.commit();
  EXPECT_THROW(data.reset(), Error);
  EXPECT_THAT(synchronized, testing::Each(1));
}

TEST_F(FailingResetTest, NothingStaysQueuedWhenAnotherDeviceFails) {
  fake(context, 0).on_synchronize = [] { throw Error("a kernel failed"); };
  for (const int device : {0, 1}) data.zero(data.tensor(device, canonical({8})));
  data.finish();
  context.commit();
  EXPECT_THROW(data.reset(), Error);
  EXPECT_EQ(synchronized[1], 1);
}

TEST_F(CaseDataTest, NoSlabsWithoutAContiguousOuterDimension) {
  TensorDesc odd = context.device(0).activation({2, 3, 4, 5}, DType::f32);
  odd.shape = {2, 3, 20};
  EXPECT_THROW((void)slab_of(context.device(0), odd), std::invalid_argument);
}

}  // namespace
}  // namespace parbench::test
