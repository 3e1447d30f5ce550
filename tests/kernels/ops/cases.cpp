// Shapes are small and awkward on purpose: odd sizes, strides, padding, groups, channels that do
// not fill a block, a single image, and sizes large enough to be divided among threads.
#include "tests/kernels/ops/cases.h"

namespace parbench::test {
namespace {

constexpr DType bf16 = DType::bf16;
constexpr DType f32 = DType::f32;

// One rounding of the result, and sums in f32.
constexpr double tight = 2e-5;
// Both factors of every product lose up to 2^-10 when they are brought to TF32. Where bits are
// dropped that is 2^-10 of the sum on average, and of its random part, whose standard deviation is
// 0.4 * 2^-10 of the results' root mean square, five times as much stays below the rest.
constexpr double cut = 4 * 0x1p-10 + tight;
constexpr MathMode tf32 = MathMode::tf32;
constexpr double loose = 1e-2;  // bf16 results: 2^-8, and room for sums; three times that where
                                // sums are rounded at every addition
// Processors round a normalised value, which may exceed the result, before they add to it.
constexpr double rounded_twice = 2 * loose;

// batch, in, height, width, out, kernel, stride, padding, groups
constexpr ConvolutionShape same3x3{2, 16, 9, 7, 32, 3, 1, 1, 1};
constexpr ConvolutionShape strided{2, 32, 11, 8, 16, 3, 2, 1, 1};
constexpr ConvolutionShape pointwise{1, 64, 6, 5, 48, 1, 1, 0, 1};
constexpr ConvolutionShape strided_pointwise{3, 32, 7, 7, 64, 1, 2, 0, 1};
constexpr ConvolutionShape first_layer{2, 3, 31, 29, 64, 7, 2, 3, 1};
constexpr ConvolutionShape odd_channels{2, 5, 8, 9, 7, 3, 1, 1, 1};
constexpr ConvolutionShape mixed_channels{1, 16, 6, 6, 10, 3, 1, 0, 1};
constexpr ConvolutionShape grouped{2, 32, 7, 6, 64, 3, 1, 1, 2};
constexpr ConvolutionShape small_groups{1, 12, 5, 5, 8, 3, 1, 1, 4};
constexpr ConvolutionShape single_pixel{1, 16, 1, 1, 16, 1, 1, 0, 1};
constexpr ConvolutionShape wide_padding{1, 16, 4, 5, 16, 5, 1, 4, 1};
// Images so small that padding fills most of a window.
constexpr ConvolutionShape tiny{3, 32, 2, 2, 24, 3, 1, 1, 1};
constexpr ConvolutionShape tiny_strided{2, 16, 2, 2, 32, 3, 2, 1, 1};
constexpr ConvolutionShape lone_pixel{5, 16, 1, 1, 16, 3, 1, 1, 1};
constexpr ConvolutionShape large_tiny{24, 64, 2, 2, 64, 3, 1, 1, 1};
constexpr ConvolutionShape deep{2, 256, 4, 4, 64, 3, 1, 1, 1};

const Shape blocked{3, 32, 7, 5};
const Shape plain{2, 5, 9, 7};
const Shape odd{1, 3, 5, 7};
const Shape matrix{7, 33};
const Shape one_image{1, 16, 5, 3};
const Shape three_eights{2, 24, 5, 3};
const Shape large{4, 64, 33, 31};
const Shape wide{2, 520, 9, 7};
const Shape token_rows{1, 128, 256};
const Shape odd_rows{2, 5, 7};

constexpr ActivationKind gelu_kind = ActivationKind::gelu;
constexpr ActivationKind gelu_tanh_kind = ActivationKind::gelu_tanh;
constexpr ActivationKind sigmoid_kind = ActivationKind::sigmoid;
constexpr ActivationKind tanh_kind = ActivationKind::tanh;
constexpr ActivationKind clip_kind = ActivationKind::clip;

const PoolingShape resnet_pool{{2, 64, 13, 15}, 3, 2, 1};
const PoolingShape plain_pool{{2, 5, 9, 7}, 3, 2, 1};
const PoolingShape whole_windows{{1, 16, 8, 8}, 2, 2, 0};
const PoolingShape overlapping{{1, 32, 6, 7}, 3, 1, 1};

const InPlace to_source{{"destination", "source"}};
const InPlace to_a{{"destination", "a"}};
const InPlace diff_to_a{{"diff_source", "a"}};
const InPlace diff_to_b{{"diff_source", "b"}};
const InPlace diff_to_diff{{"diff_source", "diff_destination"}};

/// A batch normalisation with an addend and the ReLU.
BatchNormForward add_to(const Shape& shape, DType dtype = f32) {
  return {.shape = shape, .dtype = dtype, .relu = true, .add = true};
}

std::vector<OperationCase> table() {
  const TensorDesc f32_image = canonical({2, 5, 7, 6});
  const TensorDesc bf16_image = canonical({2, 5, 7, 6}, bf16);
  return {
      {"convolution_3x3", ConvolutionForward{same3x3}, tight},
      {"convolution_3x3_bias", ConvolutionForward{same3x3, f32, true}, tight},
      {"convolution_strided", ConvolutionForward{strided}, tight},
      {"convolution_pointwise", ConvolutionForward{pointwise, f32, true}, tight},
      {"convolution_strided_pointwise", ConvolutionForward{strided_pointwise}, tight},
      {"convolution_first_layer", ConvolutionForward{first_layer}, tight},
      {"convolution_odd_channels", ConvolutionForward{odd_channels, f32, true}, tight},
      {"convolution_mixed_channels", ConvolutionForward{mixed_channels}, tight},
      {"convolution_grouped", ConvolutionForward{grouped, f32, true}, tight},
      {"convolution_small_groups", ConvolutionForward{small_groups}, tight},
      {"convolution_single_pixel", ConvolutionForward{single_pixel}, tight},
      {"convolution_wide_padding", ConvolutionForward{wide_padding}, tight},
      {"convolution_deep", ConvolutionForward{deep}, tight},
      {"convolution_tiny", ConvolutionForward{tiny}, tight},
      {"convolution_tiny_strided", ConvolutionForward{tiny_strided}, tight},
      {"convolution_lone_pixel", ConvolutionForward{lone_pixel}, tight},
      {"convolution_bf16", ConvolutionForward{same3x3, bf16, true}, loose},
      {"convolution_first_layer_bf16", ConvolutionForward{first_layer, bf16}, loose},
      {"convolution_strided_bf16", ConvolutionForward{strided, bf16}, loose},
      {"convolution_odd_channels_bf16", ConvolutionForward{odd_channels, bf16, true}, loose},
      {"convolution_small_groups_bf16", ConvolutionForward{small_groups, bf16}, loose},
      {"convolution_tf32", ConvolutionForward{same3x3, f32, true, tf32}, cut},
      {"convolution_deep_tf32", ConvolutionForward{deep, f32, false, tf32}, cut},

      {"convolution_data_3x3", ConvolutionBackwardData{same3x3}, tight},
      {"convolution_data_strided", ConvolutionBackwardData{strided}, tight},
      {"convolution_data_strided_pointwise", ConvolutionBackwardData{strided_pointwise}, tight},
      {"convolution_data_pointwise", ConvolutionBackwardData{pointwise}, tight},
      {"convolution_data_first_layer", ConvolutionBackwardData{first_layer}, tight},
      {"convolution_data_odd_channels", ConvolutionBackwardData{odd_channels}, tight},
      {"convolution_data_grouped", ConvolutionBackwardData{grouped}, tight},
      {"convolution_data_deep", ConvolutionBackwardData{deep}, tight},
      {"convolution_data_mixed_channels", ConvolutionBackwardData{mixed_channels}, tight},
      {"convolution_data_tiny", ConvolutionBackwardData{tiny}, tight},
      {"convolution_data_tiny_strided", ConvolutionBackwardData{tiny_strided}, tight},
      {"convolution_data_lone_pixel", ConvolutionBackwardData{lone_pixel}, tight},
      {"convolution_data_first_layer_bf16", ConvolutionBackwardData{first_layer, bf16}, loose},
      {"convolution_data_bf16", ConvolutionBackwardData{same3x3, bf16}, loose},
      {"convolution_data_odd_channels_bf16", ConvolutionBackwardData{odd_channels, bf16}, loose},
      {"convolution_data_tf32", ConvolutionBackwardData{same3x3, f32, tf32}, cut},

      {"convolution_weights_3x3", ConvolutionBackwardWeights{same3x3}, tight},
      {"convolution_weights_bias", ConvolutionBackwardWeights{same3x3, f32, true}, tight},
      {"convolution_weights_accumulate", ConvolutionBackwardWeights{same3x3, f32, true, true},
       tight},
      {"convolution_weights_strided", ConvolutionBackwardWeights{strided}, tight},
      {"convolution_weights_strided_pointwise",
       ConvolutionBackwardWeights{strided_pointwise, f32, false, true}, tight},
      {"convolution_weights_first_layer", ConvolutionBackwardWeights{first_layer}, tight},
      {"convolution_weights_odd_channels",
       ConvolutionBackwardWeights{odd_channels, f32, true, true}, tight},
      {"convolution_weights_grouped", ConvolutionBackwardWeights{grouped, f32, true}, tight},
      {"convolution_weights_deep_accumulate", ConvolutionBackwardWeights{deep, f32, false, true},
       tight},
      {"convolution_weights_mixed_channels",
       ConvolutionBackwardWeights{mixed_channels, f32, true, true}, tight},
      {"convolution_weights_tiny", ConvolutionBackwardWeights{tiny}, tight},
      {"convolution_weights_tiny_accumulate", ConvolutionBackwardWeights{tiny, f32, false, true},
       tight},
      {"convolution_weights_tiny_bias", ConvolutionBackwardWeights{tiny, f32, true, true}, tight},
      {"convolution_weights_tiny_strided", ConvolutionBackwardWeights{tiny_strided}, tight},
      {"convolution_weights_lone_pixel", ConvolutionBackwardWeights{lone_pixel}, tight},
      {"convolution_weights_large_tiny", ConvolutionBackwardWeights{large_tiny, f32, false, true},
       tight},
      {"convolution_weights_tiny_bf16", ConvolutionBackwardWeights{tiny, bf16}, 1e-3},
      {"convolution_weights_bf16", ConvolutionBackwardWeights{same3x3, bf16, true}, 1e-3},
      {"convolution_weights_bf16_accumulate", ConvolutionBackwardWeights{strided, bf16, true, true},
       1e-3},
      {"convolution_weights_odd_channels_bf16",
       ConvolutionBackwardWeights{odd_channels, bf16, true}, 1e-3},
      {"convolution_weights_tf32", ConvolutionBackwardWeights{same3x3, f32, true, true, tf32}, cut},

      {"batch_norm", BatchNormForward{blocked}, tight},
      {"batch_norm_relu", BatchNormForward{blocked, f32, true}, tight},
      {"batch_norm_plain", BatchNormForward{plain}, tight},
      {"batch_norm_plain_relu", BatchNormForward{plain, f32, true}, tight},
      {"batch_norm_one_image", BatchNormForward{one_image, f32, true}, tight},
      {"batch_norm_three_eights", BatchNormForward{three_eights, f32, true}, tight},
      {"batch_norm_constants", BatchNormForward{blocked, f32, false, 1e-2F, 0.7F}, tight},
      {"batch_norm_large", BatchNormForward{large, f32, true}, tight},
      {"batch_norm_wide", BatchNormForward{wide, f32, true}, tight},
      {"batch_norm_bf16", BatchNormForward{blocked, bf16}, loose},
      {"batch_norm_wide_bf16", BatchNormForward{wide, bf16}, loose},
      {"batch_norm_relu_bf16", BatchNormForward{blocked, bf16, true}, loose},

      {"batch_norm_add", add_to(blocked), tight},
      {"batch_norm_add_plain", add_to(plain), tight},
      {"batch_norm_add_odd", add_to(odd), tight},
      {"batch_norm_add_three_eights", add_to(three_eights), tight},
      {"batch_norm_add_large", add_to(large), tight},
      {"batch_norm_add_wide", add_to(wide), tight},
      {"batch_norm_add_bf16", add_to(blocked, bf16), rounded_twice},
      {"batch_norm_add_odd_bf16", add_to(odd, bf16), rounded_twice},
      {"batch_norm_add_three_eights_bf16", add_to(three_eights, bf16), rounded_twice},
      {"batch_norm_add_large_bf16", add_to(large, bf16), rounded_twice},

      {"batch_norm_backward", BatchNormBackward{blocked}, tight},
      {"batch_norm_backward_relu", BatchNormBackward{blocked, f32, true}, tight},
      {"batch_norm_backward_in_place", BatchNormBackward{blocked, f32, true}, tight, diff_to_diff},
      {"batch_norm_backward_accumulate", BatchNormBackward{blocked, f32, true, 1e-3F, true}, tight},
      {"batch_norm_backward_plain", BatchNormBackward{plain}, tight},
      {"batch_norm_backward_plain_relu", BatchNormBackward{plain, f32, true, 1e-5F, true}, tight},
      {"batch_norm_backward_three_eights", BatchNormBackward{three_eights, f32, true}, tight},
      {"batch_norm_backward_eleven_eights", BatchNormBackward{{2, 88, 5, 3}}, tight, diff_to_diff},
      {"batch_norm_backward_three_eights_bf16",
       BatchNormBackward{three_eights, bf16, true, 1e-5F, true}, loose, diff_to_diff},
      {"batch_norm_backward_large", BatchNormBackward{large, f32, true}, 5e-5, diff_to_diff},
      {"batch_norm_backward_wide", BatchNormBackward{wide, f32, true}, tight},
      {"batch_norm_backward_wide_bf16", BatchNormBackward{wide, bf16, true}, loose},
      {"batch_norm_backward_bf16", BatchNormBackward{blocked, bf16}, loose},
      {"batch_norm_backward_relu_bf16", BatchNormBackward{blocked, bf16, true, 1e-5F, true}, loose},

      {"relu", ActivationForward{blocked}},
      {"relu_plain", ActivationForward{plain}},
      {"relu_in_place", ActivationForward{matrix}, 0, to_source},
      {"relu_large", ActivationForward{large}},
      {"relu_bf16", ActivationForward{blocked, bf16}},
      {"relu_backward", ActivationBackward{blocked}},
      {"relu_backward_matrix", ActivationBackward{matrix}},
      {"relu_backward_in_place", ActivationBackward{plain}, 0, diff_to_diff},
      {"relu_backward_bf16", ActivationBackward{blocked, bf16}},
      {"gelu", ActivationForward{blocked, f32, gelu_kind}, tight},
      {"gelu_odd", ActivationForward{odd, f32, gelu_kind}, tight, to_source},
      {"gelu_bf16", ActivationForward{matrix, bf16, gelu_kind}, loose},
      {"gelu_backward", ActivationBackward{matrix, f32, gelu_kind}, tight},
      {"gelu_backward_in_place", ActivationBackward{plain, f32, gelu_kind}, tight, diff_to_diff},
      {"gelu_backward_large", ActivationBackward{large, f32, gelu_kind}, tight},
      {"gelu_backward_bf16", ActivationBackward{plain, bf16, gelu_kind}, loose},
      {"gelu_tanh", ActivationForward{matrix, f32, gelu_tanh_kind}, tight},
      {"gelu_tanh_large", ActivationForward{large, f32, gelu_tanh_kind}, tight},
      {"gelu_tanh_bf16", ActivationForward{plain, bf16, gelu_tanh_kind}, loose},
      {"gelu_tanh_backward", ActivationBackward{blocked, f32, gelu_tanh_kind}, tight},
      {"gelu_tanh_backward_odd", ActivationBackward{odd, f32, gelu_tanh_kind}, tight},
      {"gelu_tanh_backward_bf16", ActivationBackward{matrix, bf16, gelu_tanh_kind}, loose},
      {"sigmoid", ActivationForward{plain, f32, sigmoid_kind}, tight},
      {"sigmoid_bf16", ActivationForward{blocked, bf16, sigmoid_kind}, loose},
      {"sigmoid_backward", ActivationBackward{matrix, f32, sigmoid_kind}, tight, diff_to_diff},
      {"sigmoid_backward_odd_bf16", ActivationBackward{odd, bf16, sigmoid_kind}, loose},
      {"tanh", ActivationForward{matrix, f32, tanh_kind}, tight},
      {"tanh_blocked_bf16", ActivationForward{blocked, bf16, tanh_kind}, loose},
      {"tanh_backward", ActivationBackward{plain, f32, tanh_kind}, tight},
      {"tanh_backward_matrix_bf16", ActivationBackward{matrix, bf16, tanh_kind}, loose},
      {"clip", ActivationForward{blocked, f32, clip_kind, -0.25F, 0.5F}},
      {"clip_odd", ActivationForward{odd, f32, clip_kind, -0.25F, 0.5F}},
      {"clip_matrix_bf16", ActivationForward{matrix, bf16, clip_kind, -0.25F, 0.5F}},
      {"clip_backward", ActivationBackward{plain, f32, clip_kind, -0.25F, 0.5F}},
      {"clip_backward_in_place", ActivationBackward{large, f32, clip_kind, 0, 0.5F}, 0,
       diff_to_diff},
      {"clip_backward_bf16", ActivationBackward{blocked, bf16, clip_kind, -0.25F, 0.5F}},
      {"add", Add{blocked}, tight},
      {"add_in_place", Add{large}, tight, to_a},
      {"add_plain", Add{plain}, tight},
      {"add_bf16", Add{blocked, bf16}, loose},
      {"add_relu_backward", AddReluBackward{blocked}, tight},
      {"add_relu_backward_plain", AddReluBackward{plain}, tight},
      {"add_relu_backward_odd", AddReluBackward{odd}, tight},
      {"add_relu_backward_three_eights", AddReluBackward{three_eights}, tight, diff_to_a},
      {"add_relu_backward_wide", AddReluBackward{wide}, tight},
      {"add_relu_backward_to_a", AddReluBackward{large}, tight, diff_to_a},
      {"add_relu_backward_to_b", AddReluBackward{large}, tight, diff_to_b},
      {"add_relu_backward_one", AddReluBackward{blocked, f32, false}, 0},
      {"add_relu_backward_one_odd", AddReluBackward{odd, f32, false}, 0},
      {"add_relu_backward_one_in_place", AddReluBackward{large, f32, false}, 0, diff_to_a},
      {"add_relu_backward_bf16", AddReluBackward{large, bf16}, loose},
      {"add_relu_backward_odd_bf16", AddReluBackward{odd, bf16}, loose, diff_to_b},
      {"add_relu_backward_one_bf16", AddReluBackward{blocked, bf16, false}, 0},
      {"add_relu_backward_one_plain_bf16", AddReluBackward{plain, bf16, false}, 0, diff_to_a},

      {"max_pool", MaxPoolForward{resnet_pool}},
      {"max_pool_plain", MaxPoolForward{plain_pool}},
      {"max_pool_whole_windows", MaxPoolForward{whole_windows}},
      {"max_pool_overlapping", MaxPoolForward{overlapping}},
      {"max_pool_bf16", MaxPoolForward{resnet_pool, bf16}},
      {"max_pool_backward", MaxPoolBackward{resnet_pool}, tight},
      {"max_pool_backward_plain", MaxPoolBackward{plain_pool}, tight},
      {"max_pool_backward_whole_windows", MaxPoolBackward{whole_windows}, tight},
      {"max_pool_backward_overlapping", MaxPoolBackward{overlapping}, tight},
      {"max_pool_backward_bf16", MaxPoolBackward{resnet_pool, bf16}, 3 * loose},
      {"global_average_pool", GlobalAveragePoolForward{blocked}, tight},
      {"global_average_pool_plain", GlobalAveragePoolForward{plain}, tight},
      {"global_average_pool_one_pixel", GlobalAveragePoolForward{{2, 16, 1, 1}}, tight},
      {"global_average_pool_bf16", GlobalAveragePoolForward{blocked, bf16}, loose},
      {"global_average_pool_backward", GlobalAveragePoolBackward{blocked}, tight},
      {"global_average_pool_backward_plain", GlobalAveragePoolBackward{plain}, tight},
      {"global_average_pool_backward_bf16", GlobalAveragePoolBackward{blocked, bf16}, loose},

      {"linear", LinearForward{{5, 64, 40}}, tight},
      {"linear_toy", LinearForward{{20, 10, 5}}, tight},
      {"linear_single", LinearForward{{1, 7, 3}}, tight},
      {"linear_bf16", LinearForward{{5, 64, 40}, bf16}, loose},
      {"linear_tf32", LinearForward{{5, 64, 40}, f32, tf32}, cut},
      {"linear_without_bias", LinearForward{.shape = {5, 64, 40}, .bias = false}, tight},
      {"linear_without_bias_bf16",
       LinearForward{.shape = {5, 64, 40}, .dtype = bf16, .bias = false}, loose},
      {"linear_data", LinearBackwardData{{5, 64, 40}}, tight},
      {"linear_data_toy", LinearBackwardData{{20, 10, 5}}, tight},
      {"linear_data_bf16", LinearBackwardData{{5, 64, 40}, bf16}, loose},
      // So many rows that the weights are turned around first.
      {"linear_data_rows", LinearBackwardData{{515, 70, 45}}, tight},
      {"linear_data_tf32", LinearBackwardData{{5, 64, 40}, f32, tf32}, cut},
      {"linear_weights", LinearBackwardWeights{{5, 64, 40}}, tight},
      {"linear_weights_accumulate", LinearBackwardWeights{{20, 10, 5}, f32, true}, tight},
      {"linear_weights_padded", LinearBackwardWeights{{3, 48, 1000}, f32, true}, tight},
      {"linear_weights_of_many_rows", LinearBackwardWeights{{800, 48, 30}}, tight},
      {"linear_weights_of_many_rows_accumulate", LinearBackwardWeights{{771, 17, 64}, f32, true},
       tight},
      {"linear_weights_without_bias",
       LinearBackwardWeights{.shape = {20, 10, 5}, .accumulate = true, .bias = false}, tight},
      {"linear_weights_of_many_rows_without_bias",
       LinearBackwardWeights{.shape = {771, 17, 64}, .bias = false}, tight},
      {"linear_weights_bf16", LinearBackwardWeights{{5, 64, 40}, bf16, true}, 1e-3},
      {"linear_weights_tf32", LinearBackwardWeights{{5, 64, 40}, f32, true, tf32}, cut},

      {"gemm", Gemm{33, 21, 47}, tight},
      {"gemm_accumulate", Gemm{33, 21, 47, f32, false, false, true}, tight},
      {"gemm_transpose_a", Gemm{33, 21, 47, f32, true, false}, tight},
      {"gemm_transpose_b", Gemm{33, 21, 47, f32, false, true, true}, tight},
      {"gemm_transpose_both", Gemm{33, 21, 47, f32, true, true}, tight},
      {"gemm_batch", Gemm{.m = 9, .n = 21, .k = 17, .transpose_b = true, .batch = 5}, tight},
      {"gemm_batch_accumulate",
       Gemm{.m = 9, .n = 21, .k = 17, .transpose_a = true, .accumulate = true, .batch = 3}, tight},
      {"gemm_batch_bf16", Gemm{.m = 16, .n = 24, .k = 32, .dtype = bf16, .batch = 4}, loose},
      {"gemm_row", Gemm{1, 64, 64}, tight},
      {"gemm_inner_one", Gemm{8, 9, 1}, tight},
      {"gemm_square", Gemm{128, 128, 128}, tight},
      {"gemm_bf16", Gemm{33, 21, 47, bf16}, loose},
      {"gemm_bf16_accumulate", Gemm{32, 64, 48, bf16, false, false, true}, loose},
      {"gemm_tf32", Gemm{128, 64, 256, f32, false, true, true, tf32}, cut},

      {"mse", MseLoss{{4, 10}, f32, 40}, tight},
      {"mse_micro_batch", MseLoss{{12, 1000}, f32, 120000, true}, tight},
      {"mse_many_blocks", MseLoss{{24, 1000}, f32, 24000}, tight},
      {"mse_bf16", MseLoss{{4, 10}, bf16, 80}, loose},
      {"sgd", Sgd{1001, 0.25F}, tight},
      {"sgd_large", Sgd{50003, 0.001F}, tight},
      {"sgd_clipped", Sgd{1003, 0.25F, 0, true}, tight},
      {"sgd_momentum", Sgd{1001, 0.25F, 0.9F}, tight},
      {"sgd_momentum_large", Sgd{50003, 0.125F, 0.5F}, tight},
      {"sgd_momentum_clipped", Sgd{3, 0.25F, 0.9F, true}, tight},
      {"accumulate", Accumulate{77}, tight},
      {"accumulate_large", Accumulate{40001}, tight},
      {"add_repeated", AddRepeated{3, 77}, tight},
      {"add_repeated_one_column", AddRepeated{9, 1}, tight},
      {"add_repeated_in_place", AddRepeated{11, 5000}, tight, to_source},
      {"add_repeated_bf16", AddRepeated{3, 77, bf16}, loose},
      {"sum_repeats", SumRepeats{3, 77}, tight},
      {"sum_repeats_accumulate", SumRepeats{5, 5001, f32, true}, tight},
      {"sum_repeats_once", SumRepeats{1, 70}, tight},
      {"sum_repeats_tall", SumRepeats{1500, 3}, tight},
      {"sum_repeats_wide", SumRepeats{131, 333}, tight},
      {"sum_repeats_bf16", SumRepeats{9, 40001, bf16, true}, tight},

      {"fill_uniform", Fill{4099, f32, Distribution::uniform, -2, 5, 7, 3}, 1e-6},
      {"fill_uniform_large", Fill{50001, f32, Distribution::uniform, -1, 1, 1, 1}, 1e-6},
      {"fill_normal", Fill{4099, f32, Distribution::normal, 1, 3, 7, 4}, 2e-6},
      {"fill_normal_large", Fill{50002, f32, Distribution::normal, 0, 1, 1ULL << 40U, 1ULL << 50U},
       2e-6},
      {"fill_constant", Fill{30, f32, Distribution::constant, 0.5F}},
      {"fill_bf16", Fill{20003, bf16, Distribution::uniform, -1, 1, 5, 5}, loose},

      {"reorder_copy", Reorder{f32_image, f32_image}},
      {"reorder_widen", Reorder{bf16_image, f32_image}},
      {"reorder_narrow", Reorder{f32_image, bf16_image}, loose},

      // Normalisation, dropout and scaling of transformers.
      {"layer_norm", LayerNormForward{token_rows}, tight},
      {"layer_norm_odd", LayerNormForward{odd_rows}, tight},
      {"layer_norm_epsilon", LayerNormForward{{3, 33}, f32, 0.25F}, tight},
      {"layer_norm_single_elements", LayerNormForward{{6, 1}}, tight},
      {"layer_norm_one_row", LayerNormForward{{256}}, tight, to_source},
      {"layer_norm_wide", LayerNormForward{{5, 1032}}, tight, to_source},
      {"layer_norm_bf16", LayerNormForward{token_rows, bf16}, loose},
      {"layer_norm_odd_bf16", LayerNormForward{odd_rows, bf16}, loose, to_source},
      {"layer_norm_backward", LayerNormBackward{token_rows}, tight},
      {"layer_norm_backward_odd", LayerNormBackward{odd_rows, f32, 0.25F, true}, tight},
      {"layer_norm_backward_in_place", LayerNormBackward{{3, 33}}, tight, diff_to_diff},
      {"layer_norm_backward_single_elements", LayerNormBackward{{6, 1}}, tight},
      {"layer_norm_backward_one_row", LayerNormBackward{{256}}, tight},
      {"layer_norm_backward_many_rows", LayerNormBackward{{1500, 20}, f32, 1e-5F, true}, tight},
      {"layer_norm_backward_bf16", LayerNormBackward{token_rows, bf16}, loose, diff_to_diff},
      {"layer_norm_backward_odd_bf16", LayerNormBackward{odd_rows, bf16, 1e-5F, true}, loose},

      {"dropout", Dropout{{7, 33}, f32, 0.3F, 5, 6}, tight},
      {"dropout_large", Dropout{{40, 1031}, f32, 0.5F, 5, 7}, tight, to_source},
      {"dropout_rows", Dropout{{2, 5, 8}, f32, 0.9F, 5, 1ULL << 40U}, tight},
      {"dropout_first", Dropout{{9, 21}, f32, 0.3F, 5, 6, 4 * 21 + 1}, tight},
      {"dropout_none", Dropout{{3, 5}, f32, 0, 5, 6}},
      {"dropout_bf16", Dropout{{16, 24}, bf16, 0.25F, 8, 6, 1LL << 34U}, loose},
      {"dropout_first_bf16", Dropout{{7, 33}, bf16, 0.25F, 8, 6, 3}, loose, to_source},

      {"scale", Scale{blocked, f32, 0.3F}, tight},
      {"scale_odd", Scale{odd, f32, -1.5F}, tight, to_source},
      {"scale_matrix", Scale{matrix, f32, 0.3F}, tight},
      {"scale_and_add", Scale{blocked, f32, 0.3F, -2.5F}, tight},
      {"scale_and_add_matrix", Scale{matrix, f32, -1, 1}, tight, to_source},
      {"scale_bf16", Scale{plain, bf16, 0.3F}, loose},
      {"scale_and_add_bf16", Scale{plain, bf16, 0.3F, 1.5F}, loose},

      // Optimisers and gradient clipping.
      {"adam", Adam{1001, 0.01F}, tight},
      {"adam_large", Adam{.count = 50003, .beta1 = 0.5F, .beta2 = 0.9F, .epsilon = 0.1F}, tight},
      {"adam_decay", Adam{.count = 33, .learning_rate = 0.25F, .weight_decay = 0.5F}, tight},
      {"adam_decoupled",
       Adam{.count = 1003, .learning_rate = 0.25F, .weight_decay = 0.5F, .decoupled = true}, tight},
      {"adam_clipped", Adam{.count = 2, .learning_rate = 0.25F, .clipped = true}, tight},
      {"squared_norm", SquaredNorm{1003}, tight},
      {"squared_norm_one", SquaredNorm{1}, tight},
      {"squared_norm_large", SquaredNorm{70001}, tight},
      {"clip_factor", ClipFactor{0.25F, 5}, tight},
      {"clip_factor_one", ClipFactor{1e-3F, 1}, tight},
      {"clip_factor_none", ClipFactor{1e3F, 40}},
  };
}

// Operations of language models.
std::vector<OperationCase> language_cases() {
  const InPlace diff_to_logits{{"diff_logits", "logits"}};
  const AttentionForward causal{.batch = 2, .sequence = 13, .heads = 3, .head_size = 10};
  const AttentionForward whole{
      .batch = 1, .sequence = 9, .heads = 2, .head_size = 7, .causal = false};
  // More than a block of queries, the last one partly filled.
  const AttentionForward blocks{.batch = 1, .sequence = 150, .heads = 2, .head_size = 24};
  const AttentionForward blocks_of_all{
      .batch = 1, .sequence = 141, .heads = 1, .head_size = 16, .causal = false};
  const AttentionForward one{.batch = 1, .sequence = 1, .heads = 1, .head_size = 1};
  const AttentionForward causal_bf16{
      .batch = 2, .sequence = 24, .heads = 2, .head_size = 16, .dtype = bf16};
  const AttentionForward whole_bf16{
      .batch = 1, .sequence = 136, .heads = 3, .head_size = 32, .causal = false, .dtype = bf16};
  const auto backward = [](const AttentionForward& forward) {
    return AttentionBackward{forward.batch,  forward.sequence, forward.heads, forward.head_size,
                             forward.causal, forward.dtype,    forward.math};
  };
  AttentionForward causal_tf32 = causal;
  causal_tf32.math = tf32;
  return {
      // vocabulary, width, count
      {"embedding", EmbeddingForward{11, 12, 40}},
      {"embedding_odd", EmbeddingForward{5, 7, 3}},
      {"embedding_one", EmbeddingForward{1, 1, 1}},
      {"embedding_large", EmbeddingForward{1000, 65, 300}},
      {"embedding_bf16", EmbeddingForward{11, 24, 40, bf16}},
      {"embedding_odd_bf16", EmbeddingForward{5, 7, 3, bf16}},
      {"embedding_backward", EmbeddingBackward{11, 12, 40}, tight},
      {"embedding_backward_odd", EmbeddingBackward{5, 7, 3}, tight},
      {"embedding_backward_one", EmbeddingBackward{1, 1, 1}, tight},
      {"embedding_backward_one_row", EmbeddingBackward{1, 33, 300}, tight},
      {"embedding_backward_accumulate", EmbeddingBackward{11, 12, 40, f32, true}, tight},
      {"embedding_backward_large", EmbeddingBackward{1000, 65, 300}, tight},
      {"embedding_backward_wide", EmbeddingBackward{40, 600, 530, f32, true}, tight},
      {"embedding_backward_bf16", EmbeddingBackward{11, 24, 40, bf16}, tight},
      {"embedding_backward_odd_bf16", EmbeddingBackward{5, 7, 30, bf16, true}, tight},

      // rows, classes, type, total
      {"cross_entropy", SoftmaxCrossEntropy{7, 33, f32, 7}, tight},
      {"cross_entropy_one_class", SoftmaxCrossEntropy{4, 1, f32, 4}, tight},
      {"cross_entropy_two_classes", SoftmaxCrossEntropy{9, 2, f32, 9}, tight},
      {"cross_entropy_micro_batch", SoftmaxCrossEntropy{12, 1000, f32, 48, -1, true}, tight},
      {"cross_entropy_in_place", SoftmaxCrossEntropy{5, 131, f32, 5}, tight, diff_to_logits},
      {"cross_entropy_ignores_a_class", SoftmaxCrossEntropy{20, 17, f32, 13, 2}, tight},
      {"cross_entropy_many_rows", SoftmaxCrossEntropy{300, 90, f32, 300}, tight},
      {"cross_entropy_vocabulary", SoftmaxCrossEntropy{3, 50257, f32, 3}, tight},
      {"cross_entropy_bf16", SoftmaxCrossEntropy{9, 1001, bf16, 9}, loose},
      {"cross_entropy_in_place_bf16", SoftmaxCrossEntropy{5, 64, bf16, 10, -1, true}, loose,
       diff_to_logits},

      {"attention", causal, tight},
      {"attention_of_all_keys", whole, tight},
      {"attention_blocks", blocks, tight},
      {"attention_blocks_of_all_keys", blocks_of_all, tight},
      {"attention_one", one, tight},
      {"attention_bf16", causal_bf16, loose},
      {"attention_of_all_keys_bf16", whole_bf16, loose},
      {"attention_tf32", causal_tf32, cut},
      {"attention_backward", backward(causal), tight},
      {"attention_backward_of_all_keys", backward(whole), tight},
      {"attention_backward_blocks", backward(blocks), tight},
      {"attention_backward_blocks_of_all_keys", backward(blocks_of_all), tight},
      {"attention_backward_one", backward(one), tight},
      {"attention_backward_bf16", backward(causal_bf16), 2 * loose},
      {"attention_backward_of_all_keys_bf16", backward(whole_bf16), 2 * loose},
  };
}

std::vector<OperationCase> all_cases() {
  std::vector<OperationCase> cases = table();
  for (const std::vector<OperationCase>& more :
       {language_cases(), lstm_cases(), image_cases(), map_cases(), extreme_cases(),
        kernel_size_cases()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

}  // namespace

const std::vector<OperationCase>& operation_cases() {
  static const std::vector<OperationCase> cases = all_cases();
  return cases;
}

}  // namespace parbench::test
