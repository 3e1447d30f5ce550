// The data of a case: its tensors, their initial content, and reading them back to the host.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "scenarios/framework/context.h"
#include "scenarios/framework/op_set.h"

namespace parbench {

/// A typed view of memory that a case borrowed.
struct Tensor {
  int device = 0;
  TensorDesc desc;
  BufferView view;
  MemoryKind kind = MemoryKind::device;
};

/// A run of consecutive elements of a tensor (in canonical order) drawn from one subsequence of the
/// generator: uniform in [low, high).
struct Piece {
  std::int64_t count = 0;
  std::uint64_t subsequence = 0;
  float low = -1.0F;
  float high = 1.0F;
};

/// Built while a case is prepared; its work runs on one stream of each device, never inside a
/// timed sample. Reading and filling use the generator's numbers and canonical order in any
/// layout, so that they agree between devices.
class CaseData {
 public:
  explicit CaseData(Context& context) : context_(context) {}

  // While the case is prepared:

  [[nodiscard]] Tensor tensor(int device, const TensorDesc& desc,
                              MemoryKind kind = MemoryKind::device);

  /// Fills a tensor at every reset. The pieces together have as many elements as the tensor.
  void fill(const Tensor& tensor, const std::vector<Piece>& pieces);
  void fill(const Tensor& tensor, std::uint64_t subsequence);

  // The next two take a tensor that `tensor` made, not a part of one.

  /// Sets all bytes to zero at every reset.
  void zero(const Tensor& tensor);

  /// Sets a result to NaN at the first reset, so that what another case left in the same memory is
  /// not taken for a result. Later resets skip this.
  void poison(const Tensor& tensor);

  /// Adds a step for any other initial content, which may use `staging_bytes` of device memory,
  /// which steps share.
  using Step = std::function<void(Stream& stream, BufferView staging)>;
  void at_reset(int device, std::size_t staging_bytes, Step step);

  /// Operations for steps run on this stream.
  [[nodiscard]] Stream& stream(int device) { return context_.stream(device, StreamKind::compute); }

  /// Lets steps take memory for staging that a run writes before it reads it.
  void lend_staging(int device, const BufferView& memory);

  /// Ends preparation: borrows the staging memory that has not been lent.
  void finish();

  // Once memory is committed; all synchronous:

  void reset();
  /// Lets the next reset repeat what only the first one does.
  void forget() { was_reset_ = false; }

  /// The whole tensor in canonical order as f32.
  [[nodiscard]] std::vector<float> read(const Tensor& tensor);

  /// One entry of the outermost dimension: an image of a batch, a row of a matrix.
  [[nodiscard]] std::vector<float> read_slab(const Tensor& tensor, std::int64_t index);

  /// A tensor of `device` whose bytes lie in pieces, on any devices, one behind the other.
  struct MemoryPiece {
    int device = 0;
    BufferView view;
  };
  [[nodiscard]] std::vector<float> read_pieces(int device, const TensorDesc& desc,
                                               const std::vector<MemoryPiece>& pieces);

  /// Returns bytes without conversion.
  void read_bytes(int device, BufferView source, void* destination);

 private:
  struct ResetStep {
    int device = 0;
    std::size_t staging_bytes = 0;
    bool once = false;
    Step run;
  };
  struct ToCanonical {
    int device = 0;
    TensorDesc source;
    Op* op = nullptr;
  };

  void set_all(const Tensor& tensor, float value, bool once);
  /// Enqueues on those devices' streams and waits. Nothing stays queued when it throws either: the
  /// queue refers to operations and memory that the case takes with it.
  void run_to_end(const std::set<int>& devices, const std::function<void()>& enqueue);
  [[nodiscard]] Op& to_canonical(int device, const TensorDesc& source);
  [[nodiscard]] std::vector<float> read_as(int device, const TensorDesc& desc, BufferView view);

  Context& context_;
  OpSet ops_;
  std::vector<ResetStep> steps_;
  std::map<int, BufferView> staging_;  // the largest that was lent, or borrowed
  std::vector<ToCanonical> readers_;
  bool was_reset_ = false;
};

/// The layout of one entry of the outermost dimension, when a tensor of that layout is the
/// concatenation of such entries: activations and canonical tensors. Throws std::invalid_argument
/// otherwise.
[[nodiscard]] TensorDesc slab_of(const Device& device, const TensorDesc& desc);

}  // namespace parbench
