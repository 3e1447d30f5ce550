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

}  // namespace parbench::test
