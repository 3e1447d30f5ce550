// Parses the statuses in cuDNN's messages.
#include "kernels/cuda/cudnn/cudnn_failure.h"

#include <algorithm>
#include <array>
#include <optional>

namespace parbench::cuda {
namespace {

/// Names, or beginnings of the names, of statuses that are faults.
constexpr std::array<std::string_view, 8> fault_names{
    "CUDNN_STATUS_NOT_INITIALIZED",
    "CUDNN_STATUS_SUBLIBRARY_",
    "CUDNN_STATUS_LICENSE_ERROR",
    "CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA",  // with the driver or the runtime library
    "CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING",
    "CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE",
    "CUDNN_STATUS_INTERNAL_ERROR",
    "CUDNN_STATUS_EXECUTION_FAILED"};

constexpr std::array<std::string_view, 2> memory_names{
    "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED",
    "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"};

template <class Names>
bool begins_with_any(std::string_view text, const Names& names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return text.starts_with(name); });
}

/// Returns the first line of a message that reports one of these statuses ("Warning: STATUS;
/// Reason: …"), from the status on. Statuses within the reason, which is often an expression from
/// cuDNN's source, do not count.
template <class Names>
std::optional<std::string> line_with(std::string_view words, const Names& names) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find('\n'), words.size());
    const std::string_view line = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    const std::size_t status = line.find("CUDNN_STATUS_");
    if (status == std::string_view::npos || status > line.find("Reason:")) continue;
    if (begins_with_any(line.substr(status), names)) return std::string(line.substr(status));
  }
  return std::nullopt;
}

CudnnFailure::Kind kind_of(std::string_view name) {
  if (begins_with_any(name, memory_names)) return CudnnFailure::Kind::out_of_memory;
  if (begins_with_any(name, fault_names)) return CudnnFailure::Kind::fault;
  return name.starts_with("CUDNN_STATUS_NOT_SUPPORTED") ? CudnnFailure::Kind::unsupported
                                                        : CudnnFailure::Kind::fault;
}

/// Returns the status and the first line of a message, for messages without a relevant line.
std::string first_line(std::string_view status, std::string_view words) {
  std::string text(status);
  const std::string_view line = words.substr(0, words.find('\n'));
  return line.empty() ? text : text.append(": ").append(line);
}

}  // namespace

CudnnFailure classify(cudnnStatus_t status, std::string_view words) {
  const std::string_view name = cudnnGetErrorString(status);
  if (auto line = line_with(words, memory_names)) {
    return {CudnnFailure::Kind::out_of_memory, *std::move(line)};
  }
  if (kind_of(name) == CudnnFailure::Kind::out_of_memory) {
    return {CudnnFailure::Kind::out_of_memory, first_line(name, words)};
  }
  if (auto line = line_with(words, fault_names)) {
    return {CudnnFailure::Kind::fault, *std::move(line)};
  }
  return {kind_of(name), first_line(name, words)};
}

std::string first_fault(std::span<const cudnnStatus_t> statuses) {
  for (const cudnnStatus_t status : statuses) {
    if (status == CUDNN_STATUS_SUCCESS) continue;
    CudnnFailure failure = classify(status, "");
    if (failure.kind != CudnnFailure::Kind::unsupported) return std::move(failure.text);
  }
  return "";
}

}  // namespace parbench::cuda
