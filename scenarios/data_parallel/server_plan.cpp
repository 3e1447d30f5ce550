// Memory and tasks of a parameter server.
#include "scenarios/data_parallel/server_plan.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "scenarios/training/checks/update_checks.h"

namespace parbench {
namespace {

/// What is sent in either direction: everything at once.
struct ServerMemory {
  BufferView parameters;
  BufferView gradients;
};

class ServerWriter {
 public:
  ServerWriter(DataParallelParts& parts, const Optimizer& optimizer)
      : parts_(parts),
        optimizer_(optimizer),
        bytes_(parts.replica(0).region().parameters.bytes),
        memory_{.parameters = parts.context.borrow(parts.server, bytes_),
                .gradients = parts.context.borrow(parts.server, bytes_)},
        update_(parts, optimizer,
                {.device = parts.server,
                 .parameters = memory_.parameters,
                 .gradients = memory_.gradients}) {
    make_lanes();
    initialize_at_reset();
  }

  void write() {
    const std::size_t count = parts_.replica_count();
    std::vector<TaskId> forward;
    for (std::size_t r = 0; r < count; ++r) forward.push_back(add_forward(parts_, r, {}));
    std::vector<TaskId> backward;
    for (std::size_t r = 0; r < count; ++r) {
      backward.push_back(add_backward(parts_, r, {forward[r]}, last_backward(parts_, r)));
    }
    const TaskId updated = add_server_update(push(backward));
    for (std::size_t r = 0; r < count; ++r) {
      add_transfer(
          parts_, "parameters", server_, peer_of(parts_, r), {updated},
          {.destination = parts_.replica(r).region().parameters, .source = memory_.parameters});
    }
  }

  /// Where the results lie, for outputs and checks.
  [[nodiscard]] UpdatedParameters results() const {
    UpdatedParameters results{.optimizer = optimizer_, .clip_factors = {}, .all = {}};
    if (optimizer_.clips()) results.clip_factors.push_back(update_.factor());
    const Stage& first = parts_.replica(0);
    for (const Stage::TrainedParameter& parameter : first.parameters()) {
      results.all.push_back({.parameter = parameter,
                             .gradient = reader_of_sum(parameter),
                             .after = [&data = parts_.data, pulled = parameter.master] {
                               return data.read(pulled);
                             }});
    }
    return results;
  }

 private:
  void make_lanes() {
    if (parts_.server == parts_.replica(0).device()) {
      server_ = peer_of(parts_, 0);
    } else {
      server_.device = parts_.server;
      server_.compute = add_lane(parts_, parts_.server, StreamKind::compute);
      server_.copies = add_lane(parts_, parts_.server, StreamKind::copy);
    }
    server_.name = "server";
  }

  /// The server begins with the parameters that the first worker has after its own reset, which
  /// runs on the same stream.
  void initialize_at_reset() {
    const Stage& first = parts_.replica(0);
    parts_.data.at_reset(first.device(), 0,
                         [to = memory_.parameters, from = first.region().parameters](
                             Stream& stream, BufferView) { stream.copy(to, from); });
  }

  /// The first gradients arrive in the sum, the others beside it. Returns the last addition.
  TaskId push(const std::vector<TaskId>& backward) {
    TaskId last = add_transfer(
        parts_, "gradients", peer_of(parts_, 0), server_, {backward[0]},
        {.destination = memory_.gradients, .source = parts_.replica(0).region().gradients});
    if (backward.size() == 1) return last;
    const auto count = static_cast<std::int64_t>(bytes_ / sizeof(float));
    Op& add = parts_.ops.prepare(stream_of(parts_, server_.compute), Accumulate{.count = count});
    for (std::size_t r = 1; r < backward.size(); ++r) {
      const BufferView inbox = parts_.context.borrow(parts_.server, bytes_);
      const TaskId arrived =
          add_transfer(parts_, "gradients", peer_of(parts_, r), server_, {backward[r]},
                       {.destination = inbox, .source = parts_.replica(r).region().gradients});
      last = parts_.plan.add({.name = fmt::format("add gradients of replica {}", r),
                              .kind = TaskKind::communication,
                              .lanes = {server_.compute},
                              .after = {last, arrived},
                              .cost_key = "add gradients"},
                             {bind(add, {{"source", inbox}, {"destination", memory_.gradients}})});
    }
    return last;
  }

  TaskId add_server_update(TaskId after) {
    std::vector<Call> calls;
    if (optimizer_.clips()) {
      const BufferView norm = parts_.context.borrow(parts_.server, sizeof(float));
      append_calls(calls, update_.squared_norm(norm));
      append_calls(calls, update_.clip(norm, 1));
    }
    append_calls(calls, update_.update());
    return parts_.plan.add({.name = "update, server",
                            .lanes = {server_.compute},
                            .after = {after},
                            .cost_key = "update",
                            .phase = "update"},
                           std::move(calls));
  }

  /// The sum of a parameter's gradients on the server, which has the layouts of the workers.
  [[nodiscard]] std::function<std::vector<float>()> reader_of_sum(
      const Stage::TrainedParameter& parameter) const {
    const Tensor& own = parameter.gradient;
    const std::size_t offset = own.view.offset - parts_.replica(0).region().gradients.offset;
    const CaseData::MemoryPiece sum{.device = parts_.server,
                                    .view = memory_.gradients.part(offset, own.desc.bytes)};
    return [&data = parts_.data, device = own.device, desc = own.desc, sum] {
      return data.read_pieces(device, desc, {sum});
    };
  }

  DataParallelParts& parts_;
  Optimizer optimizer_;
  std::size_t bytes_;
  ServerMemory memory_;
  RegionUpdate update_;
  Peer server_;
};

}  // namespace

void plan_parameter_server(DataParallelParts& parts, const Optimizer& optimizer) {
  ServerWriter writer(parts, optimizer);
  writer.write();
  const UpdatedParameters results = writer.results();
  add_step_outputs(parts, results, [&parts] { return sum_of_losses(parts); });
  add_update_check(parts, results);
  add_equality_of_replicas(parts);
}

}  // namespace parbench
