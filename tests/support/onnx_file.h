// ONNX files from the text form of the onnx library, for tests of what reads them.
#pragma once

#include <filesystem>
#include <string>

namespace parbench::test {

/// A constant of zeros: `shape` is "8, 3, 3, 3".
[[nodiscard]] std::string onnx_zeros(const std::string& name, const std::string& shape);
/// A constant of so many whole numbers: `numbers` is "0, -1".
[[nodiscard]] std::string onnx_integers(const std::string& name, const std::string& numbers,
                                        int count);
/// Convolution of 3×3 with padding; `more` are further attributes, after a comma.
[[nodiscard]] std::string onnx_convolution(const std::string& output, const std::string& input,
                                           const std::string& shape, const std::string& more = "");
/// The same with a bias, as exporters write one that they have folded a normalisation into.
[[nodiscard]] std::string onnx_biased_convolution(const std::string& output,
                                                  const std::string& input,
                                                  const std::string& shape);
[[nodiscard]] std::string onnx_normalisation(const std::string& output, const std::string& input,
                                             const std::string& channels);
/// From images of 8 channels to output y of ten classes, by a linear layer fc.
[[nodiscard]] std::string onnx_classifier(const std::string& input);

/// Writes a file whose nodes lie between `inputs` ("float[N, 3, 32, 32] x") and output y. Throws
/// std::runtime_error for text that is none.
void write_onnx(const std::filesystem::path& path, const std::string& inputs,
                const std::string& nodes, int opset = 13);

}  // namespace parbench::test
