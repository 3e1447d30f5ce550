// Memory and calls of a stage.
#include "scenarios/training/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "kernels/base/random.h"
#include "kernels/base/round_up.h"
#include "scenarios/training/batch_data.h"

namespace parbench {
namespace {

constexpr std::int32_t ignored_target = SoftmaxCrossEntropy{}.ignored;

/// Returns a key that distinguishes parts of a batch's positions; empty for all positions.
std::string part_key(const Network& network) {
  if (network.part.is_whole()) return {};
  return fmt::format(" part {} of {}", network.part.index, network.part.count);
}

/// Divides a pass where shards combine data.
std::vector<PassPart> divided(const std::vector<OpCall>& calls,
                              const std::vector<ExchangePoint>& exchanges, const Bases& bases) {
  std::vector<PassPart> parts;
  auto begin = calls.begin();
  for (const ExchangePoint& point : exchanges) {
    const auto end = calls.begin() + static_cast<std::ptrdiff_t>(point.call);
    parts.push_back({.calls = rebase({begin, end}, bases),
                     .collective = point.collective,
                     .combined = rebase(point.data, bases)});
    begin = end;
  }
  parts.push_back({.calls = rebase({begin, calls.end()}, bases)});
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

Stage::Stage(CaseParts& parts, Options options)
    : parts_(parts),
      options_(std::move(options)),
      stream_(parts.context.stream(options_.device, StreamKind::compute)),
      plan_(options_.twin != nullptr ? options_.twin->plan_ : make_plan()) {
  stream_.reserve_scratch(plan_->scratch_bytes);
  borrow_memory();
  if (options_.is_fed) {
    receive_images();
  } else {
    if (options_.range.is_first()) share_images();
    if (options_.range.is_last()) share_target();
  }
  initialize_at_reset();
}

std::shared_ptr<const Stage::PassPlan> Stage::make_plan() {
  // Tuned before anything is prepared, because in the model's order the time for tuning would be
  // spent on weight gradients and forward passes, before the largest data gradients, which come
  // last.
  std::vector<OpDesc> products;
  for (const std::int64_t samples :
       std::set(options_.micro_batches.begin(), options_.micro_batches.end())) {
    std::ranges::move(StageProgram::products(options_.range, samples),
                      std::back_inserter(products));
  }
  stream_.device().tune(std::move(products));
  const std::int64_t layout_samples =
      options_.layout_samples > 0 ? options_.layout_samples : options_.micro_batches.front();
  auto plan = std::make_shared<PassPlan>(stream_, options_.micro_batches.size() == 1);
  StageProgram::add_parameters(stream_, options_.range, layout_samples, plan->store);
  for (const std::int64_t samples : options_.micro_batches) {
    auto& program = plan->programs[samples];
    if (!program) {
      program = std::make_unique<StageProgram>(stream_, options_.range, samples, plan->store);
    }
  }
  plan->scratch_bytes = stream_.requested_scratch();
  return plan;
}

void Stage::borrow_memory() {
  Context& context = parts_.context;
  const int device = options_.device;
  std::size_t transient = 0;
  for (const auto& [samples, program] : plan_->programs) {
    transient = std::max(transient, program->transient_bytes());
  }
  const Network& network = *options_.range.network;
  const std::string key =
      fmt::format("{} {} {}-{} {}", network.name, to_string(network.input), options_.range.first,
                  options_.range.last, store().layout_key());
  const auto nothing = [](BufferView) {};  // the case's reset writes the content
  if (options_.parameters_elsewhere) {
    parameters_ = symbolic(Space::parameters, 0, store().bytes());
  } else if (options_.is_fed) {
    const auto count = static_cast<std::int64_t>(store().bytes() / sizeof(float));
    const Tensor received = parts_.data.tensor(device, canonical({count}));
    parts_.data.poison(received);
    parameters_ = received.view;
  } else {
    parameters_ = context.shared(device, "parameters " + key, store().bytes(), nothing);
  }
  statistics_ = context.shared(device, "statistics " + key, statistics_bytes(network), nothing);
  borrow_activations_and_gradients();
  packed_ = options_.parameters_elsewhere ? symbolic(Space::packed, 0, store().packed_bytes())
                                          : context.borrow(device, store().packed_bytes());
  transient_ = context.borrow(device, transient);
  update_ = std::make_unique<RegionUpdate>(
      parts_, options_.optimizer,
      TrainedRegion{.device = device,
                    .parameters = parameters_,
                    .gradients = gradients_,
                    .copies = store().bytes() - store().bytes_of_own()});
  loss_ = context.borrow(device, sizeof(float));
  borrow_micro_batches();
  parts_.data.lend_staging(device, activations_.front());
}

/// Padding between gradients in memory of activations is not zero, which norms would require.
void Stage::borrow_activations_and_gradients() {
  Context& context = parts_.context;
  const int device = options_.device;
  const std::size_t bytes = store().bytes();
  if (options_.gradients_elsewhere) {
    gradients_ = symbolic(Space::gradients, 0, bytes);
  } else if (options_.micro_batches.size() == 1 && !options_.optimizer.clips() &&
             !options_.has_norm) {
    const std::size_t begin = round_up(program(0).gradients_begin(), Context::alignment);
    const std::size_t activations = program(0).activation_bytes();
    const BufferView both = context.borrow(device, std::max(activations, begin + bytes));
    activations_ = {both.part(0, activations)};
    gradients_ = both.part(begin, bytes);
    return;
  } else {
    gradients_ = context.borrow(device, bytes);
  }
  activations_ = borrow_slots(options_.slots.activations, &StageProgram::activation_bytes);
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
  std::map<int, std::size_t> largest;  // by slot
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
           is_in(program.input_gradient_view(one.tensor), Space::output_gradient);
  });
}

void Stage::receive_images() {
  const StageRange& range = options_.range;
  const std::int64_t samples =
      first_sample(static_cast<int>(options_.micro_batches.size())) - options_.first_sample;
  const Tensor received = parts_.data.tensor(
      options_.device, tensor_of(stream_.device(), range, network_input, samples));
  image_bytes_ = received.desc.bytes / static_cast<std::size_t>(samples);
  images_ = received.view;
  if (received.desc.dtype != DType::i32) parts_.data.poison(received);
}

void Stage::share_images() {
  const TensorDesc whole = images().desc;
  image_bytes_ = whole.bytes / static_cast<std::size_t>(options_.range.batch);
  const Network& network = *options_.range.network;
  images_ = parts_.context.shared(
      options_.device,
      fmt::format("images {} {} {} {}{}", to_string(whole.shape), to_string(whole.dtype),
                  network.vocabulary, network.min_length, part_key(network)),
      whole.bytes, writer_of_inputs(stream_, options_.range, parts_.context.options().seed));
}

void Stage::share_target() {
  const TensorDesc whole = target().desc;
  target_bytes_ = whole.bytes / static_cast<std::size_t>(options_.range.batch);
  const RandomStream numbers{parts_.context.options().seed, target_subsequence};
  const Network& network = *options_.range.network;
  const auto write = [&stream = stream_, whole, numbers, part = network.part,
                      is_one_hot = network.one_hot_target, classes = network.classes(),
                      padding = padding_of(options_.range, ignored_target)](BufferView view) {
    if (whole.dtype == DType::i32) {
      draw_integers(stream, whole, view, classes, numbers, padding);
    } else if (is_one_hot) {
      draw_one_hot(stream, whole, view, numbers);
    } else {
      draw_normal(stream, whole, view, numbers, part);
    }
  };
  target_ = parts_.context.shared(
      options_.device,
      fmt::format("target {} {} {}", network.name, to_string(whole.shape), to_string(whole.dtype)),
      whole.bytes, write);
}

Fill Stage::initial_values(const ParameterSpec& spec) const {
  return initial_fill(*options_.range.network, spec, parts_.context.options().seed);
}

std::shared_ptr<const std::vector<float>> Stage::stored_values(const ParameterSpec& spec) const {
  const StoredValues& stored = options_.range.network->stored_values;
  return stored ? stored(spec) : nullptr;
}

/// Returns a step that writes the initial values of a parameter to the staging memory.
CaseData::Step Stage::filling_step(const ParameterSpec& spec) {
  if (auto stored = stored_values(spec)) {
    return [stored = std::move(stored)](Stream& stream, BufferView staging) {
      copy_values(stream, *stored, staging);
    };
  }
  Op& draw = ops_.prepare(stream_, initial_values(spec));
  return [&draw](Stream& stream, BufferView staging) {
    draw.enqueue(stream, bind(draw, {{"destination", staging}}).views);
  };
}

void Stage::initialize_parameters_at_reset(const Place& place, const Keep& keep) {
  if (parts_.context.is_remote(options_.device)) return reserve_staging();
  const NumberFormat format{options_.range.dtype, options_.range.math};
  for (const ParameterStore::Entry& entry : store().entries()) {
    const TensorDesc plain = canonical(entry.spec.shape);
    Op& reorder = ops_.prepare(stream_, Reorder{.source = plain, .destination = entry.master});
    const BufferView target = place(entry);
    const BufferView parameter = parameters_.part(entry.offset, entry.master.bytes);
    parts_.data.at_reset(
        options_.device, plain.bytes,
        [&context = parts_.context, format, fill = filling_step(entry.spec), &reorder, target, keep,
         parameter, bytes = plain.bytes](Stream& stream, BufferView staging) {
          fill(stream, staging);
          if (const int number = context.perturbation(); number != 0) {
            perturb(stream, staging.part(0, bytes), number, perturbation_of(format));
          }
          const OpCall call = bind(reorder, {{"source", staging}, {"destination", target}});
          reorder.enqueue(stream, call.views);
          if (keep) keep(stream, parameter);
        });
  }
}

/// For a device of another rank, which initialises its parameters itself.
void Stage::reserve_staging() {
  std::size_t bytes = 0;
  for (const ParameterStore::Entry& entry : store().entries()) {
    bytes = std::max(bytes, canonical(entry.spec.shape).bytes);
  }
  parts_.data.at_reset(options_.device, bytes, [](Stream&, BufferView) {});
}

void Stage::initialize_parameters_at_reset() {
  initialize_parameters_at_reset(
      [&](const ParameterStore::Entry& entry) {
        return parameters_.part(entry.offset, entry.master.bytes);
      },
      nullptr);
}

void Stage::initialize_at_reset(const BufferView& memory, const Keep& keep) {
  initialize_parameters_at_reset(
      [&](const ParameterStore::Entry& entry) { return memory.part(0, entry.master.bytes); }, keep);
}

void Stage::initialize_at_reset() {
  if (!options_.is_fed && !options_.parameters_elsewhere) initialize_parameters_at_reset();
  if (parts_.context.is_remote(options_.device)) return;
  const auto constant = [&](BufferView view, float value) {
    Op& op =
        ops_.prepare(stream_, Fill{.count = static_cast<std::int64_t>(view.bytes / sizeof(float)),
                                   .distribution = Distribution::constant,
                                   .low = value});
    parts_.data.at_reset(options_.device, 0, [&op, view](Stream& stream, BufferView) {
      op.enqueue(stream, bind(op, {{"destination", view}}).views);
    });
  };
  // The flat update includes padding between tensors, so it must be finite.
  if (!options_.gradients_elsewhere) constant(gradients_, 0.0F);
  if (statistics_.bytes > 0) constant(statistics_, 0.0F);
  if (options_.range.is_last()) parts_.data.poison(loss());
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
  const std::int64_t begin =
      first_sample(micro_batch) - (options_.is_fed ? options_.first_sample : 0);
  return images_.part(static_cast<std::size_t>(begin) * image_bytes_,
                      program(micro_batch).inputs().tensors().front().desc.bytes);
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
  if (options_.range.is_last() && !options_.is_fed) {
    const auto first = static_cast<std::size_t>(first_sample(micro_batch));
    const auto count = static_cast<std::size_t>(options_.micro_batches.at(index));
    set(Space::target, target_.part(first * target_bytes_, count * target_bytes_));
  }
  set(Space::loss, loss_);
  set(Space::parameters, parameters_);
  set(Space::gradients, gradients_);
  set(Space::packed, packed_);
  set(Space::statistics, statistics_);
  set(Space::activations, activations_.at(index));
  set(Space::transient, transient_);
  return bases;
}

std::vector<Call> Stage::pack() const { return rebase(store().packing(), bases(0)); }

std::vector<PassPart> Stage::forward_parts(int micro_batch) const {
  const StageProgram& program = this->program(micro_batch);
  return divided(program.forward(), program.forward_exchanges(), bases(micro_batch));
}

std::vector<PassPart> Stage::backward_parts(int micro_batch, bool first) const {
  const StageProgram& program = this->program(micro_batch);
  return divided(program.backward(!first), program.backward_exchanges(!first), bases(micro_batch));
}

std::vector<Call> Stage::forward(int micro_batch) const {
  return rebase(program(micro_batch).forward(), bases(micro_batch));
}

std::vector<Call> Stage::backward(int micro_batch, bool first) const {
  return rebase(program(micro_batch).backward(!first), bases(micro_batch));
}

std::vector<Call> Stage::backward_behind_loss(int micro_batch) const {
  const std::vector<OpCall>& whole = program(micro_batch).backward(false);
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
  std::vector<TrainedParameter> found;
  for (const ParameterStore::Entry& entry : store().entries()) {
    const std::size_t bytes = entry.master.bytes;
    found.push_back({.spec = entry.spec,
                     .master = tensor(entry.master, parameters_.part(entry.offset, bytes)),
                     .gradient = tensor(entry.master, gradients_.part(entry.offset, bytes)),
                     .initial = initial_values(entry.spec),
                     .stored = stored_values(entry.spec),
                     .is_copy = entry.is_copy});
  }
  return found;
}

Tensor Stage::images() const {
  const StageRange& range = options_.range;
  return tensor(tensor_of(stream_.device(), range, network_input, range.batch), images_);
}

Tensor Stage::target() const {
  return tensor(target_tensor(stream_.device(), options_.range, options_.range.batch), target_);
}

Tensor Stage::loss() const { return tensor(canonical({1}), loss_); }

Tensor Stage::last_source(int micro_batch) const {
  const StageProgram& program = this->program(micro_batch);
  return tensor(program.last_source(), rebase(program.last_source_view(), bases(micro_batch)));
}

bool Stage::holds_whole_batch() const {
  const auto count = static_cast<int>(options_.micro_batches.size());
  return slot_count(options_.slots.activations) >= count && options_.first_sample == 0 &&
         first_sample(count) == options_.range.batch;
}

Tensor Stage::prediction(int micro_batch) const {
  const StageProgram& program = this->program(micro_batch);
  return tensor(program.output(), rebase(program.output_view(), bases(micro_batch)));
}

void Stage::add_outputs(std::vector<Output>& outputs) const {
  CaseData& data = parts_.data;
  if (options_.range.is_last()) {
    outputs.push_back({loss_output, [&data, loss = loss()] { return data.read(loss); }});
    if (optimizer().clips()) {
      outputs.push_back(
          {clip_factor_output, [&data, factor = update_->factor()] { return data.read(factor); }});
    }
  }
  for (const TrainedParameter& parameter : parameters()) {
    if (parameter.is_copy) continue;
    outputs.push_back({gradient_output(parameter.spec.name),
                       [&data, gradient = parameter.gradient] { return data.read(gradient); }});
  }
}

}  // namespace parbench
