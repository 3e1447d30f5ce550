// Caches files, because a sweep requests the same file for each case.
#include "scenarios/models/onnx/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/models/onnx/network_of_file.h"
#include "scenarios/models/onnx/reading/file.h"

namespace parbench::onnx_import {
namespace {

namespace fs = std::filesystem;

/// Returns the time of the last modification of a file; nothing if it is unknown.
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

/// Returns the height and width of images for the size "image": those of the first input of images,
/// or a default if they are open. Nothing if they differ, and without images.
std::optional<std::int64_t> usual_image(const Graph& graph) {
  constexpr std::int64_t open_image = 224;
  for (const Input& input : graph.inputs) {
    if (input.shape.size() != 4 || !input.is_numbers) continue;
    if (input.shape[2] != input.shape[3]) return std::nullopt;
    return input.shape[2] == open_dimension ? open_image : input.shape[2];
  }
  return std::nullopt;
}

/// A network's initial values, and the properties on which they depend besides the path.
struct Made {
  std::optional<fs::file_time_type> written;
  ImportOptions options;
  StoredValues values;
};

/// Returns the values of an earlier network of the same file and options, or else `values`, so that
/// values are read once per run.
StoredValues shared_values(const std::string& path, const ImportOptions& options,
                           const StoredValues& values) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<Made>> files;
  const std::optional<fs::file_time_type> written = written_at(path);
  const std::lock_guard lock(mutex);
  std::vector<Made>& known = files[path];
  std::erase_if(known, [&](const Made& one) { return !written || one.written != written; });
  const auto found = std::ranges::find(known, options, &Made::options);
  if (found != known.end()) return found->values;
  known.push_back({written, options, values});
  return values;
}

/// Returns the network of a graph, and adds the path of the file to errors.
Network network_of(const std::string& path, const std::shared_ptr<const Graph>& graph,
                   const ImportOptions& options) {
  try {
    const auto values = std::make_shared<FileValues>(path);
    Network network = network_of_graph(
        fs::path(path).filename().string(), *graph,
        [values](const std::string& name) { return values->of(name); }, options);
    values->release();
    if (options.file.stored_weights) {
      network.stored_values = shared_values(
          path, options,
          [graph, values = network.stored_values](const auto& spec) { return values(spec); });
    }
    return network;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--model '{}' {}", path, error.what()));
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
    return network_of(path, graph,
                      {.image = found == sizes.end() ? std::nullopt : std::optional(found->second),
                       .file = options});
  };
  return model;
}

}  // namespace parbench::onnx_import
