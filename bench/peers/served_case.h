// Cases behind a line protocol, so that another process can alternate with them: training steps on
// one device or divided over several, forward passes, and all-reduces. Started by mpirun as several
// ranks, the devices are those of the ranks; the first rank reads and prints.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kernels/base/tensor.h"

namespace parbench::peers {

/// A model for one batch, as the flags of a run choose it. Functions that take one throw UsageError
/// for sizes that the model cannot have and for formats that the processor does not have.
struct ServedModel {
  std::string name = "resnet50";
  std::int64_t batch = 24;
  std::optional<std::int64_t> image = {};  // only of models that have images
  DType dtype = DType::f32;
  int executions = 1;  // of each request
  int devices = 1;     // of training: several, with equal shares of the cores, divide the batch
};

/// An all-reduce of so many bytes on each device, which are multiples of an f32 number's.
struct ServedExchange {
  std::int64_t bytes = 1 << 26;
  int devices = 2;
  int executions = 1;  // of each request
  int calls = 1;       // all-reduces in a row in each execution
};

/// What another program needs to do the same work: the number of parameters, and the positions of
/// each sample that are no padding, where the model reads tokens.
[[nodiscard]] nlohmann::ordered_json describe_model(const ServedModel& model);

/// Prints one line of JSON when it is ready, with the loss of the first step and the seconds from
/// the model's file, where it is one, to the plan; then each line on standard input runs training
/// steps and prints the seconds of one by the host's clock, until the input ends. On one device
/// that is scenario pipeline's `single`, on several data-parallel's `all-reduce-buckets` of 25 MiB.
void serve_training_steps(const ServedModel& model);
/// The same for forward passes on one device; they have no loss.
void serve_forward_passes(const ServedModel& model);
/// The same for all-reduces by the ring of scenario collectives, over ranks by its strategy mpi;
/// the seconds are those of one of the calls, over ranks from their common start on the slowest.
void serve_all_reduces(const ServedExchange& exchange);

}  // namespace parbench::peers
