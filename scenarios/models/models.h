// The models that scenarios train.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/models/network.h"

namespace parbench {

/// Number of classes of the models of images except U-Net, as in ImageNet.
inline constexpr std::int64_t image_classes = 1000;

/// Throws std::invalid_argument for an image size below 32, which cannot be halved five times.
void check_image(std::int64_t image);

/// ResNet (He et al. 2015) of 18, 34, 50, 101 or 152 layers in the variant of torchvision, with the
/// stride of a bottleneck in its 3×3 convolution. Units: stem, layer1.0 …, head. `image` is the
/// height and width of the three-channel input, at least 32. Throws std::invalid_argument for
/// another depth.
[[nodiscard]] Network resnet(int depth, std::int64_t image);

/// VGG-16 (Simonyan, Zisserman 2014), configuration D, as in torchvision, but without torchvision's
/// adaptive pooling, which matters only for image sizes other than 224: the classifier reads the
/// features directly. Units: the five groups of convolutions, the classifier. `image` is at least
/// 32.
[[nodiscard]] Network vgg16(std::int64_t image);

/// GoogLeNet (Szegedy et al. 2014) as in torchvision: with batch normalisation, 3×3 instead of 5×5
/// in the third branch, and without auxiliary classifiers and dropout. Units: stem, inception3a …,
/// head. `image` is at least 32.
[[nodiscard]] Network googlenet(std::int64_t image);

/// MobileNetV3 (Howard et al. 2019), large or small, as in torchvision, without dropout. Units:
/// stem, features.1 …, head. `image` is at least 32.
[[nodiscard]] Network mobilenetv3(bool small, std::int64_t image);

struct ConvNextSizes {
  std::int64_t image = 128;  // at least 32
  std::int64_t layers = 9;   // blocks of the third stage; the others have three each
  std::int64_t hidden = 96;  // channels of the first stage, doubled in each further stage
};

/// ConvNeXt (Liu et al. 2022) as in torchvision, without stochastic depth; the defaults are size T.
/// Units: stem, stages.0.0 …, head.
[[nodiscard]] Network convnext(const ConvNextSizes& sizes);

struct UnetSizes {
  std::int64_t image = 128;  // a multiple of 2^layers
  std::int64_t layers = 4;
  std::int64_t hidden = 64;  // channels at the image's size, doubled at each halving of the image
};

/// U-Net (Ronneberger, Fischer, Brox 2015) in the form that is common today: convolutions keep the
/// size of their images and are normalised; up-convolutions have no bias. Each level of the decoder
/// reads the corresponding level of the encoder, so that up to `layers` + 1 tensors cross between
/// units. The loss is the mean squared error over the classes of all pixels. Units: down.0 …,
/// bottom, up.3 … up.0, head. Throws std::invalid_argument for unsupported sizes.
[[nodiscard]] Network unet(const UnetSizes& sizes);

/// Sizes of GPT and BERT.
struct TransformerSizes {
  std::int64_t layers = 4;
  std::int64_t hidden = 256;  // a multiple of `heads`
  std::int64_t heads = 4;
  std::int64_t sequence = 128;
  std::int64_t vocabulary = 8192;
  bool tied_head = false;  // the head has the embedding's table and no bias
};

/// Decoder-only transformer with pre-normalisation and learned positions (Radford et al. 2019:
/// GPT-2, whose head is tied). Throws std::invalid_argument unless `heads` divides `hidden`. The
/// loss is the cross-entropy of the next token. Units: embedding, h.0 …, head.
[[nodiscard]] Network gpt(const TransformerSizes& sizes);

struct BlockSizes {
  std::int64_t hidden = 256;  // a multiple of `heads`
  std::int64_t heads = 4;
  std::int64_t sequence = 128;
};

/// A single block of `gpt`, from and to a sequence of positions: attention and a perceptron of two
/// layers, each after a normalisation and with a residual connection. The loss is the mean squared
/// error. Throws std::invalid_argument unless `heads` divides `hidden`.
[[nodiscard]] Network transformer_block(const BlockSizes& sizes);
/// The second half of transformer_block: the perceptron.
[[nodiscard]] Network perceptron_block(const BlockSizes& sizes);

struct LlamaSizes {
  std::int64_t layers = 4;
  std::int64_t hidden = 256;  // an even multiple of `heads`
  std::int64_t heads = 4;     // a multiple of `kv_heads`
  std::int64_t kv_heads = 2;  // heads of keys and of values
  std::int64_t sequence = 128;
  std::int64_t vocabulary = 8192;
  // ratio of a perceptron's width to `hidden`; the width is rounded up to a multiple of 64
  double expansion = 8.0 / 3;
  double rotary_base = 10000;
  /// Number of expert perceptrons, two of which process each token (Jiang et al. 2024: Mixtral); 0:
  /// one perceptron for all tokens.
  std::int64_t experts = 0;
  bool tied_head = false;  // the head has the embedding's table
};

/// Decoder-only transformer like Llama (Touvron et al. 2023): RMS pre-normalisation, rotary
/// positions, heads of queries that share keys and values, perceptrons gated by SiLU, and no
/// biases. Each expert processes a fixed, equal number of random tokens (experts.h); the router
/// only weights the outputs of a token's experts. Throws std::invalid_argument unless `heads`
/// divides `hidden` into even parts, `kv_heads` divides `heads`, and `experts` is 0, or at least 2
/// and a divisor of 2·`sequence`. The loss is the cross-entropy of the next token. Units:
/// embedding, layers.0 …, head.
[[nodiscard]] Network llama(const LlamaSizes& sizes);

/// Text encoder with post-normalisation and the head of a masked language model (Devlin et al.
/// 2018: BERT, whose head is tied), without dropout. All tokens belong to one segment. Throws
/// std::invalid_argument unless `heads` divides `hidden`. The loss is the cross-entropy of all
/// positions. Units: embedding, layer.0 …, head.
[[nodiscard]] Network bert(const TransformerSizes& sizes);

struct VitSizes {
  std::int64_t image = 128;  // a multiple of 16
  std::int64_t layers = 12;
  std::int64_t hidden = 192;  // a multiple of `heads`
  std::int64_t heads = 3;
};

/// Vision transformer (Dosovitskiy et al. 2020) with patches of 16 pixels, as in torchvision,
/// without dropout; the defaults have the size of DeiT-Ti (Touvron et al. 2020). Units: patches,
/// layers.0 …, head. Throws std::invalid_argument unless `image` is a multiple of 16 and `heads`
/// divides `hidden`.
[[nodiscard]] Network vit(const VitSizes& sizes);

struct RnnLmSizes {
  std::int64_t vocabulary = 10000;
  std::int64_t embedding = 650;  // width of a token
  std::int64_t hidden = 650;     // width of a state
  std::int64_t layers = 2;
  std::int64_t sequence = 35;
};

/// Recurrent language model: an embedding, stacked LSTMs and a projection to the vocabulary, with a
/// dropout of 0.5 before each LSTM and the projection (Zaremba, Sutskever, Vinyals 2014; the
/// defaults are its "medium" size). The loss is the cross-entropy of the next token. The sequences
/// of a batch belong to one length group: their lengths are more than half of `sequence`, at most
/// `sequence`. Units: embedding, lstm.0 …, head.
[[nodiscard]] Network rnn_lm(const RnnLmSizes& sizes);

/// Multi-layer perceptron: `layers` linear layers with `hidden` inputs and outputs, and a ReLU
/// after each but the last. Every linear layer starts a unit.
[[nodiscard]] Network perceptron(std::int64_t layers, std::int64_t hidden);

/// Two units, Linear 10→10 with ReLU and Linear 10→5: too small to gain from several devices.
[[nodiscard]] Network toy_model();

/// Linear 5→2: the model of PyTorch's tutorial on data parallelism.
[[nodiscard]] Network linear_model();

/// Sizes with which a model is built, by name, such as {"image", 128}.
using ModelSizes = std::map<std::string, std::int64_t, std::less<>>;

inline constexpr std::array<std::string_view, 9> model_size_names{
    "image",   "layers",   "hidden",     "heads",    "kv-heads",
    "experts", "sequence", "vocabulary", "embedding"};

struct Model {
  std::string name;
  ModelSizes sizes = {};  // sizes of the model, with default values
  std::int64_t quick_batch = 24;
  /// Makes the network. `sizes` must have a value for each size of the model.
  std::function<Network(const ModelSizes& sizes)> make = {};
  /// Makes the network with a head that uses the embedding's table; empty if not supported.
  std::function<Network(const ModelSizes& sizes)> make_tied = {};
};

/// Returns all shipped models, the default first.
[[nodiscard]] const std::vector<Model>& models();
[[nodiscard]] std::vector<std::string> model_names();

/// Makes the network. Sizes that are not in `given` have default values. Throws UsageError for
/// invalid sizes.
[[nodiscard]] Network make_network(const Model& model, const ModelSizes& given);
/// Throws UsageError, which names the size as a flag, if the model lacks it.
void check_has_size(const Model& model, std::string_view size);

/// Returns the model with a tied head. Throws UsageError if the model does not support one.
[[nodiscard]] Model with_tied_head(const Model& model);

/// User options for a network from a file, in addition to the network's sizes.
struct FileOptions {
  std::optional<Loss> loss = {};  // nothing: derived from the network's last operators
  /// Whether parameters are initialised with the file's values; otherwise randomly.
  bool stored_weights = false;
  /// Sizes of open dimensions of inputs, and values of inputs without dimensions, by name.
  std::map<std::string, std::int64_t, std::less<>> dimensions = {};
  std::string prediction = {};  // name of the output for the loss; empty: the first one

  friend bool operator==(const FileOptions&, const FileOptions&) = default;
};

/// Names of the axes for these options.
inline constexpr std::array<std::string_view, 4> file_option_names{"dim", "prediction", "loss",
                                                                   "weights"};

/// Returns a shipped model or, for a name that ends with ".onnx", the model of that file
/// (onnx/model.h). Throws std::out_of_range for other names, and UsageError for files that cannot
/// be read and for file options with a shipped model.
[[nodiscard]] Model model_named(std::string_view name, const FileOptions& options = {});

/// Parses the value of --dim: "NAME=SIZE", several joined by '+'. Throws UsageError.
[[nodiscard]] std::map<std::string, std::int64_t, std::less<>> dimensions_named(
    std::string_view text);
/// Returns the loss of that name. Throws std::out_of_range for an unknown name.
[[nodiscard]] Loss loss_named(std::string_view name);
inline constexpr std::array<std::string_view, 2> loss_names{"mse", "cross-entropy"};

}  // namespace parbench
