// Runs cases on request of another process, which alternates them with its own work: training steps
// on one or several devices, forward passes, and all-reduces. If mpirun starts several ranks, the
// devices are those of the ranks; the first rank reads and prints.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kernels/base/tensor.h"

namespace parbench::peers {

/// A model and its batch, as the flags of a run select them. Functions with this argument throw
/// UsageError for an unknown model, or for an image size if the model has none.
struct ServedModel {
  std::string name = "resnet50";
  std::int64_t batch = 24;
  std::optional<std::int64_t> image = {};  // for image models only
  DType dtype = DType::f32;
  int executions = 1;  // for each request
  int devices = 1;     // for training; they share the cores equally and divide the batch
};

/// An all-reduce of `bytes` on each device, a multiple of the size of an f32 number.
struct ServedExchange {
  std::int64_t bytes = 1 << 26;
  int devices = 2;
  int executions = 1;  // for each request
  int calls = 1;       // consecutive all-reduces in each execution
};

/// Returns the facts that another program needs for the same work: the number of parameters, and
/// for models that read tokens the length of each sample without padding.
[[nodiscard]] nlohmann::ordered_json describe_model(const ServedModel& model);

/// Prints one line of JSON when ready, with the loss of the first step and the seconds of planning,
/// including reading a model file. Then runs training steps for each line of standard input and
/// prints the mean seconds of a step by the host's clock. One device: strategy `single` of scenario
/// pipeline. Several: `all-reduce-buckets` of data-parallel with buckets of 25 MiB.
void serve_training_steps(const ServedModel& model);
/// Does the same for forward passes on one device, for which the loss is null.
void serve_forward_passes(const ServedModel& model);
/// Does the same for all-reduces of scenario collectives: `ring`, over ranks `rank-ring` or
/// `shared-memory`. Prints the seconds of one call, over ranks from their common start to the end
/// of the last rank.
void serve_all_reduces(const ServedExchange& exchange);

}  // namespace parbench::peers
