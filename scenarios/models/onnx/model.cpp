// Remembers what has been read: a sweep asks for the same file once a case.
#include "scenarios/models/onnx/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/models/onnx/general/network_of_file.h"
#include "scenarios/models/onnx/importer.h"
#include "scenarios/models/onnx/reading/file.h"

namespace parbench::onnx_import {
namespace {

namespace fs = std::filesystem;

/// When a file was written last; nothing where that cannot be found.
std::optional<fs::file_time_type> written_at(const std::string& path) {
  std::error_code error;
  const fs::file_time_type written = fs::last_write_time(path, error);
  return error ? std::nullopt : std::optional(written);
}

struct Known {
  std::optional<fs::file_time_type> written;
  std::shared_ptr<const Graph> graph;
};

std::shared_ptr<const Graph> graph_of(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, Known> files;
  const std::lock_guard lock(mutex);
  const std::optional<fs::file_time_type> written = written_at(path);
  Known& known = files[path];
  if (known.graph == nullptr || !written || known.written != written) {
    known = {written, std::make_shared<const Graph>(read_file(path))};
  }
  return known.graph;
}

/// The values of a file, read when the first of them is asked for.
class WeightsOfFile {
 public:
  /// Throws UsageError unless the file has values for all parameters.
  WeightsOfFile(std::string path, const Network& network, ValueSources sources)
      : path_(std::move(path)), sources_(std::move(sources)) {
    std::vector<std::string> missing;
    for (const ParameterSpec& spec : network.parameters()) {
      counts_[{spec.layer, spec.role}] = element_count(spec.shape);
      if (!sources_.contains({spec.layer, spec.role})) missing.push_back(spec.name);
    }
    if (missing.empty()) return;
    throw UsageError(
        fmt::format("has no values for {} of its parameters, the first of them {}; "
                    "use --weights random",
                    missing.size(), missing.front()));
  }

  /// Whether it has read, or will read, the same values for the same parameters.
  [[nodiscard]] bool is_like(const WeightsOfFile& other) const {
    return written_ == other.written_ && written_.has_value() && sources_ == other.sources_ &&
           counts_ == other.counts_;
  }

  [[nodiscard]] std::shared_ptr<const std::vector<float>> of(const ParameterSpec& spec) {
    const std::lock_guard lock(mutex_);
    if (parameters_.empty()) read();
    return parameters_.at({spec.layer, spec.role});
  }

 private:
  using Key = std::pair<int, std::string>;

  void read() {
    std::set<std::string> names;
    for (const auto& [key, source] : sources_) {
      for (const auto* pieces : {&source.pieces, &source.addends}) {
        for (const ValuePiece& piece : *pieces) {
          if (!piece.tensor.empty()) names.insert(piece.tensor);
        }
      }
    }
    const TensorValues values = read_values(path_, names);
    for (const auto& [key, source] : sources_) {
      const auto count = static_cast<std::size_t>(counts_.at(key));
      std::vector<float> parameter = joined(values, source.pieces, count);
      if (!source.addends.empty()) {
        const std::vector<float> addend = joined(values, source.addends, count);
        std::ranges::transform(parameter, addend, parameter.begin(), std::plus());
      }
      for (float& value : parameter) value = derived(value, source.derived);
      parameters_[key] = std::make_shared<const std::vector<float>>(std::move(parameter));
    }
  }

  static float derived(float value, Derived how) {
    if (how == Derived::negated) return -value;
    return how == Derived::inverse ? 1 / value : value;
  }

  [[nodiscard]] std::vector<float> joined(const TensorValues& values,
                                          const std::vector<ValuePiece>& pieces,
                                          std::size_t wanted) const {
    std::vector<float> result;
    for (const ValuePiece& piece : pieces) {
      const auto count = static_cast<std::size_t>(piece.count);
      const auto first = static_cast<std::size_t>(piece.first);
      if (piece.tensor.empty()) {
        result.insert(result.end(), count, static_cast<float>(piece.filled));
        continue;
      }
      const std::vector<float> tensor = transposed(values.at(piece.tensor), piece.transposed_from);
      if (first > tensor.size() || count > tensor.size() - first) refuse_change(piece.tensor);
      const auto begin = tensor.begin() + static_cast<std::ptrdiff_t>(first);
      result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
    }
    if (result.size() != wanted) refuse_change(pieces.front().tensor);
    return result;
  }

  [[noreturn]] void refuse_change(const std::string& tensor) const {
    throw UsageError(
        fmt::format("--model '{}' has other values of '{}' than when it was read first; do not "
                    "change it during a run",
                    path_, tensor));
  }

  /// `from` is the shape of the matrix; empty: the values stay as they are.
  static std::vector<float> transposed(const std::vector<float>& values, const Shape& from) {
    if (from.empty()) return values;
    const auto rows = static_cast<std::size_t>(from.at(0));
    const auto columns = static_cast<std::size_t>(from.at(1));
    if (values.size() != rows * columns) return {};
    std::vector<float> result(values.size());
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        result[column * rows + row] = values[row * columns + column];
      }
    }
    return result;
  }

  std::string path_;
  std::optional<fs::file_time_type> written_ = written_at(path_);
  ValueSources sources_;
  std::map<Key, std::int64_t> counts_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const std::vector<float>>> parameters_;
};

/// Networks of one file share its values, which are read once a run.
StoredValues stored_values(const std::string& path, const Network& network,
                           const Importer& importer) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<WeightsOfFile>> files;
  auto weights = std::make_shared<WeightsOfFile>(path, network, importer.value_sources());
  const std::lock_guard lock(mutex);
  std::shared_ptr<WeightsOfFile>& known = files[path];
  if (known == nullptr || !known->is_like(*weights)) known = weights;
  weights = known;
  return [weights](const ParameterSpec& spec) { return weights->of(spec); };
}

/// The network of layers of known kinds.
[[maybe_unused]] Network network_of_layers(const std::string& path, const Graph& graph, ImportOptions options,
                          bool stored_weights) {
  Importer importer(graph, std::move(options));
  Network network = importer.import(fs::path(path).filename().string());
  if (stored_weights) network.stored_values = stored_values(path, network, importer);
  return network;
}

/// What has no layers of known kinds is made of general operations. What goes wrong with a graph
/// names its file.
Network network_of(const std::string& path, const Graph& graph, const ImportOptions& options,
                   bool stored_weights) {
  try {
    return general_network(path, graph, options, stored_weights);
  } catch (const UsageError& refused) {
    throw UsageError(fmt::format("--model '{}' {}", path, refused.what()));
  }
}

}  // namespace

Model model_of_file(const std::string& path, const FileOptions& options) {
  const std::shared_ptr<const Graph> graph = graph_of(path);
  const std::optional<std::int64_t> image = usual_image(*graph);
  Model model{.name = path, .sizes = {}, .make = {}};
  if (image) model.sizes["image"] = *image;
  model.make = [path, graph, options](const ModelSizes& sizes) {
    const auto found = sizes.find("image");
    return network_of(path, *graph,
                      {.image = found == sizes.end() ? std::nullopt : std::optional(found->second),
                       .loss = options.loss,
                       .dimensions = options.dimensions},
                      options.stored_weights);
  };
  return model;
}

}  // namespace parbench::onnx_import
