// The same model on several devices, each with a part of the batch, and the tasks that strategies
// share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/training/stage.h"

namespace parbench {

/// What devices other than the first do.
enum class ReplicaKind {
  training,   // keep their parameters and update them
  computing,  // keep their parameters, which the first device updates
  fed,        // get parameters and samples from the first device in every step
};

/// A case with the network and its replicas, which the plan refers to. Replica r is on device r.
struct DataParallelParts : CaseParts {
  using CaseParts::CaseParts;

  [[nodiscard]] std::size_t replica_count() const { return 1 + others.size(); }
  [[nodiscard]] Stage& replica(std::size_t r) const { return r == 0 ? *lead[0] : *others[r - 1]; }
  /// The samples of a replica.
  [[nodiscard]] std::int64_t share(std::size_t r) const;
  [[nodiscard]] int last_micro_batch(std::size_t r) const {
    return static_cast<int>(micro_batches[r].size()) - 1;
  }
  [[nodiscard]] Stream& compute_stream(std::size_t r) const { return stream_of(*this, compute[r]); }
  [[nodiscard]] Stream& copy_stream(std::size_t r) const { return stream_of(*this, copies[r]); }

  Network network;
  StageRange whole;
  /// The samples of each micro-batch, by replica: one, or several whose gradients are accumulated.
  std::vector<std::vector<std::int64_t>> micro_batches;
  // The first device's replica by itself: its gradients become those of the batch, and checks of a
  // step read it.
  std::vector<std::unique_ptr<Stage>> lead;
  std::vector<std::unique_ptr<Stage>> others;
  std::vector<LaneId> compute;  // by replica
  std::vector<LaneId> copies;   // the same, where there are several
};

/// Makes a replica with lanes for the micro-batches of each; all have their parameters in the
/// layouts that suit the first micro-batch. Throws Unsupported where devices differ in layouts.
void add_replicas(DataParallelParts& parts, const Optimizer& optimizer, ReplicaKind kind);

/// Appends calls to others.
void append_calls(std::vector<Call>& to, std::vector<Call> from);

/// Adds the forward pass of a replica's last micro-batch, with the packing of its parameters and
/// both passes of all micro-batches before it ahead of it.
TaskId add_forward(DataParallelParts& parts, std::size_t r, std::vector<TaskId> after);

/// The calls of the backward pass that follows.
[[nodiscard]] std::vector<Call> last_backward(const DataParallelParts& parts, std::size_t r);

/// Adds the update of a replica, with the clipping of the whole gradients that it has.
TaskId add_update(DataParallelParts& parts, std::size_t r, std::vector<TaskId> after);

/// Adds loss and gradients as outputs. `adds_losses`: each replica has its share of the loss, else
/// the first one has all of it.
void add_replica_outputs(DataParallelParts& parts, bool adds_losses);

/// Adds a check that other replicas have the first one's parameters bit for bit, and where they
/// train its gradients.
void add_equality_of_replicas(DataParallelParts& parts, ReplicaKind kind);

/// Whether a part of the batch computes something else alone than within the batch: normalisations
/// see its statistics, and dropouts draw by the position in it.
[[nodiscard]] bool depends_on_division(const Network& network);

}  // namespace parbench
