// Results of planning: names, work, layouts, and why a description is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "tests/kernels/harness.h"

namespace parbench::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Planning : public LaneTest {
 protected:
  [[nodiscard]] std::unique_ptr<Op> prepare(const OpDesc& desc) const {
    return bench().prepare(desc);
  }

  [[nodiscard]] std::string refusal(const OpDesc& desc) const {
    try {
      (void)prepare(desc);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }
};

/// The roles of what is written, or read and written.
std::vector<std::string> outputs_of(const Op& op) {
  std::vector<std::string> roles;
  for (const Argument& argument : op.arguments()) {
    if (argument.access == Access::read) continue;
    roles.push_back((argument.access == Access::read_write ? "+" : "") +
                    std::string(argument.role));
  }
  return roles;
}

std::vector<std::string> roles_of(const Op& op) {
  std::vector<std::string> roles;
  for (const Argument& argument : op.arguments()) roles.emplace_back(argument.role);
  return roles;
}

/// Whether elements lie in one order of the dimensions, without blocks, which the names of CPU
/// devices' layouts count: "AB16b64a".
bool is_plain(const TensorDesc& tensor) {
  return tensor.layout.name().find_first_of("0123456789") == std::string::npos;
}

TEST_P(Planning, NamesOperationsAndKernels) {
  const auto op = prepare(ConvolutionForward{{1, 16, 8, 8, 16, 3, 1, 1, 1}});
  EXPECT_EQ(op->name(), "convolution_forward");
  EXPECT_FALSE(op->implementation().empty());
}

TEST_P(Planning, ListsArgumentsInTheOrderOfTheDescription) {
  EXPECT_EQ(roles_of(*prepare(ConvolutionForward{{1, 16, 8, 8, 16}, DType::f32, true})),
            (std::vector<std::string>{"source", "weights", "bias", "destination"}));
  EXPECT_EQ(
      roles_of(*prepare(BatchNormForward{{2, 16, 3, 3}, DType::f32, true})),
      (std::vector<std::string>{"source", "scale", "shift", "running_mean", "running_variance",
                                "destination", "mean", "variance", "mask"}));
  EXPECT_EQ(
      roles_of(*prepare(BatchNormForward{.shape = {2, 16, 3, 3}, .relu = true, .add = true})),
      (std::vector<std::string>{"source", "scale", "shift", "running_mean", "running_variance",
                                "destination", "mean", "variance", "mask", "addend"}));
  EXPECT_EQ(roles_of(*prepare(AddReluBackward{{2, 16, 3, 3}})),
            (std::vector<std::string>{"mask", "a", "b", "diff_source"}));
  EXPECT_EQ(roles_of(*prepare(AddReluBackward{{2, 16, 3, 3}, DType::f32, false})),
            (std::vector<std::string>{"mask", "a", "diff_source"}));
  EXPECT_EQ(roles_of(*prepare(BatchNormBackward{{2, 16, 3, 3}})),
            (std::vector<std::string>{"source", "diff_destination", "mean", "variance", "scale",
                                      "shift", "diff_source", "diff_scale", "diff_shift"}));
  EXPECT_EQ(roles_of(*prepare(LinearBackwardWeights{{2, 3, 4}})),
            (std::vector<std::string>{"source", "diff_destination", "diff_weights", "diff_bias"}));
  EXPECT_EQ(roles_of(*prepare(LinearBackwardWeights{.shape = {2, 3, 4}, .bias = false})),
            (std::vector<std::string>{"source", "diff_destination", "diff_weights"}));
  EXPECT_EQ(roles_of(*prepare(LinearForward{.shape = {2, 3, 4}, .bias = false})),
            (std::vector<std::string>{"source", "weights", "destination"}));
  EXPECT_EQ(
      roles_of(*prepare(LayerNormForward{{2, 3, 4}})),
      (std::vector<std::string>{"source", "scale", "shift", "destination", "mean", "variance"}));
  EXPECT_EQ(roles_of(*prepare(LayerNormBackward{{2, 3, 4}})),
            (std::vector<std::string>{"source", "diff_destination", "mean", "variance", "scale",
                                      "diff_source", "diff_scale", "diff_shift"}));
  EXPECT_EQ(roles_of(*prepare(Sgd{.count = 4, .momentum = 0.5F, .clipped = true})),
            (std::vector<std::string>{"parameters", "gradients", "velocity", "factor"}));
  EXPECT_EQ(roles_of(*prepare(Adam{.count = 4, .clipped = true})),
            (std::vector<std::string>{"parameters", "gradients", "first_moment", "second_moment",
                                      "steps", "factor"}));
}

TEST_P(Planning, ListsArgumentsOfLanguageModels) {
  using Roles = std::vector<std::string>;
  EXPECT_EQ(roles_of(*prepare(EmbeddingForward{5, 4, 3})),
            (Roles{"indices", "weights", "destination"}));
  const auto embedding = prepare(EmbeddingBackward{5, 4, 3, DType::f32, true});
  EXPECT_EQ(roles_of(*embedding), (Roles{"indices", "diff_destination", "diff_weights"}));
  EXPECT_EQ(outputs_of(*embedding), Roles{"+diff_weights"});
  EXPECT_EQ(embedding->tensor("indices"), canonical({3}, DType::i32));
  EXPECT_EQ(embedding->tensor("diff_weights"), canonical({5, 4}));
  const auto loss = prepare(SoftmaxCrossEntropy{6, 9, DType::f32, 6, -1, true});
  EXPECT_EQ(roles_of(*loss), (Roles{"logits", "target", "loss", "diff_logits"}));
  EXPECT_EQ(outputs_of(*loss), (Roles{"+loss", "diff_logits"}));
  EXPECT_EQ(loss->tensor("target"), canonical({6}, DType::i32));
  const auto forward = prepare(AttentionForward{2, 5, 3, 4});
  const auto backward = prepare(AttentionBackward{2, 5, 3, 4});
  EXPECT_EQ(roles_of(*forward), (Roles{"projections", "destination", "saved"}));
  EXPECT_EQ(roles_of(*backward),
            (Roles{"projections", "destination", "diff_destination", "saved", "diff_projections"}));
  EXPECT_EQ(forward->tensor("projections"), canonical({2, 5, 36}));
  EXPECT_EQ(forward->tensor("destination"), canonical({2, 5, 12}));
  EXPECT_EQ(forward->tensor("saved").bytes, backward->tensor("saved").bytes);
}

TEST_P(Planning, CountsWorkOfLanguageModels) {
  EXPECT_EQ(prepare(EmbeddingForward{5, 4, 3})->work().flops, 0);
  EXPECT_EQ(prepare(EmbeddingForward{5, 4, 3})->work().bytes, 4.0 * (3 + 5 * 4 + 3 * 4));
  EXPECT_EQ(prepare(EmbeddingBackward{5, 4, 3})->work().flops, 3.0 * 4);
  EXPECT_EQ(prepare(SoftmaxCrossEntropy{6, 9})->work().flops, 5.0 * 6 * 9);
  EXPECT_EQ(prepare(SoftmaxCrossEntropy{6, 9})->work().bytes, 4.0 * (2 * 6 * 9 + 6 + 1));
  // A causal query sees 1, 2, …, 5 keys.
  EXPECT_EQ(prepare(AttentionForward{2, 5, 3, 4})->work().flops, 2 * 2.0 * (2 * 3 * 15 * 4));
  EXPECT_EQ(prepare(AttentionBackward{2, 5, 3, 4, false})->work().flops,
            4 * 2.0 * (2 * 3 * 25 * 4));
}

TEST_P(Planning, RefusesLanguageModelsThatMakeNoSense) {
  EXPECT_THAT(refusal(EmbeddingForward{0, 4, 3}), HasSubstr("vocabulary is 0"));
  EXPECT_THAT(refusal(EmbeddingBackward{5, 4, 0}), HasSubstr("count is 0"));
  EXPECT_THAT(refusal(EmbeddingForward{std::int64_t{1} << 31U, 4, 3}),
              AllOf(HasSubstr("vocabulary is 2147483648"), HasSubstr("at most 2147483647")));
  EXPECT_THAT(refusal(SoftmaxCrossEntropy{6, 0}), HasSubstr("classes is 0"));
  EXPECT_THAT(refusal(SoftmaxCrossEntropy{6, 9, DType::f32, 0}), HasSubstr("total is 0"));
  EXPECT_THAT(refusal(AttentionForward{2, 5, 3, 0}), HasSubstr("head_size is 0"));
  EXPECT_THAT(refusal(AttentionBackward{2, -5, 3, 4}), HasSubstr("sequence is -5"));
}

// Indices are no numbers to compute with.
TEST_P(Planning, RefusesArithmeticOnIndices) {
  EXPECT_THAT(refusal(Add{{2, 3}, DType::i32}),
              AllOf(HasSubstr("add: the type is i32"), HasSubstr("use f32 or bf16")));
  EXPECT_THAT(refusal(Fill{.count = 4, .dtype = DType::i32}), HasSubstr("the type is i32"));
  EXPECT_THAT(refusal(EmbeddingForward{5, 4, 3, DType::i32}), HasSubstr("the type is i32"));
  EXPECT_THAT(refusal(Reorder{canonical({4}, DType::i32), canonical({4})}),
              AllOf(HasSubstr("i32 to f32"), HasSubstr("can only be copied")));
}

TEST_P(Planning, CopiesIndices) {
  const TensorDesc tensor = canonical({5}, DType::i32);
  const GuardedTensor source(bench(), tensor);
  const GuardedTensor destination(bench(), tensor);
  source.write({3, -1, 2147483647, 16777217, 0});
  bench().run(*prepare(Reorder{tensor, tensor}), {source.view(), destination.view()});
  EXPECT_EQ(destination.bytes(), source.bytes());
  EXPECT_TRUE(destination.guards_intact());
}

TEST_P(Planning, MarksWhatIsWrittenAndWhatIsAddedTo) {
  using Roles = std::vector<std::string>;
  const ConvolutionShape shape{1, 16, 8, 8, 16, 3, 1, 1, 1};
  EXPECT_EQ(outputs_of(*prepare(ConvolutionForward{shape, DType::f32, true})),
            Roles{"destination"});
  EXPECT_EQ(outputs_of(*prepare(ConvolutionBackwardData{shape})), Roles{"diff_source"});
  EXPECT_EQ(outputs_of(*prepare(ConvolutionBackwardWeights{shape, DType::f32, true})),
            (Roles{"diff_weights", "diff_bias"}));
  EXPECT_EQ(outputs_of(*prepare(ConvolutionBackwardWeights{shape, DType::f32, true, true})),
            (Roles{"+diff_weights", "+diff_bias"}));
  EXPECT_EQ(
      outputs_of(*prepare(BatchNormForward{.shape = {2, 16, 3, 3}, .relu = true})),
      (Roles{"+running_mean", "+running_variance", "destination", "mean", "variance", "mask"}));
  EXPECT_EQ(outputs_of(*prepare(BatchNormBackward{.shape = {2, 16, 3, 3}, .accumulate = true})),
            (Roles{"diff_source", "+diff_scale", "+diff_shift"}));
  EXPECT_EQ(outputs_of(*prepare(MaxPoolForward{{{1, 16, 8, 8}, 2, 2, 0}})),
            (Roles{"destination", "indices"}));
  EXPECT_EQ(outputs_of(*prepare(LinearBackwardWeights{{2, 3, 4}, DType::f32, true})),
            (Roles{"+diff_weights", "+diff_bias"}));
  EXPECT_EQ(outputs_of(*prepare(Gemm{.m = 2, .n = 2, .k = 2})), Roles{"c"});
  EXPECT_EQ(outputs_of(*prepare(Gemm{.m = 2, .n = 2, .k = 2, .accumulate = true})), Roles{"+c"});
  EXPECT_EQ(outputs_of(*prepare(MseLoss{{4, 4}, DType::f32, 16, true})),
            (Roles{"+loss", "diff_prediction"}));
  EXPECT_EQ(outputs_of(*prepare(Sgd{4})), Roles{"+parameters"});
  EXPECT_EQ(outputs_of(*prepare(Accumulate{4})), Roles{"+destination"});
  EXPECT_EQ(outputs_of(*prepare(Sgd{.count = 4, .momentum = 0.5F, .clipped = true})),
            (Roles{"+parameters", "+velocity"}));
  EXPECT_EQ(outputs_of(*prepare(Adam{.count = 4, .clipped = true})),
            (Roles{"+parameters", "+first_moment", "+second_moment", "+steps"}));
  EXPECT_EQ(outputs_of(*prepare(LayerNormForward{{2, 3, 4}})),
            (Roles{"destination", "mean", "variance"}));
  EXPECT_EQ(outputs_of(*prepare(LayerNormBackward{.shape = {2, 3, 4}, .accumulate = true})),
            (Roles{"diff_source", "+diff_scale", "+diff_shift"}));
}

TEST_P(Planning, CountsWork) {
  const auto convolution = prepare(ConvolutionForward{{2, 32, 8, 8, 64, 3, 2, 1, 2}});
  EXPECT_EQ(convolution->work().flops, 2.0 * 2 * 64 * 4 * 4 * 16 * 3 * 3);
  EXPECT_EQ(convolution->work().bytes, 4.0 * (2 * 32 * 8 * 8 + 64 * 16 * 3 * 3 + 2 * 64 * 4 * 4));
  const auto product = prepare(Gemm{3, 5, 7, DType::f32, false, false, true});
  EXPECT_EQ(product->work().flops, 2.0 * 3 * 5 * 7);
  EXPECT_EQ(product->work().bytes, 4.0 * (3 * 7 + 7 * 5 + 2 * 3 * 5));
  const Shape image{2, 16, 3, 5};  // 480 elements, so a mask of 60 bytes
  const auto sum = prepare(BatchNormForward{.shape = image, .relu = true, .add = true});
  EXPECT_EQ(sum->work().flops, 10.0 * 480);
  EXPECT_EQ(prepare(AddReluBackward{image})->work().flops, 2.0 * 480);
  EXPECT_EQ(prepare(AddReluBackward{image})->work().bytes, 4.0 * 3 * 480 + 60);
  const auto one = prepare(AddReluBackward{image, DType::f32, false});
  EXPECT_EQ(one->work().flops, 1.0 * 480);
  EXPECT_EQ(one->work().bytes, 4.0 * 2 * 480 + 60);
  EXPECT_EQ(prepare(ActivationForward{image})->work().flops, 480);
  EXPECT_EQ(prepare(Sgd{.count = 480, .momentum = 0.5F})->work().bytes, 4.0 * 5 * 480);
  EXPECT_EQ(prepare(Adam{.count = 480})->work().bytes, 4.0 * 7 * 480 + 2 * 8);
  EXPECT_EQ(prepare(LayerNormForward{{6, 80}})->work().bytes, 4.0 * (2 * 480 + 2 * 80 + 2 * 6));
  // Padding of a layout is no work.
  const auto weights = prepare(LinearBackwardWeights{{3, 48, 1000}});
  EXPECT_EQ(weights->work().bytes, 4.0 * (3 * 48 + 3 * 1000 + 1000 * 48 + 1000));
}

TEST_P(Planning, ActivationsHaveTheDevicesLayoutInEveryOperation) {
  for (const Shape& shape : {Shape{2, 32, 5, 5}, Shape{2, 5, 5, 5}}) {
    const TensorDesc layout = device().activation(shape, DType::f32);
    EXPECT_EQ(layout.bytes, static_cast<std::size_t>(element_count(shape)) * 4);
    const ConvolutionShape same{2, shape[1], 5, 5, shape[1], 3, 1, 1, 1};
    EXPECT_EQ(prepare(ConvolutionForward{same})->tensor("source"), layout);
    EXPECT_EQ(prepare(ConvolutionForward{same})->tensor("destination"), layout);
    EXPECT_EQ(prepare(ConvolutionBackwardData{same})->tensor("diff_source"), layout);
    EXPECT_EQ(prepare(ConvolutionBackwardWeights{same})->tensor("diff_destination"), layout);
    EXPECT_EQ(prepare(BatchNormForward{shape})->tensor("destination"), layout);
    EXPECT_EQ(prepare(BatchNormBackward{shape})->tensor("diff_source"), layout);
    EXPECT_EQ(prepare(ActivationForward{shape})->tensor("source"), layout);
    EXPECT_EQ(prepare(AddReluBackward{shape})->tensor("a"), layout);
    EXPECT_EQ(prepare(MaxPoolForward{{shape, 3, 1, 1}})->tensor("destination"), layout);
    EXPECT_EQ(prepare(GlobalAveragePoolBackward{shape})->tensor("diff_source"), layout);
  }
}

TEST_P(Planning, MatricesAndGradientsOfBiasesAreCanonical) {
  EXPECT_TRUE(device().activation({4, 32}, DType::f32).layout.is_canonical());
  EXPECT_EQ(prepare(GlobalAveragePoolForward{{4, 32, 3, 3}})->tensor("destination"),
            prepare(LinearForward{{4, 32, 8}})->tensor("source"));
  const auto op =
      prepare(ConvolutionBackwardWeights{{2, 16, 8, 8, 32, 3, 1, 1, 1}, DType::f32, true});
  EXPECT_EQ(op->tensor("diff_bias"), canonical({32}));
  EXPECT_EQ(op->tensor("diff_weights").shape, (Shape{32, 16, 3, 3}));
}

// Master copies of parameters have one layout, in which the gradients of all micro-batches meet.
TEST_P(Planning, GradientsOfWeightsLieAlikeForEveryBatch) {
  if (!GetParam().device.starts_with("cpu:")) GTEST_SKIP() << "cuDNN has one layout for weights";
  const TensorDesc linear = prepare(LinearBackwardWeights{{6, 32, 5}})->tensor("diff_weights");
  const TensorDesc tiny =
      prepare(ConvolutionBackwardWeights{{6, 32, 2, 2, 16, 3, 1, 1, 1}})->tensor("diff_weights");
  for (const std::int64_t batch : {1, 2, 3, 17, 1000}) {
    const TensorDesc other = prepare(LinearBackwardWeights{{batch, 32, 5}})->tensor("diff_weights");
    if (is_plain(linear) && is_plain(other)) {
      EXPECT_EQ(other, linear);
    }
    EXPECT_EQ(prepare(ConvolutionBackwardWeights{{batch, 32, 2, 2, 16, 3, 1, 1, 1}})
                  ->tensor("diff_weights"),
              tiny);
  }
  const auto gradient = [&](const ConvolutionShape& shape) {
    return prepare(ConvolutionBackwardWeights{shape})->tensor("diff_weights");
  };
  const TensorDesc few = gradient({1, 64, 8, 8, 64, 3, 1, 1, 1});
  for (const std::int64_t batch : {7, 8, 9}) {  // some by Winograd's algorithm
    EXPECT_EQ(gradient({batch, 64, 8, 8, 64, 3, 1, 1, 1}), few);
  }
  for (const std::int64_t image : {4, 8}) {
    const TensorDesc heavy = gradient({1, 512, image, image, 512, 3, 1, 1, 1});
    for (const std::int64_t batch : {2, 32}) {
      EXPECT_EQ(gradient({batch, 512, image, image, 512, 3, 1, 1, 1}), heavy);
    }
  }
}

// oneDNN may have no optimised kernel for three channels beside blocks of them.
TEST_P(Planning, ReordersAroundAKernelAreNamedAndCountAsNoWork) {
  const ConvolutionShape shape{2, 3, 31, 29, 64, 7, 2, 3, 1};
  if (!GetParam().device.starts_with("cpu:") ||
      device().activation(shape.source(), DType::f32).layout.name() == "acdb") {
    GTEST_SKIP() << "no blocks of channels";
  }
  const auto op = prepare(ConvolutionBackwardData{shape});
  EXPECT_FALSE(op->is_reference()) << op->implementation();
  EXPECT_EQ(op->tensor("diff_destination"), device().activation(shape.destination(), DType::f32));
  EXPECT_EQ(op->tensor("diff_source"), device().activation(shape.source(), DType::f32));
  EXPECT_EQ(op->work().flops, 2.0 * 2 * 64 * 16 * 15 * 3 * 7 * 7);
  EXPECT_EQ(op->work().bytes, 4.0 * (2 * 3 * 31 * 29 + 64 * 3 * 7 * 7 + 2 * 64 * 16 * 15));
  if (op->implementation().find(" reorder of diff_") == std::string::npos) {
    GTEST_SKIP() << op->implementation() << " computes in the device's layout";
  }
  EXPECT_GE(op->scratch_bytes(), op->tensor("diff_source").bytes) << "for the copy";
}

// Nothing is reordered between those passes of a layer whose weights oneDNN does not block.
TEST_P(Planning, PlainWeightsLieAlikeInEveryPass) {
  if (!GetParam().device.starts_with("cpu:")) GTEST_SKIP() << "cuDNN has one layout for weights";
  for (const std::int64_t batch : {1, 6}) {
    const LinearShape shape{batch, 32, 5};
    std::vector<TensorDesc> plain{prepare(LinearForward{shape})->tensor("weights"),
                                  prepare(LinearBackwardData{shape})->tensor("weights"),
                                  prepare(LinearBackwardWeights{shape})->tensor("diff_weights")};
    std::erase_if(plain, [](const TensorDesc& weights) { return !is_plain(weights); });
    if (plain.size() < 2) GTEST_SKIP() << "oneDNN blocks weights on this processor";
    EXPECT_THAT(plain, testing::Each(plain.front()));
  }
}

// A case that is labelled tf32 must not quietly be f32.
TEST_P(Planning, ProcessorsRefuseTf32WithARemedy) {
  if (!GetParam().device.starts_with("cpu:")) GTEST_SKIP() << "GPUs have TF32, or say why not";
  const std::vector<OpDesc> products{
      ConvolutionForward{.shape = {1, 16, 8, 8, 16}, .math = MathMode::tf32},
      ConvolutionBackwardData{.shape = {1, 16, 8, 8, 16}, .math = MathMode::tf32},
      ConvolutionBackwardWeights{.shape = {1, 16, 8, 8, 16}, .math = MathMode::tf32},
      LinearForward{.shape = {2, 3, 4}, .math = MathMode::tf32},
      LinearBackwardData{.shape = {2, 3, 4}, .math = MathMode::tf32},
      LinearBackwardWeights{.shape = {2, 3, 4}, .math = MathMode::tf32},
      Gemm{.m = 2, .n = 3, .k = 4, .math = MathMode::tf32},
      AttentionForward{.sequence = 4, .math = MathMode::tf32},
      AttentionBackward{.sequence = 4, .math = MathMode::tf32}};
  for (const OpDesc& desc : products) {
    try {
      (void)prepare(desc);
      ADD_FAILURE() << name_of(desc) << " was accepted";
    } catch (const Unsupported& reason) {
      EXPECT_THAT(reason.what(), AllOf(HasSubstr(std::string(name_of(desc))), HasSubstr("TF32"),
                                       HasSubstr("use f32")));
    }
  }
}

// Whatever the planned layouts are: there and back again is the identity.
TEST_P(Planning, WeightsSurviveAReorderThereAndBack) {
  for (const ConvolutionShape& shape :
       {ConvolutionShape{1, 3, 9, 9, 64, 7, 2, 3, 1}, ConvolutionShape{1, 32, 9, 9, 16, 3, 1, 1, 1},
        ConvolutionShape{1, 32, 9, 9, 32, 3, 1, 1, 2},
        ConvolutionShape{1, 5, 9, 9, 7, 3, 1, 1, 1}}) {
    const auto forward = prepare(ConvolutionForward{shape});
    const auto backward = prepare(ConvolutionBackwardData{shape});
    std::vector<double> values;
    for (std::int64_t i = 0; i < element_count(shape.weights()); ++i) {
      values.push_back(static_cast<double>(i));
    }
    const GuardedTensor there(bench(), forward->tensor("weights"));
    const GuardedTensor back(bench(), backward->tensor("weights"));
    there.write(values);
    const auto reorder = prepare(Reorder{there.tensor(), back.tensor()});
    bench().run(*reorder, {there.view(), back.view()});
    EXPECT_EQ(back.read(), values);
    EXPECT_TRUE(back.guards_intact());
  }
}

TEST_P(Planning, RefusesWhatMakesNoSense) {
  EXPECT_THAT(refusal(ConvolutionForward{{0, 16, 8, 8, 16}}),
              AllOf(HasSubstr("convolution_forward"), HasSubstr("batch is 0")));
  EXPECT_THAT(refusal(ConvolutionBackwardData{{1, 16, 8, 8, -4}}), HasSubstr("out_channels is -4"));
  EXPECT_THAT(refusal(ConvolutionForward{{1, 16, 8, 8, 16, 3, 1, 1, 3}}),
              HasSubstr("3 groups do not divide 16 input and 16 output channels"));
  EXPECT_THAT(refusal(ConvolutionForward{{1, 16, 2, 8, 16, 5, 1, 1, 1}}),
              HasSubstr("does not fit into the height of 2"));
  EXPECT_THAT(refusal(ConvolutionForward{{1, 16, 8, 8, 16, 3, 1, -1, 1}}),
              HasSubstr("padding is -1"));
  EXPECT_THAT(refusal(BatchNormForward{{1, 16, 1, 1}}), HasSubstr("one value per channel"));
  EXPECT_THAT(refusal(BatchNormForward{{16, 8}}), HasSubstr("has 2 dimensions"));
  EXPECT_THAT(refusal(BatchNormForward{.shape = {2, 16, 3, 3}, .add = true}),
              AllOf(HasSubstr("batch_norm_forward"), HasSubstr("add is set and relu is not"),
                    HasSubstr("set relu")));
  EXPECT_THAT(refusal(AddReluBackward{{7, 33}}), HasSubstr("has 2 dimensions"));
  EXPECT_THAT(refusal(ActivationForward{{2, 0, 3, 3}}), HasSubstr("2x0x3x3"));
  EXPECT_THAT(refusal(ActivationForward{{2, 3, 3, 1, 1}}), HasSubstr("it must have 2 to 4"));
  EXPECT_THAT(refusal(MseLoss{{18}, DType::f32, 18}), HasSubstr("it must have 2 to 4"));
  EXPECT_THAT(refusal(MaxPoolForward{{{1, 16, 8, 8}, 2, 2, 2}}), HasSubstr("padding 2"));
  EXPECT_THAT(refusal(LinearForward{{1, 0, 4}}), HasSubstr("in_features is 0"));
  EXPECT_THAT(refusal(Gemm{4, 4, 0}), HasSubstr("k is 0"));
  EXPECT_THAT(refusal(MseLoss{{4, 4}, DType::f32, 0}), HasSubstr("total_elements is 0"));
  EXPECT_THAT(refusal(Sgd{0}), HasSubstr("count is 0"));
  EXPECT_THAT(refusal(Fill{-1}), HasSubstr("count is -1"));
  EXPECT_THAT(refusal(ActivationForward{{2, 3}, DType::f32, ActivationKind::clip, 1, 1}),
              HasSubstr("low must be less than high"));
  EXPECT_THAT(refusal(LayerNormForward{{2, 3, 4, 5}}),
              AllOf(HasSubstr("layer_norm_forward"), HasSubstr("has 4 dimensions")));
  EXPECT_THAT(refusal(LayerNormBackward{{2, 0}}), HasSubstr("'2x0'"));
  EXPECT_THAT(refusal(Dropout{{2, 3}, DType::f32, 1.0F}), HasSubstr("probability is 1"));
  EXPECT_THAT(refusal(Dropout{.shape = {2, 3}, .first = -1}), HasSubstr("first is -1"));
  EXPECT_THAT(refusal(Sgd{.count = 4, .momentum = 1}), HasSubstr("momentum is 1"));
  EXPECT_THAT(refusal(Adam{.count = 4, .beta1 = -0.5F}), HasSubstr("beta1 is -0.5"));
  EXPECT_THAT(refusal(Adam{.count = 4, .beta2 = 1}), HasSubstr("beta2 is 1"));
  EXPECT_THAT(refusal(ClipFactor{.max_norm = 0}), HasSubstr("max_norm is 0"));
  EXPECT_THAT(refusal(ClipFactor{.parts = 0}), HasSubstr("parts is 0"));
  EXPECT_THAT(refusal(Reorder{canonical({2, 3}), canonical({3, 2})}), HasSubstr("2x3 and 3x2"));
}

TEST(NumberFormats, AreThoseOfOperationsThatCompute) {
  using Format = std::optional<NumberFormat>;
  constexpr NumberFormat f32{};
  constexpr NumberFormat tf32{DType::f32, MathMode::tf32};
  constexpr NumberFormat bf16{DType::bf16};
  const std::vector<std::pair<OpDesc, Format>> table{
      {Add{{2, 3}}, f32},
      {Add{.shape = {2, 3}, .dtype = DType::bf16}, bf16},
      {Gemm{.m = 2, .n = 3, .k = 4, .math = MathMode::tf32}, tf32},
      {Gemm{.m = 2, .n = 3, .k = 4, .dtype = DType::bf16}, bf16},
      // What only moves or fills numbers needs no arithmetic on them.
      {Fill{.count = 4, .dtype = DType::bf16}, std::nullopt},
      {Reorder{canonical({4}), canonical({4}, DType::bf16)}, std::nullopt},
      {Spin{}, std::nullopt},
      // These are in f32 alone.
      {Sgd{.count = 4}, std::nullopt},
      {Adam{.count = 4}, std::nullopt},
      {Accumulate{.count = 4}, std::nullopt}};
  for (const auto& [desc, format] : table) EXPECT_EQ(format_of(desc), format) << name_of(desc);
}

TEST(TensorSizes, RefusesWhatDoesNotFit64Bits) {
  constexpr std::int64_t half = std::int64_t{1} << 31U;
  EXPECT_EQ(element_count({half, half}), half * half);
  EXPECT_THROW((void)element_count({half, half, 2}), UsageError);
  EXPECT_THROW((void)element_count({half, half, half, half}), UsageError);
  EXPECT_THROW((void)canonical({half, half}), UsageError) << "four bytes each";
  EXPECT_EQ(canonical({half, half / 4}).bytes, static_cast<std::size_t>(half) * half);
  EXPECT_THROW((void)canonical({half, half}, DType::bf16), UsageError);
}

TEST_P(Planning, RefusesALayoutOfAnotherBackend) {
  class Foreign final : public LayoutDetail {
   public:
    [[nodiscard]] bool equals(const LayoutDetail& /*other*/) const override { return false; }
    [[nodiscard]] std::string name() const override { return "foreign"; }
  };
  TensorDesc tensor = canonical({2, 3});
  tensor.layout = Layout(std::make_shared<Foreign>());
  EXPECT_THAT(refusal(Reorder{tensor, canonical({2, 3})}), HasSubstr("layout foreign"));
}

INSTANTIATE_TEST_SUITE_P(Lanes, Planning, testing::ValuesIn(lanes()),
                         [](const auto& lane) { return name_of(lane.param); });

TEST(NumberFormats, AreFoundByTheirNames) {
  for (const std::string& name : number_format_names()) {
    const auto format = number_format_named(name);
    ASSERT_TRUE(format) << name;
    EXPECT_EQ(to_string(*format), name);
  }
  EXPECT_EQ(number_format_named("tf32"), (NumberFormat{DType::f32, MathMode::tf32}));
  EXPECT_EQ(number_format_named("f16"), std::nullopt);
  EXPECT_EQ(number_format_named("i32"), std::nullopt) << "i32 is for indices";
  EXPECT_EQ(number_format_names(), (std::vector<std::string>{"f32", "tf32", "bf16"}));
}

TEST(OperationNames, AreSnakeCaseOfTheStructs) {
  EXPECT_EQ(name_of(OpDesc(GlobalAveragePoolBackward{})), "global_average_pool_backward");
  EXPECT_EQ(name_of(OpDesc(Gemm{})), "gemm");
  EXPECT_EQ(name_of(OpDesc(MseLoss{})), "mse_loss");
}

}  // namespace
}  // namespace parbench::test
