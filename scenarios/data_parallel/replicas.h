// The same model on several devices, each with a part of the batch, and the tasks that strategies
// share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/training/stage.h"

namespace parbench {

/// What replicas do beside both passes.
struct ReplicaSettings {
  Optimizer first;   // of the first device's replica
  Optimizer others;  // of all others; without one their parameters come from elsewhere
  /// Whether the others get parameters and samples from the first device in every step.
  bool others_are_fed = false;
  /// As of Stage::Options.
  bool has_norm = false;
  /// What is not in memory as a whole (Stage::Options).
  bool gradients_elsewhere = false;
  bool parameters_elsewhere = false;
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
  std::vector<LaneId> copies;   // the same, where anything is sent
  /// The device of a parameter server; behind those of the replicas, or the first of them.
  int server = 0;
};

/// Makes a replica with lanes for the micro-batches of each; all have their parameters in the
/// layouts that suit the first micro-batch. Throws Unsupported where devices differ in layouts.
void add_replicas(DataParallelParts& parts, const ReplicaSettings& settings);

/// Who sends or receives.
struct Peer {
  std::string name;  // "replica 1"
  int device = 0;
  LaneId compute = 0;
  LaneId copies = 0;
};
[[nodiscard]] Peer peer_of(const DataParallelParts& parts, std::size_t r);

/// Adds a copy from one to another, or on the compute lane of a device within it.
TaskId add_transfer(DataParallelParts& parts, const std::string& what, const Peer& from,
                    const Peer& to, std::vector<TaskId> after, const CopyCall& copy);

/// Adds the rest of a replica's backward pass as one task.
TaskId add_backward(DataParallelParts& parts, std::size_t r, std::vector<TaskId> after,
                    std::vector<Call> calls);

/// Appends calls to others.
void append_calls(std::vector<Call>& to, std::vector<Call> from);

/// Adds the forward pass of one micro-batch of a replica; ahead of the first one's the packing of
/// its parameters.
TaskId add_forward_of(DataParallelParts& parts, std::size_t r, int micro_batch,
                      std::vector<TaskId> after);

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

/// Returns the sum of the losses of all replicas.
[[nodiscard]] std::vector<float> sum_of_losses(DataParallelParts& parts);

/// Adds a check that other replicas have the first one's parameters bit for bit, and its gradients
/// where they hold the sums.
void add_equality_of_replicas(DataParallelParts& parts, bool hold_sums = false);

}  // namespace parbench
