// Remembers what has been read: a sweep asks for the same file once a case.
#include "scenarios/models/onnx/model.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "kernels/base/error.h"
#include "scenarios/models/onnx/file.h"
#include "scenarios/models/onnx/importer.h"

namespace parbench::onnx_import {
namespace {

namespace fs = std::filesystem;

struct Known {
  fs::file_time_type written;
  std::shared_ptr<const Graph> graph;
};

std::shared_ptr<const Graph> graph_of(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, Known> files;
  const std::lock_guard lock(mutex);
  std::error_code error;
  const fs::file_time_type written = fs::last_write_time(path, error);
  Known& known = files[path];
  if (known.graph == nullptr || error || known.written != written) {
    known = {written, std::make_shared<const Graph>(read_file(path))};
  }
  return known.graph;
}

/// What goes wrong with a graph names its file.
Network network_of(const std::string& path, const Graph& graph, std::optional<std::int64_t> image) {
  try {
    return Importer(graph, image).import(fs::path(path).filename().string());
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--model '{}' {}", path, error.what()));
  }
}

}  // namespace

Model model_of_file(const std::string& path) {
  const std::shared_ptr<const Graph> graph = graph_of(path);
  const std::optional<std::int64_t> image = usual_image(*graph);
  Model model{.name = path, .sizes = {}, .make = {}};
  if (image) model.sizes["image"] = *image;
  model.make = [path, graph](const ModelSizes& sizes) {
    const auto found = sizes.find("image");
    return network_of(path, *graph,
                      found == sizes.end() ? std::nullopt : std::optional(found->second));
  };
  return model;
}

}  // namespace parbench::onnx_import
