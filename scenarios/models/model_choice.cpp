// Axes and parameters of models.
#include "scenarios/models/model_choice.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace parbench {
namespace {

// Values of --weights: initial parameters of a model from a file. The first one is the default.
constexpr std::string_view drawn_weights = "random";
constexpr std::string_view weights_of_file = "file";

FileOptions file_options(const Parameters& asked) {
  FileOptions options;
  if (asked.find("loss") != nullptr) options.loss = loss_named(asked.text("loss"));
  if (asked.find("dim") != nullptr) options.dimensions = dimensions_named(asked.text("dim"));
  options.prediction = asked.text_or("prediction", "");
  options.stored_weights = asked.text_or("weights", drawn_weights) == weights_of_file;
  return options;
}

std::vector<Axis> model_file_axes() {
  return {{.name = "loss",
           .description = "loss of an ONNX file; default: the loss at the end of its graph",
           .kind = AxisKind::choice,
           .choices = {loss_names.begin(), loss_names.end()}},
          {.name = "weights",
           .description = "initial parameters of an ONNX file: drawn (random, the default), or its "
                          "own (file)",
           .kind = AxisKind::choice,
           .choices = {std::string(drawn_weights), std::string(weights_of_file)}}};
}

}  // namespace

const std::string& default_model() { return models().front().name; }

Axis model_axis(const std::string& usual, std::vector<Value> published) {
  if (published.empty()) published = {usual};
  return {
      .name = "model",
      .description =
          "a ResNet, VGG or GoogLeNet (torchvision's), a U-Net (unet), a "
          "transformer (gpt, llama, mixtral, bert, vit) or one block of it, a recurrent language "
          "model (rnn-lm), a multi-layer perceptron (mlp), two tiny linear layers (toy), one "
          "(linear), or your own from an ONNX file; `parbench list models` shows all",
      .kind = AxisKind::choice,
      .quick = {usual},
      .published = std::move(published),
      .choices = model_names(),
      .file_suffix = ".onnx"};
}

std::vector<Axis> model_size_axes() {
  return {
      {.name = "image",
       .description =
           "height and width of the images, for models of images (128; vit-base: 224) and ONNX "
           "files (their own)",
       .max = 4096},
      {.name = "layers",
       .description = "blocks of transformers, LSTMs of rnn-lm, halvings of unet, blocks of the "
                      "third stage of convnext, linear layers of mlp",
       .max = 1024},
      {.name = "hidden",
       .description = "features of a token in transformers, of each layer of rnn-lm and mlp; "
                      "channels of unet's "
                      "first level",
       .max = 1 << 16},
      {.name = "heads", .description = "heads of attention, for transformers", .max = 1024},
      {.name = "kv-heads",
       .description = "heads of keys and values, which --heads share, for llama and mixtral",
       .max = 1024},
      {.name = "experts",
       .description = "perceptrons of which each token passes two, for mixtral",
       .max = 1024},
      {.name = "sequence", .description = "tokens of a sample, for models of text", .max = 1 << 16},
      {.name = "vocabulary", .description = "different tokens, for models of text", .max = 1 << 24},
      {.name = "embedding",
       .description = "features of an embedded token, for rnn-lm",
       .max = 1 << 16},
      {.name = "head",
       .description =
           "output projection of gpt, llama, mixtral and bert: weights of its own (untied, the "
           "default), or the embedding's table (tied)",
       .kind = AxisKind::choice,
       .choices = {head_names.begin(), head_names.end()}},
      {.name = "dim",
       .description = "sizes of dimensions that an ONNX file leaves open, as sequence=128, "
                      "several joined by '+'",
       .kind = AxisKind::text},
      {.name = "prediction",
       .description =
           "output of an ONNX file from which the loss is computed; default: the first one",
       .kind = AxisKind::text}};
}

std::vector<Axis> training_axes(Axis model, std::optional<Role> batch_role,
                                const std::vector<Axis>& further) {
  std::vector<Axis> axes = {std::move(model),
                            {.name = "batch",
                             .description = "samples of a training step on all devices together "
                                            "(data-parallel --scaling weak: on each); default: the "
                                            "model's, such as 24 of ResNets (published pipeline: "
                                            "120), 20 of rnn-lm, 8 of gpt and llama",
                             .max = 1 << 20,
                             .role = batch_role}};
  std::ranges::move(model_size_axes(), std::back_inserter(axes));
  std::ranges::move(model_file_axes(), std::back_inserter(axes));
  std::ranges::copy(further, std::back_inserter(axes));
  return axes;
}

void add_choice(Parameters& parameters, const std::string& name, const std::string& choice,
                std::string_view by_default) {
  add_choice(parameters, name, Value(choice), Value(std::string(by_default)));
}

void add_choice(Parameters& parameters, const std::string& name, const Value& choice,
                const Value& by_default) {
  if (choice == by_default) {
    parameters.imply(name, choice);
  } else {
    parameters.set(name, choice);
  }
}

void add_asked(const Parameters& asked, const std::string& name, const Value& by_default,
               Parameters& parameters) {
  add_choice(parameters, name, asked.value_or(name, by_default), by_default);
}

namespace {

/// Adds the kind of the model's head, if the model supports several. Otherwise throws UsageError if
/// the user has set --head.
void add_head(const Scenario::Request& request, const Model& model, Parameters& parameters) {
  const std::string head = request.spec.parameters.text_or("head", head_names.front());
  if (!model.make_tied && !request.was_given("head")) return;
  static_cast<void>(with_tied_head(model));  // throws if the model has no tied head
  add_choice(parameters, "head", head, head_names.front());
}

}  // namespace

Model model_of(const Scenario::Request& request, std::string_view usual) {
  const Parameters& asked = request.spec.parameters;
  return model_named(asked.text_or("model", usual), file_options(asked));
}

void add_model_sizes(const Scenario::Request& request, const Model& model, Parameters& parameters) {
  for (const auto& [name, usual] : model.sizes) {
    parameters.set(name, request.spec.parameters.value_or(name, usual));
  }
  for (const std::string_view name : model_size_names) {
    if (request.was_given(name)) check_has_size(model, name);
  }
  add_head(request, model, parameters);
  for (const std::string_view name : file_option_names) {
    const Value* value = request.spec.parameters.find(name);
    if (value == nullptr) continue;
    add_choice(parameters, std::string(name), std::get<std::string>(*value), drawn_weights);
  }
}

Network network_of(const Parameters& parameters) {
  Model model = model_named(parameters.text("model"), file_options(parameters));
  if (parameters.text_or("head", head_names.front()) != head_names.front()) {
    model = with_tied_head(model);
  }
  ModelSizes sizes;
  for (const auto& [name, usual] : model.sizes) sizes[name] = parameters.integer(name);
  return make_network(model, sizes);
}

}  // namespace parbench
