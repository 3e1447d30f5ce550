// One stage of a model in training on one device: memory, calls for each micro-batch, results.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/framework/prepared_case.h"
#include "scenarios/plan/schedules/liveness.h"
#include "scenarios/training/optimizer.h"
#include "scenarios/training/program/parameter_store.h"
#include "scenarios/training/program/stage_program.h"

namespace parbench {

// Names of the outputs of a training step.
inline constexpr const char* loss_output = "loss";
inline constexpr const char* clip_factor_output = "clip factor";  // where gradients are clipped
[[nodiscard]] std::string gradient_output(const std::string& parameter);
/// Considers the outputs that are gradients.
[[nodiscard]] double sum_of_squared_gradients(const std::vector<Output>& outputs);

/// Calls up to a point where the shards of a divided network combine data.
struct PassPart {
  std::vector<Call> calls;
  Collective collective = Collective::all_reduce;
  BufferView combined = {};  // empty after the last calls of a pass
};

/// Borrows its memory and plans its operations in the constructor. All cases of a run that have the
/// same stage in the same layouts share parameters and running statistics. These change as the
/// cases train; the case's reset restores the initial values that the layers define.
class Stage {
 public:
  struct Options {
    int device = 0;
    StageRange range;
    std::vector<std::int64_t> micro_batches;  // samples per micro-batch
    std::int64_t first_sample = 0;  // index in the batch of the first micro-batch's first sample
    StageSlots slots = {};          // default: all micro-batches share memory
    Optimizer optimizer;
    /// Number of samples per micro-batch for which the layouts of parameters are chosen, so that
    /// stages with different micro-batches can have equal layouts; 0: that of the first
    /// micro-batch.
    std::int64_t layout_samples = 0;
    /// Parameters and input come from another device in every step. Their memory belongs to the
    /// case alone and has the size of its micro-batches; the first reset fills it with NaN, and
    /// there is no target. Only for a stage that is the whole network.
    bool is_fed = false;
    /// Whether a norm of the gradients is also computed outside of the optimiser. Norms read the
    /// padding between gradients, which must then be zero.
    bool has_norm = false;
    /// The memory of gradients, or of parameters and their packed copies, does not belong to the
    /// stage and may differ between calls: `region` and all calls contain symbolic views of it.
    bool gradients_elsewhere = false;
    bool parameters_elsewhere = false;
    /// A stage with the same range, micro-batches and kernels, whose planned passes this stage can
    /// reuse. Both belong to other ranks, so neither is executed here.
    const Stage* twin = nullptr;
  };

  Stage(CaseParts& parts, Options options);

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
  /// `first`: the first backward pass of the step, which overwrites gradients and loss.
  [[nodiscard]] std::vector<Call> backward(int micro_batch, bool first) const;
  // Return the parts of passes of a divided network; for other networks, passes have one part.
  [[nodiscard]] std::vector<PassPart> forward_parts(int micro_batch) const;
  [[nodiscard]] std::vector<PassPart> backward_parts(int micro_batch, bool first) const;
  /// Returns the first backward pass of the last stage, without the loss. The next function returns
  /// where it expects the gradient of the prediction: memory that `forward` also uses.
  [[nodiscard]] std::vector<Call> backward_behind_loss(int micro_batch) const;
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
    return {.device = options_.device, .parameters = parameters_, .gradients = gradients_};
  }
  /// For parameters stored elsewhere: makes the case's reset write the initial values of one
  /// parameter after the other to `memory`, which has room for the largest, and call `keep` with
  /// its symbolic view after each.
  using Keep = std::function<void(Stream& stream, const BufferView& parameter)>;
  void initialize_at_reset(const BufferView& memory, const Keep& keep);
  [[nodiscard]] std::string layouts() const { return store().layout_key(); }
  /// Returns where the gradients of each parameter begin in the region, in the order of layers.
  [[nodiscard]] std::vector<std::size_t> gradient_offsets() const;
  [[nodiscard]] const Optimizer& optimizer() const { return options_.optimizer; }

  /// Returns the samples of the whole batch; first stage only.
  [[nodiscard]] Tensor images() const;
  // Last stage only:
  [[nodiscard]] Tensor target() const;  // the whole batch's
  [[nodiscard]] Tensor loss() const;
  /// Returns the input and the output of the last layer for a micro-batch. Valid until another
  /// micro-batch uses its slot, which never happens if the stage holds the whole batch.
  [[nodiscard]] Tensor last_source(int micro_batch) const;
  [[nodiscard]] Tensor prediction(int micro_batch) const;
  /// Returns whether it computes all micro-batches of the batch and keeps the results of each.
  [[nodiscard]] bool holds_whole_batch() const;

  /// Adds loss and clip factor (last stage), and the gradient of every parameter except copies.
  void add_outputs(std::vector<Output>& outputs) const;

 private:
  [[nodiscard]] BufferView input(int micro_batch) const;
  [[nodiscard]] const StageProgram& program(int micro_batch) const;
  [[nodiscard]] Bases bases(int micro_batch) const;
  /// Offsets of parameters, and the passes of micro-batches.
  struct PassPlan {
    PassPlan(Stream& stream, bool is_read_once) : store(stream, is_read_once) {}
    ParameterStore store;
    std::map<std::int64_t, std::unique_ptr<StageProgram>> programs = {};  // by samples
    std::size_t scratch_bytes = 0;  // scratch memory that the stream had to reserve
  };
  [[nodiscard]] std::shared_ptr<const PassPlan> make_plan();
  [[nodiscard]] const ParameterStore& store() const { return plan_->store; }
  void borrow_memory();
  void borrow_micro_batches();
  void borrow_activations_and_gradients();
  /// Borrows memory for each slot, with the size that the largest of its micro-batches needs.
  /// Returns it by micro-batch.
  using BytesOf = std::function<std::size_t(const StageProgram&)>;
  [[nodiscard]] std::vector<BufferView> borrow_slots(const Slots& slots, const BytesOf& bytes_of);
  /// Returns whether the gradient of a tensor that only passes through the stage is sent from where
  /// it was received.
  [[nodiscard]] bool sends_gradients_on() const;
  void receive_images();
  void share_images();
  void share_target();
  void initialize_at_reset();
  void reserve_staging();
  void initialize_parameters_at_reset();
  using Place = std::function<BufferView(const ParameterStore::Entry&)>;
  void initialize_parameters_at_reset(const Place& place, const Keep& keep);
  [[nodiscard]] std::int64_t first_sample(int micro_batch) const;
  [[nodiscard]] Fill initial_values(const ParameterSpec& spec) const;
  [[nodiscard]] std::shared_ptr<const std::vector<float>> stored_values(
      const ParameterSpec& spec) const;
  [[nodiscard]] CaseData::Step filling_step(const ParameterSpec& spec);
  [[nodiscard]] Tensor tensor(const TensorDesc& desc, BufferView view) const {
    return {.device = options_.device, .desc = desc, .view = view};
  }

  CaseParts& parts_;
  Options options_;
  Stream& stream_;
  std::shared_ptr<const PassPlan> plan_;
  OpSet ops_;

  BufferView loss_;
  BufferView parameters_;
  BufferView statistics_;
  BufferView gradients_;
  BufferView packed_;
  BufferView transient_;
  BufferView images_;
  BufferView target_;
  std::size_t image_bytes_ = 0;   // of one sample
  std::size_t target_bytes_ = 0;  // of one sample
  std::unique_ptr<RegionUpdate> update_;
  // By micro-batch; those with the same slot share memory:
  std::vector<BufferView> activations_;
  std::vector<BufferView> inputs_;            // not of the first stage
  std::vector<BufferView> input_gradients_;   // not of the first stage
  std::vector<BufferView> output_gradients_;  // not of the last stage
};

/// The stages of a network in order, owned by others.
using Stages = std::vector<Stage*>;

}  // namespace parbench
