// One stage of a model in training on one device: memory, calls for each micro-batch, results.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/plan/schedules/liveness.h"
#include "scenarios/training/optimizer.h"
#include "scenarios/training/program/stage_plan.h"

namespace parbench {

// Names of the outputs of a training step.
inline constexpr const char* loss_output = "loss";
inline constexpr const char* clip_factor_output = "clip factor";  // only if gradients are clipped
[[nodiscard]] std::string gradient_output(const std::string& parameter);
/// Returns the sum of the squares of all gradients among the outputs.
[[nodiscard]] double sum_of_squared_gradients(const std::vector<Output>& outputs);

/// Calls up to a point where the shards of a divided network combine data.
struct PassPart {
  std::vector<Call> calls;
  Collective collective = Collective::all_reduce;
  BufferView combined = {};  // empty after the last calls of a pass
};

/// Samples of the batch in the memory of a device.
struct Samples {
  Tensor tensor = {};
  std::int64_t first = 0;  // number of the tensor's first sample in the batch
  std::int64_t count = 0;  // 0: no samples

  /// Returns the samples from number `from` of the batch on.
  [[nodiscard]] BufferView part(std::int64_t from, std::int64_t samples) const {
    const std::size_t bytes = tensor.desc.bytes / static_cast<std::size_t>(count);
    return tensor.view.part(static_cast<std::size_t>(from - first) * bytes,
                            static_cast<std::size_t>(samples) * bytes);
  }
};

/// Returns the view of data that is stored elsewhere: a size without memory.
[[nodiscard]] inline BufferView elsewhere(std::size_t bytes) { return BufferView().part(0, bytes); }

/// Memory that a stage has in common with other cases or devices (stage_memory.h). Parameters and
/// gradients may be `elsewhere`; calls that access them then need memory from there.
struct StageMemory {
  BufferView parameters;
  BufferView packed;  // copies of parameters
  /// Nothing: gradients replace activations that are no longer read. Only for one micro-batch, and
  /// without a norm, which would read the padding between gradients.
  std::optional<BufferView> gradients;
  BufferView statistics;
  Samples images;  // first stage only
  Samples target;  // last stage only
};

/// Borrows memory of its own in the constructor: activations, boundary tensors, the optimiser's
/// state, and the loss.
class Stage {
 public:
  struct Options {
    int device = 0;
    StageRange range;
    std::vector<std::int64_t> micro_batches;  // samples per micro-batch
    std::int64_t first_sample = 0;  // index in the batch of the first micro-batch's first sample
    StageSlots slots = {};          // default: all micro-batches share memory
    Optimizer optimizer;
  };

  Stage(CaseParts& parts, Options options, std::shared_ptr<const StagePlan> plan,
        StageMemory memory);

  [[nodiscard]] int device() const { return options_.device; }
  [[nodiscard]] const StageRange& range() const { return options_.range; }
  [[nodiscard]] const StageSlots& slots() const { return options_.slots; }

  /// A tensor at a boundary between stages, and its gradient, in memory of this stage's device.
  struct Passing {
    TensorDesc desc;
    BufferView values;
    BufferView gradient;  // empty for the network's input
  };
  /// Returns the activations that a micro-batch receives from the previous stage. First stage: its
  /// part of the images.
  [[nodiscard]] std::vector<Passing> inputs(int micro_batch) const;
  /// Returns the tensors for the next stage, in the order of its `inputs`; empty for the last
  /// stage.
  [[nodiscard]] std::vector<Passing> outputs(int micro_batch) const;

  /// Returns calls that refresh copies of parameters for operations; empty if there are none.
  [[nodiscard]] std::vector<Call> pack() const;
  [[nodiscard]] std::vector<Call> forward(int micro_batch) const;
  // Return the parts of passes of a divided network; for other networks, passes have one part.
  // `first`: the first backward pass of the step, which overwrites gradients and loss.
  [[nodiscard]] std::vector<PassPart> forward_parts(int micro_batch) const;
  [[nodiscard]] std::vector<PassPart> backward_parts(int micro_batch, bool first) const;
  /// Returns the first backward pass of the last stage, without the loss. The next function returns
  /// where it expects the gradient of the prediction: memory that `forward` also uses.
  [[nodiscard]] std::vector<Call> backward_after_loss(int micro_batch) const;
  [[nodiscard]] BufferView prediction_gradient(int micro_batch) const;
  /// Returns the optimiser's work after the last backward pass.
  [[nodiscard]] RegionUpdate& update() { return *update_; }
  [[nodiscard]] const RegionUpdate& update() const { return *update_; }

  struct TrainedParameter {
    ParameterSpec spec;
    Tensor master;
    Tensor gradient;
    // initial values of the master in canonical order; stored ones if there are any
    Fill initial;
    std::shared_ptr<const std::vector<float>> stored;
    /// Whether it is a copy of another stage's parameter, with the same name. The gradients of both
    /// are exchanged and added before the update, so that both stay equal.
    bool is_copy = false;
  };
  [[nodiscard]] std::vector<TrainedParameter> parameters() const;
  /// Returns all parameters and their gradients, flat. Stages with equal layouts have the same
  /// values at the same offsets.
  [[nodiscard]] TrainedRegion region() const {
    return {.device = options_.device, .parameters = memory_.parameters, .gradients = gradients_};
  }
  // For passes whose parameters or gradients are stored elsewhere: the calls, and the memory of
  // this stage that they access.
  [[nodiscard]] const StageProgram& program(int micro_batch) const;
  [[nodiscard]] const ParameterStore& store() const { return plan_->store; }
  [[nodiscard]] Bases bases(int micro_batch) const;

  [[nodiscard]] std::string layouts() const { return store().layout_key(); }
  /// Returns where the gradients of each parameter begin in the region, in the order of layers.
  [[nodiscard]] std::vector<std::size_t> gradient_offsets() const;
  [[nodiscard]] const Optimizer& optimizer() const { return options_.optimizer; }

  /// Returns the images of the whole batch; first stage only.
  [[nodiscard]] const Tensor& images() const { return memory_.images.tensor; }
  // Last stage only:
  // target of the whole batch
  [[nodiscard]] const Tensor& target() const { return memory_.target.tensor; }
  [[nodiscard]] Tensor loss() const;
  /// Returns the input and the output of the last layer for a micro-batch. Valid until another
  /// micro-batch uses its slot, which never happens if the stage holds the whole batch.
  [[nodiscard]] Tensor last_source(int micro_batch) const;
  [[nodiscard]] Tensor prediction(int micro_batch) const;
  /// Returns whether it computes all micro-batches of the batch and keeps the results of each.
  [[nodiscard]] bool holds_whole_batch() const;

 private:
  [[nodiscard]] BufferView input(int micro_batch) const;
  void borrow_memory();
  void borrow_micro_batches();
  void borrow_activations();
  /// Borrows memory for each slot, with the size that the largest of its micro-batches needs.
  /// Returns it by micro-batch.
  using BytesOf = std::function<std::size_t(const StageProgram&)>;
  [[nodiscard]] std::vector<BufferView> borrow_slots(const Slots& slots, const BytesOf& bytes_of);
  /// Returns whether the gradient of a tensor that only passes through the stage is sent from where
  /// it was received.
  [[nodiscard]] bool sends_gradients_on() const;
  [[nodiscard]] std::int64_t first_sample(int micro_batch) const;
  /// Returns a tensor of the network (StageProgram::desc_of) for a micro-batch.
  [[nodiscard]] Tensor value(int index, int micro_batch) const;
  [[nodiscard]] Tensor tensor(const TensorDesc& desc, BufferView view) const {
    return {.device = options_.device, .desc = desc, .view = view};
  }

  CaseParts& parts_;
  Options options_;
  std::shared_ptr<const StagePlan> plan_;
  StageMemory memory_;
  BufferView gradients_;
  BufferView loss_;
  BufferView transient_;
  std::unique_ptr<RegionUpdate> update_;
  // By micro-batch; those with the same slot share memory:
  std::vector<BufferView> activations_;
  std::vector<BufferView> inputs_;            // empty in the first stage
  std::vector<BufferView> input_gradients_;   // empty in the first stage
  std::vector<BufferView> output_gradients_;  // empty in the last stage
};

/// The stages of a network in order, owned by others.
using Stages = std::vector<Stage*>;

}  // namespace parbench
