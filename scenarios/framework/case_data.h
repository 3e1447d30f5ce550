// The data of a case: its tensors, their initial content, and reading them on the host.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "scenarios/framework/context.h"
#include "scenarios/framework/op_set.h"

namespace parbench {

/// A typed view of memory that a case has borrowed.
struct Tensor {
  int device = 0;
  TensorDesc desc;
  BufferView view;
  MemoryKind kind = MemoryKind::device;
};

/// A range of consecutive elements of a tensor (in canonical order), filled from one subsequence of
/// the random generator: uniform in [low, high).
struct Piece {
  std::int64_t count = 0;
  std::uint64_t subsequence = 0;
  float low = -1.0F;
  float high = 1.0F;
};

/// The data of a case, described while the case is prepared. Fills and reads tensors on one stream
/// of each device, outside of timed samples. Random values depend on the canonical position only,
/// so that devices with different layouts agree on them.
class CaseData {
 public:
  explicit CaseData(Context& context) : context_(context) {}

  // Called while the case is prepared:

  [[nodiscard]] Tensor tensor(int device, const TensorDesc& desc,
                              MemoryKind kind = MemoryKind::device);

  /// Fills a tensor at every reset. The numbers of elements of the pieces must add up to that of
  /// the tensor.
  void fill(const Tensor& tensor, const std::vector<Piece>& pieces);
  void fill(const Tensor& tensor, std::uint64_t subsequence);

  // `zero` and `poison` take a whole tensor that `tensor` made, not a part.

  /// Sets all bytes to zero at every reset.
  void zero(const Tensor& tensor);

  /// Sets a result to NaN at the first reset only, so that data of other cases in the same memory
  /// is not taken for a result.
  void poison(const Tensor& tensor);

  /// Adds a function that makes other initial content at every reset. The function may use
  /// `staging_bytes` bytes of device memory, which all such functions share.
  using ResetFunction = std::function<void(Stream& stream, BufferView staging)>;
  void at_reset(int device, std::size_t staging_bytes, ResetFunction function);

  /// Returns the stream of a device on which reset functions run and tensors are read.
  [[nodiscard]] Stream& stream(int device) { return context_.stream(device, StreamKind::compute); }

  /// Lets resets use memory of the case for staging. Resets overwrite this memory, so runs must not
  /// depend on its initial content.
  void lend_staging(int device, const BufferView& memory);

  /// Ends preparation: borrows staging memory on each device where no memory of `lend_staging` is
  /// large enough.
  void finish();

  // Called after memory is committed; all of these are synchronous:

  void reset();
  /// Makes the next reset behave like the first one.
  void forget() { was_reset_ = false; }

  /// Reads the whole tensor in canonical order as f32.
  [[nodiscard]] std::vector<float> read(const Tensor& tensor);

  /// Reads one entry of the outermost dimension: an image of a batch, a row of a matrix.
  [[nodiscard]] std::vector<float> read_slab(const Tensor& tensor, std::int64_t index);

  /// A part of a tensor's bytes, on any device.
  struct MemoryPiece {
    int device = 0;
    BufferView view;
  };
  /// Reads a tensor whose memory is the concatenation of `pieces`, with operations of `device`.
  [[nodiscard]] std::vector<float> read_pieces(int device, const TensorDesc& desc,
                                               const std::vector<MemoryPiece>& pieces);

  /// Reads bytes without conversion.
  void read_bytes(int device, BufferView source, void* destination);

 private:
  struct ResetAction {
    int device = 0;
    std::size_t staging_bytes = 0;
    bool once = false;
    ResetFunction run;
  };
  struct ToCanonical {
    int device = 0;
    TensorDesc source;
    Op* op = nullptr;
  };

  void set_all(const Tensor& tensor, float value, bool once);
  /// Calls `enqueue`, and waits for the streams of `devices`. Waits also if `enqueue` throws,
  /// because queued work refers to operations and memory of the case.
  void run_to_end(const std::set<int>& devices, const std::function<void()>& enqueue);
  [[nodiscard]] Op& to_canonical(int device, const TensorDesc& source);
  [[nodiscard]] std::vector<float> read_as(int device, const TensorDesc& desc, BufferView view);

  Context& context_;
  OpSet ops_;
  std::vector<ResetAction> resets_;
  std::map<int, BufferView> staging_;  // largest memory lent or borrowed, by device
  std::vector<ToCanonical> readers_;
  bool was_reset_ = false;
};

/// Describes one entry of a tensor's outermost dimension. Throws std::invalid_argument unless the
/// tensor is a concatenation of such entries, as activations and canonical tensors are.
[[nodiscard]] TensorDesc slab_of(const Device& device, const TensorDesc& desc);

}  // namespace parbench
