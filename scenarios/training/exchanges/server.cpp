// Memory and tasks of a parameter server.
#include <cstddef>
#include <functional>

#include "scenarios/training/exchanges/exchanges.h"
#include "scenarios/training/exchanges/transfers.h"

namespace parbench {
namespace {

/// Returns memory for the server's parameters and gradients, in the layout of the workers' regions.
TrainedRegion borrow_region(TrainingStep& step) {
  const int device = step.layout.exchange.server;
  const std::size_t bytes = step.stage({}).region().parameters.bytes;
  const BufferView parameters = step.context.borrow(device, bytes);
  return {
      .device = device, .parameters = parameters, .gradients = step.context.borrow(device, bytes)};
}

Peer add_server(StepTasks& tasks) {
  TrainingStep& step = tasks.step();
  const int device = step.layout.exchange.server;
  Peer server = peer_of(tasks, 0);
  server.name = "server";
  if (device == server.device) return server;
  server.device = device;
  server.compute = add_lane(step, device, StreamKind::compute);
  server.copies = add_lane(step, device, StreamKind::copy);
  return server;
}

/// Makes the case's reset copy the first worker's parameters to the server. The copy follows the
/// reset of the worker's parameters on the same stream.
void initialize_at_reset(TrainingStep& step, const BufferView& parameters) {
  const Stage& first = step.stage({});
  step.data.at_reset(first.device(), 0,
                     [to = parameters, from = first.region().parameters](
                         Stream& stream, BufferView) { stream.copy(to, from); });
}

std::vector<Call> update_calls(TrainingStep& step, RegionUpdate& update, int device) {
  std::vector<Call> calls;
  if (step.settings.optimizer.clips()) {
    const BufferView norm = step.context.borrow(device, sizeof(float));
    append(calls, update.squared_norm(norm));
    append(calls, update.clip(norm, 1));
  }
  append(calls, update.update());
  return calls;
}

/// Returns a function that reads the sum of a parameter's gradients on the server. `own`: the
/// gradient on the first worker, which has the same layout.
std::function<std::vector<float>()> reader_of_sum(TrainingStep& step, const TrainedRegion& region,
                                                  const Tensor& own) {
  const std::size_t offset = own.view.offset - step.stage({}).region().gradients.offset;
  const CaseData::MemoryPiece sum{.device = region.device,
                                  .view = region.gradients.part(offset, own.desc.bytes)};
  return [&data = step.data, device = own.device, desc = own.desc, sum] {
    return data.read_pieces(device, desc, {sum});
  };
}

}  // namespace

UpdatedParameters write_server(StepTasks& tasks) {
  TrainingStep& step = tasks.step();
  const TrainedRegion region = borrow_region(step);
  RegionUpdate update(step, step.settings.optimizer, region);
  const Peer server = add_server(tasks);
  initialize_at_reset(step, region.parameters);
  const TaskId sum = add_reduction(tasks, server, region.gradients, false);
  const TaskId updated = step.plan.add({.name = "update, server",
                                        .lanes = {server.compute},
                                        .after = {sum},
                                        .cost_key = "update",
                                        .phase = "update"},
                                       update_calls(step, update, region.device));
  for (int r = 0; r < step.layout.grid.replicas; ++r) {
    add_transfer(tasks, "parameters", server, peer_of(tasks, r), {updated},
                 {.destination = step.stage({.replica = r}).region().parameters,
                  .source = region.parameters});
  }
  UpdatedParameters results{.optimizer = step.settings.optimizer, .clip_factors = {}, .all = {}};
  if (step.settings.optimizer.clips()) results.clip_factors.push_back(update.factor());
  for (const Stage::TrainedParameter& one : step.stage({}).parameters()) {
    results.all.push_back(
        {.parameter = one,
         .gradient = reader_of_sum(step, region, one.gradient),
         .after = [&data = step.data, pulled = one.master] { return data.read(pulled); }});
  }
  return results;
}

}  // namespace parbench
