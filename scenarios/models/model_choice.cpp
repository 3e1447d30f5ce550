// Axes and parameters of models.
#include "scenarios/models/model_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>
#include <stdexcept>

#include "kernels/base/error.h"

namespace parbench {
namespace {

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Model& model : models()) names.push_back(model.name);
  return names;
}

/// An axis whose default is the model's.
Axis size_axis(std::string_view name, std::string_view description, double max) {
  return {.name = std::string(name),
          .description = std::string(description),
          .quick = {},
          .published = {},
          .max = max};
}

/// "layers, width", or "none".
std::string sizes_text(const Model& model) {
  if (model.sizes.empty()) return "none";
  return fmt::format("{}", fmt::join(model.sizes | std::views::keys, ", "));
}

}  // namespace

const std::string& default_model() { return models().front().name; }

Axis model_axis() {
  return {.name = "model",
          .description =
              "a ResNet or VGG (torchvision's), a transformer (gpt, gpt-tiny, gpt2-124m), a "
              "recurrent language model (rnn-lm, rnn-lm-tiny), a multi-layer perceptron (mlp), two "
              "tiny linear layers (toy), or your own from an ONNX file",
          .kind = AxisKind::choice,
          .quick = {default_model()},
          .published = {default_model()},
          .choices = model_names(),
          .file_suffix = ".onnx"};
}

std::vector<Axis> model_size_axes() {
  return {
      size_axis("image",
                "height and width of the images, for ResNets and VGG (128) and ONNX files "
                "(their own)",
                4096),
      size_axis("layers", "blocks of gpt, LSTMs of rnn-lm, linear layers of mlp", 1024),
      size_axis("hidden", "width of a position of gpt, of each layer of rnn-lm and mlp", 1 << 16),
      size_axis("heads", "heads of attention, for gpt", 1024),
      size_axis("sequence", "tokens of a sample, for gpt and rnn-lm", 1 << 16),
      size_axis("vocabulary", "different tokens, for gpt and rnn-lm", 1 << 24),
      size_axis("embedding", "width of a token, for rnn-lm", 1 << 16)};
}

std::string asked_or(const Parameters& asked, std::string_view name, std::string_view fallback) {
  const Value* value = asked.find(name);
  return value != nullptr ? std::get<std::string>(*value) : std::string(fallback);
}

void add_choice(Parameters& parameters, const std::string& name, const std::string& choice,
                std::string_view by_default) {
  if (choice == by_default) {
    parameters.imply(name, choice);
  } else {
    parameters.set(name, choice);
  }
}

Model model_of(const Scenario::Request& request) {
  return model_named(asked_or(request.spec.parameters, "model", default_model()));
}

void add_model_sizes(const Scenario::Request& request, const Model& model, Parameters& parameters) {
  for (const auto& [name, usual] : model.sizes) {
    const Value* size = request.spec.parameters.find(name);
    parameters.set(name, size != nullptr ? *size : usual);
  }
  for (const std::string_view name : model_size_names) {
    if (!request.was_given(name) || model.sizes.contains(name)) continue;
    throw UsageError(fmt::format("--{}: model {} has no such size; its sizes are: {}", name,
                                 model.name, sizes_text(model)));
  }
}

Network network_of(const Parameters& parameters) {
  const Model model = model_named(parameters.text("model"));
  ModelSizes sizes;
  for (const auto& [name, usual] : model.sizes) sizes[name] = parameters.integer(name);
  try {
    return model.make(sizes);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--model {}: {}", model.name, error.what()));
  }
}

}  // namespace parbench
