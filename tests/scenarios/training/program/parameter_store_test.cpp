// Packed copies of parameters: those in bf16 with their masters' layout are refreshed by one call.
#include "scenarios/training/program/parameter_store.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/base/bfloat16.h"
#include "kernels/base/error.h"
#include "kernels/machine/machine.h"

namespace parbench {
namespace {

class ParameterStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::int64_t count : {5, 70, 33}) {
      const auto layer = static_cast<int>(store_.entries().size());
      store_.add({.name = "weight", .layer = layer, .role = "weights", .shape = {count}},
                 canonical({count}));
    }
  }

  /// The layer's weights in bf16; skips the test where the device has none.
  [[nodiscard]] SymbolicView narrow(int layer) {
    const TensorDesc& master = store_.entry(layer, "weights").master;
    return store_.parameter(layer, "weights", canonical(master.shape, DType::bf16));
  }

  /// Writes the numbers from 1 on to all masters, packs, and returns where each space lies.
  [[nodiscard]] Bases pack() {
    parameters_ = device_->allocate(store_.bytes(), MemoryKind::device);
    packed_ = device_->allocate(store_.packed_bytes(), MemoryKind::device);
    auto* values = reinterpret_cast<float*>(parameters_.data());
    for (std::size_t i = 0; i < store_.bytes() / sizeof(float); ++i) {
      values[i] = static_cast<float>(i + 1);
    }
    Bases bases;
    bases[static_cast<std::size_t>(Space::parameters)] = parameters_;
    bases[static_cast<std::size_t>(Space::packed)] = packed_;
    for (const Call& call : rebase(store_.packing(), bases)) {
      const auto& one = std::get<OpCall>(call);
      one.op->enqueue(*stream_, one.views);
    }
    stream_->synchronize();
    return bases;
  }

  void expect_packed(const Bases& bases, int layer, const SymbolicView& view) const {
    const ParameterStore::Entry& entry = store_.entry(layer, "weights");
    std::vector<std::uint16_t> got(view.bytes / sizeof(std::uint16_t));
    ASSERT_EQ(got.size(), static_cast<std::size_t>(element_count(entry.master.shape)));
    std::memcpy(got.data(), rebase(view, bases).data(), view.bytes);
    const std::size_t first = entry.offset / sizeof(float) + 1;
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i], to_bf16(static_cast<float>(first + i)));
    }
  }

  std::unique_ptr<Device> device_ = std::move(Machine().open("cpu:0").front());
  std::unique_ptr<Stream> stream_ = device_->make_stream(StreamKind::compute);
  ParameterStore store_{*stream_};
  Buffer parameters_;
  Buffer packed_;
};

TEST_F(ParameterStoreTest, OneCallConvertsAllParameters) {
  try {
    const SymbolicView first = narrow(0);
    const SymbolicView last = narrow(2);
    EXPECT_EQ(narrow(0).offset, first.offset);
    const Bases bases = pack();
    EXPECT_EQ(store_.packing().size(), 1U);
    expect_packed(bases, 0, first);
    expect_packed(bases, 2, last);
  } catch (const Unsupported& reason) {
    GTEST_SKIP() << reason.what();
  }
}

TEST_F(ParameterStoreTest, ParametersBeforeTheFirstOneConvertedArePackedAlone) {
  try {
    const SymbolicView last = narrow(2);
    const SymbolicView first = narrow(0);
    const Bases bases = pack();
    EXPECT_EQ(store_.packing().size(), 2U);
    expect_packed(bases, 0, first);
    expect_packed(bases, 2, last);
  } catch (const Unsupported& reason) {
    GTEST_SKIP() << reason.what();
  }
}

TEST_F(ParameterStoreTest, AMasterThatIsWantedIsNotPacked) {
  const SymbolicView view = store_.parameter(1, "weights", canonical({70}));
  EXPECT_EQ(view.bytes, 70 * sizeof(float));
  EXPECT_TRUE(store_.packing().empty());
}

}  // namespace
}  // namespace parbench
