// Guarded memory, reorders to and from the device's layouts, comparison.
#include "tests/kernels/harness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "kernels/base/bfloat16.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"
#include "tests/support/machine.h"

namespace parbench::test {
namespace {

constexpr std::byte guard_byte{0xA5};
constexpr std::byte poison_byte{0xFF};  // as f32 and as bf16 a NaN

bool reads(const Argument& argument) { return argument.access != Access::write; }
bool writes(const Argument& argument) { return argument.access != Access::read; }

std::uint64_t subsequence_of(std::string_view role) { return std::hash<std::string_view>{}(role); }

/// Variances and sums of squares.
bool is_positive(std::string_view role) {
  return role == "running_variance" || role == "variance" || role == "second_moment" ||
         role == "squared_norms";
}

// Uniform in [-1, 1), exact in the element type. What a ReLU leaves is zero half of the time.
std::vector<double> draw(std::string_view role, const TensorDesc& tensor, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(element_count(tensor.shape)));
  generate_uniform(values, 0, {seed, subsequence_of(role)}, -1, 1);
  std::vector<double> result;
  for (float value : values) {
    if (tensor.dtype == DType::bf16) value = from_bf16(to_bf16(value));
    if (role == "destination") value = std::max(value, 0.0F);
    if (is_positive(role)) value = std::abs(value);
    result.push_back(double{value});
  }
  return result;
}

std::vector<double> draw_indices(std::string_view role, const TensorDesc& tensor,
                                 const Indices& indices, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(element_count(tensor.shape)));
  generate_uniform(values, 0, {seed, subsequence_of(role)}, static_cast<float>(indices.begin),
                   static_cast<float>(indices.end));
  std::vector<double> result;
  for (const float value : values) {
    const double index = std::min(std::floor(double{value}), static_cast<double>(indices.end - 1));
    result.push_back(index < 0 ? static_cast<double>(indices.ignored) : index);
  }
  return result;
}

/// The GPU of the suite is the whole first one, or what PARBENCH_TEST_GPU names, a partition
/// perhaps.
std::string chosen_device(const std::string& device) {
  const char* chosen = std::getenv("PARBENCH_TEST_GPU");
  return device == "cuda:0" && chosen != nullptr ? chosen : device;
}

}  // namespace

bool is_opaque(const Argument& argument) { return parbench::is_opaque(argument.tensor.layout); }

const std::vector<Lane>& lanes() {
  static const std::vector<Lane> all = [] {
#ifdef PARBENCH_CUDA_EMULATION
    std::vector<Lane> found{{"cuda:0", 1}, {"cuda:1", 1}};
#else
    std::vector<Lane> found{{"cpu:0", 1}, {"cpu:0", 2}};
    if (machine().find("cuda") != nullptr) found.push_back({"cuda:0", 1});
#endif
    return found;
  }();
  return all;
}

std::string name_of(const Lane& lane) {
  std::string name = fmt::format("{}_of_{}", lane.device, lane.sharers);
  std::ranges::replace_if(
      name, [](char c) { return c == ':' || c == '/'; }, '_');
  return name;
}

std::optional<Bench> Bench::open(const Lane& lane, std::string& why, const DeviceOptions& options) {
  Bench bench;
  try {
    bench.device_ = std::move(machine().open(chosen_device(lane.device), options).front());
  } catch (const Error& error) {
    why = error.what();
    return std::nullopt;
  }
  const auto cores = static_cast<int>(bench.device_->info().cores.size());
  if (cores > 0 && lane.sharers > cores && lane.sharers > 1) {
    why = fmt::format("{} has {} core", lane.device, cores);
    return std::nullopt;
  }
  bench.stream_ = bench.device_->make_stream(StreamKind::compute, 0, lane.sharers);
  return bench;
}

void Bench::run(Op& op, const std::vector<BufferView>& views) const {
  if (stream_->scratch_bytes() < op.scratch_bytes()) stream_->reserve_scratch(op.scratch_bytes());
  op.enqueue(*stream_, views);
  stream_->synchronize();
}

void LaneTest::SetUp() {
  std::string why;
  bench_ = Bench::open(GetParam(), why);
  if (!bench_) SKIP_WITHOUT_DEVICES(GetParam().device, why);
}

GuardedTensor::GuardedTensor(const Bench& bench, TensorDesc tensor)
    : bench_(&bench),
      tensor_(std::move(tensor)),
      buffer_(bench.device().allocate(tensor_.bytes + 2 * guard, MemoryKind::device)),
      staging_(bench.device().allocate(tensor_.bytes + 2 * guard, MemoryKind::pinned)) {
  poison();
}

void GuardedTensor::upload(const std::vector<std::byte>& whole) const {
  std::memcpy(staging_.data(), whole.data(), whole.size());
  bench_->stream().copy(buffer_, staging_);
  bench_->stream().synchronize();
}

std::vector<std::byte> GuardedTensor::download() const {
  bench_->stream().copy(staging_, buffer_);
  bench_->stream().synchronize();
  return {staging_.data(), staging_.data() + staging_.bytes()};
}

void GuardedTensor::poison() const {
  std::vector<std::byte> whole(tensor_.bytes + 2 * guard, guard_byte);
  std::fill_n(whole.begin() + guard, tensor_.bytes, poison_byte);
  upload(whole);
}

void GuardedTensor::write_bytes(std::span<const std::byte> content) const {
  std::vector<std::byte> whole(tensor_.bytes + 2 * guard, guard_byte);
  std::ranges::copy(content, whole.begin() + guard);
  upload(whole);
}

template <class Element>
void GuardedTensor::write_elements(const std::vector<double>& values) const {
  std::vector<std::byte> whole(tensor_.bytes + 2 * guard, guard_byte);
  std::vector<Element> elements;
  for (const double value : values) elements.push_back(static_cast<Element>(value));
  std::memcpy(whole.data() + guard, elements.data(), tensor_.bytes);
  upload(whole);
}

void GuardedTensor::write(const std::vector<double>& canonical_values) const {
  if (tensor_.dtype == DType::i32) return write_elements<std::int32_t>(canonical_values);
  const TensorDesc plain = canonical(tensor_.shape);
  const GuardedTensor source(*bench_, plain);
  source.write_elements<float>(canonical_values);
  const auto reorder = bench_->prepare(Reorder{plain, tensor_});
  bench_->run(*reorder, {source.view(), view()});
}

std::vector<double> GuardedTensor::read() const {
  const TensorDesc plain = canonical(tensor_.shape);
  const GuardedTensor destination(*bench_, plain);
  const auto reorder = bench_->prepare(Reorder{tensor_, plain});
  bench_->run(*reorder, {view(), destination.view()});
  const std::vector<std::byte> raw = destination.bytes();
  std::vector<float> values(raw.size() / sizeof(float));
  std::memcpy(values.data(), raw.data(), raw.size());
  return {values.begin(), values.end()};
}

std::vector<std::byte> GuardedTensor::bytes() const {
  std::vector<std::byte> whole = download();
  return {whole.begin() + guard, whole.end() - guard};
}

bool GuardedTensor::guards_intact() const {
  const std::vector<std::byte> whole = download();
  const auto intact = [](std::byte b) { return b == guard_byte; };
  return std::all_of(whole.begin(), whole.begin() + guard, intact) &&
         std::all_of(whole.end() - guard, whole.end(), intact);
}

std::vector<OpDesc> companions(const OpDesc& desc) {
  if (const auto* norm = std::get_if<BatchNormBackward>(&desc)) {
    return {BatchNormForward{norm->shape, norm->dtype, norm->relu, norm->epsilon}};
  }
  if (const auto* addition = std::get_if<AddReluBackward>(&desc)) {
    return {BatchNormForward{
        .shape = addition->shape, .dtype = addition->dtype, .relu = true, .add = true}};
  }
  if (const auto* pool = std::get_if<MaxPoolBackward>(&desc)) {
    return {MaxPoolForward{pool->shape, pool->dtype}};
  }
  if (const auto* norm = std::get_if<LocalResponseNormBackward>(&desc)) {
    return {LocalResponseNormForward{norm->shape, norm->dtype, norm->size, norm->alpha, norm->beta,
                                     norm->offset}};
  }
  if (const auto* attention = std::get_if<AttentionBackward>(&desc)) {
    return {AttentionForward{.batch = attention->batch,
                             .sequence = attention->sequence,
                             .heads = attention->heads,
                             .head_size = attention->head_size,
                             .causal = attention->causal,
                             .dtype = attention->dtype,
                             .math = attention->math}};
  }
  if (const auto* data = std::get_if<LstmBackwardData>(&desc)) {
    return {LstmForward{data->shape, data->dtype, data->math}};
  }
  if (const auto* weights = std::get_if<LstmBackwardWeights>(&desc)) {
    return {LstmForward{weights->shape, weights->dtype, weights->math},
            LstmBackwardData{weights->shape, weights->dtype, weights->math}};
  }
  return {};
}

Indices indices_of(const OpDesc& desc) {
  if (const auto* forward = std::get_if<EmbeddingForward>(&desc)) {
    return {.begin = 0, .end = forward->vocabulary, .ignored = 0};
  }
  if (const auto* backward = std::get_if<EmbeddingBackward>(&desc)) {
    return {.begin = 0, .end = backward->vocabulary, .ignored = 0};
  }
  if (const auto* loss = std::get_if<SoftmaxCrossEntropy>(&desc)) {
    return {.begin = -(loss->classes + 2) / 3, .end = loss->classes, .ignored = loss->ignored};
  }
  if (std::holds_alternative<Map>(desc)) return {.begin = -500, .end = 500, .ignored = -7};
  return {};
}

Trial::Trial(const Bench& bench, const OpDesc& desc, InPlace in_place)
    : bench_(bench),
      in_place_(std::move(in_place)),
      indices_(indices_of(desc)),
      op_(bench.prepare(desc)) {
  for (const OpDesc& before : companions(desc)) companions_.push_back(bench.prepare(before));
  add_memory(*op_);
  for (const auto& companion : companions_) add_memory(*companion);
}

/// The role, with the operation's name after it where an earlier one has another layout for it.
std::string Trial::key_of(const Op& op, const Argument& argument) const {
  std::string role(argument.role);
  const auto found = memory_.find(role);
  if (found == memory_.end() || found->second->tensor() == argument.tensor) return role;
  return fmt::format("{} of {}", role, op.name());
}

void Trial::add_memory(const Op& op) {
  for (const Argument& argument : op.arguments()) {
    if (in_place_ && argument.role == in_place_->first) continue;
    const std::string key = key_of(op, argument);
    if (memory_.contains(key)) continue;
    memory_[key] = std::make_unique<GuardedTensor>(bench_, argument.tensor);
  }
}

std::vector<BufferView> Trial::views_of(const Op& op) const {
  std::vector<BufferView> views;
  for (const Argument& argument : op.arguments()) {
    const bool shared = in_place_ && argument.role == in_place_->first;
    const std::string key = shared ? in_place_->second : key_of(op, argument);
    views.push_back(memory_.find(key)->second->view());
  }
  return views;
}

Tensors Trial::draw_inputs(std::uint64_t seed) const {
  Tensors inputs;
  std::vector<const Op*> ops{op_.get()};
  for (const auto& companion : companions_) ops.push_back(companion.get());
  for (const Op* op : ops) {
    for (const Argument& argument : op->arguments()) {
      if (!reads(argument) || is_opaque(argument)) continue;
      inputs.try_emplace(std::string(argument.role),
                         argument.tensor.dtype == DType::i32
                             ? draw_indices(argument.role, argument.tensor, indices_, seed)
                             : draw(argument.role, argument.tensor, seed));
    }
  }
  return inputs;
}

void Trial::set_inputs(const Tensors& inputs) {
  constexpr std::uint64_t counted_steps = steps_before;
  for (const auto& [key, memory] : memory_) {
    const std::string_view role = std::string_view(key).substr(0, key.find(' '));
    memory->poison();
    const auto values = inputs.find(role);
    if (values != inputs.end()) memory->write(values->second);
    if (role == "steps") memory->write_bytes(std::as_bytes(std::span(&counted_steps, 1)));
  }
  for (const auto& companion : companions_) bench_.run(*companion, views_of(*companion));
}

bool Trial::overwritten(std::string_view role) const {
  return in_place_ && role == in_place_->second;
}

Tensors Trial::run_with(Op& op, const Tensors& inputs) {
  set_inputs(inputs);
  std::map<std::string_view, std::vector<std::byte>> before;
  for (const Argument& argument : op.arguments()) {
    if (argument.access == Access::read && !overwritten(argument.role)) {
      before[argument.role] = memory_.find(argument.role)->second->bytes();
    }
  }
  bench_.run(op, views_of(op));
  for (const auto& [role, bytes] : before) {
    EXPECT_EQ(memory_.find(role)->second->bytes(), bytes) << "the input " << role << " changed";
  }
  for (const auto& [role, memory] : memory_) {
    EXPECT_TRUE(memory->guards_intact()) << "wrote beside " << role;
  }
  return outputs_of(op);
}

Tensors Trial::companion_outputs() const {
  Tensors outputs;
  for (const auto& companion : companions_) outputs.merge(outputs_of(*companion));
  return outputs;
}

Tensors Trial::outputs_of(const Op& op) const {
  Tensors outputs;
  for (const Argument& argument : op.arguments()) {
    if (!writes(argument) || is_opaque(argument)) continue;
    const bool shared = in_place_ && argument.role == in_place_->first;
    const auto memory = memory_.find(shared ? in_place_->second : key_of(op, argument));
    outputs[std::string(argument.role)] = memory->second->read();
  }
  return outputs;
}

void expect_close(const std::string& what, const std::vector<double>& got,
                  const std::vector<double>& want, double relative, double absolute) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double squares = 0;
  for (const double value : want) squares += value * value;
  const double rms = std::sqrt(squares / static_cast<double>(want.size()));
  double worst = 0;
  std::size_t where = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double limit = absolute + relative * std::max(std::abs(want[i]), rms);
    const double excess = std::abs(got[i] - want[i]) / limit;
    if (excess <= worst) continue;
    worst = std::isnan(excess) ? INFINITY : excess;
    where = i;
  }
  EXPECT_LE(worst, 1.0) << what << "[" << where << "]: got " << got[where] << ", want "
                        << want[where] << " (rms " << rms << ")";
}

}  // namespace parbench::test
