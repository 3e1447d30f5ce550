// A stand-in of CUDA's runtime library, of driver functions, cuBLASLt, cuDNN, NCCL, CUPTI and NVML,
// which executes the CUDA backend on the host, as strictly as a careful driver. It measures
// nothing. What a real library answers with an error is answered so, with the reason on stderr.
// What it leaves undefined (a handle that was destroyed, memory that is none) ends the process.
//
// Variables of the environment:
//   PARBENCH_STAND_IN_DEVICES          number of devices, 2 unless set
//   PARBENCH_STAND_IN_MULTIPROCESSORS  of each, 64 unless set; parts are multiples of 8
//   PARBENCH_STAND_IN_TOPOLOGY         nvlink-switch, nvlink-pairs, pcie-switches, no-peers
//   PARBENCH_STAND_IN_JITTER           longest pause in microseconds before each task of a stream,
//   and
//                                      of a copy, whose target holds NaNs meanwhile
//   PARBENCH_STAND_IN_FAIL_ALLOCATION  number of the allocation that fails for want of memory
//   PARBENCH_STAND_IN_LOSE_TASK        number of the task of a stream that loses the devices
//   PARBENCH_STAND_IN_NCCL_SECONDS     longest wait for members of a communicator, 30 unless set
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace parbench::stand_in {

/// Enqueues a kernel. A failure is the calling thread's last error, as that of a launch. `kernel`:
/// if not null, it is loaded at its first launch, for which a driver may wait until all streams of
/// the device are idle while other threads wait to call it; so does this.
cudaError_t launch(cudaStream_t stream, std::function<void()> work, const void* kernel = nullptr);

/// Eight bytes of a kernel's arguments.
struct Word {
  std::uintptr_t value;
  bool is_pointer;  // by its type; otherwise it may be one in a structure
};
/// Ends the process where a word points to memory that a kernel on the stream cannot access.
void check_arguments(cudaStream_t stream, const std::vector<Word>& words);
/// Ends the process unless all of the bytes are in one allocation that the device can access.
void check_device_memory(const char* call, int device, const void* address, std::size_t bytes);

/// Held while a grid of the emulation runs, which has one at a time.
[[nodiscard]] std::mutex& grids();

/// Lets the allocation fail that is the `number`-th from now on; 0: none.
void fail_allocation(int number);
/// Makes the devices unusable with the `number`-th task that a stream begins from now on.
void lose_devices(int number);
/// Keeps copies of cudaMemcpy, which no stream waits for, from arriving as long as it is true.
void hold_copies(bool on);
/// Lets each batch normalisation by cuDNN take this long.
void slow_batch_norm(std::chrono::milliseconds time);
/// Ends all of these. No kernel is loaded afterwards. Returns whether an injected failure did not
/// happen.
bool recover();

/// Whether a thread with a NUMA policy has allocated this memory.
[[nodiscard]] bool is_placed(const void* address);

/// What exists: streams, events, graphs, handles, memory, by the name of its kind.
[[nodiscard]] std::map<std::string, int> live_objects();

}  // namespace parbench::stand_in
