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
/// Of the outputs that are gradients.
[[nodiscard]] double sum_of_squared_gradients(const std::vector<Output>& outputs);

/// Calls up to a point where the shards of a divided network combine something.
struct PassPart {
  std::vector<Call> calls;
  Collective collective = Collective::all_reduce;
  BufferView combined = {};  // empty behind the last calls of a pass
};

/// Borrows its memory and plans its operations in the constructor. Parameters and running
/// statistics are shared by all cases of a run that have the same stage in the same layouts; they
/// change as the cases train, and the case's reset sets them back to the initial values that their
/// layers give.
class Stage {
 public:
  struct Options {
    int device = 0;
    StageRange range;
    std::vector<std::int64_t> micro_batches;  // samples of each
    std::int64_t first_sample = 0;            // of the batch: where the first micro-batch begins
    StageSlots slots = {};  // which micro-batches share memory; default: all, one after the other
    Optimizer optimizer;
    /// Parameters have the layouts that suit micro-batches of so many samples, so that stages with
    /// other micro-batches can have the same; 0: those of the first micro-batch.
    std::int64_t layout_samples = 0;
    /// Parameters and input come from another device in every step: memory for them is the case's
    /// own and of its micro-batches alone, the first reset fills it with NaN, and there is no
    /// target. Of a stage that is the whole network.
    bool is_fed = false;
    /// Whether others than the optimiser compute a norm of the gradients: norms read the padding
    /// between these, which is zero then.
    bool has_norm = false;
    /// Memory of gradients, or of parameters and their packed copies, is not the stage's, and may
    /// be elsewhere at each call: `region` and all calls have symbolic views of it.
    bool gradients_elsewhere = false;
    bool parameters_elsewhere = false;
    /// A stage whose planned passes are also this one's: both have the same range, micro-batches
    /// and kernels, and belong to other ranks, so that nothing of either is executed here.
    const Stage* twin = nullptr;
  };

  Stage(CaseParts& parts, Options options);

  [[nodiscard]] int device() const { return options_.device; }
  [[nodiscard]] const StageRange& range() const { return options_.range; }
  [[nodiscard]] const StageSlots& slots() const { return options_.slots; }

  /// A tensor at a boundary between stages, and its gradient, as they lie on this stage's device.
  struct Passing {
    TensorDesc desc;
    BufferView values;
    BufferView gradient;  // empty of the network's input
  };
  /// What a micro-batch brings from the stage before; of the first stage a part of the images.
  [[nodiscard]] std::vector<Passing> inputs(int micro_batch) const;
  /// What the stage behind gets, in the order of its `inputs`; none of the last stage.
  [[nodiscard]] std::vector<Passing> outputs(int micro_batch) const;

  /// Copies of parameters that operations want, brought up to date; empty when none are needed.
  [[nodiscard]] std::vector<Call> pack() const;
  [[nodiscard]] std::vector<Call> forward(int micro_batch) const;
  /// `first`: the first backward of the step, which overwrites gradients and loss.
  [[nodiscard]] std::vector<Call> backward(int micro_batch, bool first) const;
  // The same of a divided network; the passes of others have one part.
  [[nodiscard]] std::vector<PassPart> forward_parts(int micro_batch) const;
  [[nodiscard]] std::vector<PassPart> backward_parts(int micro_batch, bool first) const;
  /// Of the last stage: the first backward of the step without its beginning, the loss, and where
  /// it expects the gradient of the prediction: memory that `forward` uses too.
  [[nodiscard]] std::vector<Call> backward_behind_loss(int micro_batch) const;
  [[nodiscard]] BufferView prediction_gradient(int micro_batch) const;
  /// What the optimiser does behind the last backward.
  [[nodiscard]] RegionUpdate& update() { return *update_; }
  [[nodiscard]] const RegionUpdate& update() const { return *update_; }

  struct TrainedParameter {
    ParameterSpec spec;
    Tensor master;
    Tensor gradient;
    // The master's values after a reset, in canonical order: stored ones where there are any.
    Fill initial;
    std::shared_ptr<const std::vector<float>> stored;
    /// Of a parameter of another stage, with its name: their gradients are exchanged and added
    /// before the update, so that both stay the same.
    bool is_copy = false;
  };
  [[nodiscard]] std::vector<TrainedParameter> parameters() const;
  /// All parameters and their gradients, flat. Stages with equal layouts have the same numbers at
  /// the same places.
  [[nodiscard]] TrainedRegion region() const {
    return {.device = options_.device, .parameters = parameters_, .gradients = gradients_};
  }
  /// Where parameters are elsewhere: makes the case's reset write the initial values of one after
  /// the other to `memory`, which has room for the largest, and call `keep` with its symbolic view
  /// behind each.
  using Keep = std::function<void(Stream& stream, const BufferView& parameter)>;
  void initialize_at_reset(const BufferView& memory, const Keep& keep);
  [[nodiscard]] std::string layouts() const { return store().layout_key(); }
  /// Where the gradients of each parameter begin in the region, in the order of layers.
  [[nodiscard]] std::vector<std::size_t> gradient_offsets() const;
  [[nodiscard]] const Optimizer& optimizer() const { return options_.optimizer; }

  /// The whole batch; first stage only.
  [[nodiscard]] Tensor images() const;
  // Of the last stage only:
  [[nodiscard]] Tensor target() const;  // the whole batch's
  [[nodiscard]] Tensor loss() const;
  /// What the last layer has read and written for a micro-batch: valid until its slot goes to
  /// another micro-batch, which never happens where the stage holds all of them.
  [[nodiscard]] Tensor last_source(int micro_batch) const;
  [[nodiscard]] Tensor prediction(int micro_batch) const;
  /// Whether it computes all micro-batches of the batch and holds what it computed for each.
  [[nodiscard]] bool holds_whole_batch() const;

  /// Loss and factor of clipping (last stage), and the gradient of every parameter but copies.
  void add_outputs(std::vector<Output>& outputs) const;

 private:
  [[nodiscard]] BufferView input(int micro_batch) const;
  [[nodiscard]] const StageProgram& program(int micro_batch) const;
  [[nodiscard]] Bases bases(int micro_batch) const;
  /// Where parameters lie, and the passes of micro-batches.
  struct PassPlan {
    PassPlan(Stream& stream, bool is_read_once) : store(stream, is_read_once) {}
    ParameterStore store;
    std::map<std::int64_t, std::unique_ptr<StageProgram>> programs = {};  // by samples
    std::size_t scratch_bytes = 0;  // that the stream had to reserve
  };
  [[nodiscard]] std::shared_ptr<const PassPlan> make_plan();
  [[nodiscard]] const ParameterStore& store() const { return plan_->store; }
  void borrow_memory();
  void borrow_micro_batches();
  void borrow_activations_and_gradients();
  /// Borrows memory for each slot, as large as the largest of its micro-batches needs. Returns it
  /// by micro-batch.
  using BytesOf = std::function<std::size_t(const StageProgram&)>;
  [[nodiscard]] std::vector<BufferView> borrow_slots(const Slots& slots, const BytesOf& bytes_of);
  /// Whether the gradient of a tensor that only passes the stage is sent from where it arrived.
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
  // By micro-batch; those with the same slot have the same memory:
  std::vector<BufferView> activations_;
  std::vector<BufferView> inputs_;            // not of the first stage
  std::vector<BufferView> input_gradients_;   // not of the first stage
  std::vector<BufferView> output_gradients_;  // not of the last stage
};

/// The stages of a network in their order, which others own.
using Stages = std::vector<Stage*>;

}  // namespace parbench
