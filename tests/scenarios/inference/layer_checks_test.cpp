// Checks of a forward pass find a wrong value of every kind of layer.
#include "scenarios/inference/layer_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/sequences.h"
#include "scenarios/models/models.h"
#include "tests/scenarios/training/small_networks.h"
#include "tests/support/cpu_devices.h"

namespace parbench {
namespace {

/// Buffers of its own.
class AllocatedMemory final : public ForwardMemory {
 public:
  explicit AllocatedMemory(Device& device) : device_(device) {}

  BufferView work(std::size_t bytes) override {
    buffers_.push_back(std::make_unique<Buffer>(device_.allocate(bytes, MemoryKind::device)));
    return *buffers_.back();
  }
  BufferView filled(const std::string& /*key*/, std::size_t bytes,
                    const Context::Fill& fill) override {
    const BufferView view = work(bytes);
    fill(view);
    return view;
  }

 private:
  Device& device_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

/// Functions of all kinds, and attention to all positions.
Network network_of_functions() {
  Network net;
  net.name = "functions";
  net.input = {5, 24};
  net.unit("all");
  int x = net.add("attention", SelfAttention(2, false), {network_input});
  for (const auto& [name, kind] :
       {std::pair("gelu", ActivationKind::gelu), std::pair("sigmoid", ActivationKind::sigmoid),
        std::pair("tanh", ActivationKind::tanh), std::pair("clip", ActivationKind::clip),
        std::pair("gelu_tanh", ActivationKind::gelu_tanh),
        std::pair("relu", ActivationKind::relu)}) {
    x = net.add(name, Activation(kind), {x});
  }
  return net;
}

class LayerChecks : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    network_ = GetParam() == "functions" ? network_of_functions() : test::small_network(GetParam());
    context_ = std::make_unique<Context>(test::cpu_devices(1), Context::Options{});
    context_->begin_case();
    parts_ = std::make_unique<CaseParts>(*context_);
    memory_ = std::make_unique<AllocatedMemory>(context_->device(0));
    whole_ = whole_range(network_, {}, 3);
    Stream& stream = context_->stream(0, StreamKind::compute);
    forward_ = std::make_unique<NetworkForward>(whole_, stream, 0, 5, *memory_);
    forward_->draw_input();
    std::vector<OpCall> calls;
    for (int layer = 0; layer <= whole_.last; ++layer) {
      for (OpCall& call : forward_->plan(layer, stream, parts_->ops)) calls.push_back(call);
    }
    add_layer_checks(*parts_, whole_,
                     [this](int /*layer*/) -> const NetworkForward& { return *forward_; });
    parts_->data.finish();
    context_->commit();
    for (const OpCall& call : calls) call.op->enqueue(stream, call.views);
    stream.synchronize();
  }

  [[nodiscard]] std::string finding() const {
    return parts_->checks.front().run().value_or("nothing");
  }
  /// In every layout it comes first.
  [[nodiscard]] float& first_value(int layer) const {
    return *reinterpret_cast<float*>(forward_->tensor(layer).view.data());
  }

  Network network_;
  StageRange whole_;
  std::unique_ptr<Context> context_;
  std::unique_ptr<CaseParts> parts_;
  std::unique_ptr<AllocatedMemory> memory_;
  std::unique_ptr<NetworkForward> forward_;
};

TEST_P(LayerChecks, NameTheLayerThatIsWrong) {
  ASSERT_EQ(finding(), "nothing");
  for (int layer = 0; layer <= whole_.last; ++layer) {
    const float right = std::exchange(first_value(layer), first_value(layer) + 0.5F);
    EXPECT_THAT(finding(), testing::HasSubstr("layer " + network_.layer(layer).name + ","));
    first_value(layer) = right;
  }
  EXPECT_EQ(finding(), "nothing");
}

INSTANTIATE_TEST_SUITE_P(Networks, LayerChecks,
                         testing::Values("small", "plain", "branches", "skips", "unet", "gpt",
                                         "tied gpt", "rnn-lm", "channels", "columns", "functions"),
                         [](const auto& information) {
                           std::string name = information.param;
                           for (char& letter : name) {
                             if (letter == ' ' || letter == '-') letter = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace parbench
