// Reads and appends to the file of tuning choices.
#include "kernels/cuda/tuning/tuning_file.h"

#include <fmt/format.h>

#include <algorithm>

#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace parbench::cuda {
namespace fs = std::filesystem;
namespace {

std::optional<std::string> variable(const char* name) {
  // NOLINT(concurrency-mt-unsafe): the environment is not changed later
  const char* value = std::getenv(name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

/// Removes and returns the part of a line up to the next tab.
std::string_view take_field(std::string_view& line) {
  const std::size_t end = std::min(line.find('\t'), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

std::optional<std::size_t> number(std::string_view text) {
  if (text.empty() || text.size() > 9) return std::nullopt;
  std::size_t value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return std::nullopt;
    value = 10 * value + static_cast<std::size_t>(digit - '0');
  }
  return value;
}

std::string without_separators(std::string text) {
  for (char& character : text) {
    if (character == '\t' || character == '\n' || character == '\r') character = ' ';
  }
  return text;
}

}  // namespace

std::optional<fs::path> tuning_file_path() {
  if (const auto chosen = variable("PARBENCH_TUNING_CACHE")) {
    return chosen->empty() ? std::nullopt : std::optional<fs::path>(*chosen);
  }
  const auto own = variable("PARBENCH_CACHE");
  if (own && !own->empty()) return fs::path(*own) / "tuning";
  const auto caches = variable("XDG_CACHE_HOME");
  if (caches && fs::path(*caches).is_absolute()) return fs::path(*caches) / "parbench/tuning";
  const auto home = variable("HOME");
  if (!home || home->empty()) return std::nullopt;
  return fs::path(*home) / ".cache/parbench/tuning";
}

TuningFile::TuningFile(fs::path path, std::string scope)
    : path_(std::move(path)), scope_(without_separators(std::move(scope))) {
  read();
}

void TuningFile::read() {
  std::ifstream file(path_);
  // A last line without a line break may be incomplete, because a process was stopped while writing
  // or has not finished. It is ignored.
  for (std::string text; std::getline(file, text) && !file.eof();) {
    std::string_view line = text;
    if (take_field(line) != scope_) continue;
    const std::string_view operation = take_field(line);
    const auto candidates = number(take_field(line));
    const auto index = number(take_field(line));
    if (!candidates || !index || *index >= *candidates || !line.empty()) continue;
    entries_[std::string(operation)] = {*candidates, *index};
  }
}

std::optional<std::size_t> TuningFile::find(const std::string& operation,
                                            std::size_t candidates) const {
  const auto found = entries_.find(without_separators(operation));
  if (found == entries_.end() || found->second.candidates != candidates) return std::nullopt;
  return found->second.index;
}

void TuningFile::add(const std::string& operation, std::size_t candidates, std::size_t index) {
  const std::string key = without_separators(operation);
  entries_[key] = {candidates, index};
  std::error_code ignored;
  fs::create_directories(path_.parent_path(), ignored);
  std::ofstream file(path_, std::ios::app | std::ios::binary);
  file << fmt::format("{}\t{}\t{}\t{}\n", scope_, key, candidates, index) << std::flush;
}

}  // namespace parbench::cuda
