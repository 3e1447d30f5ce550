// Classifies inputs by their types and names.
#include "scenarios/models/onnx/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/models/onnx/exchanged.h"

namespace parbench::onnx_import {
namespace {

bool contains(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

bool is_mask(const Input& input) { return !input.is_numbers && contains(input.name, "mask"); }

/// Returns whether an input consists of tokens, by its type, rank and name.
bool is_of_tokens(const Input& input) {
  return input.is_tokens && input.shape.size() >= 2 && !contains(input.name, "mask") &&
         !contains(input.name, "position") && !contains(input.name, "type") &&
         !contains(input.name, "segment");
}

bool is_of_numbers(const Input& input) { return input.is_numbers && !input.shape.empty(); }

/// Returns the name of a dimension in the file; empty if it has none.
std::string given_name(const Input& input, std::size_t d) {
  return d < input.dimensions.size() ? input.dimensions[d] : std::string();
}

/// Returns the name of an open dimension for --dim: its name in the file, or "INPUT.NUMBER" if it
/// has none.
std::string name_of_dimension(const Input& input, std::size_t d) {
  const std::string given = given_name(input, d);
  return given.empty() ? fmt::format("{}.{}", input.name, d) : given;
}

/// Returns the dimension of an input that contains the samples; 0 if none is found. It is the first
/// one with the name of the leading dimension of the file's first input with dimensions. If that
/// leading dimension has no name, it is the first unnamed one of the same size. In recurrent
/// states, the samples follow the layers.
std::size_t samples_of(const Graph& graph, const Input& input) {
  const auto has_shape = [](const Input& one) { return !one.shape.empty(); };
  const auto first = std::ranges::find_if(graph.inputs, has_shape);
  if (first == graph.inputs.end()) return 0;
  const std::string name = given_name(*first, 0);
  for (std::size_t d = 0; d < input.shape.size(); ++d) {
    const bool has_size = !name.empty() || input.shape[d] == first->shape[0];
    if (given_name(input, d) == name && has_size) return d;
  }
  return 0;
}

/// Returns whether --image sets the size of a dimension.
bool is_side_of_image(const Input& input, std::size_t d) {
  return input.is_numbers && input.shape.size() == 4 && d >= 2;
}

class InputMaker {
 public:
  InputMaker(Translator& translator, const Graph& graph, const ImportOptions& options)
      : translator_(translator), graph_(graph), options_(options) {}

  bool run() {
    if (graph_.inputs.empty()) throw UsageError("has no input; export it with one");
    check_dimensions();
    const bool has_numbers = std::ranges::any_of(graph_.inputs, is_of_numbers);
    const bool has_tokens = !has_numbers && std::ranges::any_of(graph_.inputs, is_of_tokens);
    if (!has_numbers && !has_tokens) {
      throw UsageError("has no input of floating-point numbers or tokens; export it with one");
    }
    add_parts(has_tokens ? is_of_tokens : is_of_numbers);
    for (const Input& input : graph_.inputs) {
      if (translator_.find(input.name) == nullptr) add_constant(input);
    }
    return has_tokens;
  }

 private:
  using IsPart = bool (*)(const Input& input);

  void add_parts(IsPart is_part) {
    std::vector<const Input*> parts;
    for (const Input& input : graph_.inputs) {
      if (is_part(input)) parts.push_back(&input);
    }
    const Input& first = *parts.front();
    if (parts.size() == 1 && samples_of(graph_, first) == 0) {
      return translator_.add_input(first.name, extents_of(first), first.type);
    }
    std::int64_t count = 0;
    for (const Input* part : parts) count += general::count_of(extents_of(*part)).size;
    general::Graph& network = translator_.network();
    const Term whole{&network, network.input({{1, true}, {.size = count}})};
    std::int64_t begin = 0;
    for (const Input* part : parts) {
      const Extents extents = extents_of(*part);
      const std::int64_t size = general::count_of(extents).size;
      const Term own = whole.part(1, begin, size);
      begin += size;
      translator_.set(part->name, {.is_constant = false,
                                   .operation = Exchanged(extents).restored(own),
                                   .type = part->type});
    }
  }

  void add_constant(const Input& input) {
    if (input.shape.empty()) return add_number(input);
    Extents extents = extents_of(input);
    general::Graph& network = translator_.network();
    const int last = static_cast<int>(extents.size()) - 1;
    const bool is_position = contains(input.name, "position");
    const int values = is_position
                           ? network.coordinate(std::move(extents), last)
                           : network.number(is_mask(input) ? 1.0F : 0.0F, std::move(extents));
    translator_.set(input.name, {.is_constant = false, .operation = values, .type = input.type});
  }

  void add_number(const Input& input) {
    const auto given = options_.file.dimensions.find(input.name);
    if (given == options_.file.dimensions.end()) {
      throw UsageError(
          fmt::format("has an input '{0}' of a single number; give its value with --dim {0}=VALUE",
                      input.name));
    }
    translator_.add_constant(input.name, {}, {static_cast<double>(given->second)}, input.type);
  }

  [[nodiscard]] Extents extents_of(const Input& input) const {
    const std::size_t samples = samples_of(graph_, input);
    const bool has_data = input.shape.size() >= 2 || (!input.is_numbers && !input.shape.empty());
    if (!has_data) {
      throw UsageError(fmt::format(
          "has an input '{}' without a batch dimension and a further dimension", input.name));
    }
    Extents extents;
    for (std::size_t d = 0; d < input.shape.size(); ++d) {
      extents.push_back(d == samples ? Extent{1, true} : Extent{.size = size_of(input, d)});
    }
    return extents;
  }

  [[nodiscard]] std::int64_t size_of(const Input& input, std::size_t d) const {
    const std::string name = name_of_dimension(input, d);
    const auto found = options_.file.dimensions.find(name);
    if (found != options_.file.dimensions.end()) return found->second;
    if (is_side_of_image(input, d) && options_.image) return *options_.image;
    if (input.shape[d] != open_dimension) return input.shape[d];
    throw UsageError(
        fmt::format("leaves dimension {} of its input '{}' open; give its size with --dim {}=SIZE, "
                    "or export it with a fixed one",
                    d, input.name, name));
  }

  /// Throws UsageError for a name in --dim that is neither an open dimension (other than the
  /// samples) nor an input without dimensions.
  void check_dimensions() const {
    std::vector<std::string> known;
    for (const Input& input : graph_.inputs) {
      if (input.shape.empty()) known.push_back(input.name);
      for (std::size_t d = 0; d < input.shape.size(); ++d) {
        if (d == samples_of(graph_, input) || input.shape[d] != open_dimension) continue;
        const std::string name = name_of_dimension(input, d);
        if (std::ranges::find(known, name) == known.end()) known.push_back(name);
      }
    }
    for (const auto& [name, size] : options_.file.dimensions) {
      if (std::ranges::find(known, name) != known.end()) continue;
      throw UsageError(
          fmt::format("has no open dimension '{}' for --dim; allowed: {} (--batch sets the "
                      "samples, --image the size of images)",
                      name, known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
    }
  }

  Translator& translator_;
  const Graph& graph_;
  const ImportOptions& options_;
};

}  // namespace

bool add_inputs(Translator& translator, const Graph& graph, const ImportOptions& options) {
  return InputMaker(translator, graph, options).run();
}

}  // namespace parbench::onnx_import
