// Fills and reads tensors with operations of the devices.
#include "scenarios/framework/case_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "kernels/base/round_up.h"

namespace parbench {
namespace {

bool is_plain(const TensorDesc& desc) {
  return desc.layout.is_canonical() && desc.dtype == DType::f32;
}

/// Returns a buffer over memory that it does not own.
Buffer borrowed(void* data, std::size_t bytes) {
  return {static_cast<std::byte*>(data), bytes, MemoryKind::pageable, [](std::byte*) {}};
}

}  // namespace

TensorDesc slab_of(const Device& device, const TensorDesc& desc) {
  Shape shape = desc.shape;
  const std::int64_t count = shape.at(0);
  shape[0] = 1;
  if (desc.layout.is_canonical()) return canonical(shape, desc.dtype);
  TensorDesc slab = device.activation(shape, desc.dtype);
  if (device.activation(desc.shape, desc.dtype) != desc || slab.bytes * count != desc.bytes) {
    throw std::invalid_argument(fmt::format("a {} tensor in layout {} has no contiguous entries",
                                            to_string(desc.shape), desc.layout.name()));
  }
  return slab;
}

Tensor CaseData::tensor(int device, const TensorDesc& desc, MemoryKind kind) {
  return {device, desc, context_.borrow(device, desc.bytes, kind), kind};
}

void CaseData::fill(const Tensor& tensor, std::uint64_t subsequence) {
  fill(tensor, {Piece{element_count(tensor.desc.shape), subsequence}});
}

void CaseData::fill(const Tensor& tensor, const std::vector<Piece>& pieces) {
  const std::int64_t total =
      std::accumulate(pieces.begin(), pieces.end(), std::int64_t{0},
                      [](std::int64_t sum, const Piece& piece) { return sum + piece.count; });
  if (total != element_count(tensor.desc.shape)) {
    throw std::invalid_argument(
        fmt::format("{} elements for a tensor of shape {}", total, to_string(tensor.desc.shape)));
  }
  struct Draw {
    Op* op;
    std::size_t offset;
    std::size_t bytes;
  };
  std::vector<Draw> draws;
  std::size_t offset = 0;
  for (const Piece& piece : pieces) {
    const Fill desc{piece.count,      DType::f32, Distribution::uniform,
                    piece.low,        piece.high, context_.options().seed,
                    piece.subsequence};
    const std::size_t bytes = piece.count * sizeof(float);
    draws.push_back({&ops_.prepare(stream(tensor.device), desc), offset, bytes});
    offset += bytes;
  }
  const bool direct = is_plain(tensor.desc) && tensor.kind == MemoryKind::device;
  Op* reorder = is_plain(tensor.desc)
                    ? nullptr
                    : &ops_.prepare(stream(tensor.device),
                                    Reorder{canonical(tensor.desc.shape), tensor.desc});
  at_reset(tensor.device, direct ? 0 : offset,
           [tensor, draws, direct, reorder, offset](Stream& lane, BufferView staging) {
             const BufferView plain = direct ? tensor.view : staging;
             for (const Draw& draw : draws) {
               draw.op->enqueue(
                   lane,
                   bind(*draw.op, {{"destination", plain.part(draw.offset, draw.bytes)}}).views);
             }
             if (reorder != nullptr) {
               reorder->enqueue(
                   lane, bind(*reorder, {{"source", plain}, {"destination", tensor.view}}).views);
             } else if (!direct) {
               lane.copy(tensor.view, plain.part(0, offset));
             }
           });
}

void CaseData::zero(const Tensor& tensor) { set_all(tensor, 0.0F, false); }

void CaseData::poison(const Tensor& tensor) {
  set_all(tensor, std::bit_cast<float>(~std::uint32_t{0}), true);  // a NaN both in f32 and in bf16
}

void CaseData::set_all(const Tensor& tensor, float value, bool once) {
  BufferView view = tensor.view;
  view.bytes = round_up(view.bytes, sizeof(float));  // an odd number of bf16 has padding
  if (tensor.kind != MemoryKind::device) {
    const int byte = value == 0.0F ? 0 : 0xFF;
    at_reset(tensor.device, 0,
             [view, byte](Stream&, BufferView) { std::memset(view.data(), byte, view.bytes); });
  } else {
    const Fill desc{static_cast<std::int64_t>(view.bytes / sizeof(float)), DType::f32,
                    Distribution::constant, value};
    Op& op = ops_.prepare(stream(tensor.device), desc);
    at_reset(tensor.device, 0, [view, &op](Stream& lane, BufferView) {
      op.enqueue(lane, bind(op, {{"destination", view}}).views);
    });
  }
  resets_.back().once = once;
}

void CaseData::at_reset(int device, std::size_t staging_bytes, ResetFunction function) {
  resets_.push_back({device, staging_bytes, false, std::move(function)});
}

void CaseData::lend_staging(int device, const BufferView& memory) {
  BufferView& largest = staging_[device];
  if (memory.bytes > largest.bytes) largest = memory;
}

void CaseData::finish() {
  std::map<int, std::size_t> largest;
  for (const ResetAction& action : resets_) {
    std::size_t& bytes = largest[action.device];
    bytes = std::max(bytes, action.staging_bytes);
  }
  for (const auto& [device, bytes] : largest) {
    BufferView& staging = staging_[device];
    if (bytes > staging.bytes) staging = context_.borrow(device, bytes);
  }
}

void CaseData::run_to_end(const std::set<int>& devices, const std::function<void()>& enqueue) {
  const auto synchronize = [&] {
    synchronize_all(devices, [this](int device) -> Stream& { return stream(device); });
  };
  try {
    enqueue();
  } catch (...) {
    try {
      synchronize();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the first failure is thrown
    }
    throw;
  }
  synchronize();
}

void CaseData::reset() {
  std::set<int> devices;
  for (const ResetAction& action : resets_) devices.insert(action.device);
  run_to_end(devices, [this] {
    for (const ResetAction& action : resets_) {
      if ((action.once && was_reset_) || context_.is_remote(action.device)) continue;
      action.run(stream(action.device),
                 action.staging_bytes > 0 ? staging_.at(action.device) : BufferView());
    }
  });
  was_reset_ = true;
}

std::vector<float> CaseData::read(const Tensor& tensor) {
  return read_as(tensor.device, tensor.desc, tensor.view);
}

std::vector<float> CaseData::read_slab(const Tensor& tensor, std::int64_t index) {
  const TensorDesc slab = slab_of(context_.device(tensor.device), tensor.desc);
  return read_as(tensor.device, slab, tensor.view.part(index * slab.bytes, slab.bytes));
}

std::vector<float> CaseData::read_as(int device, const TensorDesc& desc, BufferView view) {
  std::vector<float> values(element_count(desc.shape));
  if (desc.dtype == DType::i32) {  // exact up to 2^24
    std::vector<std::int32_t> integers(values.size());
    read_bytes(device, view.part(0, integers.size() * sizeof(std::int32_t)), integers.data());
    std::ranges::transform(integers, values.begin(),
                           [](std::int32_t value) { return static_cast<float>(value); });
    return values;
  }
  if (is_plain(desc)) {
    read_bytes(device, view.part(0, values.size() * sizeof(float)), values.data());
    return values;
  }
  Op& op = to_canonical(device, desc);
  const std::size_t bytes = values.size() * sizeof(float);
  const BufferView plain = context_.readback(device, bytes);
  const Buffer host = borrowed(values.data(), bytes);
  run_to_end({device}, [&] {
    op.enqueue(stream(device), bind(op, {{"source", view}, {"destination", plain}}).views);
    stream(device).copy(host, plain);
  });
  context_.share(device, values.data(), bytes);
  return values;
}

std::vector<float> CaseData::read_pieces(int device, const TensorDesc& desc,
                                         const std::vector<MemoryPiece>& pieces) {
  std::vector<std::byte> bytes(desc.bytes);
  std::size_t read = 0;
  for (const MemoryPiece& piece : pieces) {
    if (piece.view.bytes > bytes.size() - read) break;
    read_bytes(piece.device, piece.view, bytes.data() + read);
    read += piece.view.bytes;
  }
  if (read != bytes.size()) {
    throw std::invalid_argument(
        fmt::format("pieces of other than the {} bytes of a tensor", bytes.size()));
  }
  std::vector<float> values(element_count(desc.shape));
  if (is_plain(desc)) {
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
  }
  Op& op = to_canonical(device, desc);
  const std::size_t plain_bytes = values.size() * sizeof(float);
  const std::size_t begin = round_up(plain_bytes, Context::alignment);
  const BufferView memory = context_.readback(device, begin + desc.bytes);
  const BufferView plain = memory.part(0, plain_bytes);
  const BufferView source = memory.part(begin, desc.bytes);
  const Buffer from = borrowed(bytes.data(), bytes.size());
  const Buffer to = borrowed(values.data(), plain_bytes);
  run_to_end({device}, [&] {
    stream(device).copy(source, from);
    op.enqueue(stream(device), bind(op, {{"source", source}, {"destination", plain}}).views);
    stream(device).copy(to, plain);
  });
  context_.share(device, values.data(), plain_bytes);
  return values;
}

void CaseData::read_bytes(int device, BufferView source, void* destination) {
  const Buffer host = borrowed(destination, source.bytes);
  run_to_end({device}, [&] { stream(device).copy(host, source); });
  context_.share(device, destination, source.bytes);
}

Op& CaseData::to_canonical(int device, const TensorDesc& source) {
  for (const ToCanonical& reader : readers_) {
    if (reader.device == device && reader.source == source) return *reader.op;
  }
  Op* op = nullptr;
  context_.uncounted([&] {
    op = &ops_.prepare(stream(device), Reorder{source, canonical(source.shape)});
  });
  readers_.push_back({device, source, op});
  return *op;
}

}  // namespace parbench
