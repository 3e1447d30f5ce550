// Programs over strided tensors, interpreted by kernels of this project.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/maps/map_program_kernels.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/error.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

DeviceOperand::Kind kind_of(const MapOperand& operand) {
  if (operand.is_coordinate) return DeviceOperand::Kind::coordinate;
  if (operand.dtype == DType::i32) return DeviceOperand::Kind::i32;
  return operand.dtype == DType::bf16 ? DeviceOperand::Kind::bf16 : DeviceOperand::Kind::f32;
}

/// Returns the kept loops, followed by the reduced loops.
std::vector<MapLoop> divided_loops(const MapLoops& all) {
  std::vector<MapLoop> loops = all.loops;
  std::ranges::stable_partition(loops, [](const MapLoop& loop) { return !loop.is_reduced; });
  return loops;
}

void set_operands(DeviceMap& map, const MapLoops& all) {
  const std::vector<MapLoop> loops = divided_loops(all);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    map.extents[i] = loops[i].extent;
    ++(loops[i].is_reduced ? map.reduced : map.kept);
  }
  map.operands = static_cast<int>(all.operands.size());
  for (std::size_t k = 0; k < all.operands.size(); ++k) {
    DeviceOperand& operand = map.operand[k];
    operand.kind = kind_of(all.operands[k]);
    operand.offset = all.operands[k].offset;
    for (std::size_t i = 0; i < loops.size(); ++i) operand.strides[i] = loops[i].strides.at(k);
  }
}

void set_instructions(DeviceMap& map, const ElementProgram& program) {
  const ResultRegisters registers =
      result_registers(program, std::vector<bool>(program.size(), true));
  const auto register_of = [&](std::size_t instruction) {
    return static_cast<std::uint8_t>(registers.register_of[instruction]);
  };
  map.instructions = static_cast<int>(program.size());
  for (std::size_t i = 0; i < program.size(); ++i) {
    const ElementInstruction& from = program[i];
    DeviceInstruction& instruction = map.instruction[i];
    instruction = {
        .op = from.op, .to = register_of(i), .from = {from.from[0], 0, 0}, .number = from.number};
    for (std::size_t k = 0; k < operand_count(from.op); ++k)
      instruction.from[k] = register_of(from.from.at(k));
  }
}

DeviceMap device_map(const MapLoops& all) {
  DeviceMap map{.accumulate = all.accumulate, .reduction = all.reduction};
  map.kept_count = all.elements(false);
  map.reduced_count = all.elements(true);
  set_operands(map, all);
  set_instructions(map, all.program);
  return map;
}

/// Returns whether kernels can process groups of elements (see run_map), provided that the
/// operands' addresses are aligned.
bool has_groups(const DeviceMap& map) {
  const auto is_even = [](std::int64_t elements) { return elements % map_group == 0; };
  if (map.reduced > 0 || !is_even(map.extents[0])) return false;
  for (int k = 0; k < map.operands; ++k) {
    const DeviceOperand& operand = map.operand[k];
    if (operand.strides[0] == 0 && k + 1 < map.operands) continue;
    if (operand.strides[0] != 1) return false;
    if (operand.kind == DeviceOperand::Kind::coordinate) continue;
    if (!is_even(operand.offset)) return false;
    for (int i = 1; i < map.kept; ++i) {
      if (!is_even(operand.strides[i])) return false;
    }
  }
  return true;
}

using Values = std::shared_ptr<const std::vector<float>>;

/// Device copy of the constant values of a Map.
struct CopiedValues {
  Values values;  // kept because its address identifies the copy
  Buffer memory;
};

/// Copies values to the device, once for all Maps that share them.
std::shared_ptr<const CopiedValues> copied_values(CudaDevice& device, const Values& values) {
  static std::mutex mutex;
  static std::map<std::pair<const CudaDevice*, const void*>, std::weak_ptr<const CopiedValues>>
      copies;
  const std::lock_guard lock(mutex);
  std::erase_if(copies, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const CopiedValues>& known = copies[{&device, values.get()}];
  if (auto copy = known.lock()) return copy;
  const std::size_t bytes = values->size() * sizeof(float);
  auto copy = std::make_shared<CopiedValues>(
      CopiedValues{values, device.allocate(bytes, MemoryKind::device)});
  device.upload(copy->memory, values->data(), bytes);
  known = copy;
  return copy;
}

bool holds_groups(const DeviceOperand& operand) {
  const std::size_t bytes = operand.kind == DeviceOperand::Kind::bf16 ? 2 : 4;
  return operand.kind == DeviceOperand::Kind::coordinate || operand.strides[0] == 0 ||
         reinterpret_cast<std::uintptr_t>(operand.data) % (map_group * bytes) == 0;
}

class MapOp final : public CudaOp {
 public:
  MapOp(CudaDevice& device, const Map& desc)
      : CudaOp(device, desc), loops_(map_loops(desc)), map_(device_map(loops_)) {
    has_groups_ = has_groups(map_);
    std::size_t next = 0;
    for (const StridedTensor& input : desc.inputs) {
      if (input.values == nullptr) {
        sources_.push_back({.argument = next++});
      } else {
        sources_.push_back({.values = copied_values(device, input.values)});
      }
    }
    sources_.push_back({.argument = next});
    if (is_reduction()) {
      shape_ = map_reduction_shape(loops_);
      const std::int64_t partials = shape_.chunks > 1 ? shape_.chunks * map_.kept_count : 0;
      partials_ = add_scratch(static_cast<std::size_t>(partials) * sizeof(double));
    }
    set_implementation("CUDA kernel, interpreting");
  }

  void execute(CudaStream& stream, std::span<std::byte* const> arguments) override {
    DeviceMap map = map_;
    bool is_grouped = has_groups_;
    for (std::size_t k = 0; k < loops_.operands.size(); ++k) {
      const MapOperand& operand = loops_.operands[k];
      if (!operand.is_coordinate) map.operand[k].data = address(operand.argument, arguments);
      is_grouped = is_grouped && holds_groups(map.operand[k]);
    }
    if (!is_reduction()) return run_map(map, is_grouped, stream.handle());
    reduce_map(map, shape_, reinterpret_cast<double*>(stream.scratch() + partials_),
               stream.handle());
  }

 private:
  /// Location of an operand: the argument with that index, or the values of the description.
  struct Source {
    std::size_t argument = 0;
    std::shared_ptr<const CopiedValues> values = {};
  };

  [[nodiscard]] std::byte* address(std::size_t operand,
                                   std::span<std::byte* const> arguments) const {
    const Source& source = sources_[operand];
    return source.values ? source.values->memory.data() : arguments[source.argument];
  }
  [[nodiscard]] bool is_reduction() const { return loops_.reduction != Reduction::none; }

  MapLoops loops_;
  std::vector<Source> sources_;
  DeviceMap map_;
  bool has_groups_ = false;
  MapReductionShape shape_;
  std::size_t partials_ = 0;
};

}  // namespace

Planned plan(CudaDevice& device, const Map& desc) { return std::make_unique<MapOp>(device, desc); }

}  // namespace parbench::cuda
