// A long short-term memory by plain loops.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/base/tensor.h"
#include "kernels/ops/lstm.h"

namespace parbench::emulation {

/// Its memory for weights holds the gates in another order than the operation's parameters, each
/// with its bias first, so that copies between the two are tested. What it saves is in f32.
class PlainLstm {
 public:
  /// In bytes from the beginning of the weights, by gate.
  struct Offsets {
    std::array<std::size_t, 4> weights{};
    std::array<std::size_t, 4> recurrent_weights{};
    std::array<std::size_t, 4> bias{};
  };
  struct Memory {
    std::byte* weights;
    std::byte* saved;
  };

  PlainLstm(const LstmShape& shape, DType dtype);

  [[nodiscard]] std::size_t weight_bytes() const;
  [[nodiscard]] std::size_t saved_bytes() const;
  [[nodiscard]] const Offsets& offsets() const { return offsets_; }

  void forward(const std::byte* source, std::byte* destination, const Memory& memory) const;
  void backward_data(const std::byte* destination, const std::byte* diff_destination,
                     std::byte* diff_source, const Memory& memory) const;
  void backward_weights(const std::byte* source, const std::byte* destination,
                        const Memory& memory) const;

 private:
  [[nodiscard]] float get(const std::byte* memory, std::int64_t index) const;
  void set(std::byte* memory, std::int64_t index, float value) const;
  void add(std::byte* memory, std::int64_t index, float value) const;
  void advance(const Memory& memory, const std::byte* source, std::byte* destination,
               std::int64_t row) const;
  void differentiate(const Memory& memory, const std::byte* diff_destination,
                     std::vector<float>& diff_state, std::vector<float>& diff_cell,
                     std::int64_t row) const;

  LstmShape shape_;
  DType dtype_;
  Offsets offsets_;
};

}  // namespace parbench::emulation
