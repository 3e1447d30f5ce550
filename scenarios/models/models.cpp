// List of the shipped models, and functions of models.
#include "scenarios/models/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <stdexcept>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/base/number.h"
#include "scenarios/models/onnx/model.h"

namespace parbench {
namespace {

/// Returns a model whose only size is that of its images.
Model sized_by_image(std::string_view name, Network (*network)(std::int64_t image)) {
  return {.name = std::string(name),
          .sizes = {{"image", 128}},
          .make = [=](const ModelSizes& sizes) { return network(sizes.at("image")); }};
}

template <int depth>
Network resnet_of(std::int64_t image) {
  return resnet(depth, image);
}
template <bool small>
Network mobilenet_of(std::int64_t image) {
  return mobilenetv3(small, image);
}

Model without_sizes(std::string_view name, std::int64_t quick_batch, Network (*network)()) {
  return {.name = std::string(name),
          .quick_batch = quick_batch,
          .make = [=](const ModelSizes& /*none*/) { return network(); }};
}

/// Sizes of a model that users can set, by name.
template <class Sizes>
using SizeFields = std::vector<std::pair<std::string, std::int64_t Sizes::*>>;

/// Returns a model that is built with the sizes in `usual`, of which users can set those in
/// `fields`.
template <class Sizes>
Model sized(std::string_view name, const Sizes& usual, std::int64_t quick_batch,
            const SizeFields<Sizes>& fields, Network (*network)(const Sizes&)) {
  Model model{.name = std::string(name), .quick_batch = quick_batch};
  for (const auto& [size, member] : fields) model.sizes[size] = usual.*member;
  model.make = [=](const ModelSizes& sizes) {
    Sizes wanted = usual;
    for (const auto& [size, member] : fields) wanted.*member = sizes.at(size);
    return network(wanted);
  };
  return model;
}

/// Returns a model of images with the sizes "hidden", "image" and "layers".
template <class Sizes>
Model of_images(std::string_view name, const Sizes& usual, std::int64_t quick_batch,
                Network (*network)(const Sizes&)) {
  const SizeFields<Sizes> fields{
      {"hidden", &Sizes::hidden}, {"image", &Sizes::image}, {"layers", &Sizes::layers}};
  return sized(name, usual, quick_batch, fields, network);
}

constexpr UnetSizes tiny_unet{.image = 32, .layers = 2, .hidden = 16};

/// Returns a transformer of tokens that is built with the settings in `usual`. Users can set the
/// sizes that all such transformers have, the sizes `more`, and the kind of head.
template <class Sizes>
Model of_tokens(std::string_view name, const Sizes& usual, std::int64_t quick_batch,
                Network (*network)(const Sizes&), const SizeFields<Sizes>& more = {}) {
  SizeFields<Sizes> fields{{"heads", &Sizes::heads},
                           {"hidden", &Sizes::hidden},
                           {"layers", &Sizes::layers},
                           {"sequence", &Sizes::sequence},
                           {"vocabulary", &Sizes::vocabulary}};
  fields.insert(fields.end(), more.begin(), more.end());
  Model model = sized(name, usual, quick_batch, fields, network);
  Sizes tied = usual;
  tied.tied_head = true;
  model.make_tied = sized(name, tied, quick_batch, fields, network).make;
  return model;
}

Model llama_like(std::string_view name, const LlamaSizes& usual, std::int64_t quick_batch) {
  SizeFields<LlamaSizes> more{{"kv-heads", &LlamaSizes::kv_heads}};
  if (usual.experts > 0) more.emplace_back("experts", &LlamaSizes::experts);
  return of_tokens(name, usual, quick_batch, llama, more);
}

/// The smallest GPT-2 (Radford et al. 2019).
constexpr TransformerSizes gpt2_124m{
    .layers = 12, .hidden = 768, .heads = 12, .sequence = 1024, .vocabulary = 50257};
constexpr TransformerSizes tiny_gpt{
    .layers = 2, .hidden = 64, .heads = 4, .sequence = 32, .vocabulary = 256};

/// BERT-Base, uncased (Devlin et al. 2018).
constexpr TransformerSizes bert_base{
    .layers = 12, .hidden = 768, .heads = 12, .sequence = 512, .vocabulary = 30522};

constexpr LlamaSizes tiny_llama{
    .layers = 2, .hidden = 64, .heads = 4, .kv_heads = 2, .sequence = 32, .vocabulary = 256};
/// JackFram/llama-160m (Miao et al. 2023: SpecInfer).
constexpr LlamaSizes llama_160m{.layers = 12,
                                .hidden = 768,
                                .heads = 12,
                                .kv_heads = 12,
                                .sequence = 1024,
                                .vocabulary = 32000,
                                .expansion = 4};
/// Llama 3 8B (Grattafiori et al. 2024).
constexpr LlamaSizes llama3_8b{.layers = 32,
                               .hidden = 4096,
                               .heads = 32,
                               .kv_heads = 8,
                               .sequence = 8192,
                               .vocabulary = 128256,
                               .expansion = 3.5,
                               .rotary_base = 500000};

constexpr LlamaSizes small_mixtral{.experts = 8};
/// Mixtral 8x7B (Jiang et al. 2024).
constexpr LlamaSizes mixtral_8x7b{.layers = 32,
                                  .hidden = 4096,
                                  .heads = 32,
                                  .kv_heads = 8,
                                  .sequence = 4096,
                                  .vocabulary = 32000,
                                  .expansion = 3.5,
                                  .rotary_base = 1e6,
                                  .experts = 8};

Model vision_transformer(std::string_view name, const VitSizes& usual, std::int64_t quick_batch) {
  const SizeFields<VitSizes> fields{{"heads", &VitSizes::heads},
                                    {"hidden", &VitSizes::hidden},
                                    {"image", &VitSizes::image},
                                    {"layers", &VitSizes::layers}};
  return sized(name, usual, quick_batch, fields, vit);
}

/// ViT-B/16.
constexpr VitSizes vit_base{.image = 224, .layers = 12, .hidden = 768, .heads = 12};

Model recurrent(std::string_view name, const RnnLmSizes& usual, std::int64_t quick_batch) {
  const SizeFields<RnnLmSizes> fields{{"embedding", &RnnLmSizes::embedding},
                                      {"hidden", &RnnLmSizes::hidden},
                                      {"layers", &RnnLmSizes::layers},
                                      {"sequence", &RnnLmSizes::sequence},
                                      {"vocabulary", &RnnLmSizes::vocabulary}};
  return sized(name, usual, quick_batch, fields, rnn_lm);
}

constexpr RnnLmSizes tiny_rnn_lm{
    .vocabulary = 256, .embedding = 64, .hidden = 64, .layers = 2, .sequence = 16};

Model block(std::string_view name, const BlockSizes& usual, Network (*network)(const BlockSizes&)) {
  SizeFields<BlockSizes> fields{{"hidden", &BlockSizes::hidden},
                                {"sequence", &BlockSizes::sequence}};
  if (usual.heads > 1) fields.emplace_back("heads", &BlockSizes::heads);
  return sized(name, usual, 8, fields, network);
}

Model mlp() {
  return {.name = "mlp",
          .sizes = {{"layers", 4}, {"hidden", 1024}},
          .quick_batch = 120,
          .make = [](const ModelSizes& sizes) {
            return perceptron(sizes.at("layers"), sizes.at("hidden"));
          }};
}

}  // namespace

void check_image(std::int64_t image) {
  constexpr std::int64_t min = 32;
  if (image < min) {
    throw std::invalid_argument(
        fmt::format("--image {} is too small; allowed are {} and more", image, min));
  }
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Model& model : models()) names.push_back(model.name);
  return names;
}

Network make_network(const Model& model, const ModelSizes& given) {
  ModelSizes sizes;
  for (const auto& [name, usual] : model.sizes) {
    const auto found = given.find(name);
    sizes[name] = found == given.end() ? usual : found->second;
  }
  try {
    return model.make(sizes);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--model {}: {}", model.name, error.what()));
  }
}

void check_has_size(const Model& model, std::string_view size) {
  if (model.sizes.contains(size)) return;
  const std::string known = fmt::format("{}", fmt::join(model.sizes | std::views::keys, ", "));
  throw UsageError(
      fmt::format("--{} is not a size of model {}; {}", size, model.name,
                  known.empty() ? "all its sizes are fixed" : "its sizes are: " + known));
}

Model with_tied_head(const Model& model) {
  if (!model.make_tied) {
    throw UsageError(
        fmt::format("--head: the head of model {} cannot share an embedding's table; leave it out",
                    model.name));
  }
  Model tied = model;
  tied.make = model.make_tied;
  return tied;
}

const std::vector<Model>& models() {
  static const std::vector<Model> all = {
      sized_by_image("resnet50", resnet_of<50>),
      sized_by_image("resnet18", resnet_of<18>),
      sized_by_image("resnet34", resnet_of<34>),
      sized_by_image("resnet101", resnet_of<101>),
      sized_by_image("resnet152", resnet_of<152>),
      sized_by_image("vgg16", vgg16),
      sized_by_image("googlenet", googlenet),
      sized_by_image("mobilenetv3", mobilenet_of<false>),
      sized_by_image("mobilenetv3-small", mobilenet_of<true>),
      of_images("convnext", ConvNextSizes(), 8, convnext),
      of_images("unet", UnetSizes(), 4, unet),
      of_images("unet-tiny", tiny_unet, 8, unet),
      of_tokens("gpt", TransformerSizes(), 8, gpt),
      of_tokens("gpt2-124m", gpt2_124m, 2, gpt),
      of_tokens("gpt-tiny", tiny_gpt, 8, gpt),
      llama_like("llama", LlamaSizes(), 8),
      llama_like("llama-160m", llama_160m, 2),
      llama_like("llama3-8b", llama3_8b, 1),
      llama_like("llama-tiny", tiny_llama, 8),
      llama_like("mixtral", small_mixtral, 8),
      llama_like("mixtral-8x7b", mixtral_8x7b, 1),
      of_tokens("bert", TransformerSizes(), 8, bert),
      of_tokens("bert-base", bert_base, 2, bert),
      vision_transformer("vit", VitSizes(), 24),
      vision_transformer("vit-base", vit_base, 8),
      recurrent("rnn-lm", RnnLmSizes(), 20),
      recurrent("rnn-lm-tiny", tiny_rnn_lm, 8),
      block("transformer-block", BlockSizes(), transformer_block),
      block("perceptron-block", {.heads = 1}, perceptron_block),
      mlp(),
      without_sizes("toy", 20, toy_model),
      without_sizes("linear", 30, linear_model)};
  return all;
}

namespace {

/// Returns the first option in use that applies to files only, such as "--loss"; empty if there is
/// none.
std::string_view option_of_files(const FileOptions& options) {
  if (options.loss) return "--loss";
  if (options.stored_weights) return "--weights file";
  if (!options.prediction.empty()) return "--prediction";
  return options.dimensions.empty() ? "" : "--dim";
}

}  // namespace

std::map<std::string, std::int64_t, std::less<>> dimensions_named(std::string_view text) {
  constexpr std::int64_t max_size = 1 << 24;
  std::map<std::string, std::int64_t, std::less<>> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('+', begin), text.size());
    const std::string_view one = text.substr(begin, end - begin);
    const std::size_t equals = one.find('=');
    const auto size = number_in<std::int64_t>(one.substr(std::min(equals, one.size() - 1) + 1));
    if (equals == 0 || equals == std::string_view::npos || !size || *size < 1 || *size > max_size ||
        !sizes.emplace(one.substr(0, equals), *size).second) {
      throw UsageError(
          fmt::format("--dim '{}' is not a size of a dimension; allowed: NAME=SIZE, from 1 to {}, "
                      "each name once, "
                      "several joined by '+'",
                      text, max_size));
    }
    begin = end + 1;
  }
  return sizes;
}

Loss loss_named(std::string_view name) {
  for (const Loss loss : {Loss::mean_squared_error, Loss::cross_entropy}) {
    if (to_string(loss) == name) return loss;
  }
  throw std::out_of_range("a loss that is not in the list");
}

Model model_named(std::string_view name, const FileOptions& options) {
  if (name.ends_with(onnx_import::file_suffix))
    return onnx_import::model_of_file(std::string(name), options);
  if (const std::string_view option = option_of_files(options); !option.empty()) {
    throw UsageError(
        fmt::format("{} applies to ONNX files only, not to model {}; leave it out", option, name));
  }
  const auto found = std::ranges::find(models(), name, &Model::name);
  if (found == models().end()) throw std::out_of_range("a model that is not in the list");
  return *found;
}

}  // namespace parbench
