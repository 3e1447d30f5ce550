// Published networks as the nodes of ONNX files (onnx_file.h), with their exporters' habits.
// Weights are zeros that the file computes.
#pragma once

#include <string>

namespace parbench::test {

/// SqueezeNet 1.1 (Iandola et al. 2016), from images x to softmax y of 1000 classes; operator
/// set 9.
[[nodiscard]] std::string onnx_squeezenet();

/// Inception v1 (Szegedy et al. 2014, as Caffe's bvlc_googlenet: with local response normalisation
/// and without auxiliary classifiers), from images x of 224 to softmax y; operator set 9.
[[nodiscard]] std::string onnx_inception_v1();

/// Where the blocks of a transformer have their normalisations: before each part, or after its
/// sum.
enum class NormPlace { first, last };

/// The input of onnx_transformer: sequences of 4 positions of 8 numbers.
inline constexpr const char* onnx_transformer_input = "float[N, 4, 8] x";

/// Transformer encoder from x to y of 6 numbers at each position, without biases of its products:
/// blocks "b0" … of attention with two heads (layers q, k, v, out) and of a perceptron (fc, proj),
/// both with a residual connection and a normalisation (norm.a, norm.b), then layer head; operator
/// set 17.
[[nodiscard]] std::string onnx_transformer(int blocks, NormPlace place);

/// Residual network with pre-activation (He et al. 2016) from images x of 3 channels to y of ten
/// classes: layer stem, blocks "b0" … of two convolutions of 8 channels (bn.a, conv.a, bn.b,
/// conv.b) and layer fc; operator set 13.
[[nodiscard]] std::string onnx_pre_activation_resnet(int blocks);

}  // namespace parbench::test
