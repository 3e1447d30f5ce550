// One stage of a model in training, on one device: memory, calls for each micro-batch, results.
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

/// Calls of a pass up to a point where the shards of a divided network combine data, and the
/// collective at that point.
struct PassPart {
  std::vector<Call> calls;
  Collective collective = Collective::all_reduce;
  BufferView combined = {};  // data of the collective; empty in the last part of a pass
};

/// Consecutive samples of the batch in the memory of a device.
struct Samples {
  Tensor tensor = {};
  std::int64_t first = 0;  // index in the batch of the tensor's first sample
  std::int64_t count = 0;  // 0: no samples

  /// Returns the memory of `samples` samples, the first of which has index `from` in the batch.
  [[nodiscard]] BufferView part(std::int64_t from, std::int64_t samples) const {
    const std::size_t bytes = tensor.desc.bytes / static_cast<std::size_t>(count);
    return tensor.view.part(static_cast<std::size_t>(from - first) * bytes,
                            static_cast<std::size_t>(samples) * bytes);
  }
};

/// Returns a view with a size but without memory, for data that is stored outside of the stage.
[[nodiscard]] inline BufferView elsewhere(std::size_t bytes) { return BufferView().part(0, bytes); }

/// Memory that the constructor of a stage gets (stage_memory.h makes it), partly shared with other
/// cases. Parameters, their copies and gradients may be `elsewhere`; users of the stage's calls
/// then have to replace the views of such data (ZeroSegments).
struct StageMemory {
  BufferView parameters;
  BufferView packed;  // packed copies of parameters (ParameterStore)
  /// No value: gradients replace activations that are no longer read. Requires a single micro-batch
  /// and no clipping, because the norm would read the padding between gradients.
  std::optional<BufferView> gradients;
  BufferView statistics;
  Samples images;  // input of the network; first stage only
  Samples target;  // last stage only
};

/// A stage on its device. The constructor borrows the memory that is not in StageMemory:
/// activations, boundary tensors, the optimiser's state, the loss, and gradients if StageMemory has
/// none.
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
  /// Returns the activations of a micro-batch that come from the previous stage; in the first
  /// stage, the micro-batch's part of the input.
  [[nodiscard]] std::vector<Passing> inputs(int micro_batch) const;
  /// Returns the tensors for the next stage, in the order of that stage's `inputs`; empty for the
  /// last stage.
  [[nodiscard]] std::vector<Passing> outputs(int micro_batch) const;

  /// Returns the calls that refresh the packed copies of parameters; empty if there are none.
  [[nodiscard]] std::vector<Call> pack() const;
  [[nodiscard]] std::vector<Call> forward(int micro_batch) const;
  // Return the parts of a pass; only passes of a divided network have several. `first`: whether it
  // is the first backward pass of the step, which overwrites gradients and loss.
  [[nodiscard]] std::vector<PassPart> forward_parts(int micro_batch) const;
  [[nodiscard]] std::vector<PassPart> backward_parts(int micro_batch, bool first) const;
  /// Returns the calls of the last stage's first backward pass except its first call, the loss.
  [[nodiscard]] std::vector<Call> backward_after_loss(int micro_batch) const;
  /// Returns the memory in which `backward_after_loss` expects the gradient of the prediction. The
  /// forward pass uses the same memory, so the gradient must be written after that pass.
  [[nodiscard]] BufferView prediction_gradient(int micro_batch) const;
  [[nodiscard]] RegionUpdate& update() { return *update_; }
  [[nodiscard]] const RegionUpdate& update() const { return *update_; }

  struct TrainedParameter {
    ParameterSpec spec;
    Tensor master;
    Tensor gradient;
    // Initial values of the master in canonical order: `stored`; if that is null, the values that
    // `initial` draws.
    Fill initial;
    std::shared_ptr<const std::vector<float>> stored;
    /// Whether this is a copy of another stage's parameter, with the same name. The two stages
    /// exchange and add the gradients before the update, so that parameter and copy stay equal.
    bool is_copy = false;
  };
  [[nodiscard]] std::vector<TrainedParameter> parameters() const;
  /// Returns the regions of all parameters and of their gradients. Stages with equal `layouts()`
  /// have each parameter at the same offset.
  [[nodiscard]] TrainedRegion region() const {
    return {.device = options_.device, .parameters = memory_.parameters, .gradients = gradients_};
  }
  // Symbolic calls of a micro-batch's passes, and the memory of this stage that they access, for
  // passes whose parameters or gradients are stored elsewhere.
  [[nodiscard]] const StageProgram& program(int micro_batch) const;
  [[nodiscard]] const ParameterStore& store() const { return plan_->store; }
  [[nodiscard]] Bases bases(int micro_batch) const;

  [[nodiscard]] std::string layouts() const { return store().layout_key(); }
  /// Returns the offsets of the parameters' gradients in the region, ascending.
  [[nodiscard]] std::vector<std::size_t> gradient_offsets() const;
  [[nodiscard]] const Optimizer& optimizer() const { return options_.optimizer; }

  /// Returns the input of the whole batch, or only of this replica's samples if the stage's memory
  /// is `fed_memory`; first stage only.
  [[nodiscard]] const Tensor& images() const { return memory_.images.tensor; }

  // The following functions are for the last stage.

  /// Returns the target of the whole batch.
  [[nodiscard]] const Tensor& target() const { return memory_.target.tensor; }
  [[nodiscard]] Tensor loss() const;
  /// Return the input and the output of the last layer for a micro-batch, valid until another
  /// micro-batch uses its slot.
  [[nodiscard]] Tensor last_source(int micro_batch) const;
  [[nodiscard]] Tensor prediction(int micro_batch) const;
  /// Returns whether the stage processes all samples of the batch, and the activations of each
  /// micro-batch have a slot of their own.
  [[nodiscard]] bool holds_whole_batch() const;

 private:
  [[nodiscard]] BufferView input(int micro_batch) const;
  void borrow_memory();
  void borrow_micro_batches();
  void borrow_activations();
  /// Borrows memory for each slot, with the size that the largest of its micro-batches needs.
  /// Returns the memory of each micro-batch.
  using BytesOf = std::function<std::size_t(const StageProgram&)>;
  [[nodiscard]] std::vector<BufferView> borrow_slots(const Slots& slots, const BytesOf& bytes_of);
  /// Returns whether a tensor only passes through the stage. The gradient of such a tensor is sent
  /// on from the memory in which it was received.
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
  // Memory by micro-batch; micro-batches with the same slot share it.
  std::vector<BufferView> activations_;
  std::vector<BufferView> inputs_;            // empty in the first stage
  std::vector<BufferView> input_gradients_;   // empty in the first stage
  std::vector<BufferView> output_gradients_;  // empty in the last stage
};

/// Stages in the order of their layers, not owned.
using Stages = std::vector<Stage*>;

}  // namespace parbench
