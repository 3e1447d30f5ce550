// Replicas of a model with a share of the micro-batches each, and the sum of what they compute.
#include "scenarios/training/gradient_accumulation.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "scenarios/models/layers/dropout.h"
#include "scenarios/plan/schedules/schedule.h"
#include "scenarios/training/pipeline_plan.h"

namespace parbench {
namespace {

/// Neighbouring micro-batches of one device.
struct Share {
  int device = 0;
  std::int64_t first_sample = 0;
  std::vector<std::int64_t> micro_batches;
};

/// Each replica takes the memory of a whole model, and two save half of the time.
constexpr std::size_t max_replicas = 2;

std::vector<int> devices_of_replicas(const Context& context) {
  const DeviceInfo& first = context.device(0).info();
  std::vector<int> chosen;
  for (int device = 0; device < context.device_count() && chosen.size() < max_replicas; ++device) {
    if (alike(first, context.device(device).info())) chosen.push_back(device);
  }
  return chosen;
}

/// A micro-batch goes to the device in whose equal part of the batch it begins.
std::vector<Share> shares_of(const std::vector<int>& devices, std::int64_t batch,
                             const std::vector<std::int64_t>& micro_batches) {
  std::vector<Share> shares;
  std::int64_t sample = 0;
  for (const std::int64_t count : micro_batches) {
    const auto part = static_cast<std::int64_t>(devices.size()) * sample / batch;
    const int device = devices[static_cast<std::size_t>(part)];
    if (shares.empty() || shares.back().device != device) {
      shares.push_back({.device = device, .first_sample = sample, .micro_batches = {}});
    }
    shares.back().micro_batches.push_back(count);
    sample += count;
  }
  return shares;
}

/// Every replica has the same outputs: the loss and the gradients of its micro-batches.
std::vector<Output> sums(const std::vector<std::vector<Output>>& replicas) {
  std::vector<Output> result = replicas.front();
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::vector<std::function<std::vector<float>()>> addends;
    for (const std::vector<Output>& outputs : replicas) addends.push_back(outputs.at(i).read);
    result[i].read = [addends = std::move(addends)] {
      std::vector<float> sum = addends.front()();
      for (std::size_t k = 1; k < addends.size(); ++k) {
        std::ranges::transform(sum, addends[k](), sum.begin(), std::plus<>());
      }
      return sum;
    };
  }
  return result;
}

/// Each replica has clipped what it computed; the step clips the sum of all.
void clip_sum(std::vector<Output>& outputs, const Optimizer& optimizer) {
  const auto factor = std::ranges::find(outputs, clip_factor_output, &Output::name);
  if (factor == outputs.end()) return;
  factor->read = [gradients = outputs, optimizer] {
    return std::vector{
        static_cast<float>(naive_clip_factor(optimizer, sum_of_squared_gradients(gradients)))};
  };
}

}  // namespace

std::vector<std::unique_ptr<Stage>> add_gradient_accumulation(
    CaseParts& parts, const StageRange& whole, const std::vector<std::int64_t>& micro_batches,
    const Optimizer& optimizer) {
  std::vector<std::unique_ptr<Stage>> replicas;
  std::vector<std::vector<Output>> outputs;
  for (const Share& share :
       shares_of(devices_of_replicas(parts.context), whole.batch, micro_batches)) {
    std::vector<std::unique_ptr<Stage>> replica;
    replica.push_back(
        std::make_unique<Stage>(parts, Stage::Options{.device = share.device,
                                                      .range = whole,
                                                      .micro_batches = share.micro_batches,
                                                      .first_sample = share.first_sample,
                                                      .optimizer = optimizer}));
    const int count = static_cast<int>(share.micro_batches.size());
    add_training_step(parts, replica, share.micro_batches, one_at_a_time(1, count));
    replica.front()->add_outputs(outputs.emplace_back());
    replicas.push_back(std::move(replica.front()));
  }
  parts.outputs = sums(outputs);
  clip_sum(parts.outputs, optimizer);
  return replicas;
}

bool depends_on_division(const Network& network) {
  return std::ranges::any_of(network.layers, [&](const Layer& layer) {
    return as<RandomDropout>(layer) != nullptr ||
           layer.kind->statistics(network.input_of(layer)) > 0;
  });
}

}  // namespace parbench
