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

/// Throws std::invalid_argument for images so small that five halvings leave nothing of them.
void check_image(std::int64_t image);

/// ResNet (He et al. 2015) of 18, 34, 50, 101 or 152 layers in the variant of torchvision: the
/// stride of a bottleneck lies in its 3×3 convolution. Units: stem, layer1.0 …, head. `image` is
/// the height and width of the three-channel input, at least 32. Throws std::invalid_argument for
/// another depth.
[[nodiscard]] Network resnet(int depth, std::int64_t image, std::int64_t classes = 1000);

/// VGG-16 (Simonyan, Zisserman 2014) as torchvision has it, configuration D, but for images of
/// other sizes than 224 without its adaptive pooling: the classifier reads what there is. Units:
/// the five groups of convolutions, the classifier. `image` is at least 32.
[[nodiscard]] Network vgg16(std::int64_t image, std::int64_t classes = 1000);

/// GoogLeNet (Szegedy et al. 2014) as torchvision has it: with batch normalisation, 3×3 for 5×5 in
/// the third branch, and without auxiliary classifiers and dropout. Units: stem, inception3a …,
/// head. `image` is at least 32.
[[nodiscard]] Network googlenet(std::int64_t image, std::int64_t classes = 1000);

/// MobileNetV3 (Howard et al. 2019), large or small, as torchvision has it, without dropout. Units:
/// stem, features.1 …, head. `image` is at least 32.
[[nodiscard]] Network mobilenetv3(bool small, std::int64_t image, std::int64_t classes = 1000);

struct ConvNextSizes {
  std::int64_t image = 128;  // at least 32
  std::int64_t layers = 9;   // blocks of the third stage; the others have three each
  std::int64_t hidden = 96;  // channels of the first stage, twice as many in each further one
};

/// ConvNeXt (Liu et al. 2022) as torchvision has it, without stochastic depth; by default of the
/// size T. Units: stem, stages.0.0 …, head.
[[nodiscard]] Network convnext(const ConvNextSizes& sizes, std::int64_t classes = 1000);

struct UnetSizes {
  std::int64_t image = 128;  // can be halved `layers` times
  std::int64_t layers = 4;
  std::int64_t hidden = 64;  // channels at the image's size, twice as many at each halving
};

/// U-Net (Ronneberger, Fischer, Brox 2015) as it is used today: convolutions keep the size of their
/// images and are normalised; up-convolutions have no bias. Each level of the decoder reads that of
/// the encoder, so that up to `layers` + 1 tensors cross between units. The loss is the mean
/// squared error over the classes of all pixels. Units: down.0 …, bottom, up.3 … up.0, head. Throws
/// std::invalid_argument for images that cannot be halved.
[[nodiscard]] Network unet(const UnetSizes& sizes, std::int64_t image_channels = 3,
                           std::int64_t classes = 2);

struct GptSizes {
  std::int64_t layers = 4;
  std::int64_t hidden = 256;  // a multiple of `heads`
  std::int64_t heads = 4;
  std::int64_t sequence = 128;
  std::int64_t vocabulary = 8192;
  bool tied_head = false;  // the head has the embedding's table and no bias
};

/// Decoder-only transformer with normalisation ahead of each part and learned positions (Radford et
/// al. 2019: GPT-2, whose head is tied). Throws std::invalid_argument for a width that the heads do
/// not divide. The loss is the cross-entropy of the next token. Units: embedding, h.0 …, head.
[[nodiscard]] Network gpt(const GptSizes& sizes);

struct BlockSizes {
  std::int64_t hidden = 256;  // a multiple of `heads`
  std::int64_t heads = 4;
  std::int64_t sequence = 128;
};

/// A block of that transformer by itself, from and to a sequence of positions: attention and a
/// perceptron of two layers, each behind a normalisation and beside a residual connection. The loss
/// is the mean squared error. Throws std::invalid_argument for a width that the heads do not
/// divide.
[[nodiscard]] Network transformer_block(const BlockSizes& sizes);
/// Its second half: the perceptron.
[[nodiscard]] Network perceptron_block(const BlockSizes& sizes);

struct LlamaSizes {
  std::int64_t layers = 4;
  std::int64_t hidden = 256;  // an even multiple of `heads`
  std::int64_t heads = 4;     // a multiple of `kv_heads`
  std::int64_t kv_heads = 2;  // of keys and of values
  std::int64_t sequence = 128;
  std::int64_t vocabulary = 8192;
  double expansion = 8.0 / 3;  // a perceptron's width by `hidden`, rounded up to a multiple of 64
  double rotary_base = 10000;
  /// Perceptrons of which each token passes two (Jiang et al. 2024: Mixtral); 0: one for all.
  std::int64_t experts = 0;
  bool tied_head = false;  // the head has the embedding's table
};

/// Decoder-only transformer of Llama's kind (Touvron et al. 2023): RMS normalisation ahead of each
/// part, rotary positions, heads of queries that share keys and values, perceptrons gated by SiLU,
/// and no biases. Experts take fixed, equal numbers of random tokens (experts.h); the
/// router's numbers are weights alone. Throws std::invalid_argument for heads and experts that do
/// not divide. The loss is the cross-entropy of the next token. Units: embedding, layers.0 …, head.
[[nodiscard]] Network llama(const LlamaSizes& sizes);

struct BertSizes {
  std::int64_t layers = 4;
  std::int64_t hidden = 256;  // a multiple of `heads`
  std::int64_t heads = 4;
  std::int64_t sequence = 128;
  std::int64_t vocabulary = 8192;
  bool tied_head = false;  // the head has the embedding's table and no bias
};

/// Encoder of text with normalisations behind each part, and the head of a masked language model
/// (Devlin et al. 2018: BERT, whose head is tied), without dropout. All tokens are of one segment.
/// Throws std::invalid_argument for a width that the heads do not divide. The loss is the
/// cross-entropy of all positions. Units: embedding, layer.0 …, head.
[[nodiscard]] Network bert(const BertSizes& sizes);

struct VitSizes {
  std::int64_t image = 128;  // a multiple of 16
  std::int64_t layers = 12;
  std::int64_t hidden = 192;  // a multiple of `heads`
  std::int64_t heads = 3;
};

/// Vision transformer (Dosovitskiy et al. 2020) of patches of 16 pixels as torchvision has it,
/// without dropout; by default of the size of DeiT-Ti (Touvron et al. 2020). Units: patches,
/// layers.0 …, head. Throws std::invalid_argument for other images, and for a width that the heads
/// do not divide.
[[nodiscard]] Network vit(const VitSizes& sizes, std::int64_t classes = 1000);

struct RnnLmSizes {
  std::int64_t vocabulary = 10000;
  std::int64_t embedding = 650;  // width of a token
  std::int64_t hidden = 650;     // width of a state
  std::int64_t layers = 2;
  std::int64_t sequence = 35;
};

/// Recurrent language model: an embedding, stacked LSTMs, each input of them and of the projection
/// to the vocabulary behind a dropout of a half (Zaremba, Sutskever, Vinyals 2014, whose "medium"
/// size the defaults are). The loss is the cross-entropy of the next token. The sequences of a
/// batch have lengths of one bucket, from more than half of `sequence` up to it. Units: embedding,
/// lstm.0 …, head.
[[nodiscard]] Network rnn_lm(const RnnLmSizes& sizes);

/// Multi-layer perceptron: `layers` linear layers of `hidden` inputs and outputs, with a ReLU
/// behind each but the last. Every linear layer starts a unit.
[[nodiscard]] Network perceptron(std::int64_t layers, std::int64_t hidden);

/// Linear 10→10, ReLU | Linear 10→5: how small can a model be before splitting it is absurd?
[[nodiscard]] Network toy_model();

/// Linear 5→2: the model of PyTorch's tutorial on data parallelism.
[[nodiscard]] Network linear_model();

/// The sizes that a model is built with, by name: {"image", 128}.
using ModelSizes = std::map<std::string, std::int64_t, std::less<>>;

/// The names of all sizes that models have.
inline constexpr std::array<std::string_view, 9> model_size_names{
    "image",   "layers",   "hidden",     "heads",    "kv-heads",
    "experts", "sequence", "vocabulary", "embedding"};

/// A model by its name, as users choose it.
struct Model {
  std::string name;
  ModelSizes sizes;  // those that it has, with their usual values
  std::int64_t quick_batch = 24;
  /// Needs a value for each of its sizes.
  std::function<Network(const ModelSizes& sizes)> make;
  /// The same with a head that has the embedding's table; empty where there is none.
  std::function<Network(const ModelSizes& sizes)> make_tied = {};
};

/// All that ship, the default first.
[[nodiscard]] const std::vector<Model>& models();
[[nodiscard]] std::vector<std::string> model_names();

/// Makes the network; sizes that are not given have their usual values. Throws UsageError for sizes
/// that the model cannot have.
[[nodiscard]] Network make_network(const Model& model, const ModelSizes& given);
/// Throws UsageError, which names the size as a flag, where the model has none of that name.
void check_has_size(const Model& model, std::string_view size);

/// The model with its head tied. Throws UsageError where it has none.
[[nodiscard]] Model with_tied_head(const Model& model);

/// What a user decides of a network from a file, beside its sizes.
struct FileOptions {
  std::optional<Loss> loss = {};  // nothing: it follows from the network's end
  /// Whether parameters begin with the file's values; else they are drawn.
  bool stored_weights = false;
  /// Sizes of open dimensions of the input by their names.
  std::map<std::string, std::int64_t, std::less<>> dimensions = {};
  std::string prediction = {};  // the name of the output that the loss is of; empty: the first one
};

/// The names of the axes that set them.
inline constexpr std::array<std::string_view, 4> file_option_names{"dim", "prediction", "loss",
                                                                   "weights"};

/// Returns one of them, or reads the file that the name is the path of, as onnx/model.h says.
/// Throws std::out_of_range for a name that is neither, and UsageError for options of a model that
/// is no file.
[[nodiscard]] Model model_named(std::string_view name, const FileOptions& options = {});

/// Reads "NAME=SIZE", several joined by '+', as --dim has them. Throws UsageError.
[[nodiscard]] std::map<std::string, std::int64_t, std::less<>> dimensions_named(
    std::string_view text);
/// Throws std::out_of_range for a name that is none.
[[nodiscard]] Loss loss_named(std::string_view name);
/// The names of all losses.
inline constexpr std::array<std::string_view, 2> loss_names{"mse", "cross-entropy"};

}  // namespace parbench
