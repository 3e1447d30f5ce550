// The list of models.
#include "scenarios/models/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "scenarios/models/onnx/model.h"

namespace parbench {
namespace {

template <int depth>
Model resnet_of() {
  return {.name = fmt::format("resnet{}", depth),
          .sizes = {{"image", 128}},
          .make = [](const ModelSizes& sizes) { return resnet(depth, sizes.at("image")); }};
}

Model vgg() {
  return {.name = "vgg16", .sizes = {{"image", 128}}, .make = [](const ModelSizes& sizes) {
            return vgg16(sizes.at("image"));
          }};
}

Model transformer(std::string name, const GptSizes& usual, std::int64_t quick_batch) {
  return {.name = std::move(name),
          .sizes = {{"heads", usual.heads},
                    {"hidden", usual.hidden},
                    {"layers", usual.layers},
                    {"sequence", usual.sequence},
                    {"vocabulary", usual.vocabulary}},
          .quick_batch = quick_batch,
          .make = [](const ModelSizes& sizes) {
            return gpt({.layers = sizes.at("layers"),
                        .hidden = sizes.at("hidden"),
                        .heads = sizes.at("heads"),
                        .sequence = sizes.at("sequence"),
                        .vocabulary = sizes.at("vocabulary")});
          }};
}

/// GPT-2's smallest (Radford et al. 2019).
constexpr GptSizes gpt2_124m{
    .layers = 12, .hidden = 768, .heads = 12, .sequence = 1024, .vocabulary = 50257};
constexpr GptSizes tiny_gpt{
    .layers = 2, .hidden = 64, .heads = 4, .sequence = 32, .vocabulary = 256};

Model recurrent(std::string name, const RnnLmSizes& usual, std::int64_t quick_batch) {
  return {.name = std::move(name),
          .sizes = {{"embedding", usual.embedding},
                    {"hidden", usual.hidden},
                    {"layers", usual.layers},
                    {"sequence", usual.sequence},
                    {"vocabulary", usual.vocabulary}},
          .quick_batch = quick_batch,
          .make = [](const ModelSizes& sizes) {
            return rnn_lm({.vocabulary = sizes.at("vocabulary"),
                           .embedding = sizes.at("embedding"),
                           .hidden = sizes.at("hidden"),
                           .layers = sizes.at("layers"),
                           .sequence = sizes.at("sequence")});
          }};
}

constexpr RnnLmSizes tiny_rnn_lm{
    .vocabulary = 256, .embedding = 64, .hidden = 64, .layers = 2, .sequence = 16};

Model mlp() {
  return {.name = "mlp",
          .sizes = {{"layers", 4}, {"hidden", 1024}},
          .quick_batch = 120,
          .make = [](const ModelSizes& sizes) {
            return perceptron(sizes.at("layers"), sizes.at("hidden"));
          }};
}

Model toy() {
  return {.name = "toy", .sizes = {}, .quick_batch = 20, .make = [](const ModelSizes&) {
            return toy_model();
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

const std::vector<Model>& models() {
  static const std::vector<Model> all = {resnet_of<50>(),
                                         resnet_of<18>(),
                                         resnet_of<34>(),
                                         resnet_of<101>(),
                                         resnet_of<152>(),
                                         vgg(),
                                         transformer("gpt", GptSizes(), 8),
                                         transformer("gpt2-124m", gpt2_124m, 2),
                                         transformer("gpt-tiny", tiny_gpt, 8),
                                         recurrent("rnn-lm", RnnLmSizes(), 20),
                                         recurrent("rnn-lm-tiny", tiny_rnn_lm, 8),
                                         mlp(),
                                         toy()};
  return all;
}

Model model_named(std::string_view name) {
  if (name.ends_with(onnx_import::file_suffix))
    return onnx_import::model_of_file(std::string(name));
  const auto found = std::ranges::find(models(), name, &Model::name);
  if (found == models().end()) throw std::out_of_range("a model that is not in the list");
  return *found;
}

}  // namespace parbench
