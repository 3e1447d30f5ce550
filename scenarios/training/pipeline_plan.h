// The plan of a training step in stages: their passes, copies between them, and the update.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "scenarios/framework/collectives/rank_collectives.h"
#include "scenarios/framework/prepared_case.h"
#include "scenarios/plan/schedules/schedule.h"
#include "scenarios/training/completion.h"
#include "scenarios/training/stage.h"

namespace parbench {

/// Adds lanes and tasks of one training step to the parts' plan: forward and backward of every
/// micro-batch in the schedule's order, a copy wherever a micro-batch crosses a boundary, and one
/// update a stage, ahead of which the stages exchange the gradients of parameters that two of them
/// have, and their parts of the norm where gradients are clipped. A copy runs on the copy lane of
/// the sender, or of the receiver where only that reaches the other's memory. Between devices with
/// different layouts of activations what is sent lies in canonical order: the sender's task ends
/// with a reorder, the receiver's begins with one. `micro_batches` holds the samples of each
/// micro-batch; stages are on different devices.
void add_training_step(CaseParts& parts, const std::vector<std::unique_ptr<Stage>>& stages,
                       const std::vector<std::int64_t>& micro_batches, const Schedule& schedule);

/// The stages of one pipeline, each by rank: one, or as many as there are of a divided network.
using RankedStages = std::vector<std::vector<Stage*>>;

/// Writes such a step in pieces, for pipelines of which several make up a step. Ranks of a stage
/// combine what its passes say on the lanes they compute on; each sends to its own rank of the next
/// stage.
class StepWriter {
 public:
  /// All outlive it; stages are on different devices. Names of tasks end with `label`.
  StepWriter(CaseParts& parts, RankedStages stages, std::vector<std::int64_t> micro_batches,
             std::string label = {});

  /// One stage's rank of the pipeline.
  struct Place {
    std::size_t stage = 0;
    std::size_t rank = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  /// A part of a place's gradients, and the tasks that complete it so far.
  struct Bucket {
    BufferView gradients;
    std::vector<TaskId> completed;
  };
  /// Makes the last backward pass of every stage a task for each bucket of its gradients, in
  /// `gradient_buckets` of so many bytes. Ahead of all actions.
  void divide_gradients(std::size_t bucket_bytes);
  /// In the order in which they are complete, behind all actions; none where they are not divided.
  [[nodiscard]] const std::vector<Bucket>& buckets(Place place) { return buckets_[place]; }

  void write_packing();
  /// In an order as `in_dependency_order` gives it.
  void write(const PlacedAction& placed);
  /// Behind all actions: of a parameter that a stage has a copy of, each of both stages adds what
  /// the other has computed, so that they get the same sum.
  void write_exchanges();
  /// The runs of gradients that the norm of clipping counts at a place, where that is not all of
  /// the stage's own.
  using CountedRuns = std::map<Place, std::vector<BufferView>>;
  void write_updates(const CountedRuns& counted = {});

  /// The tasks that complete the gradients of a place so far, which its update waits for.
  [[nodiscard]] std::vector<TaskId>& completed(Place place) { return backward_[place]; }
  [[nodiscard]] LaneId compute_lane(Place place) const {
    return compute_.at(place.stage).at(place.rank);
  }

 private:
  /// One end of a boundary between stages: where a micro-batch's tensor lies on that device, in the
  /// device's layout.
  struct BoundaryEnd {
    const Stage& stage;
    TensorDesc desc;
    BufferView view;
    const Slots& packed;  // of memory for the tensor in canonical order
  };
  /// The way of one micro-batch's tensors over a boundary.
  struct Crossing {
    int micro_batch = 0;
    std::vector<Call> pack = {};    // on the sender
    std::vector<Call> copies = {};  // one for each tensor
    std::vector<Call> unpack = {};  // on the receiver
    std::size_t bytes = 0;
  };
  /// A parameter's gradient as one stage has computed it.
  struct PartOfGradient {
    Place place;
    Tensor gradient;
  };
  /// What a place has been sent.
  struct Arrival {
    TaskId task = 0;           // the copy
    std::vector<Call> unpack;  // what brings it into the receiver's layout
  };
  /// A pass of a micro-batch on one rank.
  struct RankPass {
    std::vector<PassPart> parts;
    std::vector<TaskId> after;
    std::vector<PassPlace> completions = {};  // of the place's buckets, of their last pass
  };
  /// The parts of the norm that a place computes, among those of all.
  struct NormParts {
    Place place;
    std::vector<BufferView> gradients;
    std::size_t first = 0;
    std::vector<TaskId> computed = {};
  };
  using Done = std::vector<std::vector<TaskId>>;  // by rank
  using AtMicroBatch = std::pair<Place, int>;

  [[nodiscard]] Stage& stage(Place place) const { return *stages_[place.stage][place.rank]; }
  [[nodiscard]] std::vector<Place> places() const;
  [[nodiscard]] std::string number(Place place) const;
  [[nodiscard]] std::string text(Place place) const { return "stage " + number(place); }
  [[nodiscard]] std::int64_t samples(int micro_batch) const {
    return micro_batches_.at(static_cast<std::size_t>(micro_batch));
  }
  [[nodiscard]] std::vector<LaneId> lanes_between(Place from, Place to) const;

  [[nodiscard]] PartOfGradient owner_of(const std::string& name, std::size_t rank) const;
  void write_exchange(const PartOfGradient& owner, const PartOfGradient& copy,
                      const std::string& name);
  [[nodiscard]] TaskId send_gradient(const PartOfGradient& from, Place to,
                                     const BufferView& destination, const std::string& name);
  void add_gradient(const PartOfGradient& to, const BufferView& arrived, const std::string& name,
                    std::vector<TaskId> after);
  void write_update(Place place, std::vector<TaskId> after, std::vector<Call> before);
  [[nodiscard]] std::vector<NormParts> norm_parts(const CountedRuns& counted) const;
  void write_norms(NormParts& parts, const BufferView& norms);
  void write_clipped_updates(const CountedRuns& counted);

  [[nodiscard]] BufferView packed_memory(const BoundaryEnd& end, const Crossing& crossing);
  [[nodiscard]] BufferView canonical_end(const BoundaryEnd& end, bool sends, Crossing& crossing);
  void cross(const BoundaryEnd& from, const BoundaryEnd& to, Crossing& crossing);
  [[nodiscard]] Crossing cross_forward(const Stage& stage, const Stage& next, int micro_batch);
  [[nodiscard]] Crossing cross_backward(const Stage& stage, const Stage& previous, int micro_batch);
  void send(const char* what, Place from, Place to, int micro_batch, std::vector<TaskId> produced,
            Crossing crossing);
  void receive(Place place, int micro_batch, RankPass& pass) const;

  [[nodiscard]] std::vector<TaskId> write_part(Place place, const Task& common, RankPass& pass,
                                               std::size_t part);
  [[nodiscard]] Done write_pass(std::size_t s, const Task& common, std::vector<RankPass> ranks);
  void write_forward(std::size_t s, int micro_batch);
  void write_backward(std::size_t s, int micro_batch);

  CaseParts& parts_;
  RankedStages stages_;
  std::vector<std::int64_t> micro_batches_;
  std::string label_;
  std::vector<std::vector<LaneId>> compute_;  // by stage and rank
  std::vector<std::vector<LaneId>> copy_;     // the same, where there are several stages
  std::vector<RankCollectives> collectives_;  // by stage, where there are several ranks
  std::vector<std::size_t> backwards_;        // written so far, by stage
  /// What each place has been sent last for a micro-batch: the activations, later their gradients.
  std::map<AtMicroBatch, Arrival> arrivals_;
  /// Memory in canonical order by the slots of a kind, a slot, and the tensor's number at the
  /// boundary.
  std::map<std::tuple<const Slots*, int, std::size_t>, BufferView> packed_;
  std::map<AtMicroBatch, std::vector<TaskId>> forward_;
  std::map<Place, std::vector<TaskId>> backward_;  // with what completes the gradients
  std::map<Place, std::vector<Bucket>> buckets_;
};

}  // namespace parbench
