// Outputs and checks of a step.
#include "scenarios/training/step/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/training/checks/step_checks.h"

namespace parbench {
namespace {

/// Returns whether there are several replicas without an exchange, so that the step's results are
/// sums over the replicas.
bool is_sum_of_replicas(const StepLayout& layout) {
  return layout.exchange.kind == Exchange::Kind::none && layout.grid.replicas > 1;
}

// --- outputs ---

/// Adds the loss of the whole batch: the sum of the shares of replicas, and of shards with a part
/// of the positions. With Exchange::Kind::fed_from_first, the first device has the whole loss.
void add_loss(TrainingStep& step) {
  const bool is_whole = step.layout.exchange.kind == Exchange::Kind::fed_from_first;
  std::vector<Tensor> shares;
  for (int replica = 0; replica < (is_whole ? 1 : step.layout.grid.replicas); ++replica) {
    const int shards = step.layout.shards_positions() ? step.layout.grid.shards : 1;
    for (int shard = 0; shard < shards; ++shard) {
      shares.push_back(step.pipeline(replica, shard).back()->loss());
    }
  }
  step.outputs.push_back({loss_output, [&data = step.data, shares] {
                            std::vector<float> sum = data.read(shares.front());
                            for (std::size_t i = 1; i < shares.size(); ++i)
                              sum[0] += data.read(shares[i])[0];
                            return sum;
                          }});
}

/// A shard's part of a gradient, and the elements of the whole gradient that it contains.
struct GradientPart {
  Tensor tensor;
  std::vector<NetworkDivision::Run> runs;
};

/// Returns the parts of a parameter's gradient in the first replica; a repeated gradient only of
/// the first shard.
std::vector<GradientPart> parts_of_gradient(const TrainingStep& step, const std::string& name) {
  std::vector<GradientPart> found;
  for (int shard = 0; shard < step.layout.grid.shards; ++shard) {
    for (const Stage* stage : step.pipeline(0, shard)) {
      for (const Stage::TrainedParameter& one : stage->parameters()) {
        if (one.is_copy || one.spec.name != name) continue;
        found.push_back({one.gradient, step.division->runs(name, shard)});
      }
    }
    if (step.division->is_repeated(name)) break;
  }
  return found;
}

void add_divided_gradients(TrainingStep& step) {
  const Stage& last = *step.pipeline(0).back();
  if (last.optimizer().clips()) {
    step.outputs.push_back(
        {clip_factor_output,
         [&data = step.data, factor = last.update().factor()] { return data.read(factor); }});
  }
  for (const ParameterSpec& spec : step.division->parameters()) {
    const auto read = [&data = step.data, count = element_count(spec.shape),
                       pieces = parts_of_gradient(step, spec.name)] {
      std::vector<float> whole(static_cast<std::size_t>(count));
      for (const GradientPart& piece : pieces) {
        const std::vector<float> values = data.read(piece.tensor);
        auto from = values.begin();
        for (const NetworkDivision::Run& run : piece.runs) {
          std::copy_n(from, run.count, whole.begin() + run.first);
          from += run.count;
        }
      }
      return whole;
    };
    step.outputs.push_back({gradient_output(spec.name), read});
  }
}

/// Adds outputs with the sums of gradients over replicas: each replica has all gradients, from its
/// own micro-batches.
void add_sums_of_replicas(TrainingStep& step) {
  std::vector<UpdatedParameters> of_replicas;
  for (int replica = 0; replica < step.layout.grid.replicas; ++replica) {
    of_replicas.push_back(updated_in(step.data, step.pipeline(replica)));
  }
  UpdatedParameters sums = of_replicas.front();
  for (std::size_t i = 0; i < sums.all.size(); ++i) {
    std::vector<std::function<std::vector<float>()>> addends;
    for (const UpdatedParameters& one : of_replicas) addends.push_back(one.all.at(i).gradient);
    sums.all[i].gradient = [addends = std::move(addends)] {
      std::vector<float> sum = addends.front()();
      for (std::size_t k = 1; k < addends.size(); ++k) {
        std::ranges::transform(sum, addends[k](), sum.begin(), std::plus<>());
      }
      return sum;
    };
  }
  add_step_outputs(step, sums);
}

/// Replaces the clip factor, which each replica has computed from its own gradients, by the factor
/// of the summed gradients.
void clip_sum(std::vector<Output>& outputs, const Optimizer& optimizer) {
  const auto factor = std::ranges::find(outputs, clip_factor_output, &Output::name);
  if (factor == outputs.end()) return;
  factor->read = [gradients = outputs, optimizer] {
    return std::vector{
        static_cast<float>(naive_clip_factor(optimizer, sum_of_squared_gradients(gradients)))};
  };
}

// --- checks ---

CheckResult difference(CaseData& data, const std::string& what, const Tensor& first,
                       const Tensor& other) {
  const std::vector<float> want = data.read(first);
  const std::vector<float> got = data.read(other);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (got[i] == want[i]) continue;  // false for NaN
    return fmt::format("{}[{}] is {:.9g} on device {} and {:.9g} on device {}", what, i, got[i],
                       other.device, want[i], first.device);
  }
  return std::nullopt;
}

/// Returns a message about the first parameter value in which another replica differs from the
/// first one; nothing if there is none. Compares gradients, too, if `with_gradients`.
CheckResult unequal_replicas(const TrainingStep& step, CaseData& data, bool with_gradients) {
  for (const GridPoint& point : step.layout.points()) {
    if (point.replica == 0) continue;
    const auto theirs = step.stage(point).parameters();
    const auto ours = step.stage({0, point.stage, point.shard}).parameters();
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const std::string& name = ours[i].spec.name;
      auto unequal = difference(data, name, ours[i].master, theirs[i].master);
      if (!unequal && with_gradients) {
        unequal = difference(data, gradient_output(name), ours[i].gradient, theirs[i].gradient);
      }
      if (unequal) return unequal;
    }
  }
  return std::nullopt;
}

/// Adds a check that all replicas have equal parameters, if each keeps all parameters, and equal
/// gradients, if each has the sums of all gradients.
void add_equality_of_replicas(TrainingStep& step) {
  const Exchange& exchange = step.layout.exchange;
  const bool keeps_parameters =
      exchange.kind != Exchange::Kind::fed_from_first && !exchange.divides_parameters();
  if (step.layout.grid.replicas == 1 || !keeps_parameters) return;
  const bool hold_sums = exchange.updates_all() || exchange.zero_level == 1;
  step.checks.push_back(
      {hold_sums ? "gradients and parameters of all replicas equal"
                 : "parameters of all replicas equal",
       [&step, hold_sums] { return unequal_replicas(step, step.data, hold_sums); }});
}

std::optional<std::string> far_from_each_other(CaseData& data, const Tolerance& tolerance,
                                               const Stage::TrainedParameter& one,
                                               const Stage::TrainedParameter& other, int shard) {
  const std::vector<float> want = data.read(one.gradient);
  const std::vector<float> got = data.read(other.gradient);
  const Agreement found = agreement(got, want, tolerance);
  if (found.holds()) return std::nullopt;
  const std::size_t i = found.not_finite.value_or(found.where);
  return fmt::format("the gradient of {}[{}] is {:.9g} on shard 0 and {:.9g} on shard {}",
                     one.spec.name, i, want[i], got[i], shard);
}

/// Returns a message about the first gradient of a repeated parameter that differs between the
/// shards of the first replica by more than the tolerance; nothing if there is none.
std::optional<std::string> unequal_shards(const TrainingStep& step, CaseData& data) {
  for (const GridPoint& point : step.layout.points_of(0)) {
    if (point.shard == 0) continue;
    std::map<std::string, Stage::TrainedParameter> first;
    for (auto& one : step.stage({0, point.stage, 0}).parameters()) first[one.spec.name] = one;
    for (const auto& other : step.stage(point).parameters()) {
      if (!step.division->is_repeated(other.spec.name)) continue;
      auto far =
          far_from_each_other(data, step.tolerance, first.at(other.spec.name), other, point.shard);
      if (far) return far;
    }
  }
  return std::nullopt;
}

/// Returns the stages whose losses and gradients add up to those of the batch: the stages of all
/// replicas if these exchange nothing, otherwise the stages of the first replica.
Stages stages_of_batch(const TrainingStep& step) {
  if (!is_sum_of_replicas(step.layout)) return step.pipeline(0);
  Stages stages;
  for (const GridPoint& point : step.layout.points()) stages.push_back(&step.stage(point));
  return stages;
}

}  // namespace

void add_results(TrainingStep& step, const std::optional<UpdatedParameters>& elsewhere) {
  if (is_sum_of_replicas(step.layout)) {
    add_sums_of_replicas(step);
    clip_sum(step.outputs, step.settings.optimizer);
  } else if (step.division && !elsewhere) {
    add_divided_gradients(step);
  } else {
    add_step_outputs(step, elsewhere ? *elsewhere : updated_in(step.data, step.pipeline(0)));
  }
  add_loss(step);
}

void add_checks(TrainingStep& step, const std::optional<UpdatedParameters>& elsewhere) {
  const int micro_batches = step.layout.micro_batch_count(0);
  if (step.division) {
    add_loss_check(step);
    step.checks.push_back({"gradients of parameters that all shards hold equal",
                           [&step] { return unequal_shards(step, step.data); }});
  } else {
    add_step_checks(step, step.network, step.settings.format, stages_of_batch(step), micro_batches,
                    step.settings.optimizer);
  }
  if (is_sum_of_replicas(step.layout)) return;
  if (elsewhere) add_update_check(step, *elsewhere);
  for (int shard = 0; shard < step.layout.grid.shards; ++shard) {
    if (!elsewhere) add_update_check(step, updated_in(step.data, step.pipeline(0, shard)));
    add_boundary_check(step, step.pipeline(0, shard), micro_batches - 1);
  }
  add_equality_of_replicas(step);
}

}  // namespace parbench
