// Cases of the operations that only images have, and of convolutions with dilation. On CPUs the
// channels of some images fill blocks of 8, of 16, or none.
#include "tests/kernels/ops/cases.h"

namespace parbench::test {
namespace {

constexpr DType image_bf16 = DType::bf16;
constexpr DType image_f32 = DType::f32;

// As in cases.cpp: one rounding and sums in f32, and results in bf16.
constexpr double image_tight = 2e-5;
constexpr double image_loose = 1e-2;

ConvolutionForward relu_of(const ConvolutionShape& shape, DType dtype, bool bias) {
  return {.shape = shape, .dtype = dtype, .bias = bias, .relu = true};
}

std::vector<OperationCase> variants_of_convolutions() {
  // batch, in, height, width, out, kernel, stride, padding, groups, dilation
  constexpr ConvolutionShape dilated{2, 16, 9, 11, 32, 3, 1, 2, 1, 2};
  constexpr ConvolutionShape dilated_strided{1, 5, 13, 12, 7, 3, 2, 3, 1, 3};
  constexpr ConvolutionShape dilated_depthwise{2, 32, 8, 9, 32, 3, 1, 2, 32, 2};
  return {
      {"convolution_dilated", ConvolutionForward{dilated, image_f32, true}, image_tight},
      {"convolution_dilated_strided", ConvolutionForward{dilated_strided}, image_tight},
      {"convolution_dilated_depthwise", ConvolutionForward{dilated_depthwise}, image_tight},
      {"convolution_dilated_bf16", ConvolutionForward{dilated, image_bf16}, image_loose},
      {"convolution_relu", relu_of({2, 16, 9, 11, 32, 3, 1, 1, 1}, image_f32, true), image_tight},
      {"convolution_relu_no_bias", relu_of({2, 5, 8, 7, 12, 3, 2, 1, 1}, image_f32, false),
       image_tight},
      {"convolution_relu_tiles", relu_of({4, 64, 15, 17, 80, 3, 1, 1, 1}, image_f32, false), 1e-4},
      {"convolution_relu_bf16", relu_of({2, 32, 8, 8, 32, 1, 1, 0, 1}, image_bf16, true),
       image_loose},
      {"convolution_data_dilated", ConvolutionBackwardData{dilated}, image_tight},
      {"convolution_data_dilated_strided", ConvolutionBackwardData{dilated_strided}, image_tight},
      {"convolution_data_dilated_depthwise", ConvolutionBackwardData{dilated_depthwise},
       image_tight},
      {"convolution_weights_dilated", ConvolutionBackwardWeights{dilated, image_f32, true},
       image_tight},
      {"convolution_weights_dilated_strided",
       ConvolutionBackwardWeights{dilated_strided, image_f32, false, true}, image_tight},
      {"convolution_weights_dilated_depthwise", ConvolutionBackwardWeights{dilated_depthwise},
       image_tight},
  };
}

std::vector<OperationCase> poolings() {
  const PoolingShape padded{{2, 32, 9, 11}, 3, 2, 1};
  const PoolingShape uneven{{2, 5, 7, 6}, 3, 1, 1};
  const PoolingShape whole{{1, 16, 7, 7}, 7, 1, 0};
  const PoolingShape apart{{2, 8, 11, 9}, 2, 3, 0};
  // One more row and column after the image, as ceil_mode has them.
  const PoolingShape trailing{{2, 32, 6, 8}, 3, 2, 0, 1};
  const PoolingShape odd_trailing{{1, 3, 8, 6}, 3, 2, 1, 1};
  const PoolingShape covered{{2, 16, 6, 6}, 7, 1, 0, 1};
  return {
      {"max_pool_trailing", MaxPoolForward{trailing}},
      {"max_pool_odd_trailing", MaxPoolForward{odd_trailing}},
      {"max_pool_trailing_bf16", MaxPoolForward{trailing, image_bf16}},
      {"max_pool_backward_trailing", MaxPoolBackward{trailing}, image_tight},
      {"max_pool_backward_odd_trailing", MaxPoolBackward{odd_trailing}, image_tight},
      {"average_pool", AveragePoolForward{padded}, image_tight},
      {"average_pool_counting_padding", AveragePoolForward{padded, image_f32, true}, image_tight},
      {"average_pool_odd", AveragePoolForward{uneven}, image_tight},
      {"average_pool_whole", AveragePoolForward{whole}, image_tight},
      {"average_pool_apart", AveragePoolForward{apart}, image_tight},
      {"average_pool_trailing", AveragePoolForward{trailing}, image_tight},
      {"average_pool_odd_trailing", AveragePoolForward{odd_trailing, image_f32, true}, image_tight},
      {"average_pool_covered", AveragePoolForward{covered}, image_tight},
      {"average_pool_bf16", AveragePoolForward{padded, image_bf16}, image_loose},
      {"average_pool_odd_bf16", AveragePoolForward{uneven, image_bf16, true}, image_loose},
      {"average_pool_backward", AveragePoolBackward{padded}, image_tight},
      {"average_pool_backward_counting_padding", AveragePoolBackward{padded, image_f32, true},
       image_tight},
      {"average_pool_backward_odd", AveragePoolBackward{uneven}, image_tight},
      {"average_pool_backward_apart", AveragePoolBackward{apart}, image_tight},
      {"average_pool_backward_odd_trailing", AveragePoolBackward{odd_trailing}, image_tight},
      {"average_pool_backward_covered", AveragePoolBackward{covered}, image_tight},
      {"average_pool_backward_bf16", AveragePoolBackward{padded, image_bf16}, 3 * image_loose},
  };
}

std::vector<OperationCase> response_norms() {
  const LocalResponseNormForward usual{.shape = {2, 32, 5, 7}};
  const LocalResponseNormForward strong{
      .shape = {1, 48, 3, 5}, .alpha = 0.9F, .beta = 0.75F, .offset = 2};
  const LocalResponseNormForward uneven{.shape = {2, 5, 3, 4}, .size = 3, .alpha = 0.5F};
  const LocalResponseNormForward broad{
      .shape = {1, 7, 4, 3}, .size = 9, .alpha = 2, .beta = 0.5F, .offset = 0.5F};
  const auto backward = [](const LocalResponseNormForward& forward, DType dtype) {
    return LocalResponseNormBackward{forward.shape, dtype,        forward.size,
                                     forward.alpha, forward.beta, forward.offset};
  };
  LocalResponseNormForward narrow = strong;
  narrow.dtype = image_bf16;
  return {
      {"response_norm", usual, image_tight},
      {"response_norm_strong", strong, image_tight},
      {"response_norm_odd", uneven, image_tight},
      {"response_norm_wide", broad, image_tight},
      {"response_norm_bf16", narrow, image_loose},
      {"response_norm_backward", backward(usual, image_f32), image_tight},
      {"response_norm_backward_strong", backward(strong, image_f32), image_tight},
      {"response_norm_backward_odd", backward(uneven, image_f32), image_tight},
      {"response_norm_backward_wide", backward(broad, image_f32), image_tight},
      {"response_norm_backward_bf16", backward(strong, image_bf16), 2 * image_loose},
  };
}

std::vector<OperationCase> channel_copies() {
  // {N, C, H, W}, first, count
  const ChannelRange blocks{{2, 64, 5, 3}, 16, 32};
  const ChannelRange all{{2, 16, 3, 3}, 0, 16};
  const ChannelRange uneven{{3, 7, 4, 5}, 2, 3};
  const ChannelRange odd_in_blocks{{2, 32, 5, 3}, 5, 7};
  const ChannelRange blocks_in_odd{{2, 37, 5, 3}, 3, 16};
  const ChannelRange across_blocks{{2, 48, 5, 3}, 8, 32};
  const ChannelRange eights{{2, 40, 5, 3}, 8, 24};
  const ChannelRange many{{4, 96, 28, 28}, 32, 64};
  const ChannelRange many_across{{4, 96, 29, 28}, 20, 48};
  return {
      {"slice_channels", SliceChannels{blocks}},
      {"slice_channels_all", SliceChannels{all}},
      {"slice_channels_odd", SliceChannels{uneven}},
      {"slice_channels_odd_in_blocks", SliceChannels{odd_in_blocks}},
      {"slice_channels_blocks_in_odd", SliceChannels{blocks_in_odd}},
      {"slice_channels_across_blocks", SliceChannels{across_blocks}},
      {"slice_channels_eights", SliceChannels{eights}},
      {"slice_channels_many", SliceChannels{many}},
      {"slice_channels_bf16", SliceChannels{blocks, image_bf16}},
      {"slice_channels_odd_bf16", SliceChannels{odd_in_blocks, image_bf16}},
      {"insert_channels", InsertChannels{blocks}},
      {"insert_channels_all", InsertChannels{all}},
      {"insert_channels_odd", InsertChannels{uneven}},
      {"insert_channels_odd_in_blocks", InsertChannels{odd_in_blocks}},
      {"insert_channels_blocks_in_odd", InsertChannels{blocks_in_odd}},
      {"insert_channels_across_blocks", InsertChannels{across_blocks}},
      {"insert_channels_eights", InsertChannels{eights}},
      {"insert_channels_many_across", InsertChannels{many_across}},
      {"insert_channels_bf16", InsertChannels{blocks, image_bf16}},
      {"insert_channels_odd_bf16", InsertChannels{blocks_in_odd, image_bf16}},
      {"shuffle_channels", ShuffleChannels{{2, 32, 5, 3}, 4}},
      {"shuffle_channels_odd", ShuffleChannels{{2, 15, 4, 3}, 3}},
      {"shuffle_channels_one_group", ShuffleChannels{{1, 16, 3, 3}, 1}},
      {"shuffle_channels_large", ShuffleChannels{{2, 136, 28, 28}, 4}},
      {"shuffle_channels_bf16", ShuffleChannels{{2, 24, 5, 3}, 2, image_bf16}},
  };
}

std::vector<OperationCase> channel_biases() {
  const Shape blocked{2, 32, 5, 7};
  const Shape eights{1, 24, 3, 5};
  const Shape uneven{3, 7, 4, 5};
  const Shape large{4, 48, 29, 28};
  const Shape pixels{5, 32, 1, 1};
  return {
      {"channel_bias", AddChannelBias{blocked}, image_tight},
      {"channel_bias_eights", AddChannelBias{eights}, image_tight},
      {"channel_bias_odd", AddChannelBias{uneven}, image_tight, {{"destination", "source"}}},
      {"channel_bias_large", AddChannelBias{large}, image_tight, {{"destination", "source"}}},
      {"channel_bias_pixels", AddChannelBias{pixels}, image_tight},
      {"channel_bias_bf16", AddChannelBias{blocked, image_bf16}, image_loose},
      {"channel_bias_odd_bf16", AddChannelBias{uneven, image_bf16}, image_loose},
      {"channel_sums", SumChannels{blocked}, image_tight},
      {"channel_sums_added", SumChannels{blocked, image_f32, true}, image_tight},
      {"channel_sums_eights", SumChannels{eights}, image_tight},
      {"channel_sums_odd", SumChannels{uneven, image_f32, true}, image_tight},
      {"channel_sums_large", SumChannels{large}, image_tight},
      {"channel_sums_pixels", SumChannels{pixels}, image_tight},
      {"channel_sums_bf16", SumChannels{blocked, image_bf16}, image_tight},
      {"channel_sums_odd_bf16", SumChannels{uneven, image_bf16, true}, image_tight},
  };
}

std::vector<OperationCase> paddings() {
  const Shape blocked{2, 32, 5, 7};
  const Shape uneven{3, 7, 4, 5};
  const Shape large{4, 48, 29, 28};
  // top, left, bottom, right
  const Edges all{1, 2, 3, 4};
  const Edges after{0, 0, 1, 1};
  const Edges cut{-1, -2, -1, 0};
  const Edges mixed{-3, 2, 4, -3};
  return {
      {"pad_image", PadImage{blocked, all}},
      {"pad_image_after", PadImage{blocked, after}},
      {"pad_image_cut", PadImage{blocked, cut}},
      {"pad_image_mixed", PadImage{blocked, mixed}},
      {"pad_image_eights", PadImage{{1, 24, 3, 5}, all}},
      {"pad_image_odd", PadImage{uneven, all}},
      {"pad_image_odd_mixed", PadImage{uneven, mixed}},
      {"pad_image_none", PadImage{uneven, {}}},
      {"pad_image_large", PadImage{large, all}},
      {"pad_image_bf16", PadImage{blocked, mixed, image_bf16}},
      {"pad_image_odd_bf16", PadImage{uneven, all, image_bf16}},
  };
}

std::vector<OperationCase> dropouts() {
  return {
      {"dropout_image", Dropout{{2, 32, 9, 15}, image_f32, 0.3F, 5, 6}, image_tight},
      {"dropout_image_large",
       Dropout{{3, 64, 13, 13}, image_f32, 0.5F, 5, 7},
       image_tight,
       {{"destination", "source"}}},
      {"dropout_image_odd", Dropout{{2, 5, 3, 7}, image_f32, 0.3F, 5, 6, 105}, image_tight},
      {"dropout_image_first", Dropout{{1, 16, 5, 3}, image_f32, 0.4F, 5, 6, 240}, image_tight},
      {"dropout_image_bf16", Dropout{{2, 16, 5, 3}, image_bf16, 0.25F, 8, 6}, image_loose},
  };
}

}  // namespace

std::vector<OperationCase> image_cases() {
  std::vector<OperationCase> cases = variants_of_convolutions();
  for (const std::vector<OperationCase>& more :
       {poolings(), response_norms(), channel_copies(), channel_biases(), paddings(), dropouts()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

}  // namespace parbench::test
