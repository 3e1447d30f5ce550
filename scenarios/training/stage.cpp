// Memory and calls of a stage.
#include "scenarios/training/stage.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/base/round_up.h"
#include "scenarios/training/batch_data.h"

namespace parbench {
namespace {

/// Divides a pass at the points where shards combine data.
std::vector<PassPart> divided(const SymbolicPass& pass, const Bases& bases) {
  std::vector<PassPart> parts;
  auto begin = pass.calls.begin();
  for (const ExchangePoint& point : pass.exchanges) {
    const auto end = pass.calls.begin() + static_cast<std::ptrdiff_t>(point.call);
    parts.push_back({.calls = rebase({begin, end}, bases),
                     .collective = point.collective,
                     .combined = rebase(point.data, bases)});
    begin = end;
  }
  parts.push_back({.calls = rebase({begin, pass.calls.end()}, bases)});
  return parts;
}

}  // namespace

std::string gradient_output(const std::string& parameter) { return "gradient of " + parameter; }

double sum_of_squared_gradients(const std::vector<Output>& outputs) {
  const std::string prefix = gradient_output("");
  double sum = 0;
  for (const Output& output : outputs) {
    if (!output.name.starts_with(prefix)) continue;
    for (const float value : output.read()) sum += static_cast<double>(value) * value;
  }
  return sum;
}

Stage::Stage(CaseParts& parts, Options options, std::shared_ptr<const StagePlan> plan,
             StageMemory memory)
    : parts_(parts),
      options_(std::move(options)),
      plan_(std::move(plan)),
      memory_(std::move(memory)) {
  parts.context.stream(options_.device, StreamKind::compute).reserve_scratch(plan_->scratch_bytes);
  borrow_memory();
  if (options_.range.is_last() && !parts.context.is_remote(options_.device)) {
    parts.data.poison(loss());
  }
}

void Stage::borrow_memory() {
  Context& context = parts_.context;
  borrow_activations();
  std::size_t transient = 0;
  for (const auto& [samples, program] : plan_->programs) {
    transient = std::max(transient, program->transient_bytes());
  }
  transient_ = context.borrow(options_.device, transient);
  TrainedRegion region = this->region();
  region.copies = store().bytes() - store().bytes_of_own();
  update_ = std::make_unique<RegionUpdate>(parts_, options_.optimizer, region);
  loss_ = context.borrow(options_.device, sizeof(float));
  borrow_micro_batches();
  parts_.data.lend_staging(options_.device, activations_.front());
}

void Stage::borrow_activations() {
  if (memory_.gradients) {
    gradients_ = *memory_.gradients;
    activations_ = borrow_slots(options_.slots.activations, &StageProgram::activation_bytes);
    return;
  }
  const std::size_t begin = round_up(program(0).gradients_begin(), Context::alignment);
  const std::size_t activations = program(0).activation_bytes();
  const BufferView both =
      parts_.context.borrow(options_.device, std::max(activations, begin + store().bytes()));
  activations_ = {both.part(0, activations)};
  gradients_ = both.part(begin, store().bytes());
}

void Stage::borrow_micro_batches() {
  const StageSlots& slots = options_.slots;
  const auto of_inputs = [](const StageProgram& program) { return program.inputs().bytes(); };
  if (!options_.range.is_first()) {
    inputs_ = borrow_slots(slots.inputs, of_inputs);
    input_gradients_ = borrow_slots(slots.input_gradients, of_inputs);
  }
  if (!options_.range.is_last()) {
    output_gradients_ =
        borrow_slots(sends_gradients_on() ? slots.passed_gradients : slots.output_gradients,
                     [](const StageProgram& program) { return program.outputs().bytes(); });
  }
}

std::vector<BufferView> Stage::borrow_slots(const Slots& slots, const BytesOf& bytes_of) {
  const auto count = static_cast<int>(options_.micro_batches.size());
  std::map<int, std::size_t> largest;  // bytes by slot
  for (int i = 0; i < count; ++i) {
    std::size_t& bytes = largest[slot_of(slots, i)];
    bytes = std::max(bytes, bytes_of(program(i)));
  }
  std::map<int, BufferView> memory;
  for (const auto& [slot, bytes] : largest) {
    memory[slot] = parts_.context.borrow(options_.device, bytes);
  }
  std::vector<BufferView> views;
  for (int i = 0; i < count; ++i) views.push_back(memory.at(slot_of(slots, i)));
  return views;
}

bool Stage::sends_gradients_on() const {
  const StageProgram& program = this->program(0);
  return std::ranges::any_of(program.inputs().tensors(), [&](const BoundaryTensor& one) {
    return one.tensor != network_input &&
           program.input_gradient_view(one.tensor).is_in(Space::output_gradient);
  });
}

std::int64_t Stage::first_sample(int micro_batch) const {
  return std::accumulate(options_.micro_batches.begin(),
                         options_.micro_batches.begin() + micro_batch, options_.first_sample);
}

const StageProgram& Stage::program(int micro_batch) const {
  return *plan_->programs.at(options_.micro_batches.at(static_cast<std::size_t>(micro_batch)));
}

BufferView Stage::input(int micro_batch) const {
  if (!options_.range.is_first()) return inputs_.at(static_cast<std::size_t>(micro_batch));
  return memory_.images.part(first_sample(micro_batch), program(micro_batch).samples());
}

std::vector<Stage::Passing> Stage::inputs(int micro_batch) const {
  const StageProgram& program = this->program(micro_batch);
  const Bases bases = this->bases(micro_batch);
  std::vector<Passing> all;
  for (const BoundaryTensor& one : program.inputs().tensors()) {
    Passing& input = all.emplace_back(Passing{
        .desc = one.desc, .values = rebase(program.view_of(one.tensor), bases), .gradient = {}});
    if (one.tensor == network_input) continue;
    input.gradient = rebase(program.input_gradient_view(one.tensor), bases);
  }
  return all;
}

std::vector<Stage::Passing> Stage::outputs(int micro_batch) const {
  const StageProgram& program = this->program(micro_batch);
  const Bases bases = this->bases(micro_batch);
  std::vector<Passing> all;
  for (const BoundaryTensor& one : program.outputs().tensors()) {
    Passing& output = all.emplace_back(Passing{
        .desc = one.desc, .values = rebase(program.view_of(one.tensor), bases), .gradient = {}});
    if (one.tensor == network_input) continue;
    output.gradient = rebase(program.outputs().view(Space::output_gradient, one.tensor), bases);
  }
  return all;
}

Bases Stage::bases(int micro_batch) const {
  Bases bases;
  const auto set = [&](Space space, BufferView view) {
    bases.at(static_cast<std::size_t>(space)) = view;
  };
  set(Space::input, input(micro_batch));
  const auto index = static_cast<std::size_t>(micro_batch);
  if (!options_.range.is_first()) set(Space::input_gradient, input_gradients_.at(index));
  if (!options_.range.is_last()) set(Space::output_gradient, output_gradients_.at(index));
  if (memory_.target.count > 0) {
    set(Space::target,
        memory_.target.part(first_sample(micro_batch), program(micro_batch).samples()));
  }
  set(Space::loss, loss_);
  set(Space::parameters, memory_.parameters);
  set(Space::gradients, gradients_);
  set(Space::packed, memory_.packed);
  set(Space::statistics, memory_.statistics);
  set(Space::activations, activations_.at(index));
  set(Space::transient, transient_);
  return bases;
}

std::vector<Call> Stage::pack() const { return rebase(store().packing(), bases(0)); }

std::vector<PassPart> Stage::forward_parts(int micro_batch) const {
  return divided(program(micro_batch).forward(), bases(micro_batch));
}

std::vector<PassPart> Stage::backward_parts(int micro_batch, bool first) const {
  return divided(program(micro_batch).backward(!first), bases(micro_batch));
}

std::vector<Call> Stage::forward(int micro_batch) const {
  return rebase(program(micro_batch).forward().calls, bases(micro_batch));
}

std::vector<Call> Stage::backward_after_loss(int micro_batch) const {
  const std::vector<SymbolicCall>& whole = program(micro_batch).backward(false).calls;
  return rebase({whole.begin() + 1, whole.end()}, bases(micro_batch));
}

BufferView Stage::prediction_gradient(int micro_batch) const {
  return rebase(program(micro_batch).prediction_gradient_view(), bases(micro_batch));
}

std::vector<std::size_t> Stage::gradient_offsets() const {
  std::vector<std::size_t> offsets;
  for (const ParameterStore::Entry& entry : store().entries()) offsets.push_back(entry.offset);
  return offsets;
}

std::vector<Stage::TrainedParameter> Stage::parameters() const {
  const Network& network = *options_.range.network;
  std::vector<TrainedParameter> found;
  for (const ParameterStore::Entry& entry : store().entries()) {
    const std::size_t bytes = entry.master.bytes;
    found.push_back({.spec = entry.spec,
                     .master = tensor(entry.master, memory_.parameters.part(entry.offset, bytes)),
                     .gradient = tensor(entry.master, gradients_.part(entry.offset, bytes)),
                     .initial = initial_fill(network, entry.spec, parts_.context.options().seed),
                     .stored = network.stored_values ? network.stored_values(entry.spec) : nullptr,
                     .is_copy = entry.is_copy});
  }
  return found;
}

Tensor Stage::loss() const { return tensor(canonical({1}), loss_); }

Tensor Stage::value(int index, int micro_batch) const {
  const StageProgram& program = this->program(micro_batch);
  return tensor(program.desc_of(index), rebase(program.view_of(index), bases(micro_batch)));
}

Tensor Stage::last_source(int micro_batch) const {
  const Layer& last = options_.range.network->layer(options_.range.last);
  return value(last.inputs.front(), micro_batch);
}

bool Stage::holds_whole_batch() const {
  const auto count = static_cast<int>(options_.micro_batches.size());
  return slot_count(options_.slots.activations) >= count && options_.first_sample == 0 &&
         first_sample(count) == options_.range.batch;
}

Tensor Stage::prediction(int micro_batch) const { return value(options_.range.last, micro_batch); }

}  // namespace parbench
