// Draws normal and uniform numbers on the device, and integers on the host.
#include "scenarios/training/batch_data.h"

#include <algorithm>
#include <utility>

#include "scenarios/framework/op_set.h"
#include "scenarios/models/layers/passes.h"

namespace parbench {
namespace {

// Subsequences of the random generator for inputs, targets and the first parameter.
constexpr std::uint64_t input_subsequence = 1;
constexpr std::uint64_t target_subsequence = 2;
constexpr std::uint64_t first_parameter_subsequence = 100;

/// Writes a tensor: `write` gets canonical f32 memory, whose values are then converted to the
/// tensor's layout and type. Waits for the stream.
void write_now(Stream& stream, const TensorDesc& tensor, BufferView view,
               const std::function<void(BufferView)>& write) {
  const TensorDesc plain = canonical(tensor.shape);
  if (tensor == plain) {
    write(view);
    stream.synchronize();
    return;
  }
  OpSet ops;
  const Buffer staging = stream.device().allocate(plain.bytes, MemoryKind::device);
  Op& reorder = ops.prepare(stream, Reorder{.source = plain, .destination = tensor});
  write(staging);
  reorder.enqueue(stream, bind(reorder, {{"source", staging}, {"destination", view}}).views);
  stream.synchronize();
}

/// Copies from host memory, which must stay valid until the copy is done.
template <class Element>
void copy_from(Stream& stream, std::vector<Element>& values, BufferView view) {
  const std::size_t bytes = values.size() * sizeof(Element);
  const Buffer host(reinterpret_cast<std::byte*>(values.data()), bytes, MemoryKind::pageable,
                    [](std::byte*) {});
  stream.copy(view.part(0, bytes), host);
}

std::int64_t drawn_below(std::int64_t end, RandomStream numbers, std::int64_t index) {
  return random_words(numbers, static_cast<std::uint64_t>(index)).x % end;
}

}  // namespace

void draw(Stream& stream, const TensorDesc& tensor, BufferView view, const Fill& numbers) {
  OpSet ops;
  Op& op = ops.prepare(stream, numbers);
  write_now(stream, tensor, view, [&](BufferView plain) {
    op.enqueue(stream, bind(op, {{"destination", plain}}).views);
  });
}

void draw_parts(Stream& stream, const TensorDesc& tensor, BufferView view,
                const std::vector<Fill>& parts) {
  const TensorDesc plain = canonical(tensor.shape);
  // Draw into aligned memory; parts of `view` may not be aligned.
  const Buffer drawn = stream.device().allocate(plain.bytes, MemoryKind::device);
  OpSet ops;
  write_now(stream, tensor, view, [&](BufferView together) {
    std::size_t offset = 0;
    for (const Fill& part : parts) {
      const std::size_t bytes = canonical({part.count}).bytes;
      const BufferView numbers = BufferView(drawn).part(0, bytes);
      Op& op = ops.prepare(stream, part);
      op.enqueue(stream, bind(op, {{"destination", numbers}}).views);
      stream.copy(together.part(offset, bytes), numbers);
      offset += bytes;
    }
  });
}

std::vector<float> drawn_on_host(const Fill& numbers) {
  std::vector<float> values(static_cast<std::size_t>(numbers.count), numbers.low);
  if (numbers.distribution == Distribution::constant) return values;
  const auto generate =
      numbers.distribution == Distribution::normal ? generate_normal : generate_uniform;
  generate(values, 0, {numbers.seed, numbers.subsequence}, numbers.low, numbers.high);
  return values;
}

void perturb(Stream& stream, BufferView values, int perturbation, double change) {
  constexpr std::size_t bits = 32;  // bits of a word; each selects a sign
  std::vector<float> host(values.bytes / sizeof(float));
  const Buffer memory(reinterpret_cast<std::byte*>(host.data()), values.bytes, MemoryKind::pageable,
                      [](std::byte*) {});
  stream.copy(memory, values);
  stream.synchronize();
  const RandomStream signs{.seed = 0,
                           .subsequence = static_cast<std::uint64_t>(std::abs(perturbation))};
  const double of_ones = perturbation > 0 ? change : -change;
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    word = i % bits == 0 ? random_words(signs, i / bits).x : word >> 1U;
    host[i] *= static_cast<float>((word & 1U) != 0 ? 1 + of_ones : 1 - of_ones);
  }
  copy_values(stream, std::move(host), values);
}

namespace {

/// Samples of different lengths, each padded with `value` at its end.
struct PaddedSamples {
  std::vector<std::int64_t> lengths = {};  // length without padding, by sample; empty: no padding
  std::int32_t value = 0;
};

PaddedSamples padding_of(const StageRange& range, std::int32_t value) {
  PaddedSamples padding{.lengths = {}, .value = value};
  if (range.network->min_length == 0) return padding;
  for (std::int64_t sample = 0; sample < range.batch; ++sample) {
    padding.lengths.push_back(range.network->length_of(sample));
  }
  return padding;
}

/// Writes random integers from 0 to `end` − 1, and the padding of each sample.
void draw_padded(Stream& stream, const TensorDesc& tensor, BufferView view, std::int64_t end,
                 RandomStream numbers, const PaddedSamples& padding) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(element_count(tensor.shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::int32_t>(drawn_below(end, numbers, static_cast<std::int64_t>(i)));
  }
  const auto longest = static_cast<std::int64_t>(values.size()) / tensor.shape.front();
  for (std::size_t sample = 0; sample < padding.lengths.size(); ++sample) {
    const auto first = values.begin() + static_cast<std::int64_t>(sample) * longest;
    std::fill(first + padding.lengths[sample], first + longest, padding.value);
  }
  copy_from(stream, values, view);
  stream.synchronize();
}

/// Writes {samples, classes}: one class per sample is 1, the others are 0.
void draw_one_hot(Stream& stream, const TensorDesc& tensor, BufferView view, RandomStream numbers) {
  const std::int64_t classes = tensor.shape.at(1);
  std::vector<float> values(static_cast<std::size_t>(element_count(tensor.shape)), 0.0F);
  for (std::int64_t sample = 0; sample < tensor.shape.at(0); ++sample) {
    const std::int64_t chosen = drawn_below(classes, numbers, sample);
    values[static_cast<std::size_t>(sample * classes + chosen)] = 1.0F;
  }
  write_now(stream, tensor, view, [&](BufferView plain) { copy_from(stream, values, plain); });
}

/// Draws standard normal numbers for all positions, and writes those at the positions of `part`.
void draw_normal(Stream& stream, const TensorDesc& tensor, BufferView view, RandomStream numbers,
                 PositionPart part) {
  const Fill fill{.count = element_count(tensor.shape) * part.count,
                  .distribution = Distribution::normal,
                  .low = 0.0F,
                  .high = 1.0F,
                  .seed = numbers.seed,
                  .subsequence = numbers.subsequence};
  if (part.is_whole()) {
    draw(stream, tensor, view, fill);
    return;
  }
  const TensorDesc all = canonical({fill.count});
  const Buffer drawn = stream.device().allocate(all.bytes, MemoryKind::device);
  draw(stream, all, drawn, fill);
  const BufferView own = part_of(BufferView(drawn), part);
  write_now(stream, tensor, view, [&](BufferView plain) { stream.copy(plain, own); });
}

}  // namespace

void draw_integers(Stream& stream, const TensorDesc& tensor, BufferView view, std::int64_t end,
                   RandomStream numbers) {
  draw_padded(stream, tensor, view, end, numbers, {});
}

std::function<void(BufferView)> writer_of_inputs(Stream& stream, const StageRange& range,
                                                 std::uint64_t seed) {
  const TensorDesc whole = tensor_of(stream.device(), range, network_input, range.batch);
  const RandomStream numbers{seed, input_subsequence};
  return [&stream, whole, numbers, part = range.network->part,
          vocabulary = range.network->vocabulary, padding = padding_of(range, 0)](BufferView view) {
    if (vocabulary > 0) {
      draw_padded(stream, whole, view, vocabulary, numbers, padding);
    } else {
      draw_normal(stream, whole, view, numbers, part);
    }
  };
}

std::function<void(BufferView)> writer_of_target(Stream& stream, const StageRange& range,
                                                 std::uint64_t seed) {
  const TensorDesc whole = target_tensor(stream.device(), range, range.batch);
  const Network& network = *range.network;
  return [&stream, whole, numbers = RandomStream{seed, target_subsequence}, part = network.part,
          is_one_hot = network.one_hot_target, classes = network.classes(),
          padding = padding_of(range, SoftmaxCrossEntropy{}.ignored)](BufferView view) {
    if (whole.dtype == DType::i32) {
      draw_padded(stream, whole, view, classes, numbers, padding);
    } else if (is_one_hot) {
      draw_one_hot(stream, whole, view, numbers);
    } else {
      draw_normal(stream, whole, view, numbers, part);
    }
  };
}

Fill initial_fill(const Network& network, const ParameterSpec& spec, std::uint64_t seed) {
  const std::vector<ParameterSpec> all = network.parameters();
  const auto position = std::ranges::find(all, spec.name, &ParameterSpec::name) - all.begin();
  return {.count = element_count(spec.shape),
          .distribution = spec.initial.distribution,
          .low = spec.initial.low,
          .high = spec.initial.high,
          .seed = seed,
          .subsequence = first_parameter_subsequence + static_cast<std::uint64_t>(position)};
}

void copy_values(Stream& stream, std::vector<float> values, BufferView view) {
  copy_from(stream, values, view);
  stream.synchronize();
}

}  // namespace parbench
