// Networks from their tables of channels.
#include "tests/support/onnx_networks.h"

#include <fmt/format.h>

#include <array>

#include "tests/support/onnx_file.h"

namespace parbench::test {
namespace {

/// A convolution with bias, and the ReLU after it, whose output has the name.
std::string convolved(const std::string& name, const std::string& input, int in, int out,
                      int kernel, int padding, int stride = 1) {
  return onnx_zeros(name + "_w", fmt::format("{}, {}, {}, {}", out, in, kernel, kernel)) +
         onnx_zeros(name + "_b", fmt::to_string(out)) +
         fmt::format(
             "{0}_c = Conv <kernel_shape = [{2}, {2}], pads = [{3}, {3}, {3}, {3}], "
             "strides = [{4}, {4}]> ({1}, {0}_w, {0}_b) {0} = Relu ({0}_c) ",
             name, input, kernel, padding, stride);
}

/// A maximum over 3×3 with padding `after` below and on the right alone where `front` is 0.
std::string pooled(const std::string& name, const std::string& input, int stride, int front,
                   int after) {
  return fmt::format(
      "{0} = MaxPool <kernel_shape = [3, 3], strides = [{2}, {2}], "
      "pads = [{3}, {3}, {4}, {4}]> ({1}) ",
      name, input, stride, front, after);
}

std::string fire(const std::string& name, const std::string& input, int in, int squeezed,
                 int expanded) {
  return convolved(name + "_s", input, in, squeezed, 1, 0) +
         convolved(name + "_a", name + "_s", squeezed, expanded, 1, 0) +
         convolved(name + "_e", name + "_s", squeezed, expanded, 3, 1) +
         fmt::format("{0} = Concat <axis = 1> ({0}_a, {0}_e) ", name);
}

/// Channels of an inception module: 1×1; 3×3 after a reduction; 5×5 after a reduction; after the
/// maximum.
struct Module {
  const char* name;
  int in;
  int one;
  int reduced_three;
  int three;
  int reduced_five;
  int five;
  int projected;
};

std::string inception(const Module& module, const std::string& input) {
  const std::string name = module.name;
  return convolved(name + "_p", input, module.in, module.one, 1, 0) +
         convolved(name + "_q", input, module.in, module.reduced_three, 1, 0) +
         convolved(name + "_r", name + "_q", module.reduced_three, module.three, 3, 1) +
         convolved(name + "_s", input, module.in, module.reduced_five, 1, 0) +
         convolved(name + "_t", name + "_s", module.reduced_five, module.five, 5, 2) +
         pooled(name + "_u", input, 1, 1, 1) +
         convolved(name + "_v", name + "_u", module.in, module.projected, 1, 0) +
         fmt::format("{0} = Concat <axis = 1> ({0}_p, {0}_r, {0}_t, {0}_v) ", name);
}

/// A product with a matrix {inputs, outputs}, whose output has the name.
std::string projected(const std::string& name, const std::string& input, int inputs, int outputs) {
  return onnx_zeros(name + ".weight", fmt::format("{}, {}", inputs, outputs)) +
         fmt::format("{0} = MatMul ({1}, {0}.weight) ", name, input);
}

std::string layer_norm(const std::string& name, const std::string& input) {
  return onnx_zeros(name + ".weight", "8") + onnx_zeros(name + ".bias", "8") +
         fmt::format("{0} = LayerNormalization <axis = -1> ({1}, {0}.weight, {0}.bias) ", name,
                     input);
}

/// Two heads of 4, from sequences of 4 positions to `name`.out.
std::string attention(const std::string& name, const std::string& input) {
  std::string text = onnx_integers(name + ".heads", "0, 4, 2, 4", 4) +
                     onnx_integers(name + ".joined", "0, 4, 8", 3) +
                     fmt::format("{}.scale = Constant <value_float = 0.5> () ", name);
  for (const std::string part : {".q", ".k", ".v"}) {
    text += projected(name + part, input, 8, 8);
    text += fmt::format("{0}{1}.r = Reshape ({0}{1}, {0}.heads) ", name, part) +
            fmt::format("{0}{1}.t = Transpose <perm = [{2}]> ({0}{1}.r) ", name, part,
                        part == ".k" ? "0, 2, 3, 1" : "0, 2, 1, 3");
  }
  text += fmt::format(
      "{0}.products = MatMul ({0}.q.t, {0}.k.t) {0}.scaled = Mul ({0}.products, {0}.scale) "
      "{0}.shares = Softmax <axis = -1> ({0}.scaled) {0}.mixed = MatMul ({0}.shares, {0}.v.t) "
      "{0}.mixed.t = Transpose <perm = [0, 2, 1, 3]> ({0}.mixed) "
      "{0}.mixed.r = Reshape ({0}.mixed.t, {0}.joined) ",
      name);
  return text + projected(name + ".out", name + ".mixed.r", 8, 8);
}

/// From any sequences of 8 to `name`.proj.
std::string perceptron(const std::string& name, const std::string& input) {
  return projected(name + ".fc", input, 8, 16) + fmt::format("{0}.relu = Relu ({0}.fc) ", name) +
         projected(name + ".proj", name + ".relu", 16, 8);
}

std::string response_norm(const std::string& name, const std::string& input) {
  return fmt::format("{} = LRN <size = 5, alpha = 0.0001, beta = 0.75, bias = 1.0> ({}) ", name,
                     input);
}

}  // namespace

std::string onnx_squeezenet() {
  return convolved("stem", "x", 3, 64, 3, 0, 2) + pooled("a", "stem", 2, 0, 0) +
         fire("fb", "a", 64, 16, 64) + fire("fc", "fb", 128, 16, 64) + pooled("b", "fc", 2, 0, 0) +
         fire("fd", "b", 128, 32, 128) + fire("fe", "fd", 256, 32, 128) +
         pooled("c", "fe", 2, 0, 0) + fire("ff", "c", 256, 48, 192) +
         fire("fg", "ff", 384, 48, 192) + fire("fh", "fg", 384, 64, 256) +
         fire("fi", "fh", 512, 64, 256) + "d = Dropout <ratio = 0.5> (fi) " +
         convolved("last", "d", 512, 1000, 1, 0) +
         "mean = GlobalAveragePool (last) "
         "y = Softmax (mean) ";
}

std::string onnx_inception_v1() {
  constexpr std::array<Module, 9> modules{{{"ia", 192, 64, 96, 128, 16, 32, 32},
                                           {"ib", 256, 128, 128, 192, 32, 96, 64},
                                           {"ja", 480, 192, 96, 208, 16, 48, 64},
                                           {"jb", 512, 160, 112, 224, 24, 64, 64},
                                           {"jc", 512, 128, 128, 256, 24, 64, 64},
                                           {"jd", 512, 112, 144, 288, 32, 64, 64},
                                           {"je", 528, 256, 160, 320, 32, 128, 128},
                                           {"ka", 832, 256, 160, 320, 32, 128, 128},
                                           {"kb", 832, 384, 192, 384, 48, 128, 128}}};
  std::string text = convolved("stem", "x", 3, 64, 7, 3, 2) + pooled("a", "stem", 2, 0, 0) +
                     response_norm("na", "a") + convolved("reduced", "na", 64, 64, 1, 0) +
                     convolved("second", "reduced", 64, 192, 3, 1) + response_norm("nb", "second") +
                     pooled("b", "nb", 2, 0, 0);
  std::string input = "b";
  for (const Module& module : modules) {
    text += inception(module, input);
    input = module.name;
    // Caffe rounds sizes of pooled images up: the exporter pads at one end.
    if (input == "ib" || input == "je") {
      text += pooled(input + "_pool", input, 2, 0, 0);
      input += "_pool";
    }
  }
  return text + onnx_zeros("fc_v", "1, 1, 1000, 1024") + onnx_zeros("fc_b", "1000") +
         "as = Constant <value = int64[2] {1000, -1}> () fc_w = Reshape (fc_v, as) "
         "mean = AveragePool <kernel_shape = [7, 7], pads = [0, 0, 1, 1]> (kb) "
         "d = Dropout <ratio = 0.4> (mean) "
         "to = Constant <value = int64[2] {1, 1024}> () rows = Reshape (d, to) "
         "f = Gemm <transB = 1> (rows, fc_w, fc_b) y = Softmax (f) ";
}

std::string onnx_transformer(int blocks, NormPlace place) {
  std::string text;
  std::string stream = "x";
  for (int i = 0; i < blocks; ++i) {
    const std::string block = fmt::format("b{}", i);
    const auto add_part = [&](const std::string& part, const auto& nodes, const std::string& end) {
      const std::string norm = fmt::format("{}.norm.{}", block, part);
      const std::string sum = fmt::format("{}.sum.{}", block, part);
      const bool is_first = place == NormPlace::first;
      if (is_first) text += layer_norm(norm, stream);
      text += nodes(block, is_first ? norm : stream) +
              fmt::format("{} = Add ({}, {}.{}) ", sum, stream, block, end);
      if (!is_first) text += layer_norm(norm, sum);
      stream = is_first ? sum : norm;
    };
    add_part("a", attention, "out");
    add_part("b", perceptron, "proj");
  }
  return text + onnx_zeros("head.weight", "8, 6") +
         fmt::format("y = MatMul ({}, head.weight) ", stream);
}

std::string onnx_pre_activation_resnet(int blocks) {
  std::string text = onnx_convolution("stem", "x", "8, 3, 3, 3");
  std::string stream = "stem";
  for (int i = 0; i < blocks; ++i) {
    const std::string block = fmt::format("b{}", i);
    std::string input = stream;
    for (const std::string part : {".a", ".b"}) {
      text += onnx_normalisation(block + ".bn" + part, input, "8") +
              fmt::format("{0}.relu{1} = Relu ({0}.bn{1}) ", block, part) +
              onnx_convolution(block + ".conv" + part, block + ".relu" + part, "8, 8, 3, 3");
      input = block + ".conv" + part;
    }
    text += fmt::format("{0}.sum = Add ({1}, {2}) ", block, stream, input);
    stream = block + ".sum";
  }
  return text + onnx_classifier(stream);
}

}  // namespace parbench::test
